import { readdirSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'

/**
 * Folders and files of src from top to bottom: each may import from itself and from rows above its
 * own, never from below or from its own row.
 */
const ROWS: readonly (readonly string[])[] = [
  ['errors.ts'],
  ['stats', 'base64.ts', 'escape.ts', 'fingerprint.ts', 'shown-text.ts', 'units.ts'],
  // How tables show themselves; every stage has a table.
  ['display.ts', 'page', 'table-cells.ts', 'trace-links.ts', 'wording.ts'],
  ['table-display.ts'],
  ['stage-table.ts'],
  ['stage.ts'],
  // The spine.
  ['traces'],
  ['flows'],
  ['categories'],
  ['edges'],
  ['mutations'],
  ['precursors'],
  ['ranking'],
  ['findings'],
  ['explanation'],
  ['comparison-options.ts'],
  ['fairness'],
  ['comparison.ts'],
  ['snapshot'],
  // Side roads import the spine, never each other.
  [
    'calling-contexts',
    'variance',
    'explosion',
    'logs',
    'whatif',
    'engines',
    'evaluation',
    'parameters',
  ],
  // Output.
  ['charts'],
  ['widgets'],
  ['notebook'],
  ['report'],
  ['index.ts'],
  ['cli'],
]

/** Folders within large side roads, from top to bottom as above; files beside them come last. */
const INNER_ROWS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  logs: [['features'], ['performance', 'readers'], ['divergence', 'dependencies'], ['attention']],
  whatif: [
    ['calls'],
    ['models'],
    ['recompute', 'prediction'],
    ['scenarios'],
    ['diagnosis'],
    ['testbed'],
  ],
}

/** Where Node's own modules may be used; everything else also runs in a browser. */
const NODE_ALLOWED =
  /^(cli\/|notebook\/|traces\/readers\/open-file\.ts$|logs\/readers\/open-log-files\.ts$)/
const MOST_LINES = 300

interface Import {
  readonly file: string
  /** A path below src, or the name of a package. */
  readonly target: string
  readonly typeOnly: boolean
}

const SRC = fileURLToPath(new URL('../src', import.meta.url))
const FILES = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .map((path) => path.replaceAll('\\', '/'))
  .filter((path) => /\.tsx?$/.test(path))
  .sort()
const TEXTS = new Map(FILES.map((file) => [file, readFileSync(join(SRC, file), 'utf8')]))

const STATEMENT = /^(?:import|export)\s+(type\s)?[^'"`;]*?from\s+'([^']+)'|^import\s+'([^']+)'/gm
const DYNAMIC = /(typeof\s+)?import\('([^']+)'\)/g

function importsOf(file: string): Import[] {
  const text = (TEXTS.get(file) as string).replace(/\/\*[\s\S]*?\*\//g, '')
  const found = [
    ...Array.from(text.matchAll(STATEMENT), ([, type, from, bare]) => ({
      ...{ target: from ?? bare ?? '', typeOnly: type !== undefined },
    })),
    ...Array.from(text.matchAll(DYNAMIC), ([, type, target = '']) => ({
      ...{ target, typeOnly: type !== undefined },
    })),
  ]
  return found.map(({ target, typeOnly }) => ({
    ...{ file, typeOnly },
    target: target.startsWith('.') ? posix.join(posix.dirname(file), target) : target,
  }))
}

const IMPORTS = FILES.flatMap(importsOf)
const INNER = IMPORTS.filter(({ target }) => TEXTS.has(target))

function unitOf(file: string): string {
  return file.split('/')[0] as string
}

function rowOf(file: string): number {
  return ROWS.findIndex((row) => row.includes(unitOf(file)))
}

/** Files on a cycle of imports that remain when types are gone, in order; none if there is none. */
function findCycle(): string[] {
  const next = new Map<string, string[]>()
  for (const { file, target, typeOnly } of INNER) {
    if (!typeOnly) next.set(file, [...(next.get(file) ?? []), target])
  }
  const done = new Set<string>()
  const path: string[] = []
  const visit = (file: string): string[] => {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file]
    if (done.has(file)) return []
    path.push(file)
    for (const target of next.get(file) ?? []) {
      const cycle = visit(target)
      if (cycle.length > 0) return cycle
    }
    path.pop()
    done.add(file)
    return []
  }
  return FILES.map(visit).find((cycle) => cycle.length > 0) ?? []
}

describe('the architecture of src', () => {
  test('was read: files, and imports of all forms', () => {
    expect(FILES).toContain('traces/readers/dot.ts')
    expect(INNER).toContainEqual({ file: 'comparison.ts', target: 'errors.ts', typeOnly: false })
    expect(INNER).toContainEqual({
      ...{ file: 'precursors/precursors.ts', target: 'stage-table.ts', typeOnly: false },
    })
    const relative = IMPORTS.filter(({ target }) => /\.tsx?$/.test(target))
    expect(relative.filter(({ target }) => !TEXTS.has(target))).toEqual([])
  })

  test('every file and folder has its row', () => {
    expect([...new Set(FILES.filter((file) => rowOf(file) < 0).map(unitOf))]).toEqual([])
  })

  test('nothing imports from its own row or from below, types included', () => {
    const wrong = INNER.filter(
      ({ file, target }) => unitOf(file) !== unitOf(target) && rowOf(target) >= rowOf(file),
    )
    expect(wrong.map(({ file, target }) => `${file} imports ${target}`)).toEqual([])
  })

  test.each(Object.entries(INNER_ROWS))(
    'the folders of %s build on each other one way',
    (unit, rows) => {
      const folderOf = (file: string) =>
        file.split('/').length > 2 ? file.split('/')[1] : undefined
      const place = (file: string) => {
        const folder = folderOf(file)
        return folder === undefined ? rows.length : rows.findIndex((row) => row.includes(folder))
      }
      const own = FILES.filter((file) => unitOf(file) === unit)
      expect(own.filter((file) => place(file) < 0)).toEqual([])
      const wrong = INNER.filter(
        ({ file, target }) =>
          unitOf(file) === unit &&
          unitOf(target) === unit &&
          folderOf(file) !== folderOf(target) &&
          place(target) >= place(file),
      )
      expect(wrong.map(({ file, target }) => `${file} imports ${target}`)).toEqual([])
    },
  )

  test('no files import each other in a circle', () => {
    expect(findCycle()).toEqual([])
  })

  test('widgets share only drawing, and build on each other one way', () => {
    const folderOf = (file: string) => /^widgets\/([^/]+)\//.exec(file)?.[1]
    const across = INNER.map(({ file, target }) => [folderOf(file), folderOf(target)] as const)
      .filter(([from, to]) => from !== undefined && to !== undefined && from !== to)
      .filter(([from, to]) => from !== 'page' && to !== 'drawing')
      .map(([from, to]) => `${from} builds on ${to}`)
    expect([...new Set(across)].sort()).toEqual([
      'ranking builds on explanation',
      'ranking builds on flows',
      'ranking builds on table',
      'swimlanes builds on gantt',
    ])
  })

  test('stats imports nothing but errors.ts', () => {
    const outside = IMPORTS.filter(
      ({ file, target }) => unitOf(file) === 'stats' && unitOf(target) !== 'stats',
    )
    expect([...new Set(outside.map(({ target }) => target))]).toEqual(['errors.ts'])
  })

  test('analysis never imports output', () => {
    const output = ['charts', 'widgets', 'notebook', 'report', 'cli']
    const comparison = ROWS.findIndex((row) => row.includes('comparison.ts'))
    const wrong = INNER.filter(
      ({ file, target }) => rowOf(file) <= comparison && output.includes(unitOf(target)),
    )
    expect(wrong).toEqual([])
  })

  test('Node’s modules are used only to read files, in notebooks and on the command line', () => {
    const users = IMPORTS.filter(({ target }) => target.startsWith('node:')).map(({ file }) => file)
    expect(users.filter((file) => !NODE_ALLOWED.test(file))).toEqual([])
    expect(users).toContain('traces/readers/open-file.ts')
  })

  test('no file or folder is called utils, common, helpers or shared', () => {
    expect(
      FILES.filter((file) => /(^|\/)(utils?|common|helpers?|shared)(\/|\.ts$)/.test(file)),
    ).toEqual([])
  })

  test(`no file is longer than ${MOST_LINES} lines`, () => {
    const lines = (file: string) => (TEXTS.get(file) as string).trimEnd().split('\n').length
    expect(FILES.filter((file) => lines(file) > MOST_LINES)).toEqual([])
  })
})
