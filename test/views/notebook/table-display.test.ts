import { table } from 'arquero'
import { expect, test } from 'vitest'
import { tableHtml, tableText } from '../../../src/core/table-display.ts'
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

test('a number of some size that its column cannot hold is written without an exponent', () => {
  expect(tableText(table({ mean: [250_000.5, 0.66, 0.0042, 6.6e-5] }))).toBe(
    '  mean\n250001\n  0.66\n0.0042\n6.6e-5',
  )
})

test('HTML says durations in their unit, and the value in µs on hover', () => {
  const html = tableHtml(table({ shiftUs: [1042.4, -3, Number.NaN, 0] }))
  expect(html).toMatch(/<th scope="col" title="shiftUs"[^>]*>shift<\/th>/)
  const cells = Array.from(html.matchAll(/<td( title="[^"]*")?[^>]*>([^<]*)</g), (cell) => [
    cell[1] ?? '',
    cell[2],
  ])
  expect(cells).toEqual([
    [' title="1042.4 µs"', '1.04 ms'],
    ['', '−3 µs'],
    ['', '–'],
    ['', '0 µs'],
  ])
})

test('HTML sets thousands apart from five digits on, text leaves numbers to be copied', () => {
  const made = table({ requests: [9999, 12_345], big: [1n, 12_345n] })
  expect(tableHtml(made)).toContain('>9999<')
  expect(tableHtml(made).match(/>12,345</g)).toHaveLength(2)
  expect(tableText(made)).toContain('12345')
})

test('HTML writes p with two digits, and never as 0', () => {
  const html = tableHtml(table({ p: [0.123456, 0, 0.000012, Number.NaN] }))
  const cells = [...html.matchAll(/<td[^>]*>([^<]*)</g)].map(([, text]) => text)
  expect(cells).toEqual(['0.12', '&lt; 1e-6', '1.2e-5', '–'])
})

test('HTML keeps four digits, says all of them on hover, and 0 for nothing at all', () => {
  const html = tableHtml(table({ share: [0.123456, 0, 1.23456e-9, 0.5] }))
  expect(html).toMatch(/title="0\.123456"[^>]*>0\.1235</)
  expect(html).toMatch(/title="1\.23456e-9"[^>]*>1\.23e-9</)
  expect(html).toMatch(/>0</)
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
