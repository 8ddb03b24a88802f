import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { findVariance } from '../../src/explain/variance/find-variance.ts'
import { explore, plot } from '../../src/index.ts'
import { compareShops } from '../compare/findings/fixture.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { compareChainedLogs } from './charts/logs-fixture.ts'
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
]

/** Contrast that letters of any size need (WCAG 2.2, 1.4.3). */
const MIN_CONTRAST = 4.5

interface Letters {
  readonly text: string
  readonly contrast: number
  readonly ink: string
  readonly behind: string
}

/** Every text in every chart, with the contrast to what is painted behind its middle. */
function lettersOf(page: Page): Promise<Letters[]> {
  // Locators look into shadow roots.
  return page.locator('svg.marks text').evaluateAll((texts) => {
    const rootOf = (text: Element) => text.getRootNode() as Document | ShadowRoot
    for (const root of new Set(texts.map(rootOf))) {
      const style = document.createElement('style')
      style.textContent = 'svg.marks * { pointer-events: all !important }'
      const place = root instanceof ShadowRoot ? root : document.head
      place.append(style)
    }
    const numbers = (color: string) => Array.from(color.matchAll(/[\d.]+/g), Number)
    const isPainted = (color: string) => {
      const [, , , opacity = 1] = numbers(color)
      return color !== 'none' && color !== '' && opacity > 0.5
    }
    const luminance = (color: string) => {
      const [red = 0, green = 0, blue = 0] = numbers(color).map((value) => {
        const share = value / 255
        return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
      })
      return 0.2126 * red + 0.7152 * green + 0.0722 * blue
    }
    const backOf = (text: Element) => {
      text.scrollIntoView({ block: 'center', inline: 'center' })
      const { x, y, width, height } = text.getBoundingClientRect()
      for (const one of rootOf(text).elementsFromPoint(x + width / 2, y + height / 2)) {
        if (one.tagName === 'text' || one.tagName === 'tspan') continue
        const { fill, fillOpacity, opacity, backgroundColor } = getComputedStyle(one)
        const isShape = one instanceof SVGGeometryElement
        if (isShape && Number(fillOpacity) * Number(opacity) > 0.5 && isPainted(fill)) return fill
        if (!(one instanceof SVGElement) && isPainted(backgroundColor)) return backgroundColor
      }
      return 'rgb(255, 255, 255)'
    }
    const found: { text: string; contrast: number; ink: string; behind: string }[] = []
    for (const text of texts) {
      const { fill, opacity } = getComputedStyle(text)
      const isHalo = text.hasAttribute('stroke')
      // What has an outline is the halo of the same letters, which are drawn above it.
      if (text.textContent?.trim() === '' || Number(opacity) === 0 || isHalo) continue
      const behind = backOf(text)
      const [light, dark] = [luminance(fill), luminance(behind)].sort((a, b) => b - a)
      const contrast = (Number(light) + 0.05) / (Number(dark) + 0.05)
      found.push({ text: text.textContent ?? '', contrast, ink: fill, behind })
    }
    return found
  })
}

async function expectReadable(page: Page): Promise<Letters[]> {
  const letters = await lettersOf(page)
  expect(letters.length).toBeGreaterThan(5)
  expect(letters.filter(({ contrast }) => contrast < MIN_CONTRAST)).toEqual([])
  return letters
}

/** Waits until charts are drawn, and drawn anew. */
async function settled(page: Page): Promise<void> {
  let known = -1
  for (let same = 0, looks = 0; same < 2 && looks < 40; looks++) {
    await page.waitForTimeout(200)
    const count = await page.locator('svg.marks text').count()
    same = count === known && count > 0 ? same + 1 : 0
    known = count
  }
}

function rgb(hex: string): string {
  const parts = [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16))
  return `rgb(${parts.join(', ')})`
}

/** Pictures of what is tested, where `FLOWDELTA_PICTURES` names a folder. */
async function photographed(page: Page, name: string): Promise<void> {
  const folder = process.env['FLOWDELTA_PICTURES']
  if (folder === undefined) return
  mkdirSync(folder, { recursive: true })
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true })
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
    await expectReadable(page)
    await page.evaluate(() => document.body.setAttribute('data-jp-theme-light', 'true'))
    await settled(page)
    expect(await inkOf()).toBe(light)
    await page.evaluate(() => document.body.setAttribute('data-jp-theme-light', 'false'))
    await settled(page)
    expect(await inkOf()).toBe(dark)
    expect(problems).toEqual([])
  })
})

describeWithBrowser('charts by themselves', (browser) => {
  test.each([
    ['light', '#ffffff'],
    ['dark', '#111111'],
    // A page that knows no dark scheme stays light, whatever the system says.
    ['dark', '#ffffff'],
  ] as const)('can be read where the system is %s and the page %s', async (scheme, back) => {
    const file = join(temporaryFolder(), `charts-${scheme}.html`)
    const page = await browser().newPage({
      colorScheme: scheme,
      viewport: { width: 1200, height: 900 },
    })
    writeFileSync(file, pageOf(charts()))
    await page.goto(pathToFileURL(file).href)
    await page.addStyleTag({ content: `body { background: ${back} !important }` })
    await settled(page)
    await photographed(page, `charts-${scheme}-${back.slice(1)}`)
    const letters = await expectReadable(page)
    expect(letters.some(({ behind }) => behind === rgb(back))).toBe(true)
    await page.close()
  })
})
