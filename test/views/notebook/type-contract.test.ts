import { createRequire } from 'node:module'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ROOT, writeCell } from './fixture.ts'

/** tslab's compiler: TypeScript 5.0 with the options tslab gives it. */
const ts = createRequire(import.meta.url)('@tslab/typescript-for-tslab')

/** What the compiler says about a cell and about flowdelta's own declarations. */
function diagnosticsOf(source: string): string[] {
  const file = writeCell(source)
  const program = ts.createProgram([file], {
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Node10,
    esModuleInterop: true,
    target: ts.ScriptTarget.ES2022,
    lib: ['lib.es2022.d.ts'],
    types: ['node'],
    typeRoots: [join(ROOT, 'node_modules', '@types')],
    noEmit: true,
  })
  const own = (name: string) => name === file || name.startsWith(join(ROOT, 'dist', 'types'))
  return [...program.getSyntacticDiagnostics(), ...program.getSemanticDiagnostics()]
    .filter((diagnostic: { file?: { fileName: string } }) => own(diagnostic.file?.fileName ?? ''))
    .map((diagnostic: { file: { fileName: string }; messageText: unknown }) => {
      const text = ts.flattenDiagnosticMessageText(diagnostic.messageText, '\n')
      return `${diagnostic.file.fileName.replace(ROOT, '')}: ${text}`
    })
}

test('tslab’s compiler reads every declaration of flowdelta', () => {
  expect(diagnosticsOf(`import * as fd from 'flowdelta'\nfd.show(1)`)).toEqual([])
})

test('a cell sees the types of charts and tables', () => {
  const source = `
    import { Chart, StageTable, stageTable } from 'flowdelta'
    const made: StageTable = stageTable({ id: Int32Array.of(1) }).filter((row: any) => row.id > 0)
    const title: string = new Chart({ mark: 'bar' }, { title: 'T', description: 'D' }).title
    const svg: string = new Chart({}, { title, description: made.columnNames().join() }).svg()
    console.log(svg)`
  expect(diagnosticsOf(source)).toEqual([])
})

test('a wrong argument is an error, so the types are not lost on the way', () => {
  const source = `import { Chart } from 'flowdelta'\nnew Chart({}, { title: 1, description: '' })`
  expect(diagnosticsOf(source)).toEqual([
    expect.stringContaining("Type 'number' is not assignable to type 'string'"),
  ])
})
