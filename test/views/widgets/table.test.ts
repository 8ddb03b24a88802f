import * as aq from 'arquero'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type StageTable, stageTable } from '../../../src/core/stage.ts'
import {
  explorableTableHtml,
  exploreTable,
} from '../../../src/views/widgets/table/explore-table.ts'
import {
  columnFilter,
  searchFilter,
  tableColumns,
  tableData,
  valueAt,
} from '../../../src/views/widgets/table/table-columns.ts'
import {
  columnSummarizer,
  keptRows,
  sortedRows,
  stateFilters,
  type TableState,
  tableCode,
  untouched,
} from '../../../src/views/widgets/table/table-widget.tsx'
import { HOSTILE } from '../notebook/fixture.ts'

const requests = () =>
  stageTable({
    id: Int32Array.of(0, 1, 2, 3, 4, 5),
    root: ['read', 'Write (a/b)', null, HOSTILE, 'read', "it's\n\\d"],
    meanUs: [1042.4, Number.NaN, 5, 1042.4, -3, 2e6],
    'odd name': [null, 0.25, Number.NaN, -1, 0.25, undefined],
    hot: [true, false, null, true, false, true],
    when: [0, 3, 2, 1, 2, 5].map((day) => new Date(day * 86_400_000)),
    list: [[1], [], [2], [], [], []],
  })

type Changes = Partial<Omit<TableState, 'filters'>> & { filters?: Record<string, string> }

/** The rows that are shown in a state, and its line of code. */
function shown(table: StageTable, { filters = {}, ...changes }: Changes, limit = 100) {
  const options = { title: 'T', name: 'table', pageSize: 10, limit }
  const data = JSON.parse(JSON.stringify(tableData(table, options)))
  const columns = tableColumns(data)
  const state = {
    ...untouched(columns),
    ...changes,
    filters: columns.map(({ name }) => filters[name] ?? ''),
  }
  const kept = keptRows(data.rows, stateFilters(columns, state))
  const rows = sortedRows(kept, columns, { ...data, sort: state.sort })
  const id = columns.find(({ name }) => name === 'id') as (typeof columns)[number]
  return {
    ids: Array.from(rows, (row) => valueAt(id, row)),
    code: tableCode(data, columns, state),
  }
}

/** What a line of code gives. */
function run(table: StageTable, code: string): StageTable {
  return new Function('table', 'aq', `return ${code}`)(table, aq)
}

const column = (name: string) => {
  const options = { title: '', name: '', pageSize: 1, limit: 10 }
  const found = tableColumns(tableData(requests(), options)).find((made) => made.name === name)
  return found as NonNullable<typeof found>
}

const NAMES = requests().columnNames()
const at = (name: string) => NAMES.indexOf(name)

describe('the line of code', () => {
  test('of an untouched table is its name', () => {
    expect(shown(requests(), {}).code).toBe('table')
  })

  test('says filters, then order, then columns', () => {
    const { code, ids } = shown(requests(), {
      filters: { meanUs: '> 1 ms', hot: 'true' },
      hidden: [at('list'), at('when')],
      sort: [{ column: at('meanUs'), descending: true }],
    })
    expect(code).toBe(
      "table.filter(d => d.meanUs > 1000 && d.hot === true).orderby(aq.desc('meanUs'))" +
        ".select('id', 'root', 'meanUs', 'odd name', 'hot')",
    )
    expect(ids).toEqual([5, 0, 3])
  })

  test('leaves missing values to the end in both directions', () => {
    const sorted = (descending: boolean) =>
      shown(requests(), { sort: [{ column: at('odd name'), descending }] })
    expect(sorted(false).code).toBe(
      "table.orderby(d => d['odd name'] == null || d['odd name'] !== d['odd name'], 'odd name')",
    )
    expect(sorted(false).ids).toEqual([3, 1, 4, 0, 5, 2])
    expect(sorted(true).code).toBe("table.orderby(aq.desc('odd name'))")
    expect(sorted(true).ids).toEqual([1, 4, 3, 2, 0, 5])
  })

  test('says which rows are there when some are left out', () => {
    const { code, ids } = shown(requests().orderby(aq.desc('id')), { search: 'read' }, 4)
    expect(code).toBe('table.slice(0, 4).filter(d => aq.op.match(d.root, /read/i, 0))')
    expect(ids).toEqual([4])
    const grouped = requests().groupby('hot')
    expect(shown(grouped, {}, 4).code).toBe('table.ungroup().slice(0, 4)')
  })

  const text = fc.constantFrom('', 'read', '=read', '!=read', "it's\n\\d", '(a/b)', HOSTILE, '.')
  const number = fc.constantFrom('', '> 0', '>= 5', '< 1 ms', '!= 5', '-3', '1.04 ms', '-1..2000')
  const states = fc.record({
    search: fc.constantFrom('', 'READ', '> 1', '5', '/', 'nothing has this'),
    filters: fc.record({
      root: text,
      meanUs: number,
      'odd name': fc.constantFrom('', '> -5', '0.25', '!= 0.25', '<= 0'),
      hot: fc.constantFrom('', 'true', 'false'),
    }),
    sort: fc.uniqueArray(
      fc.record({ column: fc.nat(NAMES.length - 1), descending: fc.boolean() }),
      { maxLength: 3, selector: ({ column }) => column },
    ),
    hidden: fc.constant([]),
  })
  const tables: Record<string, () => StageTable> = {
    plain: requests,
    ordered: () => requests().orderby(aq.desc('root')),
    filtered: () => requests().filter((d: { id: number }) => d.id !== 1),
    grouped: () => requests().groupby('root'),
  }

  test.each(Object.keys(tables))('gives the rows that are shown: %s table', (name) => {
    fc.assert(
      fc.property(states, fc.constantFrom(3, 100), (state, limit) => {
        const table = (tables[name] as () => StageTable)()
        const { ids, code } = shown(table, state, limit)
        expect([...run(table, code).array('id')]).toEqual(ids)
      }),
      { numRuns: 300 },
    )
  })
})

describe('filters', () => {
  const codeOf = (name: string, written: string) => {
    const filter = columnFilter(column(name), written)
    return filter === null ? null : 'code' in filter ? filter.code : filter.problem
  }

  test('of numbers', () => {
    expect(codeOf('id', '> 1,000')).toBe('d.id > 1000')
    expect(codeOf('id', '≠ −2')).toBe('d.id !== -2')
    expect(codeOf('id', '12')).toBe('d.id === 12')
    expect(codeOf('id', '2..5')).toBe('(d.id >= 2 && d.id <= 5)')
    expect(codeOf('odd name', '>-5')).toBe("(d['odd name'] != null && d['odd name'] > -5)")
  })

  test('of durations know units, and find what is shown as it is written', () => {
    expect(codeOf('meanUs', '<= 1.5 s')).toBe('d.meanUs <= 1500000')
    expect(codeOf('meanUs', '1..2 ms')).toBe('(d.meanUs >= 1000 && d.meanUs <= 2000)')
    expect(codeOf('meanUs', '1.04 ms')).toBe('(d.meanUs >= 1035 && d.meanUs < 1045)')
    expect(codeOf('meanUs', '= 1.04 ms')).toBe('d.meanUs === 1040')
  })

  test('of text look for a part, in any case; of the whole with a sign', () => {
    expect(codeOf('root', 'a/b')).toBe('aq.op.match(d.root, /a\\/b/i, 0)')
    expect(codeOf('root', "=it's")).toBe("d.root === 'it\\'s'")
    expect(codeOf('root', '!=read')).toBe("d.root !== 'read'")
  })

  test('that cannot be understood say what can', () => {
    expect(codeOf('id', 'abc')).toBe('Write a number, > 100, or 2..5.')
    expect(codeOf('id', '> 1 ms')).toBe('Write a number, > 100, or 2..5.')
    expect(codeOf('meanUs', '>')).toBe('Write a number, > 1 ms, or 2..5.')
  })

  test('nothing, or only spaces, is no filter', () => {
    expect(codeOf('id', ' ')).toBeNull()
    expect(searchFilter([column('id')], ' ')).toBeNull()
  })

  test('what can only be looked at cannot be filtered', () => {
    expect(codeOf('list', 'x')).toBeNull()
    expect(codeOf('when', '1970')).toBeNull()
  })

  test('a search that no column can answer leaves no row', () => {
    expect(shown(requests().select('id', 'meanUs'), { search: 'word' })).toEqual({
      ids: [],
      code: 'table.filter(d => false)',
    })
  })
})

describe('summaries', () => {
  const all = Uint32Array.of(0, 1, 2, 3, 4, 5)

  test('of numbers: classes, extremes, the middle, and what is missing', () => {
    const summary = columnSummarizer(column('odd name'))(all)
    expect(summary).toMatchObject({ min: -1, median: 0.25, max: 0.25, missing: 3 })
    const bins = summary.kind === 'number' ? summary.bins : []
    expect(bins.filter((bin) => bin.all > 0)).toEqual([
      { all: 1, kept: 1 },
      { all: 2, kept: 2 },
    ])
  })

  test('of words: those of most rows, among all and among those that stay', () => {
    expect(columnSummarizer(column('root'))(Uint32Array.of(1, 2, 4))).toMatchObject({
      top: [
        { word: 'read', all: 2, kept: 1 },
        { word: 'Write (a/b)', all: 1, kept: 1 },
        { word: HOSTILE, all: 1, kept: 0 },
      ],
      distinct: 2,
      missing: 1,
    })
  })

  test('of no rows have nothing to say', () => {
    expect(columnSummarizer(column('meanUs'))(new Uint32Array())).toMatchObject({
      min: Number.NaN,
      median: Number.NaN,
      missing: 0,
    })
  })

  test('of an even number of values, the middle is between two', () => {
    expect(columnSummarizer(column('id'))(all)).toMatchObject({ median: 2.5, isLog: false })
  })
})

describe('exploreTable', () => {
  test('checks its options', () => {
    expect(() => exploreTable(requests(), { pageSize: 0 })).toThrow('Option pageSize is 0.')
    expect(() => exploreTable(requests(), { limit: 1.5 })).toThrow('Option limit is 1.5.')
    expect(() => exploreTable(requests(), { rows: 3 } as never)).toThrow('no option rows')
  })

  test('is a plain table where no script runs, and a picture when asked', () => {
    const widget = exploreTable(requests())
    const { 'text/html': html = '', ...rest } = widget.mimeBundle()
    expect(html.replace(/<script[\s\S]*<\/script>$/, '')).toMatch(
      /^<div data-flowdelta-widget="[^"]+"><div class="flowdelta-table"[\s\S]*<\/table><\/div><\/div>$/,
    )
    expect(Object.keys(rest)).toEqual(['text/plain'])
    expect(widget.svg()).toMatch(/^<svg xmlns=/)
    expect(widget.svg()).not.toContain('<img')
  })

  test('leaves the table as it is', () => {
    const table = requests()
    exploreTable(table).mimeBundle()
    expect(table.numRows()).toBe(6)
    expect(table.isOrdered()).toBe(false)
  })
})

describe('how tables show by default', () => {
  const long = (rows: number) =>
    stageTable({ noise: Float64Array.from({ length: rows }, (_, i) => Math.sin(i) * 1e9) })

  test('nothing to sort: a plain table', () => {
    expect(explorableTableHtml(requests().slice(0, 1))).not.toContain('<script')
    expect(explorableTableHtml(requests().select())).not.toContain('<script')
  })

  test('as many rows go along as fit into 300 kB, and not one of too large ones', () => {
    const html = explorableTableHtml(long(200_000))
    expect(html.length).toBeLessThan(310_000)
    expect(html.length).toBeGreaterThan(200_000)
    const large = stageTable({ text: ['x', 'y'].map((word) => word.repeat(400_000)) })
    const words = Array.from({ length: 90_000 }, (_, i) => String(Math.sin(i))).join()
    expect(explorableTableHtml(large).length).toBeLessThan(1_000_000)
    expect(explorableTableHtml(stageTable({ text: [words, `${words}.`] }))).not.toContain('<script')
  })
})
