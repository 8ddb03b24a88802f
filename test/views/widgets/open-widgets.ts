import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Browser, chromium, type Locator, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, onTestFinished } from 'vitest'
import type { MimeBundle } from '../../../src/core/display.ts'
import { compressed, interactiveBundles } from '../../../src/views/notebook/bundle-completer.ts'
import { setCompressor } from '../../../src/views/page/page-data.ts'
import { temporaryFolder } from '../../temporary-folder.ts'
import type { FrontEnd } from './front-ends.ts'

const PATHS = ['chromium', 'chromium-browser', 'google-chrome'].map((name) => `/usr/bin/${name}`)
/** `npm test` looks for one, and installs it where it can. */
const executablePath = [process.env['FLOWDELTA_CHROMIUM'] ?? '', ...PATHS].find(existsSync)

/** A page with widgets in a real browser, and what went wrong in it. */
export interface OpenPage {
  readonly page: Page
  /** Errors, console errors, and requests for the network; empty when all is well. */
  readonly problems: string[]
}

export interface Shown {
  mimeBundle(): MimeBundle
}

/** Tests of widgets in pages: see `describeWithBrowser`. */
export function describeInBrowser(
  name: string,
  body: (open: (widgets: readonly Shown[], options?: OpenOptions) => Promise<OpenPage>) => void,
): void {
  describeWithBrowser(name, (browser) =>
    body((widgets, options) => openPage(browser(), widgets, options)),
  )
}

/** Where pages can be opened; skipped, with a notice, where there is no Chromium. */
export function describeWithBrowser(name: string, body: (browser: () => Browser) => void): void {
  if (executablePath === undefined) {
    console.warn(`Skipped: ${name}: there is no Chromium here.`)
    describe.skip(name, () =>
      body(() => {
        throw new Error('no Chromium')
      }),
    )
    return
  }
  describe(name, () => {
    let browser: Browser
    beforeAll(async () => {
      const args = ['--no-sandbox', '--disable-gpu', '--disable-background-networking']
      browser = await chromium.launch({ executablePath, args })
    }, 60_000)
    afterAll(() => browser.close())
    body(() => browser)
  })
}

export interface OpenOptions {
  readonly dark?: boolean
  /** Whose page it is; by default one without style. */
  readonly frontEnd?: FrontEnd
  readonly width?: number
}

/** The element within a widget that has the keyboard. */
export function focusedIn(page: Page): Locator {
  return page.locator('.flowdelta :focus')
}

/** Widgets as they stand in an exported page: opened from disk, without network. */
async function openPage(
  browser: Browser,
  widgets: readonly Shown[],
  { dark = false, width = 1100, frontEnd }: OpenOptions = {},
): Promise<OpenPage> {
  const file = join(temporaryFolder(), 'page.html')
  writeFileSync(file, pageOf(widgets, frontEnd))
  const context = await browser.newContext({
    viewport: { width, height: 900 },
    colorScheme: dark ? 'dark' : 'light',
  })
  onTestFinished(() => context.close())
  const problems: string[] = []
  await context.route(/^(?!file:|data:|blob:)/, (route) => {
    problems.push(`asked the network for ${route.request().url()}`)
    return route.abort()
  })
  const page = await context.newPage()
  page.on('pageerror', (error) => problems.push(error.message))
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(message.text())
  })
  page.on('dialog', (dialog) => {
    problems.push(`a dialog opened: ${dialog.message()}`)
    return dialog.dismiss()
  })
  await page.goto(pathToFileURL(file).href)
  await page.waitForFunction(
    (count) =>
      document.querySelectorAll('[data-flowdelta-live] > .flowdelta-host').length === count,
    widgets.length,
  )
  await drawn(page)
  problems.push(...(await malformedPictures(page, widgets)))
  return { page, problems }
}

/** Pictures stand in an `<img>` where no script runs: what is not XML does not show there. */
async function malformedPictures(page: Page, widgets: readonly Shown[]): Promise<string[]> {
  const pictures = widgets.map((widget) => widget.mimeBundle()['image/svg+xml'] ?? '<svg/>')
  return page.evaluate(
    (svgs) =>
      svgs.flatMap((svg) => {
        const parsed = new DOMParser().parseFromString(svg, 'image/svg+xml')
        const error = parsed.querySelector('parsererror')?.textContent
        return error ? [`a picture is no XML: ${error}`] : []
      }),
    pictures,
  )
}

/** Waits until drawings have measured the room they have and are drawn in it. */
async function drawn(page: Page): Promise<void> {
  await page.evaluate(async () => {
    for (let frame = 0; frame < 3; frame++) await new Promise(requestAnimationFrame)
  })
}

/** An exported page: outputs stand in it as they are. */
const BARE: FrontEnd = { body: '', css: '', around: [] }

/** What a notebook's outputs become in an exported page. */
export function pageOf(widgets: readonly Shown[], { body, css, around }: FrontEnd = BARE): string {
  setCompressor(compressed)
  const complete = interactiveBundles()
  // As wide in each front end, whatever it has beside its outputs.
  const width = around.length > 0 ? ' style="width: 1000px"' : ''
  const opened = around.map((classes) => `<div class="${classes}">`).join('')
  const outputs = widgets.map((widget) => {
    const html = complete(widget.mimeBundle())['text/html']
    return `${opened}<div${width}>${html}</div>${'</div>'.repeat(around.length)}`
  })
  return `<!doctype html><html><head><meta charset="utf-8"><style>${css}</style></head><body ${body}>${outputs.join('\n')}</body></html>`
}
