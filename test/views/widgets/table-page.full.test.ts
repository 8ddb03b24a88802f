import * as aq from 'arquero'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { compare } from '../../../src/comparison/comparison.ts'
import { type StageTable, setTableHtml, stageTable } from '../../../src/core/stage.ts'
import { loadTraces } from '../../../src/traces/load-traces.ts'
import {
  explorableTableHtml,
  exploreTable,
} from '../../../src/views/widgets/table/explore-table.ts'
import { HOSTILE } from '../notebook/fixture.ts'
import { describeInBrowser, type OpenPage } from './open-widgets.ts'

const FOLDER = new URL('../../../datasets/storage-service/delay-1ms/', import.meta.url).pathname
const { ranking, categories, flows } = compare(
  await loadTraces(`${FOLDER}before.jsonl.gz`),
  await loadTraces(`${FOLDER}after.jsonl.gz`),
)
const table = categories.table()

/** What the first column shows. */
const firstCells = (page: Page) => page.locator('tbody tr td:first-child').allInnerTexts()

/** What the line of code that is shown gives. */
async function codeGives(page: Page, from: StageTable): Promise<string[]> {
  const code = await page.locator('.fd-code code').innerText()
  const made: StageTable = new Function('table', 'aq', `return ${code}`)(from, aq)
  return Array.from(made.array('category'), String).slice(0, 10)
}

const head = (page: Page, name: string) => page.getByRole('button', { name, exact: true })

describeInBrowser('a table in a page', (open) => {
  const openTable = (options?: Parameters<typeof open>[1]): Promise<OpenPage> =>
    open([exploreTable(table)], options)

  test('sorts by a column, the other way, and back', async () => {
    const { page, problems } = await openTable()
    const all = await firstCells(page)
    const largest = [...table.array('before')].sort((a, b) => b - a)[0]
    await head(page, 'before').click()
    const cell = page.locator('tbody tr').first().locator('td').nth(4)
    expect(await cell.innerText()).toBe(String(largest))
    expect(await firstCells(page)).toEqual(await codeGives(page, table))
    const sorted = page.locator('th[aria-sort="descending"]')
    expect(await sorted.innerText()).toContain('before')
    await head(page, 'before').click()
    expect(await page.locator('th[aria-sort="ascending"]').count()).toBe(1)
    expect(await firstCells(page)).toEqual(await codeGives(page, table))
    await head(page, 'before').click()
    expect(await firstCells(page)).toEqual(all)
    expect(problems).toEqual([])
  })

  test('with Shift, sorts by a second column too', async () => {
    const { page, problems } = await openTable()
    await head(page, 'root').click()
    await head(page, 'after').click({ modifiers: ['Shift'] })
    expect(await page.locator('.fd-code code').innerText()).toBe(
      "table.orderby('root', aq.desc('after'))",
    )
    expect(await firstCells(page)).toEqual(await codeGives(page, table))
    expect(problems).toEqual([])
  })

  test('filters by text and by numbers, in a column and in all', async () => {
    const { page, problems } = await openTable()
    await page.getByLabel('Only rows where root is').fill('read')
    await page.getByLabel('Only rows where beforeMeanUs is').fill('> 0.5 ms')
    expect(await page.locator('.fd-code code').innerText()).toBe(
      'table.filter(d => aq.op.match(d.root, /read/i, 0) && d.beforeMeanUs > 500)',
    )
    const rows = await firstCells(page)
    expect(rows.length).toBeGreaterThan(0)
    expect(rows).toEqual(await codeGives(page, table))
    await page.getByRole('button', { name: 'Start over' }).click()
    await page.getByLabel('Only rows with').fill('> 1,000,000,000')
    expect(await firstCells(page)).toEqual([])
    expect(await page.getByText('No row fits.').isVisible()).toBe(true)
    await page.getByLabel('Only rows with').fill('WRITE')
    expect(await firstCells(page)).toEqual(await codeGives(page, table))
    expect(problems).toEqual([])
  })

  test('a filter that cannot be understood says so and leaves the rows', async () => {
    const { page, problems } = await openTable()
    const all = await firstCells(page)
    await page.getByLabel('Only rows where before is').fill('many')
    expect(await page.getByRole('alert').innerText()).toBe('Write a number, > 100, or 2..5.')
    expect(await firstCells(page)).toEqual(all)
    expect(problems).toEqual([])
  })

  test('a word in a summary filters by it, and lets go again', async () => {
    const { page, problems } = await openTable()
    const word = page.locator('.fd-top').first()
    await word.click()
    const code = await page.locator('.fd-code code').innerText()
    expect(code).toMatch(/^table\.filter\(d => d\.root === '/)
    await word.click()
    expect(await page.locator('.fd-code code').innerText()).toBe('table')
    expect(problems).toEqual([])
  })

  test('a column is hidden and shown by keys', async () => {
    const { page, problems } = await openTable()
    await page.locator('.fd-columns summary').focus()
    await page.keyboard.press('Enter')
    await page.getByRole('checkbox', { name: 'category' }).focus()
    await page.keyboard.press('Space')
    expect(await page.locator('thead th').first().innerText()).toContain('root')
    expect(await page.locator('.fd-code code').innerText()).toContain(".select('root', 'nodes'")
    await page.keyboard.press('Space')
    expect(await page.locator('.fd-code code').innerText()).toBe('table')
    expect(problems).toEqual([])
  })

  test('durations are said in their unit, to the last digit on hover', async () => {
    const { page, problems } = await openTable()
    const cell = page.locator('tbody tr').first().locator('td').nth(6)
    expect(await cell.innerText()).toMatch(/^[\d.]+ (µs|ms)$/)
    expect(await cell.locator('div').getAttribute('title')).toBe(
      `${table.get('beforeMeanUs', 0)} µs`,
    )
    expect(problems).toEqual([])
  })

  test('names that attack do nothing but show', async () => {
    const rows = { [HOSTILE]: [HOSTILE, 'a', 'b'], id: [1, 2, 3] }
    const many = Object.fromEntries(
      Object.entries(rows).map(([name, values]) => [name, Array(5).fill(values).flat()]),
    )
    const { page, problems } = await open([exploreTable(stageTable(many), { title: HOSTILE })])
    expect(await page.locator('img').count()).toBe(0)
    await page.locator('.fd-top').first().click()
    expect(await page.locator('tbody tr').count()).toBe(5)
    await page.locator('.fd-columns summary').click()
    await page.locator('.fd-sort').first().click()
    expect(await page.locator('img').count()).toBe(0)
    expect(problems).toEqual([])
  })

  test('in the dark and where it is narrow', async () => {
    const { page, problems } = await openTable({ dark: true, width: 500 })
    const wide = await page.evaluate('document.documentElement.scrollWidth')
    expect(wide).toBeLessThanOrEqual(500)
    expect(problems).toEqual([])
  })
})

describeInBrowser('a long table in a page', (open) => {
  const rows = 100_000
  const long = stageTable({
    category: Int32Array.from({ length: rows }, (_, i) => i),
    root: Array.from({ length: rows }, (_, i) => ['read', 'write', 'open'][i % 3]),
    meanUs: Float64Array.from({ length: rows }, (_, i) => (i * 7919) % 100_003),
  })

  test('has one page of its rows in the document, and leafs by keys', async () => {
    const { page, problems } = await open([exploreTable(long, { pageSize: 50 })])
    expect(await page.locator('tbody tr').count()).toBe(50)
    expect(await page.locator('nav').innerText()).toContain('rows 1 to 50 of 100,000')
    await page.getByRole('button', { name: 'Next page' }).click()
    expect((await firstCells(page))[0]).toBe('50')
    await page.getByRole('group', { name: 'Table, rows' }).focus()
    await page.keyboard.press('End')
    expect((await firstCells(page)).at(-1)).toBe('99,999')
    await page.keyboard.press('PageUp')
    expect((await firstCells(page))[0]).toBe('99,900')
    await page.keyboard.press('Home')
    expect((await firstCells(page))[0]).toBe('0')
    expect(problems).toEqual([])
  })

  test('sorts and filters all of them, and stays on a page that is there', async () => {
    const { page, problems } = await open([exploreTable(long)])
    await page.getByRole('button', { name: 'Last page' }).click()
    await page.getByLabel('Only rows where root is').fill('=read')
    await page.getByLabel('Only rows where meanUs is').fill('> 99 ms')
    await head(page, 'mean').click()
    const count = await page.locator('nav span[aria-live]').innerText()
    await page.getByRole('button', { name: 'First page' }).click()
    const plain = (cells: string[]) => cells.map((cell) => cell.replace(',', ''))
    const code = await page.locator('.fd-code code').innerText()
    expect(code).toBe(
      "table.filter(d => d.root === 'read' && d.meanUs > 99000).orderby(aq.desc('meanUs'))",
    )
    expect(plain(await firstCells(page))).toEqual(await codeGives(page, long))
    const made: StageTable = new Function('table', 'aq', `return ${code}`)(long, aq)
    expect(count).toContain(`of ${made.numRows()}`)
    expect(problems).toEqual([])
  })
})

describeInBrowser('tables as notebooks show them', (open) => {
  test('stages can be explored; a short one is a table with sorting alone', async () => {
    setTableHtml(explorableTableHtml)
    const short = ranking.table().slice(0, 3)
    const { page, problems } = await open([ranking, short])
    setTableHtml(undefined)
    const [first, second] = [page.locator('section').nth(0), page.locator('section').nth(1)]
    const shown = await first.locator('tbody tr').count()
    expect(shown).toBe(Math.min(10, ranking.mutations.length))
    expect(await second.locator('input[type=search]').count()).toBe(0)
    expect(await second.locator('.fd-code').count()).toBe(0)
    await second.getByRole('button', { name: 'category', exact: true }).click()
    expect(await second.locator('.fd-code code').innerText()).toBe(
      "table.orderby(aq.desc('category'))",
    )
    expect(problems).toEqual([])
  })

  test('what is left out of a long one is said', async () => {
    setTableHtml(explorableTableHtml)
    const { page, problems } = await open([flows])
    setTableHtml(undefined)
    const rows = flows.table().numRows().toLocaleString('en-US')
    expect(await page.locator('.fd-bar').first().innerText()).toMatch(
      new RegExp(`the first [\\d,]+ rows \\(of ${rows}\\)`),
    )
    expect(await page.locator('.fd-code code').innerText()).toMatch(/^table\.slice\(0, \d+\)$/)
    expect(problems).toEqual([])
  })
})
