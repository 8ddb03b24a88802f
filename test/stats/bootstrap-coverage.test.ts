import { afterAll, describe, expect, test } from 'vitest'
import { bootstrapInterval, randomSource } from '../../src/stats/index.ts'
import { LATENCY_MODELS, latencies, percent, textTable } from './latency-models.ts'

// What 10,000 rounds and more measured where it is not the stated level, and the docstring of
// bootstrapInterval tells: wider than stated, never narrower.
const DOCUMENTED: Readonly<Record<string, readonly [at95: number, at90: number]>> = {
  'median normal 20/30': [0.963, 0.921],
  'median log-normal 20/30': [0.963, 0.921],
  'median mixture 20/30': [0.963, 0.921],
  'median normal 60/45': [0.96, 0.919],
  'median log-normal 60/45': [0.96, 0.919],
  'median mixture 60/45': [0.96, 0.919],
  'mean log-normal 20/30': [0.974, 0.928],
  'mean mixture 20/30': [0.987, 0.962],
  'mean mixture 60/45': [0.965, 0.918],
}

// Rounds are fewer where a round takes longer.
const SIZES = [
  { n1: 20, n2: 30, rounds: { mean: 400, median: 300 } },
  { n1: 60, n2: 45, rounds: { mean: 300, median: 300 } },
  { n1: 200, n2: 150, rounds: { mean: 150, median: 300 } },
] as const
const MEASURES = ['median', 'mean'] as const
const LEVELS = [0.95, 0.9] as const
/** After is before made slower in proportion: the shapes are not the same. */
const TIMES = 1.3

const CASES = MEASURES.flatMap((measure) =>
  LATENCY_MODELS.flatMap((model) =>
    SIZES.flatMap(({ n1, n2, rounds }) =>
      LEVELS.map((level, i) => {
        const name = `${measure} ${model.name} ${n1}/${n2}`
        const expected = DOCUMENTED[name]?.[i] ?? level
        return { name, measure, model, n1, n2, level, expected, rounds: rounds[measure] }
      }),
    ),
  ),
).map((each, seed) => ({ ...each, seed }))

/** Declares the simulation for the cases that `chosen` picks by name. */
function describeBootstrapCoverage(chosen: (name: string) => boolean = () => true): void {
  describe('the bootstrap interval holds the true difference as often as it says', () => {
    const rows: string[][] = []

    test.each(CASES.filter(({ name, level }) => chosen(`${name} ${level}`)))(
      '$name at $level: $expected',
      (each) => {
        const { name, measure, model, n1, n2, level, expected, rounds, seed } = each
        const random = randomSource(seed)
        const truth = (TIMES - 1) * model[measure]
        let held = 0
        for (let round = 0; round < rounds; round++) {
          const before = latencies(model, n1, { random })
          const after = latencies(model, n2, { random, times: TIMES })
          const options = { measure, level, seed: round, resamples: 400, sorted: true }
          const { low, high } = bootstrapInterval(before, after, options)
          if (low <= truth && truth <= high) held++
        }
        const error = Math.sqrt((expected * (1 - expected)) / rounds)
        rows.push([
          name,
          percent(level),
          percent(held / rounds),
          percent(expected),
          percent(error),
          `${rounds}`,
        ])
        expect(Math.abs(held / rounds - expected)).toBeLessThanOrEqual(3 * error)
      },
    )

    afterAll(() => {
      const header = ['bootstrapInterval', 'level', 'covered', 'expected', '± SE', 'rounds']
      console.log(`Coverage, in %\n${textTable(header, rows)}`)
    })

    test('no documented coverage lies below its level', () => {
      for (const { level, expected } of CASES) expect(expected).toBeGreaterThanOrEqual(level)
    })
  })
}

describe('two cases', () =>
  describeBootstrapCoverage((name) =>
    ['median log-normal 20/30 0.95', 'mean mixture 60/45 0.9'].includes(name),
  ))

describe('all cases', { tags: 'full' }, () => describeBootstrapCoverage())
