import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeWithBrowser } from '../views/widgets/open-widgets.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const FOLDER = mkdtempSync(join(tmpdir(), 'flowdelta-observable-'))
const ADDRESS = 'http://observable.test'

beforeAll(() => {
  const sample = join(ROOT, 'datasets', 'sample')
  const traces = readdirSync(sample).filter((name) => name.endsWith('.gz'))
  const notebook = join(ROOT, 'docs', 'observable', 'index.html')
  for (const file of [notebook, ...traces.map((name) => join(sample, name))]) {
    copyFileSync(file, join(FOLDER, basename(file)))
  }
  symlinkSync(join(ROOT, 'node_modules'), join(FOLDER, 'node_modules'), 'junction')
})
afterAll(() => rmSync(FOLDER, { recursive: true, force: true }))

test('the page of the guide bundles for browsers, without any module of Node', async () => {
  const guide = readFileSync(join(ROOT, 'docs', 'guide', 'browser.md'), 'utf8')
  const { metafile } = await build({
    stdin: { contents: /```js\n(.*?)```/s.exec(guide)?.[1] ?? '', resolveDir: FOLDER },
    bundle: true,
    splitting: true,
    format: 'esm',
    outdir: 'site',
    write: false,
    metafile: true,
    logLevel: 'silent',
  })
  expect(Object.keys(metafile.inputs).filter((name) => /node-\w+\.js/.test(name))).toEqual([])
})

describeWithBrowser('the notebook of Observable', (browser) => {
  beforeAll(() => {
    const notebooks = join('node_modules', '@observablehq', 'notebook-kit', 'dist', 'bin')
    const build = ['build', '--root', '.', '--out', 'site', 'index.html']
    execFileSync(process.execPath, [join(notebooks, 'notebooks.js'), ...build], {
      cwd: FOLDER,
      stdio: 'pipe',
    })
  }, 60_000)

  test('compares the periods in the page and shows chart, widget and table', {
    tags: 'full',
  }, async () => {
    const page = await browser().newPage()
    const problems: string[] = []
    page.on('pageerror', (error) => problems.push(error.message))
    page.on('console', (message) => {
      if (message.type() === 'error') problems.push(message.text())
    })
    await page.route('**', (route) => {
      const { origin, pathname } = new URL(route.request().url())
      if (origin === ADDRESS) return route.fulfill({ path: join(FOLDER, 'site', pathname) })
      problems.push(`asked the network for ${origin}${pathname}`)
      return route.abort()
    })
    await page.goto(`${ADDRESS}/index.html`)
    await page.waitForSelector('.fd-table')
    await page.waitForSelector('.vega-embed svg')
    const folder = process.env['FLOWDELTA_PICTURES']
    if (folder !== undefined)
      await page.screenshot({ path: `${folder}/observable.png`, fullPage: true })
    expect(await page.locator('body').innerText()).toContain('SN WRITE itself takes 1.02 ms longer')
    expect(await page.locator('.fd-ranking, .fd-table').count()).toBe(2)
    await page.locator('.fd-ranking').getByText('▸').first().click()
    expect(await page.locator('.fd-ranking').innerText()).toMatch(/of the change|requests/)
    expect(problems).toEqual([])
    await page.close()
  })
})
