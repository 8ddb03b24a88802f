import { execFileSync, spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { OPTIONS_PAGE, optionsPage } from '../docs/option-tables.ts'
import { temporaryFolder } from './temporary-folder.ts'

const ROOT = fileURLToPath(new URL('../', import.meta.url))
const requireFrom = createRequire(import.meta.url)
const read = (path: string) => readFileSync(ROOT + path, 'utf8')

test('docs/dependencies.md lists each runtime dependency with its license', () => {
  const rows = Array.from(read('docs/dependencies.md').matchAll(/^\| `([^`]+)` \| ([^|]+) \|/gm))
  const { dependencies } = JSON.parse(read('package.json')) as {
    dependencies: Record<string, string>
  }
  const licenses = Object.keys(dependencies).map((name) => [
    name,
    JSON.parse(read(`node_modules/${name}/package.json`)).license,
  ])
  expect(rows.map(([, name, license]) => [name, license])).toEqual(licenses)
})

test('the license of each bundled package stands in the notices with its text', () => {
  const [, ...notices] = read('dist/THIRD-PARTY-NOTICES.txt').split(`\n${'-'.repeat(80)}\n`)
  const names = notices.map((notice) => notice.split(' ', 1)[0])
  for (const name of ['arquero', 'commander', 'd3-zoom', 'preact', 'vega', 'vega-embed']) {
    expect(names).toContain(name)
  }
  const withoutText = notices.filter((notice) => notice.split('\n').length < 8)
  expect(withoutText.map((notice) => notice.split('\n')[0])).toEqual([])
})

test('what is packed was built just before', () => {
  const folder = temporaryFolder()
  copyFileSync(`${ROOT}package.json`, `${folder}/package.json`)
  for (const name of ['scripts', 'dist']) mkdirSync(`${folder}/${name}`)
  writeFileSync(
    `${folder}/scripts/build.mjs`,
    "import { writeFileSync } from 'node:fs'; writeFileSync('dist/built.js', '')",
  )
  const packed = execFileSync('npm', ['pack', '--dry-run', '--json'], {
    cwd: folder,
    encoding: 'utf8',
  })
  expect(packed).toContain('dist/built.js')
})

test('the library loads as ES module and as CommonJS', async () => {
  const common = requireFrom('flowdelta')
  const module = await import('flowdelta' as string)
  expect(Object.keys(module).sort()).toEqual(Object.keys(common).sort())
})

test('flowdelta/stats works without the library, and both throw the same errors', async () => {
  const common = requireFrom('flowdelta/stats')
  const { OptionError } = requireFrom('flowdelta')
  expect(common.ksTwoSample([1, 2, 3], [4, 5, 6]).statistic).toBe(1)
  expect(() => common.ksTwoSample([1], [2], { alternative: 'sideways' })).toThrow(OptionError)
  const module = await import('flowdelta/stats' as string)
  expect(Object.keys(module).sort()).toEqual(Object.keys(common).sort())
})

test('docs/options.md is what the option tables say', async () => {
  expect(readFileSync(OPTIONS_PAGE, 'utf8')).toBe(await optionsPage())
})

const runScript = (script: string, option: string) =>
  spawnSync(process.execPath, [`${ROOT}scripts/${script}.mjs`, option], { encoding: 'utf8' })

test.each([
  ['start', 'npm start'],
  ['test', 'npm test'],
  ['fuzz', 'npm run fuzz'],
  ['notebook-runner', 'npm run notebooks'],
])('scripts/%s.mjs says with --help how it is run', (script, usage) => {
  const said = { status: 0, stdout: expect.stringContaining(usage) }
  expect(runScript(script, '--help')).toMatchObject(said)
})

test('with a wrong option scripts say which it is, and how they are run', () => {
  const { status, stderr } = runScript('start', '--hepl')
  expect(status).toBe(2)
  expect(stderr).toMatch(/^Unknown option '--hepl'/)
  expect(stderr).toContain('npm start')
})
