import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { diagonalEditDistance } from '../../src/stats/edit-distance.ts'
import { editDistance } from '../../src/stats/index.ts'
import { describeWithShared, sharedJson } from '../shared.ts'

type Recipe = readonly [n: number, a: number, b: number, m: number, s: number]

interface Case {
  a: number[]
  b: number[]
  lev: number
}

function generate([n, a, b, m, s]: Recipe): readonly number[] {
  return Object.freeze(Array.from({ length: n }, (_, i) => ((a * i + b) % m) % s))
}

describeWithShared('edit distance against the oracle', () => {
  const { cases, gens } = sharedJson<{
    cases: Case[]
    gens: { a: Recipe; b: Recipe; lev: number }[]
  }>('oracles/editdist.json')

  test('there are 38 listed and 3 generated pairs', () => {
    expect([cases.length, gens.length]).toEqual([38, 3])
  })

  test.each(cases.map((each, i) => ({ ...each, i })))('pair $i: distance $lev', (expected) => {
    const a = Object.freeze(expected.a)
    const b = Object.freeze(expected.b)
    expect(editDistance(a, b)).toBe(expected.lev)
  })

  test.each(gens)('generated pair: distance $lev', ({ a, b, lev }) => {
    expect(editDistance(generate(a), generate(b))).toBe(lev)
    expect(editDistance(Int32Array.from(generate(a)), generate(b))).toBe(lev)
  })
})

describe('edit distance', () => {
  test('counts insertions, deletions and substitutions', () => {
    expect(editDistance([1, 2, 3, 4], [1, 3, 4, 5])).toBe(2)
    expect(editDistance([1, 2, 3], [1, 9, 3])).toBe(1)
    expect(editDistance([1, 2], [1, 7, 7, 7, 2])).toBe(3)
  })

  test('of an empty sequence is the length of the other', () => {
    expect(editDistance([], [])).toBe(0)
    expect(editDistance([], [1, 2, 3])).toBe(3)
    expect(editDistance([1], [])).toBe(1)
  })

  test('a prefix and a suffix that overlap are not cut off twice', () => {
    expect(editDistance([1, 1], [1, 1, 1])).toBe(1)
    expect(editDistance([1, 2, 1], [1, 2, 1, 2, 1])).toBe(2)
  })

  test('tokens need not be small: negative and beyond 32 bits', () => {
    const a = [-5, 2 ** 40, 3, 2 ** 32, 7]
    const b = [0, 2 ** 40, 2 ** 31, 0, -5]
    expect(editDistance(a, b)).toBe(4)
  })

  test.each([31, 32, 33, 63, 64, 65, 96])('%i tokens against as many others: all differ', (n) => {
    const a = Array.from({ length: n }, (_, i) => i)
    const b = Array.from({ length: n }, (_, i) => -1 - i)
    expect(editDistance(a, b)).toBe(n)
    expect(editDistance(a, [...b, ...b])).toBe(2 * n)
  })
})

describe('for all sequences', () => {
  const tokens = fc
    .integer({ min: 1, max: 12 })
    .chain((letters) => fc.array(fc.integer({ min: 0, max: letters }), { maxLength: 140 }))
  const pair = fc.oneof(
    fc.tuple(tokens, tokens),
    // A few edits of one sequence, which the diagonals are for.
    tokens.chain((a) =>
      fc.array(fc.nat(Math.max(0, a.length - 1)), { maxLength: 8 }).map((places) => {
        const b = [...a]
        for (const [i, place] of places.entries())
          b.splice(place, i % 3 === 0 ? 0 : 1, ...insert(i))
        return [a, b] as [number[], number[]]
      }),
    ),
  )
  const insert = (i: number) => (i % 3 === 1 ? [] : [i])

  test('the distance is that of the plain table, whichever way it is computed', () => {
    fc.assert(
      fc.property(pair, ([a, b]) => {
        const expected = plainTable(a, b)
        const [first, second] = [Uint32Array.from(a), Uint32Array.from(b)]
        expect(editDistance(Object.freeze(a), Object.freeze(b))).toBe(expected)
        expect(diagonalEditDistance(first, second, expected)).toBe(expected)
        expect(diagonalEditDistance(first, second, expected + 5)).toBe(expected)
        if (expected > 0) {
          expect(diagonalEditDistance(first, second, expected - 1)).toBeUndefined()
        }
      }),
      { numRuns: 500 },
    )
  })

  test('it is symmetric, and is at most the longer length', () => {
    fc.assert(
      fc.property(pair, ([a, b]) => {
        const distance = editDistance(a, b)
        expect(editDistance(b, a)).toBe(distance)
        expect(distance).toBeLessThanOrEqual(Math.max(a.length, b.length))
      }),
    )
  })

  test('a detour is never shorter', () => {
    fc.assert(
      fc.property(tokens, tokens, tokens, (a, b, c) => {
        const detour = editDistance(a, b) + editDistance(b, c)
        expect(editDistance(a, c)).toBeLessThanOrEqual(detour)
      }),
    )
  })

  test('renaming the tokens one to one changes nothing', () => {
    fc.assert(
      fc.property(pair, ([a, b]) => {
        const rename = (token: number) => 1_000_003 - token * 7919
        expect(editDistance(a.map(rename), b.map(rename))).toBe(editDistance(a, b))
      }),
    )
  })
})

function plainTable(a: number[], b: number[]): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (const [i, token] of a.entries()) {
    const next = [i + 1]
    for (const [j, other] of b.entries()) {
      const substituted = (row[j] ?? 0) + (token === other ? 0 : 1)
      next.push(Math.min(substituted, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1))
    }
    row = next
  }
  return row.at(-1) ?? 0
}
