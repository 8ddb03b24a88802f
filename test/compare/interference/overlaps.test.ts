import fc from 'fast-check'
import { expect, test } from 'vitest'
import { groupsUnderWay } from '../../../src/compare/interference/interference.ts'

const span = fc.record({
  place: fc.nat(2),
  request: fc.nat(5),
  startUs: fc.nat(500).map((us) => 1e9 + us * 10),
  length: fc.nat(100).map((us) => us * 10),
})
const columns = (
  rows: readonly { place: number; request: number; startUs: number; length: number }[],
) => ({
  request: Uint32Array.from(rows, ({ request }) => request),
  place: Uint32Array.from(rows, ({ place }) => place),
  startUs: Float64Array.from(rows, ({ startUs }) => startUs),
  endUs: Float64Array.from(rows, ({ startUs, length }) => startUs + length),
})

test('the sweep gives what comparing every stretch with every visit gives', () => {
  fc.assert(
    fc.property(
      fc.array(span, { maxLength: 30 }),
      fc.array(span, { maxLength: 20 }),
      (rows, asked) => {
        const groupOf = [0, 1, -1, 0, 2, 1]
        const own = columns(rows)
        const divisions = [{ groupOf, size: 3 }]
        const how = { usualEndUs: own.endUs, divisions }
        const [found] = groupsUnderWay(own, columns(asked), how)
        asked.forEach((call, i) => {
          for (const group of [0, 1, 2]) {
            const met = rows
              .filter(
                ({ place, request }) =>
                  place === call.place && request !== call.request && groupOf[request] === group,
              )
              .map(({ startUs, length }) => [
                Math.max(startUs, call.startUs),
                Math.min(startUs + length, call.startUs + call.length),
              ])
              .filter(([from = 0, to = 0]) => to > from)
            const at = group * asked.length + i
            expect(found?.eachUs[at]).toBeCloseTo(
              met.reduce((sum, [from = 0, to = 0]) => sum + to - from, 0),
              6,
            )
            // Times are multiples of 10 µs: each such piece counts once.
            const pieces = met.flatMap(([from = 0, to = 0]) =>
              Array.from({ length: (to - from) / 10 }, (_, k) => from + 10 * k),
            )
            expect(found?.anyUs[at]).toBeCloseTo(10 * new Set(pieces).size, 6)
          }
        })
      },
    ),
  )
})

test('two at the same time count twice, or as one; none beyond its usual end', () => {
  const rows = columns([
    { place: 0, request: 0, startUs: 0, length: 60 },
    { place: 0, request: 1, startUs: 40, length: 60 },
    { place: 0, request: 1, startUs: 150, length: 10 },
    { place: 1, request: 1, startUs: 0, length: 200 },
  ])
  const calls = columns([{ place: 0, request: 2, startUs: 20, length: 180 }])
  const divisions = [{ groupOf: [0, 0, -1], size: 1 }]
  const of = (usualEndUs: Float64Array) =>
    groupsUnderWay(rows, calls, { usualEndUs, divisions }).map(({ eachUs, anyUs }) => [
      eachUs[0],
      anyUs[0],
    ])
  expect(of(rows.endUs)).toEqual([[40 + 60 + 10, 80 + 10]])
  expect(of(Float64Array.of(30, 100, 160, 200))).toEqual([[10 + 60 + 10, 80 + 10]])
})
