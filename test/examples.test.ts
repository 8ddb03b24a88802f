import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { inspect } from 'node:util'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import * as evaluation from '../evaluation/index.ts'
import * as flowdelta from '../src/index.ts'
import * as stats from '../src/stats/index.ts'
import { compareShops } from './compare/findings/fixture.ts'
import { recordedCase } from './recorded.ts'

const ROOT = fileURLToPath(new URL('../', import.meta.url))
const DATA = fileURLToPath(new URL('../datasets/storage-service/rmw/', import.meta.url))
const LOGS = fileURLToPath(new URL('../datasets/storage-service-logs/', import.meta.url))

interface Example {
  readonly file: string
  readonly code: string
}

/** Every `@example` of a docstring, up to the next tag or the docstring's end. */
function examplesOf(file: string): Example[] {
  const text = readFileSync(ROOT + file, 'utf8')
  return Array.from(
    text.matchAll(/\* @example\n((?: *\* ?.*\n)*?) *\*(?:\/| @)/g),
    ([, lines]) => ({
      file,
      code: (lines as string).replace(/^ *\* ?/gm, '').trim(),
    }),
  )
}

const FILES = ['src', 'evaluation'].flatMap((folder) =>
  readdirSync(ROOT + folder, { recursive: true, encoding: 'utf8' }).map(
    (path) => `${folder}/${path}`,
  ),
)
const EXAMPLES = FILES.filter((path) => path.endsWith('.ts'))
  .sort()
  .flatMap(examplesOf)

const AsyncFunction = (async () => {}).constructor as new (
  ...parts: string[]
) => (...values: unknown[]) => Promise<unknown>

/** Cuts code into statements: as few lines as make a whole one. */
function statementsOf(code: string): string[] {
  const statements: string[] = []
  let pending = ''
  for (const line of code.split('\n')) {
    pending += `${line}\n`
    try {
      new AsyncFunction(pending)
      statements.push(pending.trim())
      pending = ''
    } catch {
      // Not whole yet.
    }
  }
  expect(pending).toBe('')
  return statements
}

/** Code in which every `expression // value` says what the expression is. */
function checked(code: string): string {
  return statementsOf(code)
    .map((statement) => {
      const [, expression, expected] = /^([\s\S]*\S) +\/\/ (.+)$/.exec(statement) ?? []
      if (expression === undefined || /^(const|let) /.test(expression)) return statement
      return `check(${expression}, ${JSON.stringify(expected)})`
    })
    .join('\n')
}

describe('every example in a docstring runs and gives what it says', () => {
  /** What examples take for granted. */
  const given: Record<string, unknown> = {}
  /** The first second of both periods, for what tries many changes of them. */
  const short: Record<string, unknown> = {}
  const SHORTER = /diagnosis|compare\/comparison/

  beforeAll(async () => {
    const comparison = await recordedCase('rmw')
    const { before, after, flows, categories, structural, ranking } = comparison
    const [first] = ranking.mutations
    const logs = await flowdelta.loadLogs(
      { before: `${LOGS}good.jsonl.gz`, after: `${LOGS}bad.jsonl.gz` },
      { instance: 'instance' },
    )
    Object.assign(short, { before: before.between('0s', '1s'), after: after.between('0s', '1s') })
    const truth = JSON.parse(readFileSync(`${DATA}truth.json`, 'utf8'))
    const precursor = first?.precursors[0]?.category
    Object.assign(given, {
      before,
      after,
      comparison,
      flows,
      categories,
      structural,
      truth,
      precursor,
      mutation: first?.category,
      logComparison: flowdelta.compareLogs(logs),
      check: (actual: unknown, expected: string) => expect(inspect(actual)).toBe(expected),
    })
  })

  test.each(EXAMPLES)('$file: $code', async ({ file, code }) => {
    vi.spyOn(console, 'log').mockReturnValue()
    vi.spyOn(console, 'table').mockReturnValue()
    const own = (await import(ROOT + file)) as Record<string, unknown>
    const declared = new Set(
      Array.from(code.matchAll(/^const (?:\{ )?(\w+)/gm), ([, name]) => name),
    )
    const names = {
      ...stats,
      ...flowdelta,
      ...evaluation,
      ...own,
      ...given,
      ...(SHORTER.test(file) && short),
    }
    const scope = Object.entries(names).filter(([name]) => !declared.has(name))
    const run = new AsyncFunction(...scope.map(([name]) => name), checked(code))
    await run(...scope.map(([, value]) => value))
    vi.restoreAllMocks()
  })
})

test.each([
  ['with findings', { stockUs: 3000, archive: 0.4 }],
  ['where nothing was found', {}],
])('the charts and widgets of the gallery are drawn for any comparison: %s', async (_, after) => {
  const gallery = readFileSync(`${ROOT}docs/guide/gallery.md`, 'utf8')
  const [, names = ''] = /^(const \[finding\][\s\S]*?)```/m.exec(gallery) ?? []
  const rows = (pattern: RegExp) => Array.from(gallery.matchAll(pattern), ([, code]) => code)
  const charts = rows(/^\| `(plot\(.*?\))` \|/gm)
  const widgets = rows(/^\| `(explore\((?:explain\()?comparison.*?\))` \|/gm)
  expect(names).toContain('const id')
  expect(charts.length).toBeGreaterThan(9)
  expect(widgets.length).toBeGreaterThan(6)
  const comparison = compareShops({ archive: 0.1 }, { archive: 0.1, ...after })
  const { explain, explore, plot } = flowdelta
  const scope = { comparison, explain, explore, plot }
  const code = [names, ...charts, ...widgets].join('\n')
  await new AsyncFunction(...Object.keys(scope), code)(...Object.values(scope))
})

test('there are examples to run', () => {
  expect(EXAMPLES.length).toBeGreaterThan(40)
})
