import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { galleryWidgets } from '../../docs/gallery-widgets.ts'
import { findHostClasses } from '../../src/compare/hosts/host-classes.ts'
import { Comparison } from '../../src/comparison/comparison.ts'
import { diagnoseExplosion } from '../../src/explain/explosion/diagnose-explosion.ts'
import { expectedCategoryCurves } from '../../src/explain/explosion/expected-categories.ts'
import { explain } from '../../src/explain/parameters/explain.ts'
import { findVariance } from '../../src/explain/variance/find-variance.ts'
import { connectCharts } from '../../src/views/notebook/connect-charts.ts'
import { PLOTTED, plot } from '../../src/views/plot.ts'
import { reportHtml } from '../../src/views/report/report.ts'
import { compareShops } from '../compare/findings/fixture.ts'
import { recordedCase } from '../recorded.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { expectApart, photographed, settled } from './readable.ts'
import { describeWithBrowser, pageOf, type Shown } from './widgets/open-widgets.ts'

connectCharts()

const EACH = [
  [800, 'light'],
  [1200, 'dark'],
] as const

const PATIENT = { timeout: 400_000 }

/** Made once: pages of all widths show the same. */
let made: ReturnType<typeof galleryWidgets> | undefined
function gallery() {
  made ??= galleryWidgets()
  return made
}

/** Every kind of chart of a comparison, and those of other stages. */
function everyChart(comparison: Comparison): Shown[] {
  const kinds = Object.keys(PLOTTED.find(([Of]) => Of === Comparison)?.[1] ?? {})
  const variance = findVariance(comparison)
  const category = variance.ranked[0]?.category ?? 0
  return [
    ...kinds.map((kind) => plot(comparison, kind as 'findings')),
    plot(comparison.edges),
    plot(variance),
    plot(variance, 'waterfall', { category }),
    plot(variance, 'covariances', { category }),
    plot(explain(comparison, category)),
    plot(explain(comparison, category), 'differences'),
    plot(findHostClasses(comparison.flows)),
    plot(diagnoseExplosion(comparison.categories)),
    plot(expectedCategoryCurves()),
  ]
}

describeWithBrowser('the gallery', (browser) => {
  const opened = async (html: string, width: number, colorScheme: 'light' | 'dark') => {
    const file = join(temporaryFolder(), 'page.html')
    const back = `<style>body { background: ${colorScheme === 'dark' ? '#111' : '#fff'} !important }</style>`
    writeFileSync(file, html.replace('<body', `${back}<body`))
    const page = await browser().newPage({
      colorScheme,
      reducedMotion: 'reduce',
      viewport: { width, height: 900 },
    })
    await page.goto(pathToFileURL(file).href)
    return page
  }

  test.each(EACH)(
    'has no text cut or on another, in widgets of %i px, %s',
    PATIENT,
    async (width, scheme) => {
      for (const { name, widget, use } of await gallery()) {
        const page = await opened(pageOf([widget]), width, scheme)
        await page.waitForSelector('[data-flowdelta-live] .flowdelta')
        if (widget.hasCharts) await settled(page)
        await use?.(page)
        await page.waitForTimeout(500)
        await photographed(page, `${name}-${scheme}-${width}`)
        await expectApart(page, name)
        const moving = await page
          .locator('.flowdelta *')
          .evaluateAll((all) =>
            all.flatMap((one) =>
              getComputedStyle(one).transitionDuration === '0s' ? [] : [one.className],
            ),
          )
        expect(moving).toEqual([])
        await page.close()
      }
    },
  )

  test.each(EACH)('has none in charts of %i px, %s', PATIENT, async (width, scheme) => {
    for (const name of ['delay-1ms', 'mds-prefetch']) {
      const page = await opened(pageOf(everyChart(await recordedCase(name))), width, scheme)
      await settled(page)
      await photographed(page, `charts-${name}-${scheme}-${width}`)
      await expectApart(page, name)
      await page.close()
    }
  })

  test.each(EACH)('has none in reports of %i px, %s', PATIENT, async (width, scheme) => {
    const comparisons = [
      compareShops({}, { stockUs: 1600, payUs: 4000 }),
      await recordedCase('delay-1ms'),
      await recordedCase('mds-prefetch'),
      await recordedCase('rmw'),
    ]
    for (const [i, comparison] of comparisons.entries()) {
      const page = await opened(reportHtml(comparison), width, scheme)
      await photographed(page, `report${i}-${scheme}-${width}`)
      await expectApart(page, `report ${i}`)
      await page.close()
    }
  })
})
