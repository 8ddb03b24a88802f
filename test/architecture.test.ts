import { readdirSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'

/**
 * Rooms of src from top to bottom: each may import from itself and from rooms above it, never from
 * below.
 */
const ROOMS: readonly string[] = [
  'core',
  'stats',
  'traces',
  'logs',
  'flows',
  'calls',
  'compare',
  'comparison',
  'explain',
  'whatif',
  'views',
  'index.ts',
  'cli',
]

/** Folders within rooms, from top to bottom as above; files beside them come last. */
const INNER_ROWS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  compare: [
    ['thresholds.ts'],
    ['knowledge', 'hosts'],
    ['categories'],
    ['mutations'],
    ['edges', 'precursors'],
    ['ranking', 'steps'],
    ['segments', 'onset', 'baseline'],
    ['interference', 'places'],
    ['findings'],
  ],
  comparison: [['fairness'], ['words']],
  logs: [
    ['features'],
    ['performance'],
    ['readers'],
    ['traced'],
    ['divergence', 'dependencies'],
    ['attention'],
  ],
  whatif: [['models'], ['recompute'], ['scenarios'], ['diagnosis']],
  views: [['page'], ['charts'], ['drawing'], ['widgets'], ['notebook'], ['report'], ['text']],
}

/** Where Node's own modules may be used; everything else also runs in a browser. */
const NODE_ALLOWED =
  /^(cli\/|views\/notebook\/|traces\/readers\/(open-file|trace-worker)\.ts$|traces\/stores\/)/
const MOST_LINES = 800
/** What `compare` may use of `core/words.ts` and `core/quantity.ts`: names of things, and cells of tables. */
const NAMING =
  'MAX_NAMED Quantity TIME certaintyText counted grouped listed naturally percent printable shortText spoken'.split(
    ' ',
  )

interface Import {
  readonly file: string
  /** A path below src, or the name of a package. */
  readonly target: string
}

const SRC = fileURLToPath(new URL('../src', import.meta.url))
const FILES = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .map((path) => path.replaceAll('\\', '/'))
  .filter((path) => /\.tsx?$/.test(path))
  .sort()
const TEXTS = new Map(FILES.map((file) => [file, readFileSync(join(SRC, file), 'utf8')]))

const STATEMENT = /^(?:import|export)\s[^'"`;]*?from\s+'([^']+)'|^import\s+'([^']+)'/gm
const DYNAMIC = /import\('([^']+)'\)/g

function importsOf(file: string): Import[] {
  const text = (TEXTS.get(file) as string).replace(/\/\*[\s\S]*?\*\//g, '')
  const targets = [
    ...Array.from(text.matchAll(STATEMENT), ([, from, bare]) => from ?? bare ?? ''),
    ...Array.from(text.matchAll(DYNAMIC), ([, target = '']) => target),
  ]
  return targets.map((target) => ({
    file,
    target: target.startsWith('.') ? posix.join(posix.dirname(file), target) : target,
  }))
}

const IMPORTS = FILES.flatMap(importsOf)
const INNER = IMPORTS.filter(({ target }) => TEXTS.has(target))

function unitOf(file: string): string {
  return file.split('/')[0] as string
}

function rowOf(file: string): number {
  return ROOMS.indexOf(unitOf(file))
}

/** Files on a cycle of imports, types included, in order; none if there is none. */
function findCycle(): string[] {
  const next = new Map<string, string[]>()
  for (const { file, target } of INNER) {
    next.set(file, [...(next.get(file) ?? []), target])
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
    expect(INNER).toContainEqual({ file: 'comparison/comparison.ts', target: 'core/options.ts' })
    expect(INNER).toContainEqual({
      file: 'compare/precursors/match-precursors.ts',
      target: 'core/stage.ts',
    })
    const relative = IMPORTS.filter(({ target }) => /\.tsx?$/.test(target))
    expect(relative.filter(({ target }) => !TEXTS.has(target))).toEqual([])
  })

  test('every file stands in a room', () => {
    expect([...new Set(FILES.filter((file) => rowOf(file) < 0).map(unitOf))]).toEqual([])
  })

  test('no room imports from a room below it, types included', () => {
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
        const name = file.split('/')[1] as string
        const row = rows.findIndex((own) => own.includes(name))
        return row < 0 && folderOf(file) === undefined ? rows.length : row
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

  test('the public API is small, and its types end with words of the glossary', () => {
    const exported = [...(TEXTS.get('index.ts') as string).matchAll(/export (type )?\{([^}]*)\}/g)]
      .flatMap(([, isType, names = '']) =>
        names.split(',').map((name) => `${isType ?? ''}${name.trim()}`),
      )
      .filter((name) => !/^(type )?$/.test(name))
    const types = exported.filter((name) => name.startsWith('type ')).map((name) => name.slice(5))
    expect(exported.length - types.length).toBeLessThanOrEqual(60)
    expect(types.length).toBeLessThanOrEqual(90)
    const glossary = readFileSync(join(SRC, 'README.md'), 'utf8').split('## Glossary')[1] as string
    const words = [...glossary.matchAll(/^\| ([a-z, ]+) \|/gm)].flatMap(([, row = '']) =>
      row.split(', '),
    )
    const singular = (word: string) =>
      word
        .replace(/ies$/, 'y')
        .replace(/(ss)es$/, '$1')
        .replace(/([^si])s$/, '$1')
    const lastWord = (name: string) =>
      singular((/[A-Z][a-z]+$/.exec(name)?.[0] ?? name).toLowerCase())
    expect(types.filter((name) => !words.includes(lastWord(name)))).toEqual([])
  })

  test('numbers that decide in compare stand in thresholds.ts', () => {
    // Codes, units, and numbers of things that the code itself has are no decisions, nor are steps of a grid.
    const isPlain = ([, name, value]: RegExpMatchArray) =>
      /_US$|^US_PER_|^SEED$|^MIN_STEADY$|^(NEXT_TAIL|STEP|SPREAD)$/.test(name as string) ||
      /^(-?[0-2]$|2 \*\* |1 << )/.test(value as string) ||
      ['FIELDS', 'FIRST_LABEL', 'KINDS_OF_EVIDENCE'].includes(name as string)
    const inFiles = FILES.filter((file) => file.startsWith('compare/')).flatMap((file) =>
      [
        ...(TEXTS.get(file) as string).matchAll(
          /^(?:export )?const ([A-Z_]+)(?:: \w+)? = (-?[\d.].*)$/gm,
        ),
      ]
        .filter((found) => !isPlain(found))
        .map(([, name]) => `${file} ${name}`),
    )
    const outside = inFiles.filter((one) => !one.startsWith('compare/thresholds.ts '))
    expect(outside).toEqual([])
    expect(inFiles.length).toBeLessThanOrEqual(80)
    expect(inFiles.length).toBeGreaterThan(50)
  })

  test('compare has no sentence: what writes amounts, counts and lists is used below it', () => {
    const used = FILES.filter((file) => file.startsWith('compare/')).flatMap((file) => {
      const imports = (TEXTS.get(file) as string).matchAll(
        /^import (?:type )?\{([^}]*)\} from '[^']*\/core\/(?:words|quantity)\.ts'/gm,
      )
      return [...imports].flatMap(([, names]) => (names as string).split(','))
    })
    const names = new Set(used.map((name) => name.replace('type ', '').trim()).filter(Boolean))
    expect([...names].sort()).toEqual(NAMING)
  })

  test('no files import each other in a circle, types included', () => {
    expect(findCycle()).toEqual([])
  })

  test('widgets share only drawing, and build on each other one way', () => {
    const folderOf = (file: string) => /^views\/widgets\/([^/]+)\//.exec(file)?.[1]
    const across = INNER.map(({ file, target }) => [folderOf(file), folderOf(target)] as const)
      .filter(([from, to]) => from !== undefined && to !== undefined && from !== to)
      .filter(([from, to]) => from !== 'page' && to !== 'drawing')
      .map(([from, to]) => `${from} builds on ${to}`)
    expect([...new Set(across)].sort()).toEqual([
      'ranking builds on explanation',
      'ranking builds on findings',
      'ranking builds on flows',
      'ranking builds on table',
      'ranking builds on timeline',
      'swimlanes builds on gantt',
      'timeline builds on findings',
      'variance builds on gantt',
      'variance builds on table',
    ])
  })

  test('stats imports nothing but core/errors.ts, simple-statistics and d3-array', () => {
    const outside = IMPORTS.filter(
      ({ file, target }) => unitOf(file) === 'stats' && unitOf(target) !== 'stats',
    )
    expect(new Set(outside.map(({ target }) => target))).toEqual(
      new Set(['core/errors.ts', 'simple-statistics', 'd3-array']),
    )
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

  test('every option table has a name of its own', () => {
    const names = [...TEXTS.values()].flatMap((text) =>
      Array.from(text.matchAll(/^export const (\w+) = defineOptions\(/gm), ([, name]) => name),
    )
    expect(names).toContain('FLOW_OPTIONS')
    expect(names.filter((name, place) => names.indexOf(name) !== place)).toEqual([])
  })

  test(`no file is longer than ${MOST_LINES} lines`, () => {
    const lines = (file: string) => (TEXTS.get(file) as string).trimEnd().split('\n').length
    expect(FILES.filter((file) => lines(file) > MOST_LINES)).toEqual([])
  })
})
