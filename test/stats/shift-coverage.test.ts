import { afterAll, describe, expect, test } from 'vitest'
import { randomSource, stratifiedShift } from '../../src/stats/index.ts'
import {
  LATENCY_MODELS,
  type LatencyModel,
  latencies,
  percent,
  textTable,
} from './latency-models.ts'

const ROUNDS = 2000
const SHIFT = 25
const LEVELS = [0.95, 0.9] as const
const SIZES: readonly (readonly [n1: number, n2: number])[][] = [
  [[8, 8]],
  [[20, 30]],
  [[60, 45]],
  [
    [2, 3],
    [3, 2],
    [2, 2],
  ],
  [
    [20, 30],
    [5, 6],
    [10, 4],
  ],
  [
    [60, 45],
    [100, 3],
  ],
]

// U has few values in small samples: the interval is then the next wider one.
const DOCUMENTED: Readonly<Record<string, readonly [at95: number, at90: number]>> = {
  // 1 − 2·P(U ≤ 13), 1 − 2·P(U ≤ 15), exactly.
  '8/8': [0.9617, 0.917],
  '2/3 3/2 2/2': [0.963, 0.925],
}

const CASES = SIZES.flatMap((sizes) =>
  LEVELS.map((level, i) => {
    const name = sizes.map(([n1, n2]) => `${n1}/${n2}`).join(' ')
    return { name, sizes, level, expected: DOCUMENTED[name]?.[i] ?? level }
  }),
).map((each, seed) => ({ ...each, seed }))

/** Declares the simulation for the cases that `chosen` picks by name. */
function describeShiftCoverage(chosen: (name: string) => boolean = () => true): void {
  describe('the interval of a shift holds the true shift as often as it says', () => {
    const rows: string[][] = []

    test.each(CASES.filter(({ name, level }) => chosen(`${name} ${level}`)))(
      '$name at $level: $expected',
      ({ name, sizes, level, expected, seed }) => {
        const random = randomSource(seed)
        let held = 0
        for (let round = 0; round < ROUNDS; round++) {
          // Ranks are the same for all distributions: they take turns.
          const model = LATENCY_MODELS[round % LATENCY_MODELS.length] as LatencyModel
          const strata = sizes.map(([n1, n2], i) => ({
            before: latencies(model, n1, { random, plus: 1000 * i }),
            after: latencies(model, n2, { random, plus: 1000 * i + SHIFT }),
          }))
          const { low, high } = stratifiedShift(strata, { level, sorted: true })
          if (low <= SHIFT && SHIFT <= high) held++
        }
        const error = Math.sqrt((expected * (1 - expected)) / ROUNDS)
        rows.push([name, percent(level), percent(held / ROUNDS), percent(expected), percent(error)])
        expect(Math.abs(held / ROUNDS - expected)).toBeLessThanOrEqual(3 * error)
      },
    )

    afterAll(() => {
      const header = ['stratifiedShift', 'level', 'covered', 'expected', '± SE']
      console.log(`Coverage, in %, ${ROUNDS} rounds\n${textTable(header, rows)}`)
    })
  })
}

describe('two cases', () =>
  describeShiftCoverage((name) => ['8/8 0.95', '20/30 5/6 10/4 0.9'].includes(name)))

describe('all cases', { tags: 'full' }, () => describeShiftCoverage())
