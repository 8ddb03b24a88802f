import { readdirSync, readFileSync } from 'node:fs'
import { Option } from 'commander'
import { expect, test } from 'vitest'
import { flagsOf, inFlags } from '../../src/cli/flags.ts'
import { COMPARISON_OPTIONS } from '../../src/comparison/comparison-options.ts'
import { LOG_READ_OPTIONS } from '../../src/logs/readers/log-read-options.ts'
import { LOAD_OPTIONS } from '../../src/traces/load-options.ts'
import { flowdelta, ROOT } from './run-cli.ts'

const FLAGS = [
  ...flagsOf(COMPARISON_OPTIONS, LOAD_OPTIONS, LOG_READ_OPTIONS),
  new Option('--fields <role=field,...>'),
]

test.each([
  ['Load with `joinLinks` to read both.', 'Load with --join-links to read both.'],
  ['Leave hosts out with `omitHosts: true`.', 'Leave hosts out with --omit-hosts.'],
  [
    "Compare with `concurrency: 'none', omitHosts: true`.",
    'Compare with --concurrency none --omit-hosts.',
  ],
  ["Split by tenant (`labelBy: ['tenant']`).", 'Split by tenant (--label-by tenant).'],
  ['Name the column with `fields.time`', 'Name the column with --fields time=…'],
  ['Write `await` before it; see `traces.quality()`', null],
  ['Cut it with `selectRequests`, or `omitHosts: true, label: byClass`.', null],
])('in a terminal, %s names flags', (message, said) => {
  expect(inFlags(FLAGS, message)).toBe(said ?? message)
})

test('flags that a message advises are told once', () => {
  const advice = { omitHosts: true, format: null }
  expect(inFlags(FLAGS, 'Leave hosts out with `omitHosts`', advice)).toBe(
    'Leave hosts out with --omit-hosts. On the command line: --format <format>.',
  )
})

/** Options that no English word is called as. */
const CAMEL = FLAGS.flatMap((flag) => ('option' in flag ? [`${flag.option}`] : [])).filter((name) =>
  /[A-Z]/.test(name),
)

test('sentences name options between backticks, by which a terminal knows them', () => {
  expect(CAMEL).toContain('joinLinks')
  const name = new RegExp(`\\b(?:${CAMEL.join('|')})\\b`)
  const literal = /'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\\n]|\\.)*`/g
  const bare: string[] = []
  for (const file of readdirSync(`${ROOT}src`, { encoding: 'utf8', recursive: true })) {
    if (!file.endsWith('.ts')) continue
    const code = readFileSync(`${ROOT}src/${file}`, 'utf8').replace(/^\s*(\/\*|\*|\/\/).*$/gm, '')
    for (const [text] of code.matchAll(literal)) {
      const said = text
        .slice(1, -1)
        .replace(/\$\{[^}]*\}/g, '')
        .replace(/\\?`[^`]*`/g, '')
      if (/[a-z.,;:] [a-z]/.test(said) && /[.,;:]|\b(with|of|or)\b/.test(said) && name.test(said)) {
        bare.push(`${file}: ${text}`)
      }
    }
  }
  expect(bare).toEqual([])
})

test.each(['compare', 'report', 'fetch', 'variance', 'logs', 'whatif', 'check', 'teach'])(
  '%s --help-all names no option as code has it',
  async (command) => {
    const { out } = await flowdelta(command, '--help-all')
    const flags = new Set(Array.from(out.matchAll(/--(?:no-)?([a-z][a-z-]*)/g), ([, own]) => own))
    const named = Array.from(out.matchAll(/`([A-Za-z]\w*)`/g), ([, own = '']) => own)
    const kebab = (own: string) => own.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
    expect(named.filter((own) => flags.has(kebab(own)))).toEqual([])
  },
)

test.each([
  ...['compare', 'report', 'fetch', 'variance', 'explosion', 'teach', 'logs', 'whatif'],
  ...['baseline', 'check'],
])('%s --help shows a call that its flags allow', async (command) => {
  const { out } = await flowdelta(command, '--help')
  const [, call = ''] = /Example:\n {2}flowdelta (.*)/.exec(out) ?? []
  const args = Array.from(call.matchAll(/'([^']*)'|(\S+)/g), ([, quoted, word]) => quoted ?? word)
  const { code, err } = await flowdelta(...args.map(String))
  expect(code).toBe(2)
  // All that is wrong with it is that there are no files of these names.
  expect(err).toMatch(/^flowdelta: \w+\.\w+ cannot be opened \(ENOENT\)\. [^\n]*\n$/)
})
