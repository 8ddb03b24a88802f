// What npm start and npm test share: getting this machine ready. Plain Node, because it runs
// before any package is installed; an old Node must get as far as checkNode.
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  accessSync,
  constants,
  existsSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const ROOT = dirname(dirname(fileURLToPath(import.meta.url)))

const WINDOWS = process.platform === 'win32'
const OLDEST_NODE = [20, 19]

/** Something is missing that only a person can put right; the message says what. */
export class SetupError extends Error {
  name = 'SetupError'
}

/** Prints a line about what is being done. */
export function say(/** @type {string} */ line) {
  process.stdout.write(`${line}\n`)
}

export function checkNode() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  const [oldestMajor = 0, oldestMinor = 0] = OLDEST_NODE
  if (major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)) return
  throw new SetupError(
    `This is Node ${process.versions.node}; flowdelta needs ${OLDEST_NODE.join('.')} or newer. Install a current Node (https://nodejs.org) and run the command again.`,
  )
}

/**
 * Reads the arguments of a script as `parseArgs` of node:util does. `--help` prints the help and ends
 * the script; a wrong argument ends it with its message and the help.
 *
 * @param {string} help
 * @param {import('node:util').ParseArgsConfig} config
 */
export async function readArguments(help, config) {
  const { parseArgs } = await import('node:util')
  if (process.argv.slice(2).some((each) => each === '--help' || each === '-h')) {
    say(help)
    process.exit(0)
  }
  try {
    return parseArgs(config)
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n\n${help}\n`)
    process.exit(2)
  }
}

/** Installs the npm packages of package-lock.json, unless exactly these are there. */
export async function ensureDependencies() {
  const lock = readFileSync(join(ROOT, 'package-lock.json'))
  const hash = createHash('sha256').update(lock).digest('hex')
  const stamp = join(ROOT, 'node_modules', '.flowdelta-lock')
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === hash) return
  if (!isInstalled(JSON.parse(lock.toString('utf8')))) {
    say('Installing npm packages (npm ci); the first time takes a minute or two …')
    const status = await runNpm(['ci', '--no-audit', '--no-fund'])
    if (status !== 0) {
      throw new SetupError(
        'npm ci failed; its message is above. Put that right and run the command again.',
      )
    }
  }
  writeFileSync(stamp, hash)
}

/** Brings dist/ up to date. */
export async function ensureBuild() {
  const { build } = await import('./build.mjs')
  await build({ log: say })
}

/**
 * Whether npm has already installed what the lock file asks for, as npm's own record says.
 *
 * @param {{ packages: Record<string, { version?: string, optional?: boolean, devOptional?: boolean }> }} lock
 */
function isInstalled(lock) {
  const record = join(ROOT, 'node_modules', '.package-lock.json')
  if (!existsSync(record)) return false
  const { packages: installed } = JSON.parse(readFileSync(record, 'utf8'))
  return Object.entries(lock.packages).every(
    ([path, { version, optional, devOptional }]) =>
      path === '' || optional || devOptional || installed[path]?.version === version,
  )
}

/** @param {string[]} args */
function runNpm(args) {
  const cli = process.env.npm_execpath
  if (cli?.endsWith('.js') && existsSync(cli)) return run(process.execPath, [cli, ...args])
  return run('npm', args, { shell: WINDOWS })
}

/**
 * Runs a program with its output on ours.
 *
 * @param {string} command
 * @param {string[]} args
 * @param {import('node:child_process').SpawnOptions} [options]
 * @returns {Promise<number>} its exit status; 127 when it cannot be started
 */
export function run(command, args, options = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd: ROOT, stdio: 'inherit', ...options })
    child.once('error', () => resolve(127))
    child.once('exit', (status, signal) => resolve(status ?? (signal === null ? 1 : 130)))
  })
}

/**
 * The standard output of a program, or `undefined` when it is missing or fails.
 *
 * @param {string} command
 * @param {string[]} args
 */
export function output(command, args) {
  const { status, stdout } = spawnSync(command, args, {
    cwd: ROOT,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
    timeout: 60_000,
  })
  return status === 0 ? stdout.trim() : undefined
}

/**
 * The path of a program: in this repository's .venv, or on PATH.
 *
 * @param {string} name
 * @returns {string | undefined}
 */
export function findProgram(name) {
  const folders = [
    join(ROOT, '.venv', WINDOWS ? 'Scripts' : 'bin'),
    ...(process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== ''),
  ]
  const file = WINDOWS ? `${name}.exe` : name
  return folders.map((folder) => join(folder, file)).find(isExecutable)
}

/** @param {string} path */
function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

export function isRoot() {
  return process.getuid?.() === 0
}

/** Whether a person sits at a terminal and can be asked. */
export function canAsk() {
  return process.stdin.isTTY === true && process.stdout.isTTY === true
}

/**
 * @param {string} question to be answered with yes or no; just Enter means yes
 * @returns {Promise<boolean>}
 */
export async function ask(question) {
  const { createInterface } = await import('node:readline/promises')
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  try {
    return /^(y(es)?)?$/i.test((await terminal.question(`${question} [Y/n] `)).trim())
  } finally {
    terminal.close()
  }
}

/**
 * Whether something may be installed: it was agreed to beforehand, or a person agrees now. Where
 * nobody can be asked, it is only said.
 *
 * @param {string} what as in `install … into …`
 * @param {boolean} yes whether it was agreed to beforehand
 * @returns {Promise<boolean>}
 */
export async function agreed(what, yes) {
  if (yes) return true
  const sentence = `${what.charAt(0).toUpperCase()}${what.slice(1)}`
  if (canAsk()) return ask(`${sentence}?`)
  say(`Not done without being asked to (--yes): ${what}.`)
  return false
}

/**
 * Installs Debian packages where that is possible and agreed to: there is apt-get, and we are root or
 * may become it through sudo.
 *
 * @param {string[]} packages
 * @param {{ purpose: string, yes: boolean }} options
 * @returns {Promise<boolean>} whether they are installed now
 */
export async function installDebianPackages(packages, { purpose, yes }) {
  const apt = findProgram('apt-get')
  const sudo = findProgram('sudo')
  if (apt === undefined || !(isRoot() || (sudo !== undefined && canAsk()))) return false
  const how = isRoot() ? 'apt-get' : 'sudo apt-get'
  if (!(await agreed(`install Debian's ${packages.join(', ')} with ${how} (${purpose})`, yes))) {
    return false
  }
  say(
    `Installing Debian's ${packages.join(', ')} with ${how} (${purpose}); this takes a minute or two …`,
  )
  const command = isRoot() ? [apt] : [sudo ?? 'sudo', apt]
  const install = ['install', '-y', '--no-install-recommends', ...packages]
  if (hasPackageLists() && (await runApt(command, install)) === 0) return true
  await runApt(command, ['update'])
  return (await runApt(command, install)) === 0
}

function hasPackageLists() {
  const lists = '/var/lib/apt/lists'
  return existsSync(lists) && readdirSync(lists).some((name) => name.includes('_Packages'))
}

/**
 * @param {string[]} command
 * @param {string[]} args
 */
function runApt([program = 'apt-get', ...before], args) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  return run(program, [...before, ...args], { env })
}
