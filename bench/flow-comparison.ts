// npm run bench:flows: how long two flows take to compare, to lay out and to draw in a real browser.
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { chromium } from 'playwright-core'
import { compare } from '../src/comparison/comparison.ts'
import { randomSource } from '../src/stats/random.ts'
import { explore } from '../src/views/explore.ts'
import { type GraphSketch, makeGraphs } from '../test/make-traces.ts'
import { pageOf } from '../test/views/widgets/open-widgets.ts'

const CHAIN = 4
const REQUESTS = 25
const SIZES = [
  { steps: 200, branches: 3 },
  { steps: 200, branches: 12 },
  { steps: 2000, branches: 3 },
  { steps: 2000, branches: 40 },
]
const say = (line = '') => process.stdout.write(`${line}\n`)

/** Requests of stages, each a fork into parallel chains that join again. */
function forksAndJoins(steps: number, branches: number, slower: number, seed: number) {
  const labels = ['svc root call']
  const edges: [number, number][] = []
  const step = (label: string) => labels.push(label) - 1
  let tail = 0
  while (labels.length < steps) {
    const ends = Array.from({ length: branches }, (_, branch) => {
      let at = tail
      for (let link = 0; link < CHAIN; link++) {
        const next = step(`svc${branch} step ${labels.length}`)
        edges.push([at, next])
        at = next
      }
      return at
    })
    tail = step(`svc join ${labels.length}`)
    for (const end of ends) edges.push([end, tail])
  }
  const random = randomSource(seed)
  const latencyOf = (edge: number) =>
    10 ** (1 + ((edge * 7) % 40) / 10) * (0.9 + 0.2 * random.next()) * slower
  return Array.from(
    { length: REQUESTS },
    (): GraphSketch => ({ labels, edges, latencyUs: edges.map((_, edge) => latencyOf(edge)) }),
  )
}

const folder = mkdtempSync(join(tmpdir(), 'flowdelta-bench-'))
const browser = await chromium.launch({
  executablePath: process.env['FLOWDELTA_CHROMIUM'] ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu'],
})
try {
  for (const { steps, branches } of SIZES) {
    const comparison = compare(
      makeGraphs(forksAndJoins(steps, branches, 1, 1), 'before'),
      makeGraphs(forksAndJoins(steps, branches, 1.5, 2), 'after'),
    )
    const start = performance.now()
    const widget = explore(comparison, 'flows', { category: 0, level: 'steps' })
    const compared = performance.now() - start
    const file = join(folder, `${steps}-${branches}.html`)
    const html = pageOf([widget])
    writeFileSync(file, html)
    const page = await browser.newPage()
    await page.goto(pathToFileURL(file).href)
    await page.waitForSelector('.fd-flow-surface')
    say(
      `${steps} steps in stages of ${branches} branches: compared in ${compared.toFixed(0)} ms, ` +
        `page of ${(html.length / 1e6).toFixed(2)} MB; laid out and drawn:`,
    )
    for (const mode of ['Side by side', 'Animation', 'Difference']) {
      say(`  ${mode.toLowerCase()}: ${(await page.evaluate(press, mode)).toFixed(0)} ms`)
    }
    say(`  choosing a step: ${(await page.evaluate(press, 'Next difference')).toFixed(0)} ms`)
    await page.evaluate(press, 'Animation')
    const slides = await page.evaluate(slide)
    say(`  a step of the animation’s slider, at worst: ${Math.max(...slides).toFixed(0)} ms`)
    await page.close()
  }
} finally {
  await browser.close()
}

/** Presses a button; how long until the page has changed and been laid out. */
async function press(name: string): Promise<number> {
  const button = [...document.querySelectorAll('button')].find(
    (each) => each.textContent === name || each.getAttribute('aria-label') === name,
  )
  if (button === undefined) throw new Error(`There is no button ${name}.`)
  const before = performance.now()
  button.click()
  await new Promise((painted) => requestAnimationFrame(() => setTimeout(painted, 0)))
  return performance.now() - before
}

async function slide(): Promise<number[]> {
  const slider = document.querySelector('input[type=range]') as HTMLInputElement
  const times: number[] = []
  for (const value of ['0.2', '0.5', '0.8', '0.9']) {
    const before = performance.now()
    slider.value = value
    slider.dispatchEvent(new Event('input', { bubbles: true }))
    await new Promise((painted) => requestAnimationFrame(() => setTimeout(painted, 0)))
    times.push(performance.now() - before)
  }
  return times
}
