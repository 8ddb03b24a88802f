import { expect, test } from 'vitest'
import { compare } from '../../../src/compare/comparison.ts'
import { type RandomSource, randomSource } from '../../../src/stats/random.ts'
import { makeSpans, NOON_US, type SpanSketch } from '../../make-traces.ts'

const PERIOD_US = 600e6

interface Moment {
  /** Seconds since its period began. */
  readonly second: number
  readonly isAfter: boolean
}

interface Requests {
  readonly failing: (at: Moment) => number
  /** How many requests a recorded one stands for. */
  readonly weight: (fails: boolean, at: Moment) => number
}

/** Ten minutes of ten requests a second, of which some are recorded. */
function period(isAfter: boolean, { failing, weight }: Requests, random: RandomSource) {
  const fromUs = NOON_US + (isAfter ? PERIOD_US : 0)
  const spans = Array.from({ length: 6000 }, (_, i): SpanSketch[] => {
    const at = { second: i / 10, isAfter }
    const fails = random.next() < failing(at)
    const own = weight(fails, at)
    if (random.next() >= 1 / own) return []
    const startUs = fromUs + i * 1e5
    const status = fails ? ('error' as const) : ('ok' as const)
    const [id, endUs] = [`${isAfter}-${i}`, startUs + 2000 + random.integer(500)]
    return [{ trace: id, id, service: 'web', startUs, endUs, status, probability: 1 / own }]
  })
  return makeSpans(spans.flat())
}

/** When failures began, in seconds since after began. */
function onset(requests: Requests, seed: number) {
  const random = randomSource(seed)
  const { findings } = compare(period(false, requests, random), period(true, requests, random))
  const found = findings.findings.find(({ kind }) => kind === 'errors')
  expect(found).toBeDefined()
  const { since } = found ?? {}
  const second = (us: number) => (us - NOON_US - PERIOD_US) / 1e6
  return since
    ? { fromStart: since.fromStart, low: second(since.lowUs), high: second(since.highUs) }
    : null
}

const SEEDS = [1]

test.each(SEEDS)(
  'failures that are kept from half-way on while others are thinned out began with after (seed %i)',
  (seed) => {
    const began = onset(
      {
        failing: ({ isAfter }) => (isAfter ? 0.25 : 0.05),
        weight: (fails, { isAfter, second }) => (isAfter && second >= 300 && !fails ? 10 : 1),
      },
      seed,
    )
    expect(began?.fromStart).toBe(true)
  },
)

test.each(SEEDS)(
  'where others are thinned out all the time, more failures from half-way on began then (seed %i)',
  (seed) => {
    const began = onset(
      {
        failing: ({ isAfter, second }) => (isAfter && second >= 300 ? 0.25 : 0.05),
        weight: (fails) => (fails ? 1 : 10),
      },
      seed,
    )
    expect(began?.fromStart).toBe(false)
    expect(began?.low).toBeLessThanOrEqual(300)
    expect(began?.high).toBeGreaterThanOrEqual(300)
    expect((began?.high ?? 0) - (began?.low ?? 0)).toBeLessThan(60)
  },
)
