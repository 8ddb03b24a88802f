import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import type { AttentionGraph } from '../../../src/logs/attention/focus-attention.ts'
import type { LogComparison } from '../../../src/logs/compare-logs.ts'
import { explore } from '../../../src/views/explore.ts'
import { compareChainedLogs } from '../charts/logs-fixture.ts'
import { HOSTILE } from '../notebook/fixture.ts'
import { describeInBrowser, focusedIn } from './open-widgets.ts'

const compared = compareChainedLogs()

const codeOf = (page: Page) => page.locator('.fd-code code').first().innerText()
const pasted = (code: string, of: LogComparison = compared) =>
  new Function('compared', `return ${code}`)(of) as AttentionGraph
/** The names in the drawing, whole. */
const drawnNames = async (page: Page) =>
  (await page.locator('.fd-logs-variable text').allTextContents()).sort()
const namesOf = ({ nodes }: AttentionGraph) => nodes.map(({ name }) => name).sort()

describeInBrowser('logs in a page', (open) => {
  test('next-best graphs, states and the before class are one click away', async () => {
    const { page, problems } = await open([explore(compared, { name: 'compared' })])
    await page.locator('.fd-logs-list button').nth(1).click()
    const code = await codeOf(page)
    expect(code).toMatch(/^compared\.attention\.of\('event'\)\.find\(/)
    expect(await drawnNames(page)).toEqual(namesOf(pasted(code)))
    await page.getByRole('button', { name: 'states' }).click()
    await page.getByRole('button', { name: 'before', exact: true }).click()
    expect(await codeOf(page)).toBe("compared.with({ class: 'before' }).attention.best('state')")
    expect(await drawnNames(page)).toEqual(namesOf(pasted(await codeOf(page))))
    expect(await page.locator('.fd-logs-list button').count()).toBe(10)
    expect(problems).toEqual([])
  })

  test('a variable opens into its values and tests, by a click in the drawing', async () => {
    const { page, problems } = await open([explore(compared, { name: 'compared' })])
    await page.locator('.fd-logs-variable', { hasText: 'flush' }).click()
    const details = page.locator('.fd-logs-details')
    expect(await details.locator('tbody tr').count()).toBe(7)
    await details.locator('.fd-chart svg').waitFor()
    expect(await details.locator('.fd-chart .mark-symbol.role-mark path').count()).toBe(7 * 80)
    const [first] = await details.locator('tbody tr').allInnerTexts()
    const test = compared.divergence
      .variable('event', 'flush')
      ?.features.toSorted((a, b) => Math.abs(b.t) - Math.abs(a.t))[0]
    expect(first).toContain(`${Number(test?.t.toPrecision(3))}`)
    expect(first).toContain('< 0.001')
    expect(await page.locator('.fd-code code').last().innerText()).toBe(
      "plot(compared.divergence, 'variable', { name: 'flush', kind: 'event', limit: 10 })",
    )
    await page.getByRole('button', { name: 'Close the variable' }).click()
    expect(await details.count()).toBe(0)
    expect(problems).toEqual([])
  })

  test('names are reached and opened with the keyboard, and the drawing is one stop', async () => {
    const { page, problems } = await open([explore(compared, { name: 'compared' })])
    const stops = await page
      .locator('.fd-logs-variable')
      .evaluateAll((names) => names.filter((name) => (name as SVGElement).tabIndex === 0).length)
    expect(stops).toBe(1)
    await page.locator('.fd-logs-list button').last().focus()
    await page.keyboard.press('Tab')
    const focused = () => focusedIn(page).getAttribute('aria-label')
    expect(await focused()).toMatch(/^finish, performance: t = /)
    await page.keyboard.press('ArrowDown')
    const name = (await focused())?.split(':')[0]
    await page.keyboard.press('Enter')
    expect(await page.locator('.fd-logs-details h3').innerText()).toBe(name)
    expect(await page.locator('.fd-logs-variable[aria-pressed="true"]').count()).toBe(1)
    await page.keyboard.press('Escape')
    expect(await page.locator('.fd-logs-details').count()).toBe(0)
    expect(problems).toEqual([])
  })

  test('what differs without being in the graph is named, and opens', async () => {
    const { page, problems } = await open([
      explore(compared, { name: 'compared', feature: 'firstAbsolute' }),
    ])
    const others = page.locator('.fd-logs-others')
    expect(await others.innerText()).toContain('but finish does not depend on')
    await others.getByRole('button', { name: 'announce' }).click()
    expect(await page.locator('.fd-logs-details h3').innerText()).toBe('announce')
    expect(problems).toEqual([])
  })

  test('names from logs do nothing but show, in the dark and where it is narrow', async () => {
    const hostile = compareChainedLogs({ flush: HOSTILE, write: '\u202etxt', cache: '__proto__' })
    const { page, problems } = await open(
      [explore(hostile, { name: 'compared', variable: HOSTILE })],
      {
        dark: true,
        width: 500,
      },
    )
    expect(await page.locator('.fd-logs-details h3').innerText()).toContain('<img')
    expect(await page.locator('.flowdelta img, .flowdelta script').count()).toBe(0)
    await page.getByRole('button', { name: 'states' }).click()
    await page.locator('.fd-logs-rows button', { hasText: '__proto__' }).click()
    expect(await page.locator('.fd-logs-details h3').innerText()).toBe('__proto__')
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(500)
    expect(problems).toEqual([])
  })
})
