import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { chromium } from 'playwright-core'
import { connectCharts } from '../src/views/notebook/connect-charts.ts'
import { pageOf } from '../test/views/widgets/open-widgets.ts'
import { galleryWidgets } from './gallery-widgets.ts'

// npm run docs: takes the pictures of widgets in docs/widgets, in a real browser.
// npx tsx docs/draw-widgets.ts variance: only that one.

connectCharts()

const [only] = process.argv.slice(2)

const target = fileURLToPath(new URL('widgets/', import.meta.url))
mkdirSync(target, { recursive: true })
const folder = mkdtempSync(join(tmpdir(), 'flowdelta-docs-'))
const file = join(folder, 'page.html')
const browser = await chromium.launch({
  executablePath: process.env['FLOWDELTA_CHROMIUM'] ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu'],
})
try {
  for (const { name, widget, dark = false, use } of await galleryWidgets()) {
    if (only !== undefined && name !== only) continue
    writeFileSync(file, pageOf([widget]))
    const page = await browser.newPage({
      viewport: { width: 1000, height: 900 },
      colorScheme: dark ? 'dark' : 'light',
    })
    await page.goto(pathToFileURL(file).href)
    await page.waitForSelector('[data-flowdelta-live] .flowdelta')
    await use?.(page)
    // Drawings measure the room they have and draw again; charts are parsed first.
    await page.waitForTimeout(1500)
    await page
      .locator('.flowdelta')
      .first()
      .screenshot({ path: join(target, `${name}.png`) })
    await page.close()
  }
} finally {
  await browser.close()
  rmSync(folder, { recursive: true })
}
