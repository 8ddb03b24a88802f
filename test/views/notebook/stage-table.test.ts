import { inspect } from 'node:util'
import { desc, op } from 'arquero'
import { range } from 'd3-array'
import { expect, test, vi } from 'vitest'
import { type StageTable, setTableHtml, stageTable } from '../../../src/core/stage.ts'

const idle = () =>
  stageTable({ id: Int32Array.of(0, 1, 2), root: ['read', 'write', 'read'], unused: [1, 2, 3] }, [
    'root',
    'id',
  ])

type Row = { id: number; root: string }

test('columns are taken as they are, in the order of names', () => {
  const id = Int32Array.of(0, 1, 2)
  const made = stageTable({ id, root: ['a', 'b', 'c'] }, ['root', 'id'])
  expect(made.columnNames()).toEqual(['root', 'id'])
  const { id: kept } = made.data()
  expect(kept).toBe(id)
})

test.each<[string, (made: StageTable) => unknown]>([
  ['filter', (made) => made.filter((row: Row) => row.id > 0)],
  ['orderby', (made) => made.orderby(desc('id'))],
  ['derive', (made) => made.derive({ twice: (row: Row) => row.id * 2 })],
  ['groupby and rollup', (made) => made.groupby('root').rollup({ n: op.max('id') })],
  ['groupby and count', (made) => made.groupby('root').count()],
  ['select', (made) => made.select('id')],
  ['rename', (made) => made.rename({ id: 'category' })],
  ['slice', (made) => made.slice(0, 1)],
  ['dedupe', (made) => made.dedupe('root')],
  ['join', (made) => made.join(idle(), 'id')],
  ['concat', (made) => made.concat(idle())],
  ['fold', (made) => made.fold(['id'])],
  ['pivot', (made) => made.pivot('root', 'id')],
  ['assign', (made) => made.assign(stageTable({ more: [1, 2, 3] }))],
  ['reify', (made) => made.filter((row: Row) => row.id > 0).reify()],
])('%s gives a table that shows itself', (_verb, apply) => {
  expect(Object.keys((apply(idle()) as StageTable).mimeBundle())).toEqual([
    'text/plain',
    'text/html',
  ])
})

test('a verb leaves the table it was called on alone', () => {
  const made = idle()
  made.filter((row: Row) => row.id > 1)
  expect(made.numRows()).toBe(3)
})

test('outside a notebook it is text', () => {
  expect(inspect(idle())).toBe('root   id\nread    0\nwrite   1\nread    2')
})

test('its bundle has text and HTML', () => {
  expect(Object.keys(idle().mimeBundle())).toEqual(['text/plain', 'text/html'])
})

test('its HTML is what notebooks registered, or a plain table', () => {
  setTableHtml((shown) => `${shown.numRows()} rows`)
  expect(idle().mimeBundle()['text/html']).toBe('3 rows')
  setTableHtml(undefined)
  expect(idle().mimeBundle()['text/html']).toContain('<table')
})

test('a name without a column is refused', () => {
  expect(() => stageTable({ id: [1] }, ['ID'])).toThrow(
    'Option names is "ID". Give names among id.',
  )
})

test('columns of different length are refused', () => {
  expect(() => stageTable({ id: [1, 2], root: ['read'] })).toThrow(
    'Option columns.root is "1 values". Give 2 values, as many as column id has.',
  )
})

test("Arquero's options limit, offset and columns hold for print, toHTML and toMarkdown", () => {
  const made = stageTable({ id: range(20), root: range(20).map((id) => `r${id}`) })
  const printed = vi.spyOn(console, 'table').mockReturnValue()
  const said = vi.spyOn(console, 'log').mockReturnValue()
  for (const options of [{ limit: 2, offset: 3, columns: ['id'] }, 12, {}]) made.print(options)
  expect(printed.mock.calls[0]).toEqual([[{ id: 3 }, { id: 4 }]])
  expect(printed.mock.calls.map(([rows]) => rows.length)).toEqual([2, 12, 10])
  expect(said.mock.calls[0]).toEqual(['Table: 2 cols x 20 rows. Showing 2 rows.'])
  vi.restoreAllMocks()
  const two = { limit: 2, offset: 3, columns: () => ['root'] }
  expect(made.toHTML(two).match(/<td[^>]*>[^<]*/g)).toHaveLength(2)
  expect(made.toMarkdown(two).trim().split('\n').slice(2)).toEqual(['|r3|', '|r4|'])
})
