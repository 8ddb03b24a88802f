import { expect, test } from 'vitest'
import { compare } from '../../../src/comparison/comparison.ts'
import { NOON_US } from '../../make-traces.ts'
import { call, record } from '../../worlds.ts'

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
function period(isAfter: boolean, { failing, weight }: Requests, seed: number) {
  const fromUs = NOON_US + (isAfter ? PERIOD_US : 0)
  const given = { seed: 2 * seed + Number(isAfter), requests: 6000, everyUs: 1e5, fromUs }
  return record(given, (r) => {
    const at = { second: r.seconds, isAfter }
    const fails = r.is(failing(at))
    const probability = 1 / weight(fails, at)
    return r.is(probability) && call('web', 2000 + r.integer(500), { fails, probability })
  })
}

/** When failures began, in seconds since after began. */
function onset(requests: Requests, seed: number) {
  const { findings } = compare(period(false, requests, seed), period(true, requests, seed))
  const found = findings.findings.find(({ kind }) => kind === 'errors')
  expect(found).toBeDefined()
  const { since } = found ?? {}
  const second = (us: number) => (us - NOON_US - PERIOD_US) / 1e6
  return since
    ? { fromStart: since.fromStart, low: second(since.lowUs), high: second(since.highUs) }
    : null
}

const SEEDS = [5]

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
