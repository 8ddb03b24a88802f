import { expect, test } from 'vitest'
import type { Comparison } from '../../../src/comparison/comparison.ts'
import { explore } from '../../../src/views/explore.ts'
import { connectCharts } from '../../../src/views/notebook/connect-charts.ts'
import { compareShops } from '../../compare/findings/fixture.ts'
import { HOSTILE } from '../notebook/fixture.ts'
import { describeInBrowser } from './open-widgets.ts'

connectCharts()

/** The explorer of variance with its plots of all categories open. */
const plots = (of: Comparison) => explore(of, 'variance', { categories: true })

describeInBrowser('all categories in a page', (open) => {
  test('names from traces do nothing but show, in the dark and where it is narrow', async () => {
    const shops = compareShops({}, { payUs: 2600 })
    const hostile = shops.with({ label: ({ operation }) => `${operation} ${HOSTILE}` })
    const { page, problems } = await open([plots(hostile)], { dark: true, width: 500 })
    await page.locator('.fd-chart svg').first().waitFor()
    expect(await page.locator('.flowdelta img, .flowdelta script').count()).toBe(0)
    expect(await page.locator('.fd-categories tbody').innerText()).toContain('<img')
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(500)
    expect(problems).toEqual([])
  })
})
