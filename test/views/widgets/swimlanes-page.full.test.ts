import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { compare } from '../../../src/comparison/comparison.ts'
import type { SwimlaneData } from '../../../src/views/widgets/swimlanes/swimlane-model.ts'
import { makeSpans } from '../../make-traces.ts'
import { HOSTILE } from '../notebook/fixture.ts'
import { describeInBrowser } from './open-widgets.ts'
import { comparison, dataOf, paying, swimlanes } from './swimlanes-fixture.ts'

const code = (page: Page) => page.locator('.fd-code code').innerText()

/** Pixels a microsecond in each panel, from the lengths of the two requests' own lines. */
async function scales(page: Page, data: SwimlaneData): Promise<number[]> {
  return Promise.all(
    data.sides.map(async ({ visits }, side) => {
      const line = page.locator(`[data-item="${side} visit-0"] rect`).nth(1)
      const width = Number(await line.getAttribute('width'))
      return width / ((visits[0]?.endUs ?? 0) - (visits[0]?.startUs ?? 0))
    }),
  )
}

describeInBrowser('swimlanes in a page', (open) => {
  const data = dataOf(swimlanes(comparison, paying))

  test('stand below or beside each other, on one scale', async () => {
    const { page, problems } = await open([swimlanes(comparison, paying)])
    const [before, after] = await scales(page, data)
    expect(before).toBeCloseTo(after as number, 4)
    await page.getByRole('button', { name: 'beside before' }).click()
    const [left, right] = await scales(page, data)
    expect(left).toBeCloseTo(right as number, 4)
    expect(left).toBeLessThan((before as number) * 0.6)
    expect(await code(page)).toBe(
      `explore(comparison, 'swimlanes', { category: ${paying}, arrangement: 'beside' })`,
    )
    expect(problems).toEqual([])
  })

  test('dragging across one goes into the time of both', async () => {
    const { page, problems } = await open([swimlanes(comparison, paying)])
    const plot = page.locator('.fd-zoom').nth(1)
    const box = (await plot.boundingBox()) as {
      x: number
      y: number
      width: number
      height: number
    }
    const y = box.y + box.height - 4
    await page.mouse.move(box.x + 0.5 * box.width, y)
    await page.mouse.down()
    await page.mouse.move(box.x + 0.2 * box.width, y)
    await page.mouse.up()
    const [, from, to] = /range: \[([\d.]+), ([\d.]+)\]/.exec(await code(page)) ?? []
    expect(Number(from) / data.lengthUs).toBeCloseTo(0.2, 2)
    expect(Number(to) / data.lengthUs).toBeCloseTo(0.5, 2)
    const [before, after] = await scales(page, data)
    expect(before).toBeCloseTo(after as number, 4)
    await page.getByRole('button', { name: 'whole time' }).click()
    expect(await code(page)).toBe(`explore(comparison, 'swimlanes', { category: ${paying} })`)
    expect(problems).toEqual([])
  })

  test('arrows go along a request, z into a message, Escape back', async () => {
    const { page, problems } = await open([swimlanes(comparison, paying)])
    await page.locator('.fd-lane-item[tabindex="0"]').first().focus()
    const words = () => page.locator('.fd-lane-words').innerText()
    expect(await words()).toMatch(/^shop, GET: /)
    await page.keyboard.press('ArrowRight')
    expect(await words()).toMatch(/^Call LOOKUP from shop to stock: sent at .* on the way/)
    await page.keyboard.press('z')
    expect(await code(page)).toContain('range: [')
    await page.keyboard.press('Escape')
    await page.keyboard.press('End')
    expect(await words()).toMatch(/^Reply CHARGE from pay to shop/)
    expect(await code(page)).toBe(`explore(comparison, 'swimlanes', { category: ${paying} })`)
    expect(problems).toEqual([])
  })

  test('names from traces do nothing but show', async () => {
    const traces = makeSpans([
      { id: '1', trace: HOSTILE, service: HOSTILE, operation: HOSTILE, startUs: 0, endUs: 100 },
      { id: '2', parent: '1', trace: HOSTILE, service: `${HOSTILE}2`, startUs: 10, endUs: 90 },
    ])
    const { page, problems } = await open(
      [swimlanes(compare(traces, traces), { before: HOSTILE, after: HOSTILE })],
      { dark: true, width: 500 },
    )
    await page.locator('.fd-lane-item').first().hover()
    expect(await page.locator('.flowdelta img, .flowdelta script').count()).toBe(0)
    expect(await page.locator('.fd-lane-words').innerText()).toContain('<img')
    const overflow = await page.evaluate(
      () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
    )
    expect(overflow).toBe(0)
    expect(problems).toEqual([])
  })
})
