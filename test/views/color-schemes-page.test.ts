import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { findHostClasses } from '../../src/compare/hosts/host-classes.ts'
import { diagnoseExplosion } from '../../src/explain/explosion/diagnose-explosion.ts'
import { expectedCategoryCurves } from '../../src/explain/explosion/expected-categories.ts'
import { explain } from '../../src/explain/parameters/explain.ts'
import { findVariance } from '../../src/explain/variance/find-variance.ts'
import { explore, plot } from '../../src/index.ts'
import { compareShops } from '../compare/findings/fixture.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { compareChainedLogs } from './charts/logs-fixture.ts'
import { expectApart, expectReadable, photographed, settled } from './readable.ts'
import { mixed } from './widgets/explanation-fixture.ts'
import { describeInBrowser, describeWithBrowser, pageOf } from './widgets/open-widgets.ts'

const comparison = compareShops({}, { payUs: 4000, archive: 0.3 })
const logs = compareChainedLogs()
const variance = findVariance(comparison)
const widgets = () => [
  explore(comparison.with({ smPThreshold: 3 }), { threshold: true }),
  explore(mixed()),
  explore(logs, {
    variable: logs.divergence.variables.find(({ kind }) => kind === 'event')?.name ?? '',
  }),
]
const charts = () => [
  plot(comparison),
  plot(comparison, 'contributions'),
  plot(comparison, 'shifts'),
  plot(comparison, 'counts'),
  plot(comparison, 'response-times'),
  plot(comparison, 'arrivals'),
  plot(logs.divergence),
  plot(logs.divergence, 'variable'),
  plot(variance),
  plot(variance.anomalies()),
  plot(findHostClasses(comparison.flows)),
  plot(diagnoseExplosion(comparison.categories)),
  plot(expectedCategoryCurves()),
  plot(comparison, 'flow', { category: 0 }),
  plot(explain(comparison, 0)),
  plot(comparison, 'moves'),
]

function rgb(hex: string): string {
  const parts = [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16))
  return `rgb(${parts.join(', ')})`
}

describeInBrowser('charts in widgets', (open) => {
  test.each([
    ['light', 800],
    ['dark', 1200],
  ] as const)('can be read in the %s scheme at %i px', async (scheme, width) => {
    for (const [i, widget] of widgets().entries()) {
      const { page, problems } = await open([widget], { dark: scheme === 'dark', width })
      await settled(page)
      await photographed(page, `widget${i}-${scheme}-${width}`)
      await expectReadable(page)
      expect(problems).toEqual([])
    }
  })

  test('follow the scheme of the system and the theme of a front-end', async () => {
    const { page, problems } = await open(widgets().slice(0, 1))
    const inkOf = () =>
      page
        .locator('svg.marks text')
        .first()
        .evaluate((text) => getComputedStyle(text).fill)
    await settled(page)
    const light = await inkOf()
    await page.emulateMedia({ colorScheme: 'dark' })
    await settled(page)
    const dark = await inkOf()
    expect(dark).not.toBe(light)
    await page.locator('svg.marks .mark-rect path').first().hover({ force: true })
    const tooltip = page.locator('#vg-tooltip-element.visible')
    expect(await tooltip.getAttribute('class')).toContain('dark-theme')
    await expectReadable(page)
    await page.evaluate(() => document.body.setAttribute('data-jp-theme-light', 'true'))
    await settled(page)
    expect(await inkOf()).toBe(light)
    await page.evaluate(() => document.body.setAttribute('data-jp-theme-light', 'false'))
    await settled(page)
    expect(await inkOf()).toBe(dark)
    // A front-end that knows no dark scheme, as the classic Notebook, stays light.
    await page.evaluate(() => {
      document.body.style.background = '#fff'
      document.body.className = 'notebook_app'
    })
    await settled(page)
    expect(await inkOf()).toBe(light)
    expect(problems).toEqual([])
  })
})

describeWithBrowser('charts by themselves', (browser) => {
  test.each([
    ['light', '#ffffff', 800],
    ['dark', '#111111', 1200],
    // A page that knows no dark scheme stays light, whatever the system says.
    ['dark', '#ffffff', 1600],
  ] as const)(
    'can be read where the system is %s and the page %s, %i px',
    async (scheme, back, width) => {
      const file = join(temporaryFolder(), `charts-${scheme}.html`)
      const page = await browser().newPage({
        colorScheme: scheme,
        viewport: { width, height: 900 },
      })
      // Charts look at it when they are drawn, which may be before a style is added.
      const style = `<style>body { background: ${back} !important }</style>`
      writeFileSync(file, pageOf(charts()).replace('<body', `${style}<body`))
      await page.goto(pathToFileURL(file).href)
      await settled(page)
      await photographed(page, `charts-${scheme}-${back.slice(1)}-${width}`)
      const letters = await expectReadable(page)
      await expectApart(page)
      expect(letters.some(({ behind }) => behind === rgb(back))).toBe(true)
      await page.close()
    },
  )
})
