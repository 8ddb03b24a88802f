import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import type { Comparison } from '../../../src/comparison/comparison.ts'
import { BEFORE } from '../../../src/flows/flow-set.ts'
import { explore } from '../../../src/views/explore.ts'
import { connectCharts } from '../../../src/views/notebook/connect-charts.ts'
import { compareShops } from '../../compare/findings/fixture.ts'
import { expectReadable, settled } from '../readable.ts'
import { describeInBrowser } from './open-widgets.ts'

connectCharts()

/** Pictures of what is tested, where `FLOWDELTA_PICTURES` names a folder. */
async function photographed(page: Page, name: string): Promise<void> {
  const folder = process.env['FLOWDELTA_PICTURES']
  if (folder === undefined) return
  mkdirSync(folder, { recursive: true })
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true })
}

async function brush(page: Page, from: number, to: number): Promise<void> {
  const box = await page.locator('.fd-zoom').nth(1).boundingBox()
  if (box === null) throw new Error('nothing to brush')
  await page.mouse.move(box.x + box.width * from, box.y + 30)
  await page.mouse.down()
  await page.mouse.move(box.x + box.width * to, box.y + 35, { steps: 3 })
  await page.mouse.up()
  await page.getByText('are compared with').waitFor()
}

const findingsOf = (page: Page) =>
  page
    .getByRole('table', { name: 'Findings' })
    .locator('tbody tr')
    .evaluateAll((rows) => rows.map((row) => row.querySelectorAll('td')[1]?.textContent))

/** The same stretch, compared here. */
async function expectedOf(page: Page, comparison: Comparison): Promise<(string | undefined)[]> {
  const [from, to] = await Promise.all(
    ['after, from', 'after, to'].map(async (name) =>
      Number(await page.getByLabel(name).getAttribute('aria-valuenow')),
    ),
  )
  const { period, startUs } = comparison.flows
  const selected = comparison.where((row) => {
    const us = startUs[row] as number
    return period[row] === BEFORE || (us >= (from ?? 0) && us < (to ?? 0))
  })
  return selected.findings.findings.map(({ title }) => title)
}

const CASES = [
  ['slower work', () => compareShops({}, { stockUs: 1600, payUs: 4000 })],
  ['more calls', () => compareShops({}, { payUs: 2600, payEvery: 2 })],
] as const

describeInBrowser('a stretch of time in a page', (open) => {
  test.each(CASES)('of %s is compared as where does, on mouse-up', async (_, make) => {
    const comparison = make()
    const { page, problems } = await open([explore(comparison)])
    const whole = await page.locator('svg.marks').first().textContent()
    await brush(page, 0.3, 0.8)
    expect(await findingsOf(page)).toEqual(await expectedOf(page, comparison))
    await settled(page)
    expect(await page.locator('svg.marks').first().textContent()).not.toBe(whole)
    await page.getByLabel('after, to').focus()
    await page.keyboard.press('PageDown')
    await page.getByText('Comparing the selected').waitFor()
    await page.getByText('are compared with').waitFor()
    expect(await findingsOf(page)).toEqual(await expectedOf(page, comparison))
    await page.getByRole('button', { name: 'Select everything' }).click()
    expect(await findingsOf(page)).toEqual(comparison.findings.findings.map(({ title }) => title))
    expect(problems).toEqual([])
  })

  test('its ends move by the mouse', async () => {
    const { page, problems } = await open([explore(compareShops({}, { payUs: 4000 }), 'timeline')])
    await brush(page, 0.3, 0.8)
    const end = page.getByLabel('after, from')
    const place = await end.locator('rect').first().boundingBox()
    if (place === null) throw new Error('no end')
    const was = Number(await end.getAttribute('aria-valuenow'))
    await page.mouse.move(place.x + 4, place.y + 4)
    await page.mouse.down()
    await page.mouse.move(place.x + 104, place.y + 4, { steps: 3 })
    await page.mouse.up()
    expect(Number(await end.getAttribute('aria-valuenow'))).toBeGreaterThan(was)
    await page.getByText('are compared with').waitFor()
    expect((await findingsOf(page)).length).toBe(1)
    expect(problems).toEqual([])
  })

  test('a part of the ribbon opens by a click on it, and is undone', async () => {
    const traceUrl = 'http://localhost:16686/trace/{traceId}'
    const { page, problems } = await open([
      explore(compareShops({}, { stockUs: 1600, payUs: 4000 }), { traceUrl }),
    ])
    await settled(page)
    const parts = page.getByRole('group', { name: 'Parts of the request' }).getByRole('button')
    const bars = page.locator('svg.marks').first().locator('.mark-rect path')
    const widths = await bars.evaluateAll((all) =>
      all.map((one) => one.getBoundingClientRect().width),
    )
    await bars.nth(widths.length - 1).click()
    for (const place of await bars.all()) {
      if ((await page.getByRole('button', { name: 'Undo this' }).count()) > 0) break
      await place.click({ force: true })
    }
    expect(await page.locator('.fd-part a').count()).toBe(2)
    await page.getByRole('button', { name: 'Undo this' }).click()
    const rows = page.getByRole('table', { name: 'With and without this part' }).locator('tr')
    expect(await rows.count()).toBe(4)
    const [after, without] = await Promise.all(
      [2, 3].map((row) => rows.nth(row).locator('svg rect').getAttribute('width')),
    )
    expect(Number(without)).toBeLessThan(Number(after))
    expect(await parts.count()).toBeGreaterThan(1)
    expect(problems).toEqual([])
  })

  test.each([
    [800, 'light'],
    [1200, 'dark'],
    [1600, 'light'],
  ] as const)('can be read in pages of %i px, %s', async (width, scheme) => {
    const { page, problems } = await open(
      [explore(compareShops({}, { stockUs: 1600, payUs: 4000, archive: 0.3 }))],
      { width, dark: scheme === 'dark' },
    )
    await brush(page, 0.25, 0.7)
    await settled(page)
    const parts = page.getByRole('group', { name: 'Parts of the request' }).getByRole('button')
    await parts.first().click()
    await page.getByRole('button', { name: 'Undo this' }).click()
    await page.getByRole('button', { name: 'Finding 1' }).click()
    await settled(page)
    await photographed(page, `stretch-${scheme}-${width}`)
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(
      width,
    )
    await expectReadable(page)
    expect(problems).toEqual([])
  })
})
