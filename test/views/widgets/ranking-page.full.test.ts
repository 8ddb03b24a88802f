import * as aq from 'arquero'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { exemplars, type RankedMutation } from '../../../src/compare/ranking/rank-mutations.ts'
import type { Comparison } from '../../../src/comparison/comparison.ts'
import type { StageTable } from '../../../src/core/stage.ts'
import { percent, signedDuration } from '../../../src/core/words.ts'
import { explore } from '../../../src/views/explore.ts'
import { compareShops } from '../../compare/findings/fixture.ts'
import { HOSTILE } from '../notebook/fixture.ts'
import { describeInBrowser } from './open-widgets.ts'
import { other, slower } from './ranking-fixture.ts'

const ranksOf = async (page: Page) =>
  (await page.locator('.fd-openable td:first-child').allInnerTexts()).map((cell) =>
    Number(cell.replace(/\D/g, '')),
  )

async function codeGives(page: Page, comparison: Comparison): Promise<number[]> {
  const code = await page.locator('.fd-code code').innerText()
  const made: StageTable = new Function('comparison', 'aq', `return ${code}`)(comparison, aq)
  return Array.from(made.array('rank'), Number)
}

const mutationButton = (page: Page, rank: number) =>
  page.getByRole('button', { name: `Mutation ${rank}`, exact: true })

describeInBrowser('the ranking browser in a page', (open) => {
  test('sorts and filters as its code does', async () => {
    const { page, problems } = await open([explore(slower, { limit: 20 })])
    expect(await ranksOf(page)).toEqual(await codeGives(page, slower))
    await page.getByRole('button', { name: 'requests', exact: true }).click()
    await page.getByLabel('Only rows where root is').fill('write')
    await page.getByLabel('Only rows where contributionUs is').fill('> 100 ms')
    expect(await page.locator('.fd-code code').innerText()).toBe(
      'comparison.ranking.table().slice(0, 20)' +
        '.filter(d => aq.op.match(d.root, /write/i, 0) && d.contributionUs > 100000)' +
        ".orderby(aq.desc('requests'))",
    )
    const shown = await ranksOf(page)
    expect(shown.length).toBeGreaterThan(2)
    expect(shown).toEqual(await codeGives(page, slower))
    await page.getByRole('button', { name: 'Start over' }).click()
    expect((await ranksOf(page)).length).toBe(20)
    expect(problems).toEqual([])
  })

  test('of an open mutation, times do not reach into what stands beside them', async () => {
    const { page } = await open([explore(slower)])
    await page.setViewportSize({ width: 800, height: 900 })
    await mutationButton(page, 1).click()
    const plot = await page.locator('.fd-mutation svg').first().boundingBox()
    const place = await page.locator('.fd-mutation > .fd-beside > div').first().boundingBox()
    expect(plot?.width).toBeGreaterThan(400)
    expect(plot?.width).toBeLessThanOrEqual(place?.width as number)
  })

  test('a mutation opens by Enter into edges, times and typical requests, and closes', async () => {
    const traceUrl = 'http://localhost:16686/trace/{traceId}'
    const { page, problems } = await open([explore(slower, { traceUrl })])
    await mutationButton(page, 1).focus()
    await page.keyboard.press('Enter')
    expect(await mutationButton(page, 1).getAttribute('aria-expanded')).toBe('true')
    const mutation = slower.ranking.mutations[0] as (typeof slower.ranking.mutations)[number]
    const typical = exemplars(slower.categories, mutation)
    const links = await page
      .locator('.fd-exemplars a')
      .evaluateAll((all) => all.map((link) => link.getAttribute('href')))
    expect(links).toEqual(
      [...typical.before, ...typical.after].map((id) => `http://localhost:16686/trace/${id}`),
    )
    const edges = page.getByRole('table', { name: `Edges of category ${mutation.category}` })
    const table = slower.responseTime.edgeTable(mutation.category)
    const changed = Array.from(table.array('changed'), Boolean).filter((is) => is).length
    await page.getByText(`Edges: ${changed} of ${table.numRows()} changed`).click()
    expect(await edges.locator('tbody tr').first().innerText()).toContain(table.get('from', 0))
    await mutationButton(page, 1).press('Enter')
    expect(await edges.count()).toBe(0)
    expect(problems).toEqual([])
  })

  test('a mutation opens into the comparison of its flows, in all modes', async () => {
    const { page, problems } = await open([explore(other, { flows: 1, explanations: 1 })])
    await mutationButton(page, 1).click()
    const { category } = other.ranking.mutations[0] as RankedMutation
    const flows = page.getByRole('region', { name: 'Flow comparison' })
    expect(await flows.locator('.fd-node').count()).toBeGreaterThan(0)
    for (const [button, mode] of [
      ['Side by side', 'side-by-side'],
      ['Diff', 'diff'],
    ] as const) {
      await flows.getByRole('button', { name: button, exact: true }).click()
      expect(await flows.locator('.fd-code code').innerText()).toBe(
        `explore(comparison, 'flows', { category: ${category}, mode: '${mode}' })`,
      )
    }
    // Most of what changed is structure: that is the first view.
    await flows.getByRole('button', { name: 'Animation' }).click()
    expect(await flows.locator('.fd-code code').innerText()).toBe(
      `explore(comparison, 'flows', { category: ${category} })`,
    )
    await mutationButton(page, 2).click()
    const second = other.ranking.mutations[1] as RankedMutation
    expect(await page.locator('.fd-mutation').innerText()).toContain(
      `explore(comparison, 'flows', { category: ${second.category} })`,
    )
    expect(problems).toEqual([])
  })

  test('where it is wide, an open mutation fits a screen: differences beside their drawing, the rest folded', async () => {
    const { page, problems } = await open([explore(slower)], { width: 1600 })
    await mutationButton(page, 1).click()
    const [drawing, list, whole] = await Promise.all(
      ['.fd-flow-window', '.fd-flow-window >> xpath=../.. >> .fd-flow-edges', '.fd-mutation'].map(
        (each) => page.locator(each).first().boundingBox(),
      ),
    )
    expect(list?.x).toBeGreaterThan((drawing?.x ?? 0) + (drawing?.width ?? 0))
    expect(list?.y).toBeLessThan((drawing?.y ?? 0) + 100)
    expect(whole?.height).toBeLessThan(1200)
    expect(await page.locator('.fd-fold[open]').count()).toBe(0)
    expect(problems).toEqual([])
  })

  test('is found by what it shows, and not by what it hides', async () => {
    const { page, problems } = await open([explore(other)])
    const search = page.getByRole('searchbox', { name: 'Only mutations with' })
    const first = other.ranking.table().objects()[0] as { root: string; category: number }
    await search.fill(first.root)
    expect(await page.locator('.fd-openable').count()).toBeGreaterThan(0)
    expect(await page.locator('.fd-openable').first().innerText()).toContain(first.root)
    await search.fill('100 %')
    expect(await page.locator('.fd-openable').count()).toBe(0)
    expect(problems).toEqual([])
  })

  test('an opened mutation is in the line of code, which opens it', async () => {
    const { page, problems } = await open([explore(other)])
    await mutationButton(page, 2).click()
    expect(await page.locator('.fd-code code').last().innerText()).toBe(
      'explore(comparison, { opened: 2 })',
    )
    const again = await open([explore(other, { opened: 2 })])
    expect(await again.page.locator('.fd-mutation').count()).toBe(1)
    expect([...problems, ...again.problems]).toEqual([])
    expect(() => explore(other, { opened: 99 })).toThrow('Option opened is 99')
  })

  test('all edges show when asked for', async () => {
    const { page, problems } = await open([explore(slower)])
    await mutationButton(page, 2).click()
    const { category } = slower.ranking.mutations[1] as { category: number }
    await page.locator('.fd-fold', { hasText: 'Edges' }).locator('summary').click()
    await page.getByLabel('rows per page').selectOption('50')
    const edges = page.getByRole('table', { name: `Edges of category ${category}` })
    expect(await edges.locator('tbody tr').count()).toBe(
      slower.responseTime.edgeTable(category).numRows(),
    )
    expect(problems).toEqual([])
  })

  test('a structural mutation opens by a click on its row into its precursors', async () => {
    const { page, problems } = await open([explore(other)])
    await page.locator('.fd-openable').first().locator('td').nth(1).click()
    const candidates = other.ranking.mutations[0]?.precursors ?? []
    const rows = page.getByRole('table', { name: 'Precursors' }).locator('tbody tr')
    expect(await rows.count()).toBe(candidates.length)
    expect(await rows.first().innerText()).toContain(`(${candidates[0]?.category})`)
    expect(await rows.first().innerText()).toContain(percent(candidates[0]?.weight ?? 0))
    await mutationButton(page, 2).click()
    expect(await page.locator('.fd-mutation').count()).toBe(1)
    expect(problems).toEqual([])
  })

  test('names that attack do nothing but show', async () => {
    const shops = compareShops({}, { payUs: 2600, payEvery: 2 })
    const hostile = shops.with({ label: ({ operation }) => `${operation} ${HOSTILE}` })
    const { page, problems } = await open([explore(hostile, { name: HOSTILE })])
    expect(await page.locator('img').count()).toBe(0)
    for (const { rank } of hostile.ranking.mutations) await mutationButton(page, rank).click()
    expect(await page.locator('.fd-mutation').innerText()).toContain('<img')
    expect(await page.locator('img').count()).toBe(0)
    expect(problems).toEqual([])
  })

  test('in the dark and where it is narrow', async () => {
    const { page, problems } = await open([explore(other)], { dark: true, width: 500 })
    await mutationButton(page, 1).click()
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(500)
    const box = await page.locator('.fd-mutation').boundingBox()
    expect(box?.width ?? 1000).toBeLessThan(500)
    expect(problems).toEqual([])
  })
})

/** Rank, category and contribution of the rows that are shown. */
async function rowsOf(page: Page): Promise<string[]> {
  const rows = await page.locator('.fd-openable').all()
  return Promise.all(
    rows.map(async (row) => {
      const cells = await row.locator('td').allInnerTexts()
      return [cells[0]?.replace(/\D/g, ''), cells[8], cells[2]].join(' ')
    }),
  )
}

function expectedRows({ ranking }: Comparison): string[] {
  return ranking.mutations
    .slice(0, 30)
    .map(({ rank, category, contributionUs }) =>
      [rank, category, signedDuration(contributionUs)].join(' '),
    )
}

describeInBrowser('the threshold in a page', (open) => {
  test('begins with the ranking of the comparison', async () => {
    const { page, problems } = await open([explore(other, { threshold: true })])
    expect(await rowsOf(page)).toEqual(expectedRows(other))
    expect(await page.locator('.fd-code code').innerText()).toBe('comparison.ranking.table()')
    expect(problems).toEqual([])
  })

  test('the chart is as wide as the widget, whatever its width', async () => {
    const { page, problems } = await open([explore(other, { threshold: true })], { width: 1600 })
    const around = page.locator('.fd-threshold')
    for (const width of [1600, 800, 1200]) {
      await page.setViewportSize({ width, height: 900 })
      const drawn = around.locator('.fd-chart svg')
      const margin = () =>
        around.locator('.fd-chart').evaluate((chart) => {
          const svg = chart.querySelector('svg')
          return Math.abs(chart.clientWidth - Number(svg?.getAttribute('width')))
        })
      await expect.poll(margin).toBeLessThan(24)
      expect(await drawn.count()).toBe(1)
      expect((await drawn.boundingBox())?.width).toBeGreaterThan(width - 100)
    }
    expect(problems).toEqual([])
  })

  test('dragging the slider gives what with() gives, all the way', async () => {
    const { page, problems } = await open([explore(other, { threshold: true })])
    await page.locator('.fd-threshold .fd-chart svg').waitFor()
    const slider = page.locator('input[type=range]')
    await slider.scrollIntoViewIfNeeded()
    const box = (await slider.boundingBox()) as {
      x: number
      y: number
      width: number
      height: number
    }
    const y = box.y + box.height / 2
    await page.mouse.move(box.x + box.width * 0.6, y)
    await page.mouse.down()
    const seen = new Set<number>()
    for (const share of [0.5, 0.4, 0.3, 0.2, 0.1, 0.02]) {
      await page.mouse.move(box.x + box.width * share, y)
      const smPThreshold = Number(await page.locator('input[type=number]').inputValue())
      seen.add(smPThreshold)
      expect(await rowsOf(page)).toEqual(expectedRows(other.with({ smPThreshold })))
      expect(await page.locator('.fd-code code').innerText()).toBe(
        `comparison.with({ smPThreshold: ${smPThreshold} }).ranking.table()`,
      )
    }
    await page.mouse.up()
    expect(seen.size).toBe(6)
    expect(problems).toEqual([])
  })

  test('keys, level, correction, the 1:N rule and auto do as well', async () => {
    const { page, problems } = await open([explore(other, { threshold: true })])
    await page.locator('input[type=number]').fill('3')
    await page.getByLabel('level α').selectOption('0.001')
    await page.getByLabel('corrected').check()
    await page.getByLabel('1:N rule').uncheck()
    const options = { smPThreshold: 3, alpha: 0.001, correction: 'bh', oneToN: false } as const
    expect(await rowsOf(page)).toEqual(expectedRows(other.with(options)))
    await page.locator('input[type=range]').focus()
    await page.keyboard.press('ArrowRight')
    const stepped = Number(await page.locator('input[type=number]').inputValue())
    expect(stepped).toBe(4)
    await page.getByLabel('auto').check()
    const auto = other.with({ ...options, smPThreshold: 'auto' })
    expect(await rowsOf(page)).toEqual(expectedRows(auto))
    expect(await page.locator('.fd-code code').innerText()).toBe(
      "comparison.with({ smPThreshold: 'auto', alpha: 0.001, correction: 'bh', oneToN: false }).ranking.table()",
    )
    expect(problems).toEqual([])
  })

  test('an open mutation shows what its requests may have been before', async () => {
    const { page, problems } = await open([explore(other, { threshold: true })])
    const structural = other.ranking.mutations.find(({ kind }) => kind === 'structural')
    const [first] = structural?.precursors ?? []
    await mutationButton(page, structural?.rank ?? 0).click()
    const row = await page.getByLabel('Precursors').locator('tbody tr').first().innerText()
    expect(row).toContain(`(${first?.category})`)
    expect(row).toContain(percent(first?.weight ?? 0))
    expect(problems).toEqual([])
  })

  test('a mutation that is open stays open while the threshold moves', async () => {
    const { page, problems } = await open([explore(other, { threshold: true })])
    await mutationButton(page, 1).click()
    await page.locator('input[type=number]').fill('3')
    expect(await page.locator('.fd-mutation').count()).toBe(1)
    expect(await page.locator('.fd-code code').last().innerText()).toMatch(
      /^explore\(comparison\.with\(\{ smPThreshold: 3 \}\), \{ opened: \d+, threshold: true \}\)$/,
    )
    expect(problems).toEqual([])
  })

  test('in the dark too', async () => {
    const { problems } = await open([explore(other, { threshold: true })], {
      dark: true,
      width: 560,
    })
    expect(problems).toEqual([])
  })
})

describeInBrowser('the threshold as a number in a page', (open) => {
  const comparison = compareShops({}, { payUs: 4000, archive: 0.3 })

  test('what cannot be one is marked, and beside it stands what is used', async () => {
    const { page, problems } = await open([explore(comparison, { threshold: true })])
    const field = page.locator('input[type=number]')
    const words = page.locator('.fd-threshold [aria-live]')
    await field.fill('18')
    await field.fill('-5')
    expect(await field.getAttribute('aria-invalid')).toBe('true')
    expect(await words.innerText()).toBe('not a number of requests; 18 is used')
    expect(await page.locator('.fd-code code').innerText()).toBe(
      'comparison.with({ smPThreshold: 18 }).ranking.table()',
    )
    await field.blur()
    expect(await field.inputValue()).toBe('18')
    expect(await words.innerText()).toBe('')
    await field.fill('')
    expect(await words.innerText()).toContain('18 is used')
    await field.fill('3')
    expect(await field.getAttribute('aria-invalid')).toBe('false')
    expect(await page.locator('.fd-code code').innerText()).toContain('smPThreshold: 3')
    expect(problems).toEqual([])
  })
})
