import * as aq from 'arquero'
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { type Comparison, compare } from '../../../src/compare/comparison.ts'
import { exemplars, type RankedMutation } from '../../../src/compare/ranking/rank-mutations.ts'
import type { StageTable } from '../../../src/core/stage-table.ts'
import { percent } from '../../../src/core/words.ts'
import { loadTraces } from '../../../src/traces/load-traces.ts'
import { explore } from '../../../src/views/explore.ts'
import { exploreRanking } from '../../../src/views/widgets/ranking/explore-ranking.ts'
import { type RankingData, rankingData } from '../../../src/views/widgets/ranking/ranking-data.ts'
import { compareShops } from '../../compare/findings/fixture.ts'
import { HOSTILE } from '../notebook/fixture.ts'
import { describeInBrowser } from './open-widgets.ts'

async function recorded(name: string): Promise<Comparison> {
  const folder = new URL(`../../../datasets/storage-service/${name}/`, import.meta.url).pathname
  const before = await loadTraces(`${folder}before.jsonl.gz`)
  return compare(before, await loadTraces(`${folder}after.jsonl.gz`))
}

const slower = await recorded('delay-1ms')
const other = await recorded('mds-prefetch')

const dataOf = (comparison: Comparison, limit = 30) =>
  rankingData(comparison, {
    limit,
    flows: 2,
    explanations: 1,
    name: 'comparison',
    opened: null,
    link: () => null,
  })

describe('the data', () => {
  test('has an entry for each row of the ranking, up to the limit', () => {
    const { entries, table } = dataOf(slower, 5)
    expect(entries.map(({ rank }) => rank)).toEqual([1, 2, 3, 4, 5])
    expect([table.rows, table.totalRows]).toEqual([5, slower.ranking.mutations.length])
  })

  test('has the edges of the edge table in its order, changed ones first', () => {
    for (const { category, edges, edgeCount } of dataOf(slower, 5).entries) {
      const table = slower.responseTime.edgeTable(category)
      expect(edges.map(({ from }) => from)).toEqual(table.array('from'))
      expect(edges.map(({ changed }) => changed)).toEqual(table.array('changed'))
      expect(edgeCount).toBe(edges.length)
    }
  })

  test('has the response times of what a structural mutation was before', () => {
    const [first] = dataOf(other).entries
    const precursor = other.ranking.mutations[0]?.precursors[0]?.category ?? -1
    expect(first?.before.category).toBe(precursor)
    expect(first?.before.count).toBe(other.categories.count(precursor, 0))
    expect(first?.after.category).toBe(first?.category)
    const quantilesUs = first?.after.quantilesUs ?? []
    expect(quantilesUs).toHaveLength(41)
    expect([...quantilesUs].sort((a, b) => a - b)).toEqual(quantilesUs)
  })

  test('has the flows of as many as asked for, as explore compares them', () => {
    const { entries } = dataOf(other)
    expect(entries.map(({ flows }) => flows !== null).lastIndexOf(true)).toBe(1)
    const [mutation = null] = other.ranking.mutations
    const alone = explore(other, 'flows', { mutation }).data
    expect(entries[0]?.flows).toEqual(alone)
  })

  test('is JSON, without numbers that are none', () => {
    const data: RankingData = dataOf(other)
    expect(JSON.parse(JSON.stringify(data))).toEqual(data)
  })
})

describe('links to traces', () => {
  test.each([
    'javascript:alert("{traceId}")',
    'https://{traceId}.example/',
    'https://user:secret@traces.example/{traceId}',
    'https://traces.example/',
    '{traceId}',
  ])('%s is refused', (traceUrl) => {
    expect(() => exploreRanking(slower, { traceUrl })).toThrow('Option traceUrl is')
  })
})

describe('exploreRanking', () => {
  test('checks its options', () => {
    expect(() => exploreRanking(slower, { limit: 0 })).toThrow('Option limit is 0.')
    expect(() => exploreRanking(slower, { rows: 3 } as never)).toThrow('no option rows')
  })

  test('is a picture of the first mutations where no script runs', () => {
    const svg = exploreRanking(other).svg()
    expect(svg.match(/>structural</g)).toHaveLength(other.ranking.mutations.length)
    expect(svg).not.toMatch(/NaN|undefined/)
  })

  test('draws and says so when nothing is ranked', () => {
    const none = compareShops({}, { payUs: 2000 }).with({ alpha: 1e-9, smPThreshold: 1e6 })
    expect(none.ranking.mutations).toEqual([])
    expect(exploreRanking(none).svg()).toContain('Nothing is ranked.')
  })
})

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
    const { page, problems } = await open([exploreRanking(slower, { limit: 20 })])
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

  test('a mutation opens by Enter into edges, times and typical requests, and closes', async () => {
    const traceUrl = 'http://localhost:16686/trace/{traceId}'
    const { page, problems } = await open([exploreRanking(slower, { traceUrl })])
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
    expect(await edges.locator('tbody tr').first().innerText()).toContain(table.get('from', 0))
    const changed = Array.from(table.array('changed'), Boolean).filter((is) => is).length
    expect(await edges.locator('tr.fd-changed').count()).toBe(Math.min(8, changed))
    await page.keyboard.press('Enter')
    expect(await edges.count()).toBe(0)
    expect(problems).toEqual([])
  })

  test('a mutation opens into the comparison of its flows, in all modes', async () => {
    const { page, problems } = await open([exploreRanking(other, { flows: 1, explanations: 1 })])
    await mutationButton(page, 1).click()
    const { category } = other.ranking.mutations[0] as RankedMutation
    const flows = page.getByRole('region', { name: 'Flow comparison' })
    expect(await flows.locator('.fd-flow-box').count()).toBeGreaterThan(0)
    for (const [button, mode] of [
      ['Side by side', 'side-by-side'],
      ['Animation', 'animation'],
    ] as const) {
      await flows.getByRole('button', { name: button }).click()
      expect(await flows.locator('.fd-code code').innerText()).toBe(
        `explore(comparison, 'flows', { category: ${category}, mode: '${mode}' })`,
      )
    }
    await mutationButton(page, 2).click()
    const second = other.ranking.mutations[1] as RankedMutation
    expect(await page.locator('.fd-mutation').innerText()).toContain(
      `explore(comparison, 'flows', { category: ${second.category} })`,
    )
    expect(problems).toEqual([])
  })

  test('is found by what it shows, and not by what it hides', async () => {
    const { page, problems } = await open([exploreRanking(other)])
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
    const { page, problems } = await open([exploreRanking(other)])
    await mutationButton(page, 2).click()
    expect(await page.locator('.fd-code code').last().innerText()).toBe(
      'exploreRanking(comparison, { opened: 2 })',
    )
    const again = await open([exploreRanking(other, { opened: 2 })])
    expect(await again.page.locator('.fd-mutation').count()).toBe(1)
    expect([...problems, ...again.problems]).toEqual([])
    expect(() => exploreRanking(other, { opened: 99 })).toThrow('Option opened is 99')
  })

  test('all edges show when asked for', async () => {
    const { page, problems } = await open([exploreRanking(slower)])
    await mutationButton(page, 2).click()
    const { category } = slower.ranking.mutations[1] as { category: number }
    await page.getByRole('button', { name: /more edge/ }).click()
    const edges = page.getByRole('table', { name: `Edges of category ${category}` })
    expect(await edges.locator('tbody tr').count()).toBe(
      slower.responseTime.edgeTable(category).numRows(),
    )
    expect(problems).toEqual([])
  })

  test('a structural mutation opens by a click on its row into its precursors', async () => {
    const { page, problems } = await open([exploreRanking(other)])
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
    const { page, problems } = await open([exploreRanking(hostile, { name: HOSTILE })])
    expect(await page.locator('img').count()).toBe(0)
    for (const { rank } of hostile.ranking.mutations) await mutationButton(page, rank).click()
    expect(await page.locator('.fd-mutation').innerText()).toContain('<img')
    expect(await page.locator('img').count()).toBe(0)
    expect(problems).toEqual([])
  })

  test('in the dark and where it is narrow', async () => {
    const { page, problems } = await open([exploreRanking(other)], { dark: true, width: 500 })
    await mutationButton(page, 1).click()
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(500)
    const box = await page.locator('.fd-mutation').boundingBox()
    expect(box?.width ?? 1000).toBeLessThan(500)
    expect(problems).toEqual([])
  })
})
