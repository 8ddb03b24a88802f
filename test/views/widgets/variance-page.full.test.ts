import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { categorize } from '../../../src/compare/categories/categorize.ts'
import { compare } from '../../../src/comparison/comparison.ts'
import { decodeColumns, type EncodedColumns } from '../../../src/core/columns.ts'
import { findVariance } from '../../../src/explain/variance/find-variance.ts'
import { buildFlows } from '../../../src/flows/build-flows.ts'
import { explore } from '../../../src/views/explore.ts'
import { connectCharts } from '../../../src/views/notebook/connect-charts.ts'
import type { VarianceData } from '../../../src/views/widgets/variance/variance-widget.tsx'
import { requests } from '../../explain/parameters/fixture.ts'
import { makeGraphs, makeSpans } from '../../make-traces.ts'
import { HOSTILE } from '../notebook/fixture.ts'
import { describeInBrowser } from './open-widgets.ts'
import { comparison, data, pasted, type variance } from './variance-fixture.ts'

connectCharts()

/** One category, A → B → C → D, whose first two steps take longer together, and the third less. */
function compareTogether() {
  const graphs = Array.from({ length: 20 }, (_, i) => ({
    labels: ['A', 'B', 'C', 'D'].map((point) => `m__t__${point}`),
    edges: [0, 1, 2].map((edge) => [edge, edge + 1] as const),
    latencyUs: [100 + i, 200 + i + (i % 3), 300 - i / 2],
  }))
  return compare(makeGraphs(graphs), makeGraphs(graphs))
}

const codeOf = (page: Page) => page.locator('.fd-code code').last().innerText()
const listed = (page: Page) => page.locator('.fd-variance-list tbody button')

describeInBrowser('variance in a page', (open) => {
  test('a category opens into its edges, and closes again', async () => {
    const { page, problems } = await open([explore(comparison, 'variance')])
    await listed(page).first().click()
    const { category, period } = data.spreads[0] as VarianceData['spreads'][number]
    expect(await codeOf(page)).toBe(
      `findVariance(comparison).category(${category}, { period: '${period}' })`,
    )
    expect(await page.locator('.fd-variance-edges tbody tr').count()).toBe(
      data.details[0]?.edges.length,
    )
    await page.locator('.fd-variance-open .fd-chart svg').waitFor()
    await listed(page).first().click()
    expect(await page.locator('.fd-variance-open').count()).toBe(0)
    expect(await codeOf(page)).toBe('findVariance(comparison)')
    expect(problems).toEqual([])
  })

  test('kinds with long names differ where they are read, and leave all columns in view', async () => {
    const calls = ['Availability', 'Cancellation'].map((call) => [
      'inventory-and-reservation-service',
      `/api/v1/reservations/${call}/of/rooms`,
    ])
    const spans = Array.from({ length: 60 }, (_, i) => {
      const [service, operation] = calls[i % 2] as [string, string]
      const [trace, startUs] = [`t${i}`, 1000 * i]
      const gateway = { trace, id: 'gw', service: 'public-gateway-service', operation: '/*' }
      const inner = { trace, id: 'in', parent: 'gw', service, operation }
      return [
        { ...gateway, startUs, endUs: startUs + 100 + i },
        { ...inner, startUs: startUs + 10, endUs: startUs + 90 },
      ]
    }).flat()
    const { page } = await open([explore(compare(makeSpans(spans), makeSpans(spans)), 'variance')])
    await page.setViewportSize({ width: 800, height: 900 })
    const names = await listed(page).allInnerTexts()
    expect(names.map((name) => /Availability|Cancellation/.exec(name)?.[0]).sort()).toEqual([
      ...['Availability', 'Availability', 'Cancellation', 'Cancellation'],
    ])
    const list = page.locator('.fd-variance-list').first()
    expect(await list.evaluate((each) => each.scrollWidth - each.clientWidth)).toBeLessThan(2)
  })

  test('an edge shows what it covaries with, as in the code, and lets go by a second click on its bar', async () => {
    const together = compareTogether()
    const { page, problems } = await open([explore(together, 'variance')])
    await listed(page).first().click()
    const bars = page.locator('.fd-variance-open .mark-rect path')
    await bars.first().waitFor()
    await bars.first().click()
    expect(await codeOf(page)).toMatch(/\.covariances\(0\)$/)
    const rows = page.locator('.fd-variance-edge tbody tr')
    const found = pasted(await codeOf(page), together) as ReturnType<
      ReturnType<typeof variance.category>['covariances']
    >
    expect(found.others.filter((one) => one.covaries).map(({ edge }) => edge)).toEqual([2, 1])
    expect(await rows.locator('td:nth-child(2)').allInnerTexts()).toEqual(['−1.00', '0.99'])
    await rows.locator('button').first().click()
    expect(await codeOf(page)).toMatch(/\.covariances\(2\)$/)
    await bars.nth(2).click()
    expect(await page.locator('.fd-variance-edge').count()).toBe(0)
    expect(problems).toEqual([])
  })

  test('a head sorts, and says how', async () => {
    const { page, problems } = await open([explore(comparison, 'variance')])
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

  test('a category without its edges in the page gives the code to see it', async () => {
    const { page, problems } = await open([explore(comparison, 'variance', { limit: 0 })])
    await listed(page).first().click()
    const code = await page.locator('section > p code').innerText()
    expect(code).toBe(
      `explore(comparison, 'variance', { category: ${data.spreads[0]?.category}, limit: 0 })`,
    )
    const again = (pasted(code) as { data: { data: EncodedColumns<VarianceData> } }).data.data
    expect(decodeColumns(again).open).toBe(0)
    expect(problems).toEqual([])
  })

  test('names from traces do nothing but show, in the dark and where it is narrow', async () => {
    const hostile = comparison.with({ label: ({ operation }) => `${operation} ${HOSTILE}` })
    const widget = explore(hostile, 'variance')
    const { page, problems } = await open([widget], { dark: true, width: 500 })
    await listed(page).first().click()
    await page.locator('.fd-variance-edges tbody button').first().click()
    expect(await page.locator('.flowdelta img, .flowdelta script').count()).toBe(0)
    expect(await page.locator('.fd-variance-list').innerText()).toContain('<img')
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(500)
    expect(problems).toEqual([])
  })
})

describeInBrowser('anomalies in a page', (open) => {
  const spans = requests(120, (i) => ({
    web: { size: 64 },
    store: { hit: i % 30 !== 7 },
    storeUs: (i % 30 === 7 ? 5000 : 100) + (i % 7) * 3,
  }))
  const found = findVariance(categorize(buildFlows(makeSpans(spans)))).anomalies()
  const stage = (id?: string) => explore(found, id === undefined ? {} : { id })

  test('a request far out opens as a trace, another asks for a page with it', async () => {
    const { page, problems } = await open([stage()])
    await page.locator('.fd-chart svg').waitFor()
    const dots = page.locator('.fd-chart path[aria-roledescription="point"]')
    await dots.last().click({ force: true })
    const heading = page.locator('.fd-gantt-rows')
    await heading.waitFor()
    const code = page.locator('.fd-code code')
    expect(await code.allInnerTexts()).toEqual([
      "explore(before, { id: 't7' })",
      "explore(anomalies, { id: 't7' })",
    ])
    await dots.first().click({ force: true })
    expect(await heading.count()).toBe(0)
    expect(await page.locator('section').innerText()).toContain('To see this one, run:')
    expect(problems).toEqual([])
  })

  test('a request that is asked for is there, whichever it is', async () => {
    const { page } = await open([stage('t20')])
    expect(await page.locator('h2, h3').allInnerTexts()).toContainEqual(
      expect.stringContaining('Trace t20'),
    )
    expect(() => stage('t999')).toThrow('Option id is "t999"')
  })
})
