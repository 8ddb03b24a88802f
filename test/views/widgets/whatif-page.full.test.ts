import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { formatDuration, percent } from '../../../src/core/words.ts'
import { explore } from '../../../src/views/explore.ts'
import { factorAt } from '../../../src/views/widgets/whatif/what-if-data.ts'
import type { Widget } from '../../../src/views/widgets/widget.ts'
import { diagnoseLatency } from '../../../src/whatif/diagnosis/diagnose-latency.ts'
import { namedServices } from '../charts/what-if-fixture.ts'
import { HOSTILE } from '../notebook/fixture.ts'
import { describeInBrowser } from './open-widgets.ts'
import { diagnosis, models, pasted } from './what-if-fixture.ts'

const codesOf = (page: Page) => page.locator('.fd-code code').allInnerTexts()
const rowOf = (page: Page, name: string) =>
  page.getByRole('table', { name: 'Response times' }).locator('tr', { hasText: name })
const slider = (page: Page, name: string) => page.getByRole('slider', { name, exact: true })

/** p50, p90 and p99 as a row of the page says them. */
async function quantilesIn(page: Page, name: string): Promise<string[]> {
  return (await rowOf(page, name).first().locator('td').allInnerTexts()).slice(0, 3)
}

const said = ({ p50Us, p90Us, p99Us }: { p50Us: number; p90Us: number; p99Us: number }) =>
  [p50Us, p90Us, p99Us].map(formatDuration)

describeInBrowser('what-if in a page', (open) => {
  test('dragging a service redraws the profile, and the code gives the same', async () => {
    const { page, problems } = await open([explore(models)])
    expect(await page.locator('.fd-what-if-changed').count()).toBe(0)
    expect(await codesOf(page)).toEqual(['explore(models)'])
    const lines = new Set<string | null>()
    for (const place of [3, 9, 15]) {
      await slider(page, 'server time of db').fill(String(place))
      lines.add(await page.locator('.fd-what-if-changed').getAttribute('d'))
      const [code = ''] = await codesOf(page)
      expect(code).toBe(`applyScenario(models, parseScenario('db*${factorAt(place)}'))`)
      expect(await quantilesIn(page, `db × ${factorAt(place)}`)).toEqual(
        said(pasted(code).quantiles),
      )
    }
    expect(lines.size).toBe(3)
    const state = `explore(models, { changes: [{ service: 'db', factor: ${factorAt(15)} }] })`
    expect((await codesOf(page))[1]).toBe(state)
    expect(pasted<Widget>(state).svg()).toContain(`db × ${factorAt(15)}`)
    const { beforeQuantiles } = pasted("applyScenario(models, parseScenario('db*1'))")
    expect(await quantilesIn(page, 'before')).toEqual(said(beforeQuantiles))
    await page.getByRole('button', { name: 'As it was' }).click()
    expect(await codesOf(page)).toEqual(['explore(models)'])
    expect(problems).toEqual([])
  })

  test('parts and operations have sliders of their own; several changes count together', async () => {
    const { page, problems } = await open([explore(models)])
    await page.getByRole('button', { name: 'own time' }).click()
    await slider(page, 'own time of web').fill('-9')
    await page.getByRole('button', { name: 'network' }).click()
    await page.getByRole('button', { name: 'operations' }).click()
    await page.getByLabel('factor of network of db serve db').fill('7.5')
    await page.keyboard.press('Tab')
    const [code = ''] = await codesOf(page)
    expect(code).toBe(
      `applyScenario(models, combineScenarios(parseScenario('preprocessing:web*${factorAt(-9)}'), ` +
        "scaleCalls({ service: 'db', operation: 'serve db', part: 'network', factor: 7.5 })))",
    )
    expect(await quantilesIn(page, 'own time of web')).toEqual(said(pasted(code).quantiles))
    await page.getByRole('button', { name: /take back: own time of web/ }).click()
    expect((await codesOf(page))[0]).not.toContain('web')
    expect(problems).toEqual([])
  })

  test('keys move a slider by one place, and say the factor', async () => {
    const { page, problems } = await open([explore(models)])
    await slider(page, 'server time of web').focus()
    for (const key of ['ArrowRight', 'ArrowRight', 'ArrowLeft']) await page.keyboard.press(key)
    expect(await slider(page, 'server time of web').getAttribute('aria-valuetext')).toBe('× 1.05')
    expect(await page.locator('p[aria-live]').innerText()).toMatch(/^web × 1.05: p50 .+ → .+, p90/)
    await page.keyboard.press('ArrowLeft')
    expect(await page.locator('p[aria-live]').innerText()).toBe('Nothing is changed.')
    expect(problems).toEqual([])
  })

  test('scenarios that are kept stand together, with how many requests meet a time', async () => {
    const { page, problems } = await open([explore(diagnosis)])
    await page.getByLabel('how many within').fill('12 ms')
    await page.keyboard.press('Tab')
    const names: string[] = []
    for (const place of [9, -9]) {
      await slider(page, 'server time of db').fill(String(place))
      await page.getByRole('button', { name: 'Keep' }).click()
      names.push(`db × ${factorAt(place)}`)
    }
    expect(await page.getByRole('button', { name: 'Keep' }).isDisabled()).toBe(true)
    const code = (await codesOf(page)).at(-1) as string
    const kept = [9, -9].map((place) => `[{ service: 'db', factor: ${factorAt(place)} }]`)
    expect(code).toBe(`explore(diagnosis, { kept: [${kept.join(', ')}], within: 12000 })`)
    expect(pasted<Widget>(code).svg()).toContain(names[1])
    for (const [i, place] of [9, -9].entries()) {
      const { profile } = pasted(`applyScenario(models, parseScenario('db*${factorAt(place)}'))`)
      const cells = await rowOf(page, names[i] as string)
        .first()
        .locator('td')
        .allInnerTexts()
      expect(cells.at(-1)).toBe(percent(profile.shareWithin(12_000)))
    }
    await page.getByRole('button', { name: `take back: ${names[0]}` }).click()
    expect((await codesOf(page)).at(-1)).toBe(
      `explore(diagnosis, { kept: [${kept[1]}], within: 12000 })`,
    )
    expect(problems).toEqual([])
  })

  test('a click on a cause lays its profile over the others', async () => {
    const { page, problems } = await open([explore(diagnosis)])
    const first = page.getByRole('row', { name: /1\. server time of db/ }).first()
    await first.click()
    expect(await first.getAttribute('aria-selected')).toBe('true')
    expect(await page.locator('.fd-what-if-cause').count()).toBe(1)
    expect(await quantilesIn(page, 'cause 1')).toEqual(said(diagnosis.profile(1).quantiles))
    expect(await codesOf(page)).toEqual([
      'diagnosis.profile(1)',
      'explore(diagnosis, { cause: 1 })',
    ])
    expect(pasted<{ title: string }>('diagnosis.profile(1)').title).toContain('server time of db')
    await first.click()
    expect(await page.locator('.fd-what-if-cause').count()).toBe(0)
    expect(problems).toEqual([])
  })

  test('the tree of causes is gone through with arrows, one stop of the Tab key', async () => {
    const { page, problems } = await open([explore(diagnosis)])
    const rows = page.locator('.fd-what-if-causes tbody tr')
    expect(await rows.evaluateAll((all) => all.filter((row) => row.tabIndex === 0).length)).toBe(1)
    const closed = await rows.count()
    const parent = rows.and(page.locator('[aria-expanded="false"]')).first()
    await parent.focus()
    await page.keyboard.press('ArrowRight')
    expect(await rows.count()).toBeGreaterThan(closed)
    await page.keyboard.press('ArrowRight')
    const child = page.locator('.fd-what-if-causes tr:focus')
    expect(await child.getAttribute('aria-level')).toBe('2')
    await page.keyboard.press('Enter')
    expect(await child.getAttribute('aria-selected')).toBe('true')
    await page.keyboard.press('ArrowLeft')
    await page.keyboard.press('ArrowLeft')
    expect(await rows.count()).toBe(closed)
    await page.keyboard.press('Escape')
    expect(await page.locator('.fd-what-if-cause').count()).toBe(0)
    expect(problems).toEqual([])
  })

  test('names from traces do nothing but show, in the dark and where it is narrow', async () => {
    const [before, after] = namedServices(HOSTILE)
    const hostile = diagnoseLatency(before, after, { depth: 2 })
    const widget = explore(hostile, { changes: [{ service: HOSTILE, factor: 2 }] })
    const { page, problems } = await open([widget], { dark: true, width: 500 })
    await page.locator('.fd-what-if-causes tbody tr').first().click()
    await page.getByRole('button', { name: 'operations' }).click()
    expect(await page.locator('.flowdelta img, .flowdelta script').count()).toBe(0)
    expect(await page.locator('.fd-what-if-sliders').innerText()).toContain('<img')
    const [code = ''] = await codesOf(page)
    expect(pasted(code, { diagnosis: hostile }).touched).toBe(60)
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(500)
    expect(problems).toEqual([])
  })
})
