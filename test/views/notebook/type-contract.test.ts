import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, join } from 'node:path'
import { ColumnTable, Table } from 'arquero'
import { beforeAll, expect, test } from 'vitest'
import { listNotebooks } from '../../../scripts/notebook-runner.mjs'
import { VERBS, verbsCell } from './arquero-verbs.ts'
import { ROOT, removeFolder, writeCell } from './fixture.ts'

/** tslab's compiler: TypeScript 5.0 with the options tslab gives it. */
const ts = createRequire(import.meta.url)('@tslab/typescript-for-tslab')

const CELLS = {
  whole: `import * as fd from 'flowdelta'\nfd.show(1)`,
  statistics: `import { ksTwoSample } from 'flowdelta/stats'\nconst p: number = ksTwoSample([1], [2]).p\nconsole.log(p)`,
  chart: `
    import { Chart, type StageTable, stageTable } from 'flowdelta'
    const made: StageTable = stageTable({ id: Int32Array.of(1) }).filter((row: any) => row.id > 0)
    const title: string = new Chart({ mark: 'bar' }, { title: 'T', description: 'D' }).title
    const svg: string = new Chart({}, { title, description: made.columnNames().join() }).svg()
    console.log(svg)`,
  verbs: verbsCell(),
  arquero: `
    import * as aq from 'arquero'
    import { explore, type StageTable, stageTable } from 'flowdelta'
    const mine = aq.table({ a: [1, 2] })
    const theirs = stageTable({ a: [1], b: ['x'] })
    const joined: aq.ColumnTable = mine.join(theirs, 'a')
    const plain: aq.ColumnTable = theirs
    const kept: StageTable = theirs.params({ least: 0 }) && theirs.join_left(mine, 'a')
    console.log(aq.toArrowIPC(plain)?.length, kept.objects().map((row) => row.b))
    explore(joined)\nexplore(mine, { limit: 1 })`,
  wrong: `import { Chart } from 'flowdelta'\nnew Chart({}, { title: 1, description: '' })`,
  kind: `import { compare, plot } from 'flowdelta'\nplot(compare(null as any, null as any), 'no such kind')`,
} as const

/** All code of a notebook as one file, with paths as `writeCell`'s folder, three below the root, needs them. */
function codeOf(notebook: string): string {
  const { cells } = JSON.parse(readFileSync(notebook, 'utf8')) as { cells: readonly Cell[] }
  const code = cells.filter(({ cell_type }) => cell_type === 'code')
  const sources = code.map(({ source }) => [source].flat().join(''))
  return `${sources.join('\n;\n').replaceAll("'../dist/", "'../../../dist/")}\nexport {}\n`
}

interface Cell {
  readonly cell_type: string
  readonly source: string | readonly string[]
}

const NOTEBOOKS = listNotebooks().map((path) => [basename(path), codeOf(path)] as const)

let diagnostics: ReadonlyMap<string, readonly string[]>

/** Compiles all cells at once, which takes as long as one, and keeps what is said of each. */
beforeAll(() => {
  const sources = [...Object.entries(CELLS), ...NOTEBOOKS]
  const cells = sources.map(([name, source]) => [name, writeCell(source)] as const)
  const program = ts.createProgram(
    cells.map(([, file]) => file),
    {
      module: ts.ModuleKind.ESNext,
      moduleResolution: ts.ModuleResolutionKind.Node10,
      esModuleInterop: true,
      target: ts.ScriptTarget.ES2022,
      lib: ['lib.es2022.d.ts'],
      types: ['node'],
      typeRoots: [join(ROOT, 'node_modules', '@types')],
      noEmit: true,
    },
  )
  const said = [...program.getSyntacticDiagnostics(), ...program.getSemanticDiagnostics()].map(
    (diagnostic: { file?: { fileName: string }; messageText: unknown }) => ({
      file: diagnostic.file?.fileName ?? '',
      text: String(ts.flattenDiagnosticMessageText(diagnostic.messageText, '\n')),
    }),
  )
  const of = (isThere: (file: string) => boolean) =>
    said.filter(({ file }) => isThere(file)).map(({ text }) => text)
  diagnostics = new Map([
    ['declarations', of((file) => file.startsWith(join(ROOT, 'dist', 'types')))],
    ...cells.map(([name, cell]) => [name, of((file) => file === cell)] as const),
  ])
  for (const [, file] of cells) removeFolder(file)
}, 120_000)

test('tslab’s compiler reads every declaration of flowdelta', () => {
  expect(diagnostics.get('declarations')).toEqual([])
  expect(diagnostics.get('whole')).toEqual([])
})

test('a cell sees the types of charts, tables and statistics', () => {
  expect(diagnostics.get('chart')).toEqual([])
  expect(diagnostics.get('statistics')).toEqual([])
})

test('a stage table is a table of Arquero’s, and takes all that Arquero’s reference does with one', () => {
  expect(diagnostics.get('arquero')).toEqual([])
  expect(diagnostics.get('verbs')).toEqual([])
  const methods = [ColumnTable, Table].flatMap(({ prototype }) =>
    Object.getOwnPropertyNames(prototype),
  )
  expect(methods.filter((name) => name !== 'constructor' && !(name in VERBS))).toEqual([])
})

test('a wrong argument is an error, so the types are not lost on the way', () => {
  expect(diagnostics.get('wrong')).toEqual([
    expect.stringContaining("Type 'number' is not assignable to type 'string'"),
  ])
  expect(diagnostics.get('kind')).toEqual([expect.stringContaining('"no such kind"')])
})

test.each(NOTEBOOKS)('the cells of %s compile, even if it only runs in the long tests', (name) => {
  expect(diagnostics.get(name)).toEqual([])
})
