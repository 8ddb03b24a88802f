import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import type { Comparison } from '../../../src/compare/comparison.ts'
import { AFTER, BEFORE } from '../../../src/flows/flow-set.ts'
import { explore } from '../../../src/views/explore.ts'
import { curveOf } from '../../../src/views/widgets/variance/category-points.ts'
import { compareShops } from '../../compare/findings/fixture.ts'
import { HOSTILE } from '../notebook/fixture.ts'
import { categoriesOf, comparison, data, pasted } from './categories-fixture.ts'
import { describeInBrowser } from './open-widgets.ts'

/** The explorer of variance with its plots of all categories open. */
const plots = (of: Comparison) => explore(of, 'variance', { categories: true })

/** The second line of code: what is looked at, or else the state. */
const codeOf = (page: Page) => page.locator('.fd-code code').nth(1).innerText()
const summaryOf = (page: Page) => page.locator('.fd-seen').innerText()

/** Where a category's dot is in the page. */
async function dotOf(page: Page, category: number): Promise<{ x: number; y: number }> {
  await page.locator('.fd-scatter').focus()
  await page.keyboard.press('Home')
  for (let step = 0; step < comparison.categories.size; step++) {
    const mark = page.locator('.fd-scatter .fd-scatter-mark').last()
    if ((await mark.getAttribute('data-category')) === String(category)) {
      const box = await mark.locator('circle').boundingBox()
      if (box !== null) return { x: box.x + box.width / 2, y: box.y + box.height / 2 }
    }
    await page.keyboard.press('ArrowRight')
  }
  throw new Error(`no dot of category ${category}`)
}

/** In both periods large and well apart from others. */
const LARGE = 2

describeInBrowser('all categories in a page', (open) => {
  test('pointing at a category in the scatter shows it in both plots', async () => {
    const { page, problems } = await open([plots(comparison)])
    const dot = await dotOf(page, LARGE)
    await page.mouse.move(0, 0)
    await page.mouse.move(dot.x + 2, dot.y)
    expect(await page.locator('.fd-scatter-mark').getAttribute('data-category')).toBe(String(LARGE))
    expect(await page.locator('.fd-curve-mark circle').count()).toBe(2)
    expect(await summaryOf(page)).toContain('frontend NFS3 READ (2): requests 218 → 218')
    expect(await codeOf(page)).toBe("explore(comparison, 'variance', { categories: true })")
    expect(problems).toEqual([])
  })

  test('pointing at the distribution shows the category in the scatter', async () => {
    const { page, problems } = await open([plots(comparison)])
    await page.locator('.fd-curves').focus()
    await page.keyboard.press('End')
    const last = [...curveOf(data, BEFORE, 10), ...curveOf(data, AFTER, 10)].sort(
      (a, b) => b.c2 - a.c2,
    )[0]
    expect(await page.locator('.fd-scatter-mark').getAttribute('data-category')).toBe(
      String(last?.category),
    )
    const box = await page.locator('.fd-curve-mark circle').first().boundingBox()
    await page.mouse.move((box?.x ?? 0) + 4, (box?.y ?? 0) + 7)
    expect(await page.locator('.fd-scatter-mark').getAttribute('data-category')).toBe(
      String(last?.category),
    )
    expect(problems).toEqual([])
  })

  test('a click pins a category and gives the code of its edges', async () => {
    const { page, problems } = await open([plots(comparison)])
    const dot = await dotOf(page, LARGE)
    await page.mouse.click(dot.x, dot.y)
    expect(await codeOf(page)).toBe(`comparison.responseTime.edgeTable(${LARGE})`)
    expect(pasted(await codeOf(page)).numRows()).toBeGreaterThan(0)
    await page.mouse.move(0, 0)
    expect(await page.locator('.fd-pinned h3').innerText()).toContain('(category 2)')
    expect(await page.locator('.fd-pinned').innerText()).toMatch(/218.*218.*predictable/s)
    await page.keyboard.press('Escape')
    expect(await page.locator('.fd-pinned').count()).toBe(0)
    expect(problems).toEqual([])
  })

  test('Enter pins too', async () => {
    const { page, problems } = await open([plots(comparison)])
    await page.locator('.fd-curves').focus()
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('Enter')
    const first = [...curveOf(data, BEFORE, 10), ...curveOf(data, AFTER, 10)].sort(
      (a, b) => a.c2 - b.c2,
    )[0]
    expect(await codeOf(page)).toBe(`comparison.responseTime.edgeTable(${first?.category})`)
    expect(problems).toEqual([])
  })

  test('a frame lists its categories, and the code gives the same', async () => {
    const { page, problems } = await open([plots(comparison)])
    for (const axes of [
      ['before', 'after'],
      ['beforeC2', 'afterMeanUs'],
    ] as const) {
      await page.getByLabel('across').selectOption(axes[0])
      await page.getByLabel('up').selectOption(axes[1])
      const box = await page.locator('.fd-scatter').boundingBox()
      if (box === null) throw new Error('no scatter')
      await page.mouse.move(box.x + 75, box.y + 60)
      await page.mouse.down()
      await page.mouse.move(box.x + 200, box.y + 150)
      await page.mouse.move(box.x + box.width * 0.95, box.y + 270)
      await page.mouse.up()
      const names = await page.locator('.fd-listed button').allInnerTexts()
      const shown = names.map((name) => Number(/\((\d+)\)$/.exec(name)?.[1]))
      expect(shown.length).toBeGreaterThan(0)
      expect(shown.sort((a, b) => a - b)).toEqual(categoriesOf(pasted(await codeOf(page))))
    }
    await page.locator('.fd-listed button').first().click()
    expect(await codeOf(page)).toMatch(/^comparison\.responseTime\.edgeTable\(\d+\)$/)
    await page.getByRole('button', { name: 'Select nothing' }).click()
    expect(await codeOf(page)).toMatch(
      /^explore\(comparison, 'variance', \{ categories: true, across: '\w+', up: '\w+' \}\)$/,
    )
    expect(problems).toEqual([])
  })

  test('Shift and arrows frame several', async () => {
    const { page, problems } = await open([plots(comparison)])
    await page.locator('.fd-scatter').focus()
    for (const key of ['End', 'Shift+ArrowLeft', 'Shift+ArrowLeft']) await page.keyboard.press(key)
    expect(await page.locator('.fd-listed button').count()).toBeGreaterThanOrEqual(2)
    expect(categoriesOf(pasted(await codeOf(page))).length).toBe(
      await page.locator('.fd-listed button').count(),
    )
    expect(problems).toEqual([])
  })

  test('names from traces do nothing but show, in the dark and where it is narrow', async () => {
    const shops = compareShops({}, { payUs: 2600 })
    const hostile = shops.with({ label: ({ operation }) => `${operation} ${HOSTILE}` })
    const { page, problems } = await open([plots(hostile)], { dark: true, width: 500 })
    await page.locator('.fd-scatter').focus()
    for (const key of ['ArrowRight', 'Shift+End', 'Enter']) await page.keyboard.press(key)
    expect(await page.locator('.flowdelta img, .flowdelta script').count()).toBe(0)
    expect(await page.locator('.fd-pinned h3').innerText()).toContain('<img')
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(500)
    expect(problems).toEqual([])
  })
})
