import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { explore, plot } from '../../src/index.ts'
import { reportHtml } from '../../src/views/report/report.ts'
import { compareShops } from '../compare/findings/fixture.ts'
import { recordedCase } from '../recorded.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { expectReadable, settled } from './readable.ts'
import { describeWithBrowser, pageOf } from './widgets/open-widgets.ts'

const CASES = ['delay-1ms', 'mds-config']

/** Texts of ribbons that lie over another, or beyond their picture or the page. */
function collisions(page: Page): Promise<string[]> {
  return page.locator('svg:has(text:has-text("A mean request"))').evaluateAll((pictures) => {
    const touches = (a: DOMRect, b: DOMRect) =>
      a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1
    return pictures.flatMap((picture) => {
      const whole = picture.getBoundingClientRect()
      const texts = Array.from(picture.querySelectorAll('text')).filter(
        ({ textContent }) => textContent?.trim() !== '',
      )
      const boxes = texts.map((text) => text.getBoundingClientRect())
      return texts.flatMap(({ textContent: text }, i) => {
        const box = boxes[i] as DOMRect
        const isOut =
          box.left < whole.left - 1 ||
          box.right > whole.right + 1 ||
          box.top < whole.top - 1 ||
          box.bottom > whole.bottom + 1 ||
          box.right > document.documentElement.clientWidth
        const others = texts.filter((_, j) => j > i && touches(box, boxes[j] as DOMRect))
        return [
          ...(isOut ? [`${text} is cut`] : []),
          ...others.map((other) => `${text} lies over ${other.textContent}`),
        ]
      })
    })
  })
}

/** Pictures of what is tested, where `FLOWDELTA_PICTURES` names a folder. */
async function photographed(page: Page, name: string): Promise<void> {
  const folder = process.env['FLOWDELTA_PICTURES']
  if (folder === undefined) return
  mkdirSync(folder, { recursive: true })
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true })
}

describeWithBrowser('ribbons', (browser) => {
  const each = [
    [800, 'light'],
    [1200, 'dark'],
    [1600, 'light'],
  ] as const

  const opened = async (html: string, width: number, colorScheme: 'light' | 'dark') => {
    const file = join(temporaryFolder(), 'page.html')
    writeFileSync(file, html)
    const page = await browser().newPage({ colorScheme, viewport: { width, height: 900 } })
    await page.goto(pathToFileURL(file).href)
    return page
  }

  test.each(each)('fit pages of %i px and can be read in the %s scheme', async (width, scheme) => {
    const comparisons = await Promise.all(CASES.map(recordedCase))
    const charts = [
      ...comparisons.map((comparison) => plot(comparison)),
      plot(compareShops({}, { payUs: 4000, archive: 0.3 })),
      plot(compareShops({}, { stockUs: 1600, networkUs: 300 })),
    ]
    const back = `<style>body { background: ${scheme === 'dark' ? '#1b1b1b' : '#fff'} !important }</style>`
    const page = await opened(pageOf(charts).replace('<body', `${back}<body`), width, scheme)
    await settled(page)
    await photographed(page, `ribbons-${scheme}-${width}`)
    const wide = await page
      .locator('svg.marks')
      .evaluateAll((all) => all.map((one) => one.getBoundingClientRect().width))
    expect(wide).toHaveLength(charts.length)
    for (const one of wide) {
      expect(one).toBeLessThanOrEqual(1161)
      expect(one).toBeGreaterThan(Math.min(1159, width - 60))
    }
    expect(await collisions(page)).toEqual([])
    await expectReadable(page)
    await page.close()
  })

  test.each(each)('begin explore and reports of %i px in the %s scheme', async (width, scheme) => {
    const comparison = compareShops({}, { stockUs: 1600, payUs: 4000 })
    const page = await opened(pageOf([explore(comparison)]), width, scheme)
    await settled(page)
    await photographed(page, `explore-${scheme}-${width}`)
    expect(await collisions(page)).toEqual([])
    const top = (selector: string) =>
      page
        .locator(selector)
        .first()
        .evaluate((one) => one.getBoundingClientRect().top)
    expect(await top('svg.marks')).toBeLessThan(await top('table'))
    await expectReadable(page)
    await page.close()

    const report = await opened(reportHtml(comparison), width, scheme)
    await photographed(report, `report-${scheme}-${width}`)
    expect(await collisions(report)).toEqual([])
    await report.close()
  })
})
