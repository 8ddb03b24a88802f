import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { explore, plot } from '../../src/index.ts'
import { reportHtml } from '../../src/views/report/report.ts'
import { compareShops } from '../compare/findings/fixture.ts'
import { recordedCase } from '../recorded.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { expectApart, expectReadable, photographed, settled } from './readable.ts'
import { describeWithBrowser, pageOf } from './widgets/open-widgets.ts'

const CASES = ['delay-1ms', 'mds-config']

/** Size of the smallest letters in pictures, in pixels of the page. */
function smallestLetters(page: Page): Promise<number> {
  return page.locator('svg text').evaluateAll((texts) => {
    const sizes = (texts as SVGTextElement[])
      .filter((text) => text.checkVisibility() && text.textContent?.trim() !== '')
      .map((text) => {
        const { a = 0, b = 0 } = text.getScreenCTM() ?? {}
        return Number.parseFloat(getComputedStyle(text).fontSize) * Math.hypot(a, b)
      })
    return Math.min(...sizes)
  })
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
    await expectApart(page)
    await expectReadable(page)
    await page.close()
  })

  test.each(each)('begin explore and reports of %i px in the %s scheme', async (width, scheme) => {
    const comparison = compareShops({}, { stockUs: 1600, payUs: 4000 })
    const page = await opened(pageOf([explore(comparison)]), width, scheme)
    await settled(page)
    await photographed(page, `explore-${scheme}-${width}`)
    await expectApart(page)
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
    await expectApart(report)
    expect(await smallestLetters(report)).toBeGreaterThanOrEqual(11)
    await report.close()
  })
})
