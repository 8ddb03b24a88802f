import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { compare } from '../../src/comparison.ts'
import { accountForMarks } from '../../src/variance/account-for-marks.ts'
import { findVariance } from '../../src/variance/find-variance.ts'
import { parseVarianceMarks, type VarianceMark } from '../../src/variance/variance-marks.ts'
import { exploreVariance } from '../../src/widgets/variance/explore-variance.ts'
import { varianceCode, withMark } from '../../src/widgets/variance/variance-code.ts'
import { type VarianceData, varianceData } from '../../src/widgets/variance/variance-data.ts'
import { inOrder, nextOrder } from '../../src/widgets/variance/variance-order.ts'
import { c2Text } from '../../src/widgets/variance/variance-words.ts'
import { manyCategories } from '../charts/fixture.ts'
import { compareShops } from '../findings/fixture.ts'
import { makeGraphs } from '../make-traces.ts'
import { HOSTILE } from '../notebook/fixture.ts'
import { describeInBrowser } from './open-widgets.ts'

const comparison = compareShops({}, { payUs: 2600 })
const variance = findVariance(comparison)
const dataOf = (options = {}) => exploreVariance(comparison, options).data as VarianceData
const data = dataOf()

/** What code that is pasted into a cell gives. */
function pasted(code: string, of = comparison): unknown {
  const given = { comparison: of, findVariance, exploreVariance }
  return new Function(...Object.keys(given), `return ${code}`)(...Object.values(given))
}

/** One category, A → B → C → D, whose first two steps take longer together, and the third less. */
function compareTogether() {
  const graphs = Array.from({ length: 20 }, (_, i) => ({
    labels: ['A', 'B', 'C', 'D'].map((point) => `m__t__${point}`),
    edges: [0, 1, 2].map((edge) => [edge, edge + 1] as const),
    latencyUs: [100 + i, 200 + i + (i % 3), 300 - i / 2],
  }))
  return compare(makeGraphs(graphs), makeGraphs(graphs))
}

/** One category that forks into as many branches, of as many steps each. */
function compareForked({ branches, steps }: { branches: number; steps: number }) {
  const at = (branch: number, step: number) => 1 + branch * steps + step
  const end = branches * steps + 1
  const places = Array.from({ length: branches * steps }, (_, place) => place)
  const labels = ['start', ...places.map((place) => `step ${place}`), 'end']
  const edges = Array.from({ length: branches }, (_, branch) => [
    [0, at(branch, 0)] as const,
    ...places.slice(1, steps).map((step) => [at(branch, step - 1), at(branch, step)] as const),
    [at(branch, steps - 1), end] as const,
  ]).flat()
  const graphs = Array.from({ length: 20 }, (_, i) => ({
    labels: labels.map((label) => `m__t__${label}`),
    ...{ edges, latencyUs: edges.map((_, edge) => 10 + ((i * (edge + 3)) % 17)) },
  }))
  return compare(makeGraphs(graphs), makeGraphs(graphs))
}

describe('the data', () => {
  test('is tier 1 as findVariance ranks it, with every request in a bin', () => {
    expect(data.spreads.map(({ category, period }) => [category, period])).toEqual(
      variance.ranked.map(({ category, period }) => [category, period]),
    )
    for (const { bins, requests } of data.spreads) {
      expect(bins.reduce((sum, count) => sum + count, 0)).toBe(requests)
    }
    expect(data.periods.map(({ belowOne }) => belowOne)).toEqual([
      variance.shareBelowOne('before'),
      variance.shareBelowOne('after'),
    ])
  })

  test('is tier 2 with shares that add up to 1, and the edges of the flow once each', () => {
    data.details.forEach(({ edges, graph }, place) => {
      const { category, period } = data.spreads[place] as (typeof data.spreads)[number]
      const found = variance.category(category, { period })
      expect(edges.length).toBe(found.edges.length)
      const sum = edges.reduce((all, { share }) => all + (share ?? 0), 0)
      expect(sum).toBeCloseTo(found.accounted, 9)
      const onPath = graph.links.filter((link) => link.onPath).map(({ edge }) => edge)
      expect([...new Set(onPath)].sort()).toEqual(edges.map(({ edge }) => edge).sort())
    })
  })

  test('holds flows of as many categories as the limit says, and of the one asked for', () => {
    expect(dataOf({ limit: 1 }).details.length).toBe(1)
    const last = variance.ranked.at(-1)?.category as number
    const opened = dataOf({ limit: 0, category: last })
    expect(opened.spreads[opened.open as number]?.category).toBe(last)
    expect(opened.spreads[opened.open as number]?.detail).not.toBeNull()
  })

  test('of 1,602 categories stays small', () => {
    const many = exploreVariance(manyCategories(), { large: 2 }).data as VarianceData
    expect(many.ranked).toBeGreaterThan(1500)
    expect(many.spreads.length).toBe(300)
    expect(JSON.stringify(many).length).toBeLessThan(150_000)
  })

  test('holds no more than 60 steps of a flow, and how many there are', () => {
    const long = exploreVariance(compareForked({ branches: 2, steps: 60 })).data as VarianceData
    const graph = long.details[0]?.graph
    expect(graph?.nodesInAll).toBe(122)
    expect(graph?.nodes.length).toBeLessThanOrEqual(60)
    expect(graph?.links.some(({ text }) => /^… \d+ nodes?$/.test(text))).toBe(true)
  })

  test('leaves labels out that are too long to be read', () => {
    const long = 'x'.repeat(100_000)
    const graphs = Array.from({ length: 20 }, (_, i) => ({
      labels: [`m__t__${long}a`, `m__t__${long}b`],
      edges: [[0, 1] as const],
      latencyUs: [100 + i],
    }))
    const found = findVariance(compare(makeGraphs(graphs), makeGraphs(graphs)))
    const taken = varianceData(found, { name: 'comparison', limit: 5, category: null })
    expect(taken.details[0]?.edges[0]?.from).toBe('')
    expect(JSON.stringify(taken).length).toBeLessThan(10_000)
  })
})

describe('order', () => {
  test('is by any column, numbers the largest first, and what has no value last', () => {
    const rows = [0.5, null, 2].map((c2, category) => ({ ...data.spreads[0], category, c2 }))
    const order = (descending: boolean) =>
      inOrder(rows as VarianceData['spreads'], { column: 'c2', descending }).map(
        ({ category }) => category,
      )
    expect(order(true)).toEqual([2, 0, 1])
    expect(order(false)).toEqual([0, 2, 1])
    const first = nextOrder({ column: 'root', descending: false }, 'requests')
    expect(first).toEqual({ column: 'requests', descending: true })
    expect(nextOrder(first, 'requests').descending).toBe(false)
  })
})

describe('code', () => {
  const marks: VarianceMark[] = [
    { from: "a 'quoted'", to: 'b\u202e', kind: 'intrinsic', note: 'disk' },
  ]

  test('gives the stage, the category and the edge', () => {
    const open = data.spreads[0] ?? null
    expect(varianceCode(data, { marks: [], open: null, edge: null })).toBe(
      'findVariance(comparison)',
    )
    const code = varianceCode({ ...data, large: 5 }, { marks, open, edge: 1 })
    expect(code).toBe(
      "findVariance(comparison, { large: 5, marks: [{ from: 'a \\'quoted\\'', to: 'b\\u202e', " +
        `kind: 'intrinsic', note: 'disk' }] }).category(${open?.category}, { period: '${open?.period}' }).covariances(1)`,
    )
    expect((pasted(code) as { edge: { edge: number } }).edge.edge).toBe(1)
  })

  test('keeps the note of an edge that is marked as something else', () => {
    const [mark] = marks as [VarianceMark]
    expect(withMark(marks, mark, 'inadvertent')).toEqual([{ ...mark, kind: 'inadvertent' }])
    expect(withMark(marks, mark, null)).toEqual([])
    expect(withMark([], mark, 'intrinsic')).toEqual([
      { from: mark.from, to: mark.to, kind: 'intrinsic' },
    ])
  })
})

describe('the widget', () => {
  test('is a picture of tier 1 without scripts', () => {
    const svg = exploreVariance(comparison).svg()
    expect(svg).toContain('Kinds of request that are predictable (C² below 1): 100 %')
    expect(svg).not.toMatch(/NaN|undefined|var\(--/)
  })

  test('is drawn where no category is large as well', () => {
    const none = exploreVariance(comparison, { large: 100_000 })
    expect(none.svg()).toContain('none is large before, none is large after')
  })

  test('checks its options', () => {
    expect(() => exploreVariance(comparison, { limit: -1 })).toThrow('Option limit is -1.')
    expect(() => exploreVariance(comparison, { large: -1 })).toThrow('Option large is -1.')
    expect(() => exploreVariance(comparison, { category: 99 })).toThrow('Option category is 99.')
    expect(() => exploreVariance(comparison, { top: 3 } as never)).toThrow('no option top')
  })

  test('says C² with two digits', () => {
    expect([0, 0.00001, 0.04, 5.97, 12.4, 1234, null].map(c2Text)).toEqual([
      ...['0', 'under 0.001', '0.040', '6.0', '12', '1,234', 'none'],
    ])
  })
})

const codeOf = (page: Page) => page.locator('.fd-code code').last().innerText()
const listed = (page: Page) => page.locator('.fd-variance-list tbody button')

describeInBrowser('variance in a page', (open) => {
  test('a category opens into its flow and edges, and closes again', async () => {
    const { page, problems } = await open([exploreVariance(comparison)])
    await listed(page).first().click()
    const { category, period } = data.spreads[0] as VarianceData['spreads'][number]
    expect(await codeOf(page)).toBe(
      `findVariance(comparison).category(${category}, { period: '${period}' })`,
    )
    expect(await page.locator('.fd-variance-edges tbody tr').count()).toBe(
      data.details[0]?.edges.length,
    )
    expect(await page.locator('.fd-variance-link').count()).toBe(data.details[0]?.edges.length)
    await listed(page).first().click()
    expect(await page.locator('.fd-variance-open').count()).toBe(0)
    expect(await codeOf(page)).toBe('findVariance(comparison)')
    expect(problems).toEqual([])
  })

  test('an edge of the flow shows what it covaries with, as in the code', async () => {
    const together = compareTogether()
    const { page, problems } = await open([exploreVariance(together)])
    await listed(page).first().click()
    await page.locator('.fd-variance-link[data-edge="0"] text').first().click()
    expect(await codeOf(page)).toMatch(/\.covariances\(0\)$/)
    const rows = page.locator('.fd-variance-edge tbody tr')
    const found = pasted(await codeOf(page), together) as ReturnType<
      ReturnType<typeof variance.category>['covariances']
    >
    expect(found.covarying.map(({ edge }) => edge)).toEqual([2, 1])
    expect(await rows.locator('td:nth-child(2)').allInnerTexts()).toEqual(['−1.00', '0.99'])
    expect(await page.locator('.fd-variance-link path[stroke-dasharray="3 3"]').count()).toBe(2)
    await rows.locator('button').first().click()
    expect(await codeOf(page)).toMatch(/\.covariances\(2\)$/)
    await page.locator('.fd-variance-link[data-edge="2"] text').first().click()
    expect(await page.locator('.fd-variance-edge').count()).toBe(0)
    expect(problems).toEqual([])
  })

  test('a wide flow is scrolled in, from its root on, until it is to fit', async () => {
    const wide = exploreVariance(compareForked({ branches: 8, steps: 2 }), { limit: 1 })
    const { page, problems } = await open([wide], { width: 500 })
    await listed(page).first().click()
    const flow = page.locator('.fd-variance-flow')
    const overflow = () => flow.evaluate((box) => box.scrollWidth - box.clientWidth)
    expect(await overflow()).toBeGreaterThan(100)
    const [root, box] = [await flow.locator('rect').first().boundingBox(), await flow.boundingBox()]
    const middle = (it: typeof box) => (it === null ? Number.NaN : it.x + it.width / 2)
    expect(Math.abs(middle(root) - middle(box))).toBeLessThan(20)
    await page.getByRole('button', { name: 'Fit to width' }).click()
    expect(await overflow()).toBe(0)
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(500)
    expect(problems).toEqual([])
  })

  test('marks stand in the code and as a file, and can be taken away', async () => {
    const { page, problems } = await open([exploreVariance(comparison)])
    await listed(page).first().focus()
    await page.keyboard.press('Enter')
    await page.locator('.fd-variance-edges tbody button').first().focus()
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'inadvertent' }).click()
    await page.getByRole('button', { name: 'intrinsic' }).click()
    const edge = data.details[0]?.edges[0]
    const expected = [{ from: edge?.from, to: edge?.to, kind: 'intrinsic' }]
    await page.locator('.fd-variance-marks summary').click()
    const marks = parseVarianceMarks(await page.locator('.fd-variance-marks pre').innerText())
    expect(marks).toEqual(expected)
    expect(accountForMarks(comparison, marks).unused).toEqual([])
    expect(await page.locator('.fd-variance-flow [font-style="italic"]').innerHTML()).toBe(
      'intrinsic',
    )
    const code = (await codeOf(page)).replace(/\.category.*$/, '')
    expect((pasted(code) as typeof variance).options.marks).toEqual(expected)
    await page.getByRole('button', { name: 'no mark' }).click()
    expect(await page.locator('.fd-variance-marks').count()).toBe(0)
    expect(problems).toEqual([])
  })

  test('a head sorts, and says how', async () => {
    const { page, problems } = await open([exploreVariance(comparison)])
    const head = page.locator('th', { hasText: 'requests' }).first()
    await head.getByRole('button').click()
    expect(await head.getAttribute('aria-sort')).toBe('descending')
    const counts = async () =>
      (await page.locator('.fd-variance-list tbody td:nth-child(3)').allInnerTexts()).map((text) =>
        Number(text.replaceAll(',', '')),
      )
    expect(await counts()).toEqual((await counts()).toSorted((a, b) => b - a))
    await head.getByRole('button').click()
    expect(await counts()).toEqual((await counts()).toSorted((a, b) => a - b))
    expect(problems).toEqual([])
  })

  test('a category without its flow in the page gives the code to see it', async () => {
    const { page, problems } = await open([exploreVariance(comparison, { limit: 0 })])
    await listed(page).first().click()
    const code = await page.locator('section > p code').innerText()
    expect(code).toBe(`exploreVariance(comparison, { category: ${data.spreads[0]?.category} })`)
    expect((pasted(code) as { data: VarianceData }).data.open).toBe(0)
    expect(problems).toEqual([])
  })

  test('names from traces do nothing but show, in the dark and where it is narrow', async () => {
    const hostile = comparison.with({ label: ({ operation }) => `${operation} ${HOSTILE}` })
    const widget = exploreVariance(hostile)
    const { page, problems } = await open([widget], { dark: true, width: 500 })
    await listed(page).first().click()
    await page.locator('.fd-variance-edges tbody button').first().click()
    await page.getByRole('button', { name: 'intentional' }).click()
    expect(await page.locator('.flowdelta img, .flowdelta script').count()).toBe(0)
    expect(await page.locator('.fd-variance-open h3').first().innerText()).toContain('<img')
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(500)
    expect(problems).toEqual([])
  })
})
