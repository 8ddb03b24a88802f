import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { squaredVariation } from '../../src/categories/categories.ts'
import { type Comparison, compare } from '../../src/comparison.ts'
import { AFTER, BEFORE, type Period } from '../../src/flows/flow-set.ts'
import type { StageTable } from '../../src/stage-table.ts'
import { ecdf } from '../../src/stats/ecdf.ts'
import { loadTraces } from '../../src/traces/load-traces.ts'
import { exploreVariation } from '../../src/widgets/variation/explore-variation.ts'
import { regionAround } from '../../src/widgets/variation/variation-highlight.tsx'
import {
  boundsBetween,
  categoriesWithin,
  measureScale,
  type Region,
  variationCode,
} from '../../src/widgets/variation/variation-measures.ts'
import {
  curveOf,
  MEASURES,
  type VariationData,
} from '../../src/widgets/variation/variation-model.ts'
import { keyedSpot, nearestSpot } from '../../src/widgets/variation/variation-picking.ts'
import { manyCategories } from '../charts/fixture.ts'
import { compareShops } from '../findings/fixture.ts'
import { HOSTILE } from '../notebook/fixture.ts'
import { describeInBrowser } from './open-widgets.ts'

const FOLDER = new URL('../../datasets/storage-service/mds-prefetch/', import.meta.url).pathname
const comparison = compare(
  await loadTraces(`${FOLDER}before.jsonl.gz`),
  await loadTraces(`${FOLDER}after.jsonl.gz`),
)
const dataOf = (of: Comparison): VariationData => exploreVariation(of).data as VariationData
const data = dataOf(comparison)

/** What code from the widget gives when it is pasted. */
function pasted(code: string, of: Comparison = comparison): StageTable {
  return new Function('comparison', `return ${code}`)(of)
}

/** The categories of a table, ascending. */
function categoriesOf(table: StageTable): number[] {
  return Array.from(table.array('category') as ArrayLike<number>).sort((a, b) => a - b)
}

describe('the distribution', () => {
  test.each([BEFORE, AFTER])('is that of C² over the large categories of period %i', (period) => {
    const { categories } = comparison
    const large = Array.from({ length: categories.size }, (_, category) => category).filter(
      (category) => categories.count(category, period) > 10,
    )
    const values = large.map((of) => squaredVariation(categories.responseTimeMoments(of, period)))
    const { x, y } = ecdf(values)
    const curve = curveOf(data, period)
    expect(curve.length).toBe(values.length)
    expect(curve.map(({ c2 }) => c2)).toEqual(Array.from(x))
    expect(curve.map(({ share }) => share)).toEqual(Array.from(y))
  })

  test('has only categories of more requests than asked for', () => {
    const sizes = (large: number, period: Period) =>
      curveOf(exploreVariation(comparison, { large }).data as VariationData, period).length
    expect(sizes(100, BEFORE)).toBeLessThan(sizes(10, BEFORE))
    expect(sizes(1e9, BEFORE)).toBe(0)
  })
})

describe('scales', () => {
  test('are the same for both periods', () => {
    expect(measureScale(data, 'beforeC2', 6).ticks).toEqual(measureScale(data, 'afterC2', 6).ticks)
  })

  test('have a place for what is 0 or missing, before all others', () => {
    const scale = measureScale(data, 'afterMeanUs', 6)
    expect(scale.ticks[0]).toEqual({ value: 0, text: 'none' })
    const least = Math.min(...data.measures.afterMeanUs.flatMap((mean) => mean ?? []))
    expect(scale.share(Number.NaN)).toBeLessThan(scale.share(least))
    expect(scale.value(scale.share(Number.NaN))).toBe(0)
    expect(scale.value(scale.share(least))).toBeCloseTo(least)
  })

  test('say durations as people do', () => {
    const texts = measureScale(data, 'beforeMeanUs', 7).ticks.map(({ text }) => text)
    expect(texts).toContain('1 ms')
    expect(texts).toContain('100 µs')
  })
})

describe('a frame and its code', () => {
  const shares: readonly (readonly [number, number])[] = [
    ...([
      [0, 1],
      [0, 0.05],
      [0.3, 0.7],
      [0.9, 0.2],
    ] as const),
  ]

  test('hold the same categories, whatever lies across and up', () => {
    let most = 0
    for (const across of MEASURES) {
      for (const up of MEASURES) {
        for (const one of shares) {
          for (const other of shares) {
            const region: Region = [
              boundsBetween(across, measureScale(data, across, 6), one),
              boundsBetween(up, measureScale(data, up, 6), other),
            ]
            const found = categoriesWithin(data, region)
            const code = variationCode('comparison', { pinned: null, region }) as string
            expect(categoriesOf(pasted(code))).toEqual([...found].sort((a, b) => a - b))
            most = Math.max(most, found.length)
          }
        }
      }
    }
    expect(most).toBe(comparison.categories.size)
  })

  test('around two categories hold both', () => {
    for (const axes of [
      ['before', 'after'],
      ['beforeC2', 'afterMeanUs'],
    ] as const) {
      for (let category = 1; category < comparison.categories.size; category++) {
        const found = categoriesWithin(data, regionAround(data, axes, [0, category]))
        expect(found).toEqual(expect.arrayContaining([0, category]))
      }
    }
  })

  test('give way to a category that is pinned', () => {
    expect(variationCode('mine', { pinned: 12, region: null })).toBe(
      'mine.responseTime.edgeTable(12)',
    )
    expect(variationCode('mine', { pinned: null, region: null })).toBeNull()
  })
})

describe('spots', () => {
  const spots = [
    { category: 0, x: 10, y: 90 },
    { category: 1, x: 50, y: 10 },
    { category: 2, x: 90, y: 50 },
  ]

  test('are found near the pointer, and only there', () => {
    expect(nearestSpot(spots, { x: 52, y: 15 })?.category).toBe(1)
    expect(nearestSpot(spots, { x: 52, y: 60 })).toBe(undefined)
  })

  test('are gone through from left to right, and from the bottom up', () => {
    expect(keyedSpot(spots, undefined, 'ArrowRight')?.category).toBe(0)
    expect(keyedSpot(spots, undefined, 'End')?.category).toBe(2)
    expect(keyedSpot(spots, spots[0], 'ArrowRight')?.category).toBe(1)
    expect(keyedSpot(spots, spots[0], 'ArrowUp')?.category).toBe(2)
    expect(keyedSpot(spots, spots[2], 'ArrowRight')?.category).toBe(2)
    expect(keyedSpot(spots, spots[1], 'Home')?.category).toBe(0)
    expect(keyedSpot(spots, spots[1], 'Tab')).toBe(undefined)
  })
})

describe('the widget', () => {
  test('is a picture of both plots without scripts', () => {
    const svg = exploreVariation(comparison, { across: 'beforeMeanUs', up: 'afterMeanUs' }).svg()
    expect(svg).toContain('mean response time after')
    expect(svg).toContain('of 10 below 1')
    expect(svg).not.toMatch(/NaN|undefined|var\(--/)
  })

  test('draws categories that lie on top of each other a few times only', () => {
    const many = exploreVariation(manyCategories(), { large: 2 })
    expect(many.svg().match(/<circle/g)?.length).toBeLessThan(300)
  })

  test('is drawn without any request as well', () => {
    const none = exploreVariation(compareShops({ requests: 1 }, { requests: 1 })).svg()
    expect(none).toContain('before: none as large')
    expect(none).not.toMatch(/NaN|undefined/)
  })

  test('checks its options', () => {
    expect(() => exploreVariation(comparison, { large: -1 })).toThrow('Option large is -1.')
    expect(() => exploreVariation(comparison, { up: 'c2' as never })).toThrow('Option up is "c2".')
    expect(() => exploreVariation(comparison, { limit: 3 } as never)).toThrow('limit')
  })
})

/** The last line of code: what is looked at, or else the state. */
const codeOf = (page: Page) => page.locator('.fd-code code').last().innerText()
const summaryOf = (page: Page) => page.locator('section > p').first().innerText()

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

describeInBrowser('variation in a page', (open) => {
  test('pointing at a category in the scatter shows it in both plots', async () => {
    const { page, problems } = await open([exploreVariation(comparison)])
    const dot = await dotOf(page, LARGE)
    await page.mouse.move(0, 0)
    await page.mouse.move(dot.x + 2, dot.y)
    expect(await page.locator('.fd-scatter-mark').getAttribute('data-category')).toBe(String(LARGE))
    expect(await page.locator('.fd-curve-mark circle').count()).toBe(2)
    expect(await summaryOf(page)).toContain('frontend NFS3 READ (2): requests 218 → 218')
    expect(await codeOf(page)).toBe('exploreVariation(comparison)')
    expect(problems).toEqual([])
  })

  test('pointing at the distribution shows the category in the scatter', async () => {
    const { page, problems } = await open([exploreVariation(comparison)])
    await page.locator('.fd-curves').focus()
    await page.keyboard.press('End')
    const last = [...curveOf(data, BEFORE), ...curveOf(data, AFTER)].sort((a, b) => b.c2 - a.c2)[0]
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
    const { page, problems } = await open([exploreVariation(comparison)])
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
    const { page, problems } = await open([exploreVariation(comparison)])
    await page.locator('.fd-curves').focus()
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('Enter')
    const first = [...curveOf(data, BEFORE), ...curveOf(data, AFTER)].sort((a, b) => a.c2 - b.c2)[0]
    expect(await codeOf(page)).toBe(`comparison.responseTime.edgeTable(${first?.category})`)
    expect(problems).toEqual([])
  })

  test('a frame lists its categories, and the code gives the same', async () => {
    const { page, problems } = await open([exploreVariation(comparison)])
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
      /^exploreVariation\(comparison, \{ across: '\w+', up: '\w+' \}\)$/,
    )
    expect(problems).toEqual([])
  })

  test('Shift and arrows frame several', async () => {
    const { page, problems } = await open([exploreVariation(comparison)])
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
    const { page, problems } = await open([exploreVariation(hostile)], { dark: true, width: 500 })
    await page.locator('.fd-scatter').focus()
    for (const key of ['ArrowRight', 'Shift+End', 'Enter']) await page.keyboard.press(key)
    expect(await page.locator('.flowdelta img, .flowdelta script').count()).toBe(0)
    expect(await page.locator('.fd-pinned h3').innerText()).toContain('<img')
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(500)
    expect(problems).toEqual([])
  })
})
