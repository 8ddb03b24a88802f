import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { formatDuration, grouped } from '../../../src/core/words.ts'
import { AFTER, BEFORE, type FlowSet } from '../../../src/flows/flow-set.ts'
import { explore } from '../../../src/views/explore.ts'
import { timelineModel } from '../../../src/views/widgets/timeline/timeline-model.tsx'
import { compareShops } from '../../compare/findings/fixture.ts'
import { HOSTILE } from '../notebook/fixture.ts'
import { describeInBrowser } from './open-widgets.ts'
import { comparison, dataOf, pasted } from './timeline-fixture.ts'

const codeOf = (page: Page) => page.locator('.fd-code code').innerText()
const requestsOf = async (page: Page): Promise<string[]> =>
  Promise.all(
    [0, 1].map((row) =>
      page.locator('.fd-facts tbody tr').nth(row).locator('td').nth(1).innerText(),
    ),
  )

async function drag(
  page: Page,
  period: 'before' | 'after',
  from: number,
  to: number,
): Promise<void> {
  const area = page.locator('.fd-zoom').nth(period === 'before' ? 0 : 1)
  const box = await area.boundingBox()
  if (box === null) throw new Error('nothing to drag on')
  await page.mouse.move(box.x + box.width * from, box.y + 90)
  await page.mouse.down()
  await page.mouse.move(box.x + box.width * ((from + to) / 2), box.y + 100)
  await page.mouse.move(box.x + box.width * to, box.y + 100)
  await page.mouse.up()
}

/** What the table is to say when the code that is shown is pasted. */
async function expectAgreement(page: Page): Promise<FlowSet> {
  const flows = pasted(await codeOf(page))
  const shown = await requestsOf(page)
  expect(shown.map((text) => text.split(' ')[0])).toEqual([
    grouped(flows.count(BEFORE)),
    grouped(flows.count(AFTER)),
  ])
  return flows
}

describeInBrowser('the timeline in a page', (open) => {
  test('begins with everything', async () => {
    const { page, problems } = await open([explore(comparison, 'timeline')])
    expect(await codeOf(page)).toBe('comparison.flows')
    expect(await requestsOf(page)).toEqual(['10,000', '10,000'])
    expect(problems).toEqual([])
  })

  test('dragging selects a range of each period, and the code gives its requests', async () => {
    const { page, problems } = await open([explore(comparison, 'timeline')])
    await drag(page, 'before', 0.2, 0.5)
    expect(await codeOf(page)).toMatch(/^selectRequests\(comparison\.flows, .*beforeUs: \[/)
    await expectAgreement(page)
    await drag(page, 'after', 0.9, 0.4)
    const flows = await expectAgreement(page)
    const times = flows.responseTimeUs.slice(0, flows.count(BEFORE))
    const mean = times.reduce((sum, time) => sum + time, 0) / times.length
    expect(await page.locator('.fd-facts tbody tr').first().innerText()).toContain(
      formatDuration(mean),
    )
    expect(problems).toEqual([])
  })

  test('keys move the ends of a range', async () => {
    const { page, problems } = await open([explore(comparison, 'timeline')])
    const end = page.getByLabel('after, to')
    const step = timelineModel(dataOf(comparison)).stepUs
    const timeOf = async () => Number(await end.getAttribute('aria-valuenow'))
    const last = await timeOf()
    await end.focus()
    for (const key of ['ArrowLeft', 'ArrowLeft', 'ArrowLeft', 'ArrowRight']) {
      await page.keyboard.press(key)
    }
    expect(await timeOf()).toBe(last - 2 * step)
    await expectAgreement(page)
    await page.keyboard.press('End')
    expect(await codeOf(page)).toBe('comparison.flows')
    expect(problems).toEqual([])
  })

  test('filters by where requests begin and by category', async () => {
    const { page, problems } = await open([explore(comparison, 'timeline')])
    await drag(page, 'before', 0.2, 0.5)
    for (const group of ['that begin with', 'of a category']) {
      const value = await page
        .locator(`optgroup[label="${group}"] option`)
        .nth(1)
        .getAttribute('value')
      await page.locator('select').selectOption(value)
      expect((await expectAgreement(page)).size).toBeGreaterThan(0)
    }
    expect(problems).toEqual([])
  })

  test('selects the same range in both periods, if asked to', async () => {
    const { page, problems } = await open([explore(comparison, 'timeline')])
    await page.getByLabel('same range').check()
    await drag(page, 'after', 0.1, 0.3)
    const [, before, after] =
      /beforeUs: (\[.*?\]), afterUs: (\[.*?\])/.exec(await codeOf(page)) ?? []
    expect(before).toBe(after)
    await expectAgreement(page)
    await page.getByRole('button', { name: 'Select everything' }).click()
    expect(await codeOf(page)).toBe('comparison.flows')
    expect(problems).toEqual([])
  })

  test('names from traces do nothing but show, in the dark and where it is narrow', async () => {
    const shops = compareShops({}, { payUs: 2600 })
    const hostile = shops.with({ label: ({ operation }) => `${operation} ${HOSTILE}` })
    const { page, problems } = await open([explore(hostile, 'timeline')], {
      dark: true,
      width: 500,
    })
    await page.locator('select').selectOption('root 0')
    expect(pasted(await codeOf(page), hostile).size).toBe(hostile.flows.size)
    expect(await page.locator('.flowdelta img, .flowdelta script').count()).toBe(0)
    expect(await page.locator('option').nth(1).textContent()).toContain('<img')
    const wide = await page.evaluate(() => document.documentElement.scrollWidth)
    expect(wide).toBeLessThanOrEqual(500)
    expect(problems).toEqual([])
  })
})
