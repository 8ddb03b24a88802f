import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { explore } from '../../../src/views/explore.ts'
import type { GanttCall, GanttData } from '../../../src/views/widgets/gantt/gantt-model.ts'
import { makeSpans } from '../../make-traces.ts'
import { HOSTILE } from '../notebook/fixture.ts'
import { comparison, flows, large, largeId } from './gantt-fixture.ts'
import { describeInBrowser, focusedIn } from './open-widgets.ts'

const names = (page: Page) => page.locator('.fd-gantt-name').allInnerTexts()
const code = (page: Page) => page.locator('.fd-code code').innerText()

describeInBrowser('a trace in a page', (open) => {
  const widget = () => explore(comparison, 'trace', { id: largeId })

  test('folds and unfolds by click, keyboard and buttons', async () => {
    const { page, problems } = await open([widget()])
    const first = await names(page)
    await page.getByRole('button', { name: 'unfold 67 calls' }).click()
    expect(await names(page)).toHaveLength(first.length + 67)
    expect(await code(page)).toContain('collapsed: []')
    await page.locator('.fd-gantt-row').first().focus()
    await page.keyboard.press('ArrowLeft')
    expect(await names(page)).toHaveLength(1)
    expect(await page.locator('.fd-gantt-row').first().getAttribute('aria-expanded')).toBe('false')
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('End')
    const focused = () => focusedIn(page).getAttribute('data-call')
    expect(await focused()).toBe('78')
    await page.keyboard.press('ArrowLeft')
    expect(await focused()).not.toBe('78')
    await page.getByRole('button', { name: 'fold all', exact: true }).click()
    expect((await names(page)).length).toBeLessThan(first.length)
    expect(problems).toEqual([])
  })

  test('dragging along the axis goes into the time, Escape back out', async () => {
    const { page, problems } = await open([widget()])
    const axis = page.locator('.fd-gantt-axis')
    const box = (await axis.boundingBox()) as { x: number; y: number; width: number }
    await page.mouse.move(box.x + 0.25 * box.width, box.y + 10)
    await page.mouse.down()
    await page.mouse.move(box.x + 0.6 * box.width, box.y + 10)
    await page.mouse.move(box.x + 0.75 * box.width, box.y + 10)
    await page.mouse.up()
    const [, from, to] = /range: \[([\d.]+), ([\d.]+)\]/.exec(await code(page)) ?? []
    const took = flows.responseTimeUs[large] as number
    expect(Number(from) / took).toBeCloseTo(0.25, 2)
    expect(Number(to) / took).toBeCloseTo(0.75, 2)
    await page.locator('.fd-gantt-row').nth(2).focus()
    await page.keyboard.press('z')
    const call = (widget().data as { data: GanttData }).data.calls[2] as GanttCall
    const tenth = (us: number) => Math.round(us * 10) / 10
    expect(await code(page)).toContain(`range: [${tenth(call.startUs)}, ${tenth(call.endUs)}]`)
    await page.keyboard.press('Escape')
    expect(await code(page)).toBe(`explore(comparison, 'trace', { id: '${largeId}' })`)
    expect(problems).toEqual([])
  })

  test('a search finds names and parameters, and unfolds the way there', async () => {
    const { page, problems } = await open([widget()])
    const { data } = widget().data as { data: GanttData }
    await page.locator('input[type=search]').fill('prefetch')
    expect(await page.locator('.fd-found').count()).toBeGreaterThan(0)
    await page.locator('input[type=search]').fill('lock release')
    const matches = data.calls.filter(({ name }) => name === 'lock release').length
    expect(await page.getByText(`${matches} of 79 match`).count()).toBe(1)
    await page.keyboard.press('Enter')
    await page.keyboard.press('Enter')
    expect(await page.locator('.fd-gantt-details h3').innerText()).toBe('mds lock release')
    expect((await names(page)).length).toBe(79)
    expect(problems).toEqual([])
  })

  test('a row tells its times and parameters', async () => {
    const { page, problems } = await open([widget()])
    await page.locator('.fd-gantt-row').first().hover()
    const rows = await page.locator('.fd-gantt-details tr').allInnerTexts()
    expect(rows).toContain('calls within\t78 calls')
    expect(rows).toContain('kind\tserver')
    expect(problems).toEqual([])
  })

  test('names from traces do nothing but show', async () => {
    const hostile = { service: HOSTILE, operation: HOSTILE, host: HOSTILE }
    const traces = makeSpans([
      { ...hostile, id: '1', trace: HOSTILE, startUs: 0, endUs: 100 },
      { ...hostile, id: '2', parent: '1', trace: HOSTILE, startUs: 10, endUs: 60 },
    ])
    const { page, problems } = await open([explore(traces, 'trace', { id: HOSTILE })], {
      dark: true,
      width: 500,
    })
    await page.locator('input[type=search]').fill('<img')
    await page.keyboard.press('Enter')
    expect(await page.locator('.flowdelta img, .flowdelta script').count()).toBe(0)
    expect((await names(page))[0]).toContain('<img')
    expect(problems).toEqual([])
  })

  test('in a narrow page nothing sticks out; many rows come page by page', async () => {
    const wide = makeSpans([
      { id: 'r', startUs: 0, endUs: 10_000 },
      ...Array.from({ length: 700 }, (_, i) => ({
        id: `c${i}`,
        parent: 'r',
        startUs: 10 * i,
        endUs: 10 * i + 5,
      })),
    ])
    const { page, problems } = await open([explore(wide, 'trace', { id: 't', collapsed: [] })], {
      width: 500,
    })
    expect(await names(page)).toHaveLength(500)
    await page.getByRole('button', { name: /Show more of 201/ }).click()
    expect(await names(page)).toHaveLength(701)
    const overflow = await page.evaluate(
      () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
    )
    expect(overflow).toBe(0)
    expect(problems).toEqual([])
  })
})
