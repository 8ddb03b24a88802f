import { table } from 'arquero'
import { expect, test } from 'vitest'
import { tableHtml, tableText } from '../../src/table-display.ts'
import { HOSTILE } from './fixture.ts'

test('cells and column names are escaped', () => {
  const html = tableHtml(table({ [HOSTILE]: [HOSTILE] }))
  expect(html).not.toContain('<img')
  expect(html).not.toContain('</script>')
  expect(html.match(/&lt;img src=x onerror=&quot;alert\(1\)&quot;&gt;/g)).toHaveLength(2)
})

test('numbers are aligned right, words left', () => {
  const html = tableHtml(table({ service: ['cart'], requests: [12] }))
  expect(html).toContain('<td style="padding:2px 8px;text-align:left;white-space:nowrap">cart</td>')
  expect(html).toContain('<td style="padding:2px 8px;text-align:right;white-space:nowrap">12</td>')
  expect(html).toContain('title="1 row, 2 columns"')
})

test('a long table says how many rows it leaves out', () => {
  const long = table({ id: Array.from({ length: 32 }, (_, id) => id) })
  expect(tableHtml(long)).toContain('>12 more rows<')
  expect(tableText(long, { limit: 31 }).split('\n').at(-1)).toBe('1 more row')
  expect(tableText(long, { limit: 32 })).not.toContain('more')
})

test('a table without rows says so', () => {
  expect(tableText(table({ id: [] }))).toBe('id\nno rows')
})

test('rows come in the order of the table, filtered ones not at all', () => {
  const sorted = table({ id: [3, 1, 2] })
    .filter((row: { id: number }) => row.id > 1)
    .orderby('id')
  expect(tableText(sorted)).toBe('id\n 2\n 3')
})

test('a column keeps five digits of its largest number, and no zeros that say nothing', () => {
  const text = tableText(
    table({ meanUs: [2011.4512, 0.5], share: [0.25, 1], count: [10, 2000000] }),
  )
  expect(text).toBe('meanUs  share    count\n2011.5   0.25       10\n   0.5   1.00  2000000')
})

test('a number too small for its column is written with an exponent', () => {
  expect(tableText(table({ p: [0.98, 1.234e-12, 0] }))).toBe(
    '       p\n    0.98\n1.23e-12\n    0.00',
  )
})

test('missing values, dates, big integers, lists and objects are readable', () => {
  const row = {
    none: [null],
    when: [new Date(0)],
    big: [12345678901234567890n],
    list: [Float64Array.of(1, 2)],
    object: [{ n: 1n }],
  }
  expect(tableText(table(row)).split('\n')[1]).toBe(
    '      1970-01-01T00:00:00.000Z  12345678901234567890  [1,2]  {"n":"1"}',
  )
})

test('text keeps a row on one line', () => {
  const [, line] = tableText(table({ root: [`${'x'.repeat(80)}\ny`] })).split('\n')
  expect(line).toBe(`${'x'.repeat(59)}…`)
})
