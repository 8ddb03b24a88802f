import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import type { Comparison } from '../../../src/compare/comparison.ts'
import { explore } from '../../../src/views/explore.ts'
import { compareShops } from '../../compare/findings/fixture.ts'
import { HOSTILE } from '../notebook/fixture.ts'
import { categoriesOf, comparison, pasted } from './categories-fixture.ts'
import { describeInBrowser } from './open-widgets.ts'

/** The explorer of variance with its plots of all categories open. */
const plots = (of: Comparison) => explore(of, 'variance', { categories: true })

/** The code of the table. */
const codeOf = (page: Page) => page.locator('.fd-categories .fd-code code').innerText()
const shownIn = async (page: Page) =>
  (await page.locator('.fd-categories tbody tr td:first-child').allInnerTexts()).map(Number)

describeInBrowser('all categories in a page', (open) => {
  test('a frame filters the table, and the code gives the same', async () => {
    const { page, problems } = await open([plots(comparison)])
    const all = await codeOf(page)
    for (const [across, up] of [
      ['before', 'after'],
      ['beforeC2', 'afterMeanUs'],
    ] as const) {
      await page.locator('.fd-plots select').first().selectOption(across)
      await page.locator('.fd-plots select').last().selectOption(up)
      const plot = page.locator('.fd-plots .fd-chart').nth(1).locator('svg')
      await plot.waitFor()
      await plot.scrollIntoViewIfNeeded()
      const box = await plot.boundingBox()
      if (box === null) throw new Error('no scatter')
      await page.mouse.move(box.x + 0.25 * box.width, box.y + 0.27 * box.height)
      await page.mouse.down()
      await page.mouse.move(box.x + 0.6 * box.width, box.y + 0.6 * box.height)
      await page.mouse.move(box.x + 0.96 * box.width, box.y + 0.82 * box.height)
      await page.mouse.up()
      const code = page.locator('.fd-categories .fd-code code')
      await expect.poll(() => code.textContent()).not.toBe(all)
      const shown = await shownIn(page)
      expect(shown.length).toBeGreaterThan(0)
      const framed = categoriesOf(pasted(await codeOf(page)))
      expect(framed.length).toBeLessThan(comparison.categories.size)
      expect(framed).toEqual(expect.arrayContaining(shown))
    }
    await page.locator('.fd-plots select').last().selectOption('after')
    expect(await codeOf(page)).toBe(all)
    expect(problems).toEqual([])
  })

  test('names from traces do nothing but show, in the dark and where it is narrow', async () => {
    const shops = compareShops({}, { payUs: 2600 })
    const hostile = shops.with({ label: ({ operation }) => `${operation} ${HOSTILE}` })
    const { page, problems } = await open([plots(hostile)], { dark: true, width: 500 })
    await page.locator('.fd-chart svg').nth(1).waitFor()
    expect(await page.locator('.flowdelta img, .flowdelta script').count()).toBe(0)
    expect(await page.locator('.fd-categories tbody').innerText()).toContain('<img')
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(500)
    expect(problems).toEqual([])
  })
})
