// Finding, installing and starting Jupyter.

import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { createServer } from 'node:net'
import { delimiter, join, relative } from 'node:path'
import {
  agreed,
  findProgram,
  installDebianPackages,
  isRoot,
  output,
  ROOT,
  run,
  say,
} from './setup.mjs'

/** Jupyter's classic notebook and nbconvert, as Debian packages them. */
export const DEBIAN_JUPYTER = [
  'jupyter-notebook',
  'jupyter-nbconvert',
  'jupyter-nbformat',
  'jupyter-core',
  'jupyter-client',
  'python3-nbclient',
]

/**
 * @typedef {object} Jupyter
 * @property {string[]} command program and leading arguments
 * @property {'notebook' | 'lab'} interface
 */

/** The Jupyter this machine has: in .venv or on PATH. */
export function findJupyter() {
  for (const kind of /** @type {const} */ (['notebook', 'lab'])) {
    const own = findProgram(`jupyter-${kind}`)
    if (own !== undefined && output(own, ['--version'])) return jupyter([own], kind)
    const main = findProgram('jupyter')
    if (main !== undefined && output(main, [kind, '--version'])) return jupyter([main, kind], kind)
  }
  return undefined
}

/**
 * Gets a Jupyter with whatever installer there is: uv, pipx, or Debian's packages. Says each time what
 * would be installed and where, and installs nothing that nobody agreed to.
 *
 * @param {{ yes: boolean }} options whether that was agreed to beforehand
 * @returns {Promise<Jupyter | undefined>}
 */
export async function installJupyter({ yes }) {
  const uv = findProgram('uv')
  const intoVenv = "install Jupyter's package notebook with uv into .venv of this folder"
  if (uv !== undefined && (await agreed(intoVenv, yes)) && (await installWithUv(uv)))
    return findJupyter()
  const pipx = findProgram('pipx')
  const withPipx = "run Jupyter's package notebook with pipx, which keeps it in its cache"
  if (pipx !== undefined && (await agreed(withPipx, yes))) {
    say('Getting Jupyter with pipx …')
    const command = [pipx, 'run', '--spec', 'notebook', 'jupyter-notebook']
    if ((await run(pipx, [...command.slice(1), '--version'])) === 0)
      return jupyter(command, 'notebook')
  }
  const options = { purpose: 'Jupyter, to open the notebooks', yes }
  return (await installDebianPackages(DEBIAN_JUPYTER, options)) ? findJupyter() : undefined
}

/** @param {string} uv */
async function installWithUv(uv) {
  say('Installing Jupyter into .venv with uv …')
  const made = (await run(uv, ['venv', '--allow-existing', '.venv'])) === 0
  return made && (await run(uv, ['pip', 'install', '--python', '.venv', 'notebook'])) === 0
}

/**
 * @param {string[]} command
 * @param {'notebook' | 'lab'} kind
 * @returns {Jupyter}
 */
function jupyter(command, kind) {
  return { command, interface: kind }
}

/** The environment in which Jupyter finds this repository's kernel. */
export function jupyterEnvironment() {
  const path = [join(ROOT, 'notebooks'), process.env.JUPYTER_PATH].filter(Boolean).join(delimiter)
  return { ...process.env, JUPYTER_PATH: path }
}

/**
 * Starts Jupyter on 127.0.0.1 with `notebook` in front, prints its address, and waits for its end.
 *
 * @param {Jupyter} found
 * @param {{ notebook: string, port: number, browser: boolean }} options
 * @returns {Promise<number>} its exit status
 */
export async function startJupyter({ command, interface: kind }, { notebook, port, browser }) {
  const token = randomBytes(24).toString('hex')
  const [program = 'jupyter', ...before] = command
  const args = ['--ip=127.0.0.1', `--port=${port}`, ...(isRoot() ? ['--allow-root'] : [])]
  args.push(`--notebook-dir=${ROOT}`, ...(browser ? [] : ['--no-browser']))
  const child = spawn(program, [...before, ...args, notebook], {
    cwd: ROOT,
    stdio: 'inherit',
    env: { ...jupyterEnvironment(), JUPYTER_TOKEN: token },
  })
  const ended = new Promise((resolve) => {
    child.once('error', () => resolve(127))
    child.once('exit', (status) => resolve(status ?? 0))
  })
  // Ctrl-C reaches Jupyter too, which asks before it ends; a plain end is handed on.
  process.on('SIGINT', () => {})
  process.on('SIGTERM', () => child.kill('SIGTERM'))
  const base = `http://127.0.0.1:${port}`
  if (await answers(`${base}/api`, ended)) {
    const page = kind === 'lab' ? 'lab/tree' : 'notebooks'
    const path = relative(ROOT, notebook).split(/[\\/]/).map(encodeURIComponent).join('/')
    say(
      `\nflowdelta: Jupyter runs. Open\n\n    ${base}/${page}/${path}?token=${token}\n\nCtrl-C ends it.\n`,
    )
  }
  return ended
}

/**
 * @param {string} url
 * @param {Promise<unknown>} ended
 */
async function answers(url, ended) {
  let over = false
  void ended.then(() => {
    over = true
  })
  while (!over) {
    const reply = await fetch(url).catch(() => undefined)
    if (reply?.ok) return true
    await new Promise((later) => setTimeout(later, 200))
  }
  return false
}

/**
 * `wanted`, or else the first free port from 8888 on.
 *
 * @param {number | undefined} wanted
 * @returns {Promise<number | undefined>} `undefined` when it is taken
 */
export async function choosePort(wanted) {
  if (wanted !== undefined) return (await isFree(wanted)) ? wanted : undefined
  for (let port = 8888; port < 8988; port++) if (await isFree(port)) return port
  return undefined
}

/** @param {number} port */
function isFree(port) {
  const server = createServer()
  return new Promise((resolve) => {
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}
