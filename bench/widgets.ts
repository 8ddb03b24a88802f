import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { chromium } from 'playwright-core'
import { compare } from '../src/comparison/comparison.ts'
import { loadTraces } from '../src/traces/load-traces.ts'
import { explore } from '../src/views/explore.ts'
import { connectCharts } from '../src/views/notebook/connect-charts.ts'
import { pageOf } from '../test/views/widgets/open-widgets.ts'
import { simulatedFiles } from './simulated-files.ts'

// npm run bench:widgets: how long widgets take in a real browser, at the scale of the benchmark.

const say = (line = '') => process.stdout.write(`${line}\n`)

connectCharts()
const { before, after } = simulatedFiles()
const comparison = compare(await loadTraces(before), await loadTraces(after))
const { categories, flows } = comparison
say(`${flows.size} requests of ${categories.size} categories; node ${process.version}`)

const folder = mkdtempSync(join(tmpdir(), 'flowdelta-bench-'))
const html = pageOf([explore(comparison, { threshold: true })])
const file = join(folder, 'threshold.html')
writeFileSync(file, html)
say(
  `threshold explorer: page of ${(html.length / 1e6).toFixed(2)} MB, runtime and picture included`,
)

const browser = await chromium.launch({
  executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu'],
})
try {
  const page = await browser.newPage()
  const start = performance.now()
  await page.goto(pathToFileURL(file).href)
  await page.waitForSelector('.flowdelta')
  say(
    `  shown after ${Math.round(performance.now() - start)} ms, browser and decompression included`,
  )
  const drag = await page.evaluate(dragThreshold)
  say(`  steps of a drag to the left: ${drag.map((ms) => ms.toFixed(0)).join(', ')} ms`)
  say(`  at worst ${Math.max(...drag).toFixed(0)} ms (target 100)`)
} finally {
  await browser.close()
}

/** Moves the slider from right to left; each step is timed until the page has changed and been laid out. */
async function dragThreshold(): Promise<number[]> {
  const slider = document.querySelector('input[type=range]') as HTMLInputElement
  const times: number[] = []
  for (let value = 1000; value >= 0; value -= 50) {
    const before = performance.now()
    slider.value = String(value)
    slider.dispatchEvent(new Event('input', { bubbles: true }))
    await new Promise((painted) => requestAnimationFrame(() => setTimeout(painted, 0)))
    times.push(performance.now() - before)
  }
  return times
}
