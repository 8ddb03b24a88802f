// Looks at a notebook's page in a real Chromium, without network.
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { pathToFileURL } from 'node:url'
import { findProgram, installDebianPackages, isRoot, say } from './setup.mjs'

export const CHROMIUM_FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

const BROWSERS = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']

/**
 * Opens pages from disk and checks that they need no network, report no error, and that every
 * chart became interactive. With FLOWDELTA_PICTURES=1 writes a picture beside each page.
 *
 * @param {string[]} files
 * @returns {Promise<string | undefined>} why it was skipped
 */
export async function checkInBrowser(files) {
  const executablePath = await findBrowser()
  if (executablePath === undefined) return 'no Chromium here, and it could not be installed'
  const { chromium } = await import('playwright-core')
  const browser = await chromium.launch({ executablePath, args: CHROMIUM_FLAGS })
  try {
    for (const file of files) await checkPage(browser, file)
  } finally {
    await browser.close()
  }
}

/**
 * The path of a Chromium, which is installed where that is possible.
 *
 * @returns {Promise<string | undefined>}
 */
export async function findBrowser() {
  const find = () => BROWSERS.map(findProgram).find((path) => path !== undefined)
  const options = { purpose: 'to look at a page in a browser', yes: isRoot() }
  return find() ?? ((await installDebianPackages(['chromium'], options)) ? find() : undefined)
}

/**
 * @param {import('playwright-core').Browser} browser
 * @param {string} file
 */
async function checkPage(browser, file) {
  const context = await browser.newContext({ viewport: { width: 1100, height: 900 } })
  /** @type {string[]} */
  const problems = []
  await context.route(/^(?!file:|data:|blob:)/, (route) => {
    problems.push(`asked the network for ${route.request().url()}`)
    return route.abort()
  })
  const page = await context.newPage()
  page.on('pageerror', (error) => problems.push(error.message))
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(message.text())
  })
  await page.goto(pathToFileURL(file).href)
  const html = readFileSync(file, 'utf8')
  // A widget that draws charts asks for the charts' runtime as well.
  const charts =
    html.match(/<div data-flowdelta-chart="[^"]*"(?! data-flowdelta-widget)/g)?.length ?? 0
  const widgets =
    html.match(/<div (?:data-flowdelta-chart="[^"]*" )?data-flowdelta-widget=/g)?.length ?? 0
  const liveCharts = await waitFor(page.locator('[data-flowdelta-live] > .vega-embed'), charts)
  const liveWidgets = await waitFor(page.locator('[data-flowdelta-live] .flowdelta'), widgets)
  if (process.env['FLOWDELTA_PICTURES']) {
    await page.screenshot({ path: file.replace(/\.html$/, '.png'), fullPage: true })
  }
  await context.close()
  if (liveCharts < charts) {
    problems.push(`${charts - liveCharts} of ${charts} charts stayed pictures`)
  }
  if (liveWidgets < widgets) {
    problems.push(`${widgets - liveWidgets} of ${widgets} widgets stayed pictures`)
  }
  if (problems.length > 0) throw new Error(`${basename(file)}:\n${problems.join('\n')}`)
  const counted = (/** @type {number} */ n, /** @type {string} */ what) =>
    `${n} ${what}${n === 1 ? '' : 's'}`
  say(
    `${basename(file)}: ${counted(charts, 'interactive chart')}, ${counted(widgets, 'widget')}, no error, no network`,
  )
}

/**
 * @param {import('playwright-core').Locator} live
 * @param {number} count
 */
async function waitFor(live, count) {
  const deadline = Date.now() + 20_000
  while ((await live.count()) < count && Date.now() < deadline) {
    await live.page().waitForTimeout(50)
  }
  return live.count()
}
