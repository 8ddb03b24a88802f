// npm run front-ends: runs a notebook live in Jupyter Notebook and in JupyterLab, light and dark, 1200 px
// wide, and writes what they show as pictures under out/front-ends.
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build as bundle } from 'esbuild'
import { chromium } from 'playwright-core'
import { CHROMIUM_FLAGS, findBrowser } from './browser-check.mjs'
import { choosePort, findJupyter, jupyterEnvironment } from './jupyter.mjs'
import { listNotebooks } from './notebook-runner.mjs'
import { isRoot, ROOT, readArguments, run, SetupError, say } from './setup.mjs'

const OUT = join(ROOT, 'out', 'front-ends')
const LAB = join(ROOT, 'out', 'lab')
const LAB_VERSION = '4.6.6'
const LAB_PACKAGES = [
  ...[
    'application',
    'codemirror',
    'completer',
    'docmanager',
    'docregistry',
    'markedparser-extension',
  ],
  ...['notebook', 'rendermime', 'services', 'theme-dark-extension', 'theme-light-extension'],
]
/** JupyterLab's page is handed to the browser by us, which takes it for one from elsewhere. */
const OWN_NETWORK =
  '--disable-features=LocalNetworkAccessChecks,LocalNetworkAccessChecksWebSockets,BlockInsecurePrivateNetworkRequests'
const WIDTH = 1200
/** Taller pictures are cut into parts, as nobody can look at them whole. */
const PART = 4000
const PATIENCE_MS = 300_000

const HELP = `npm run front-ends [notebook.ipynb]
                  runs a notebook, the first by default, in Jupyter Notebook and JupyterLab, light and
                  dark, and writes pictures under out/front-ends; JupyterLab's packages are fetched from
                  npm into out/lab

  --only NAME     in notebook, or in jupyterlab, alone
  --help          this text`

/**
 * @typedef {object} FrontEnd
 * @property {string} name
 * @property {(page: import('playwright-core').Page, scheme: 'light' | 'dark') => Promise<void>} open
 *   opens the notebook there and runs all of its cells
 * @property {string} content selects what holds the cells
 * @property {string} scroller selects what scrolls
 */

async function main() {
  const { values, positionals } = await readArguments(HELP, {
    options: { only: { type: 'string' } },
    allowPositionals: true,
  })
  const [notebook = listNotebooks()[0]] = positionals
  const jupyter = findJupyter()
  const executablePath = await findBrowser()
  const port = await choosePort(undefined)
  if (
    notebook === undefined ||
    jupyter === undefined ||
    port === undefined ||
    executablePath === undefined
  )
    throw new SetupError('This needs Jupyter and Chromium: npm start -- --yes installs them.')
  rmSync(OUT, { recursive: true, force: true })
  mkdirSync(OUT, { recursive: true })
  // Beside notebooks/, so that paths hold, and a copy, as front ends save what they run.
  copyFileSync(notebook, join(ROOT, 'out', 'live.ipynb'))
  await prepareLab()
  const token = randomBytes(16).toString('hex')
  const server = startServer(jupyter.command, port, token)
  const browser = await chromium.launch({ executablePath, args: [...CHROMIUM_FLAGS, OWN_NETWORK] })
  try {
    const origin = `http://127.0.0.1:${port}`
    await untilAnswers(`${origin}/api`)
    const all = [classicNotebook(origin, token), jupyterLab(origin, token)]
    for (const frontEnd of all.filter(({ name }) => name === (values.only ?? name))) {
      for (const scheme of /** @type {const} */ (['light', 'dark']))
        await show(browser, frontEnd, scheme)
    }
  } finally {
    await browser.close()
    server.kill('SIGTERM')
  }
}

/**
 * @param {string[]} command
 * @param {number} port
 * @param {string} token
 */
function startServer([program = 'jupyter', ...before], port, token) {
  const args = ['--ip=127.0.0.1', `--port=${port}`, `--notebook-dir=${ROOT}`, '--no-browser']
  return spawn(program, [...before, ...args, ...(isRoot() ? ['--allow-root'] : [])], {
    cwd: ROOT,
    stdio: 'ignore',
    env: { ...jupyterEnvironment(), JUPYTER_TOKEN: token },
  })
}

/** @param {string} url */
async function untilAnswers(url) {
  for (let tries = 0; tries < 150; tries++) {
    if ((await fetch(url).catch(() => undefined))?.ok) return
    await new Promise((later) => setTimeout(later, 200))
  }
  throw new SetupError('Jupyter does not answer.')
}

/** Fetches JupyterLab's packages, and bundles its page, unless that was done before. */
async function prepareLab() {
  mkdirSync(LAB, { recursive: true })
  const fetched = join(LAB, 'node_modules', '@jupyterlab', 'notebook')
  if (!existsSync(fetched)) {
    say(`Fetching the packages of JupyterLab ${LAB_VERSION} …`)
    writeFileSync(join(LAB, 'package.json'), '{ "private": true }\n')
    const names = LAB_PACKAGES.map((name) => `@jupyterlab/${name}`)
    const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefix', LAB]
    if ((await run('npm', ['install', ...options, ...names])) !== 0)
      throw new SetupError('The packages of JupyterLab could not be fetched.')
  }
  copyFileSync(join(ROOT, 'scripts', 'front-ends', 'lab.mjs'), join(LAB, 'lab.mjs'))
  await bundle({
    entryPoints: [join(LAB, 'lab.mjs')],
    absWorkingDir: LAB,
    outdir: join(LAB, 'dist'),
    bundle: true,
    format: 'iife',
    logLevel: 'error',
    // Some packages import yjs, others require it: of two copies, one does not know the other's documents.
    alias: { path: 'path-browserify', yjs: join(LAB, 'node_modules', 'yjs', 'dist', 'yjs.mjs') },
    define: { 'process.env.NODE_ENV': '"production"', 'process.env': '{}', global: 'globalThis' },
    loader: { '.svg': 'text', ...Object.fromEntries(FONTS.map((font) => [font, 'dataurl'])) },
    plugins: [{ name: 'pictures of styles', setup: leaveOutPictures }],
  })
}

const FONTS = ['.woff2', '.woff', '.ttf', '.eot']

/** Modules import icons as text; what styles have of them is left out. */
function leaveOutPictures(/** @type {import('esbuild').PluginBuild} */ build) {
  build.onResolve({ filter: /\.(svg|png)$/ }, ({ path, kind }) =>
    kind === 'url-token' ? { path, external: true } : undefined,
  )
}

/**
 * @param {string} origin
 * @param {string} token
 * @returns {FrontEnd}
 */
function classicNotebook(origin, token) {
  return {
    name: 'notebook',
    content: '#notebook-container',
    scroller: '#site',
    async open(page) {
      await page.goto(`${origin}/notebooks/out/live.ipynb?token=${token}`)
      await page.waitForFunction(`globalThis.Jupyter?.notebook?.kernel?.is_connected?.()`)
      await page.evaluate(
        `Jupyter.notebook.clear_all_output(), Jupyter.notebook.execute_all_cells()`,
      )
      await page.waitForFunction(
        `Jupyter.notebook.get_cells().every((cell) => cell.cell_type !== 'code' || typeof cell.input_prompt_number !== 'string' && !cell.element.hasClass('running'))`,
        undefined,
        { timeout: PATIENCE_MS },
      )
    },
  }
}

/**
 * JupyterLab's page comes from the origin of the server that it talks to.
 *
 * @param {string} origin
 * @param {string} token
 * @returns {FrontEnd}
 */
function jupyterLab(origin, token) {
  const base = `${origin}/flowdelta-lab`
  const answers = (/** @type {string} */ scheme) => {
    const styles = join(LAB, 'node_modules', '@jupyterlab', `theme-${scheme}-extension`, 'style')
    const theme = ['variables.css', 'theme.css'].map((name) =>
      readFileSync(join(styles, name), 'utf8'),
    )
    const settings = JSON.stringify({ notebook: 'out/live.ipynb', token })
    return {
      page: [
        'text/html',
        `<!doctype html><meta charset="utf-8"><title>running</title><link rel="stylesheet" href="${base}/theme"><link rel="stylesheet" href="${base}/style">
<style>html, body { margin: 0; height: 100%; background: var(--jp-layout-color0) } #notebook { height: 100% }</style>
<body class="jp-ThemedContainer" data-jp-theme-light="${scheme === 'light'}" data-jp-theme-name="JupyterLab ${scheme}"><script>globalThis.flowdeltaLab = ${settings}</script><script src="${base}/script"></script>`,
      ],
      theme: ['text/css', theme.join('\n').replace(/^@import .*/gm, '')],
      style: ['text/css', readFileSync(join(LAB, 'dist', 'lab.css'), 'utf8')],
      script: ['text/javascript', readFileSync(join(LAB, 'dist', 'lab.js'), 'utf8')],
    }
  }
  return {
    name: 'jupyterlab',
    content: '.jp-Notebook',
    scroller: '.jp-WindowedPanel-outer',
    async open(page, scheme) {
      for (const [name, [contentType, body]] of Object.entries(answers(scheme)))
        await page.route(`${base}/${name}`, (route) => route.fulfill({ contentType, body }))
      await page.goto(`${base}/page`)
      await page.waitForFunction(`document.title !== 'running'`, undefined, {
        timeout: PATIENCE_MS,
      })
      if ((await page.title()) !== 'done') throw new Error('JupyterLab could not run all cells.')
    },
  }
}

/**
 * Runs the notebook in a front end, pictures it, and says what became of its cells and widgets.
 *
 * @param {import('playwright-core').Browser} browser
 * @param {FrontEnd} frontEnd
 * @param {'light' | 'dark'} scheme
 */
async function show(browser, { name, open, content, scroller }, scheme) {
  const context = await browser.newContext({
    viewport: { width: WIDTH, height: 1000 },
    colorScheme: scheme,
  })
  const page = await context.newPage()
  /** @type {string[]} */
  const problems = []
  page.on('pageerror', ({ stack }) =>
    problems.push(String(stack).split('\n').slice(0, 3).join(' ')),
  )
  await open(page, scheme)
  await page.waitForTimeout(3000)
  const height = await page.evaluate(
    ([inner, outer]) =>
      Math.ceil(
        Math.max(
          ...[inner, outer].map(
            (selector) => document.querySelector(selector ?? '')?.scrollHeight ?? 0,
          ),
        ),
      ),
    [content, scroller],
  )
  await page.setViewportSize({ width: WIDTH, height: height + 200 })
  await page.evaluate((selector) => document.querySelector(selector)?.scrollTo(0, 0), scroller)
  await page.waitForTimeout(1000)
  for (let part = 0; part * PART < height + 200; part++) {
    const clip = {
      x: 0,
      y: part * PART,
      width: WIDTH,
      height: Math.min(PART, height + 200 - part * PART),
    }
    await page.screenshot({ path: join(OUT, `${name}-${scheme}-${part + 1}.png`), clip })
  }
  const live = await page.locator('[data-flowdelta-live]').count()
  const wide = await page.evaluate(
    () =>
      [...document.querySelectorAll('[data-flowdelta-live]')].filter(
        ({ scrollWidth, clientWidth }) => scrollWidth > clientWidth + 1,
      ).length,
  )
  say(
    `${name}, ${scheme}: ${live} widgets and charts are alive, ${wide} of them wider than their place, ${height} px high${problems.map((problem) => `\n  ${problem}`).join('')}`,
  )
  await context.close()
}

main().catch((error) => {
  say(error instanceof SetupError ? error.message : (error?.stack ?? String(error)))
  process.exitCode = 1
})
