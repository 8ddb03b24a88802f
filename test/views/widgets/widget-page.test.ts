import { describe, expect, test } from 'vitest'
import { explore } from '../../../src/views/explore.ts'
import { staticBundles } from '../../../src/views/notebook/bundle-completer.ts'
import { connectCharts } from '../../../src/views/notebook/connect-charts.ts'
import { plot } from '../../../src/views/plot.ts'
import { compareShops } from '../../compare/findings/fixture.ts'
import { HOSTILE } from '../notebook/fixture.ts'
import { describeInBrowser, pageOf } from './open-widgets.ts'

connectCharts()
const comparison = compareShops({}, { payUs: 2600, payEvery: 2 })

describe('a page with widgets and charts', () => {
  const flow = (category: number) => plot(comparison, 'flow', { category })

  test('has each runtime once, however many outputs want it', () => {
    const explorer = (smPThreshold: number) =>
      explore(comparison.with({ smPThreshold }), { threshold: true })
    const html = pageOf([explorer(10), flow(0), explorer(1000), flow(1), explorer(1000)])
    expect(html.match(/data-flowdelta-runtime="charts"/g)).toHaveLength(1)
    expect(html.match(/data-flowdelta-runtime="widgets"/g)).toHaveLength(1)
    expect(html.match(/data-flowdelta-widget=/g)).toHaveLength(3)
  })

  test('stays under 1.5 MB with ten charts, two flows and a widget', () => {
    const kinds = ['findings', 'contributions', 'shifts', 'ribbon', 'counts', 'variation'] as const
    const charts = [
      ...kinds.map((kind) => plot(comparison, kind)),
      ...[0, 1].flatMap((category) => [
        plot(comparison, 'response-times', { category }),
        plot(comparison, 'arrivals', { category }),
      ]),
    ]
    expect(new Set(charts.map(({ title }) => title)).size).toBe(10)
    const html = pageOf([flow(0), flow(1), ...charts, explore(comparison, { threshold: true })])
    expect(html.match(/data-flowdelta-runtime="charts"/g)).toHaveLength(1)
    expect(html.length).toBeLessThan(1.5e6)
  })

  test('that is to be committed has pictures only', () => {
    const bundle = staticBundles()(explore(comparison, { threshold: true }).mimeBundle())
    expect(Object.keys(bundle)).toEqual(['text/plain', 'image/svg+xml'])
  })
})

describeInBrowser('names from traces in a page', (open) => {
  test('do nothing but show', async () => {
    const hostile = comparison.with({ label: ({ operation }) => `${operation} ${HOSTILE}` })
    const { page, problems } = await open([explore(hostile, { threshold: true })])
    await page.locator('input[type=number]').fill('1')
    expect(await page.locator('tbody tr').count()).toBeGreaterThan(0)
    expect(await page.locator('.flowdelta img, .flowdelta script').count()).toBe(0)
    expect(await page.locator('tbody').last().innerText()).toContain('<img')
    expect(problems).toEqual([])
  })
})
