import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decodeColumns, encodeColumns } from '../../src/core/columns.ts'
import { FlowdeltaError, InternalError } from '../../src/core/errors.ts'

const throughJson = <T>(value: T): T => JSON.parse(JSON.stringify(value))
const roundTrip = <T>(value: T): T => decodeColumns(throughJson(encodeColumns(value)))
const lengthOf = (value: unknown) => JSON.stringify(encodeColumns(value)).length

const number = fc.oneof(fc.double(), fc.integer(), fc.constantFrom(-0, Number.NaN, Infinity))
const PLAIN = { noNullPrototype: true }
const { value: data } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    number,
    fc.string(),
    fc.boolean(),
    fc.constantFrom(null, undefined),
    fc.bigInt(),
    fc.float64Array({ maxLength: 20 }),
    fc.float32Array({ maxLength: 20 }),
    fc.int8Array(),
    fc.int16Array(),
    fc.int32Array(),
    fc.uint8Array(),
    fc.uint16Array(),
    fc.uint32Array(),
    fc.array(number, { maxLength: 20 }),
    fc.array(fc.boolean(), { maxLength: 30 }),
    fc.array(fc.constantFrom('cart', 'mail', '__proto__', '$'), { maxLength: 20 }),
    fc.array(fc.record({ name: fc.string(), meanUs: number, parts: tie('value') }, PLAIN)),
    fc.array(tie('value')),
    fc.dictionary(
      fc.oneof(fc.string(), fc.constantFrom('$', '__proto__', 'of')),
      tie('value'),
      PLAIN,
    ),
  ),
}))

describe('columns', () => {
  test('any data is equal to itself after encoding, JSON and decoding', () => {
    fc.assert(
      fc.property(data, (value) => {
        expect(roundTrip(value)).toStrictEqual(value)
      }),
      { numRuns: 500 },
    )
  })

  test('an array keeps its type though its numbers are stored in a smaller one', () => {
    const whole = Float64Array.from({ length: 1000 }, (_, i) => i % 200)
    expect(roundTrip(whole)).toStrictEqual(whole)
    expect(lengthOf(whole)).toBeLessThan(1450)
  })

  test('a view of a part of an array carries only that part', () => {
    const part = Float64Array.of(1.25, 2.5, 3.75).subarray(1, 2)
    expect(roundTrip(part)).toStrictEqual(Float64Array.of(2.5))
  })

  test('repeated names are carried once', () => {
    const services = Array.from({ length: 1000 }, (_, i) => (i % 2 ? 'checkout' : 'payments'))
    expect(roundTrip(services)).toEqual(services)
    expect(lengthOf(services)).toBeLessThan(1500)
  })

  test('records of one form carry their keys once', () => {
    const rows = Array.from({ length: 100 }, (_, i) => ({ medianShiftUs: i, significant: i > 9 }))
    expect(roundTrip(rows)).toEqual(rows)
    expect(lengthOf(rows)).toBeLessThan(350)
  })

  test('functions, dates and maps are rejected', () => {
    for (const value of [() => 1, new Date(0), new Map()]) {
      expect(() => encodeColumns({ value })).toThrow(InternalError)
    }
  })

  test('data in another form is rejected with what to do', () => {
    expect(() => decodeColumns({ columns: { $: 'Date', of: '' } })).toThrow(FlowdeltaError)
    expect(() => decodeColumns({ columns: { $: 'Date', of: '' } })).toThrow(
      'Encoded columns hold "Date". Encode them again with this version of flowdelta.',
    )
  })
})
