import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'

const ROOT = fileURLToPath(new URL('../', import.meta.url))
const TSC = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc')
const MAX_PACKED_BYTES = 2_000_000

// A folder outside of the clone in which the packed package and what it depends on are installed.
const FOLDER = mkdtempSync(join(tmpdir(), 'flowdelta-install-'))
const INSTALLED = join(FOLDER, 'node_modules', 'flowdelta')
let packedBytes = 0

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>
}

/** Links a package of the clone, and all that it depends on. */
function link(name: string): void {
  const target = join(FOLDER, 'node_modules', name)
  const source = join(ROOT, 'node_modules', name)
  if (existsSync(target) || !existsSync(source)) return
  mkdirSync(dirname(target), { recursive: true })
  symlinkSync(source, target, 'junction')
  const { dependencies = {} } = JSON.parse(
    readFileSync(join(source, 'package.json'), 'utf8'),
  ) as Manifest
  Object.keys(dependencies).forEach(link)
}

function node(...args: readonly string[]): string {
  return execFileSync(process.execPath, args, { cwd: FOLDER, encoding: 'utf8' })
}

/** Runs TypeScript's compiler; its messages, none when all is well. */
function compile(how: string, ...files: readonly string[]): string {
  const module = how === 'bundler' ? 'esnext' : how
  const options = ['--module', module, '--moduleResolution', how]
  // Arquero's declarations, which tables have, do not compile without --skipLibCheck.
  const checks = ['--noEmit', '--strict', '--skipLibCheck']
  const flags = [...checks, '--target', 'es2022', '--types', 'node', ...options]
  try {
    return node(TSC, ...flags, ...files)
  } catch (error) {
    return String((error as { stdout?: unknown }).stdout)
  }
}

beforeAll(() => {
  execFileSync('npm', ['pack', ROOT, '--silent', '--ignore-scripts'], { cwd: FOLDER })
  const packed = readdirSync(FOLDER).find((name) => name.endsWith('.tgz')) as string
  packedBytes = statSync(join(FOLDER, packed)).size
  mkdirSync(INSTALLED, { recursive: true })
  execFileSync('tar', ['xzf', join(FOLDER, packed), '--strip-components=1', '-C', INSTALLED])
  const { dependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Manifest
  for (const name of [...Object.keys(dependencies ?? {}), '@types/node']) link(name)
})
afterAll(() => rmSync(FOLDER, { recursive: true, force: true }))

const readme = () => {
  const [, code = ''] = /```ts\n(import[\s\S]*?)```/.exec(readFileSync(`${ROOT}README.md`, 'utf8'))!
  return code
}

test('the package is small, carries its sample and no source maps, and names no machine', () => {
  expect(packedBytes).toBeLessThan(MAX_PACKED_BYTES)
  const files = readdirSync(INSTALLED, { recursive: true, encoding: 'utf8' })
  expect(files.filter((name) => name.endsWith('.map'))).toEqual([])
  expect(files.filter((name) => name.endsWith('.jsonl.gz'))).toHaveLength(2)
  const manifest = readFileSync(join(INSTALLED, 'package.json'), 'utf8')
  expect(manifest).not.toMatch(/https?:|\/home\/|\/work\/|localhost/)
})

test('the first lines of README run as a script and write their chart', () => {
  writeFileSync(join(FOLDER, 'first.mjs'), readme())
  const printed = node('first.mjs')
  expect(printed).toContain('#1  storage-data and storage-meta: SN WRITE itself takes')
  expect(printed).toMatch(/│|rank/)
  expect(readFileSync(join(FOLDER, 'ribbon.svg'), 'utf8')).toMatch(/^<svg/)
})

/** As an ES module the first lines of README, as CommonJS a program that uses each entry point. */
const writePrograms = () => {
  writeFileSync(join(FOLDER, 'first.mts'), `${readme()}\nexport {}\n`)
  writeFileSync(
    join(FOLDER, 'common.cts'),
    `import { compare, type Comparison, loadTraces } from 'flowdelta'
import { sample } from 'flowdelta/sample'
import { ksTwoSample } from 'flowdelta/stats'
export async function diagnosis(): Promise<Comparison> {
  const comparison = compare(await loadTraces(sample.before), await loadTraces(sample.after))
  comparison.ranking.table().filter((row) => row.rank < ksTwoSample([1], [2]).statistic).print()
  return comparison
}
`,
  )
}

test('programs that import and require it compile with moduleResolution nodenext', () => {
  writePrograms()
  expect(compile('nodenext', 'first.mts', 'common.cts')).toBe('')
})

test.each([
  ['node16', ['first.mts', 'common.cts']],
  ['bundler', ['first.mts']],
])('they compile with moduleResolution %s', { tags: ['full'] }, (how, files) => {
  writePrograms()
  expect(compile(how, ...files)).toBe('')
})

test('it can be required', () => {
  const script = "const { compare } = require('flowdelta'); console.log(typeof compare)"
  expect(node('-e', script)).toBe('function\n')
})

test('flowdelta demo names the planted cause and writes its page', () => {
  const command = join(INSTALLED, 'scripts', 'flowdelta.mjs')
  const printed = node(command, 'demo', '--out', 'demo.html')
  expect(printed).toContain(
    '#1  storage-data and storage-meta: SN WRITE itself takes 1.02 ms longer',
  )
  expect(readFileSync(join(FOLDER, 'demo.html'), 'utf8')).toContain('SN WRITE')
})
