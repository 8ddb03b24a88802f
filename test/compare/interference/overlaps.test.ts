import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  groupsUnderWay,
  overlapsOf,
  sortCalls,
} from '../../../src/compare/interference/activity.ts'

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

test('the sweep gives what comparing every call with every other gives', () => {
  fc.assert(
    fc.property(
      fc.array(span, { maxLength: 30 }),
      fc.array(span, { maxLength: 20 }),
      (rows, asked) => {
        const groupOf = [0, 1, -1, 0, 2, 1]
        const own = columns(rows)
        const calls = sortCalls(columns(asked))
        const under = groupsUnderWay({ ...own, ...sortCalls(own) }, groupOf)
        const found = overlapsOf(under, calls, 3)
        asked.forEach((call, i) => {
          for (const group of [0, 1, 2]) {
            const met = rows
              .filter(({ place, request }) => place === call.place && groupOf[request] === group)
              .map(({ startUs, length }) => {
                const until = Math.min(startUs + length, call.startUs + call.length)
                return Math.max(0, until - Math.max(startUs, call.startUs))
              })
            expect(found[group * asked.length + i]).toBeCloseTo(
              met.reduce((a, b) => a + b, 0),
              6,
            )
          }
        })
      },
    ),
  )
})

test('two at the same time count twice, or as one', () => {
  const rows = columns([
    { place: 0, request: 0, startUs: 0, length: 60 },
    { place: 0, request: 1, startUs: 40, length: 60 },
    { place: 0, request: 1, startUs: 150, length: 10 },
    { place: 1, request: 1, startUs: 0, length: 200 },
  ])
  const activity = { ...rows, ...sortCalls(rows) }
  const calls = sortCalls(columns([{ place: 0, request: 0, startUs: 20, length: 180 }]))
  const of = (each: boolean) => {
    const under = groupsUnderWay(each ? activity : { ...activity, byEnd: null }, [0, 0])
    return overlapsOf(under, calls, 1)[0]
  }
  expect(of(true)).toBe(40 + 60 + 10)
  expect(of(false)).toBe(80 + 10)
})
