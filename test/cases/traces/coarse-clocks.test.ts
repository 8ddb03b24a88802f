import { describe, expect, test } from 'vitest'
import { compare } from '../../../src/comparison/comparison.ts'
import type { RandomSource } from '../../../src/stats/random.ts'
import { makeSpans } from '../../make-traces.ts'
import { call, spansOf } from '../../worlds.ts'

interface World {
  readonly seed: number
  /** Mean time of a price, in µs. */
  readonly priceUs: number
  /** Share of the prices that take 10 ms longer. */
  readonly slow?: number
  readonly requests?: number
  /** What starts and durations are cut to, in µs. */
  readonly tickUs: number
}

/*
 *  api      GET    |----------------|
 *  pricing  price     |--------|            its clock and api's tick
 */
function requestsOf(name: string, { seed, priceUs, slow = 0, requests = 400, tickUs }: World) {
  const cut = (us: number) => Math.floor(us / tickUs) * tickUs
  const everyUs = ({ next }: RandomSource) => 20_000 + 30_000 * next()
  const spans = spansOf({ seed, requests, everyUs, name }, (r) => {
    const us = priceUs * (0.7 + 0.6 * r.next()) + (r.is(slow) ? 10_000 : 0)
    const own = [300 + 600 * r.next(), 300 + 600 * r.next()] as const
    return call('api GET', own, {}, [call('pricing price', us)])
  })
  const coarse = spans.map((span) => ({
    ...span,
    startUs: cut(span.startUs),
    endUs: cut(span.endUs),
  }))
  return makeSpans(coarse, name)
}

describe('a shift of less than a tick of the clock', () => {
  test.each([
    { seed: 1, fromUs: 1300, toUs: 1700, tickUs: 1000 },
    { seed: 2, fromUs: 2400, toUs: 2900, tickUs: 1000 },
    { seed: 3, fromUs: 240, toUs: 290, tickUs: 100 },
  ])('is told as that of the mean: $fromUs → $toUs µs by $tickUs µs', (world) => {
    const { seed, fromUs, toUs, tickUs } = world
    const { findings } = compare(
      requestsOf('before', { seed, priceUs: fromUs, tickUs }),
      requestsOf('after', { seed: seed + 10, priceUs: toUs, tickUs }),
    ).findings
    const [first] = findings
    expect(first?.title).toMatch(/^pricing: price itself takes .* longer$/)
    expect(first?.title).not.toContain('% of the calls')
    const [low, high] = first?.size.interval ?? [Number.NaN, Number.NaN]
    expect(low).toBeLessThan(toUs - fromUs)
    expect(high).toBeGreaterThan(toUs - fromUs)
  })
})

test('a slow minority by a coarse clock is told as one', () => {
  const [first] = compare(
    requestsOf('before', { seed: 4, priceUs: 1500, tickUs: 1000 }),
    requestsOf('after', { seed: 5, priceUs: 1500, slow: 0.07, tickUs: 1000 }),
  ).findings.findings
  expect(first?.title).toMatch(/^pricing: price itself takes .* longer in \d+ % of the calls$/)
})

test('nothing is told where nothing changed', () => {
  const seeds = [6, 7, 8]
  const found = seeds.flatMap((seed) => {
    const world = { priceUs: 1500, tickUs: 1000 }
    const [before, after] = [seed, seed + 10].map((own) =>
      requestsOf(`${own}`, { ...world, seed: own }),
    )
    return compare(before!, after!).findings.findings.map(({ title }) => title)
  })
  expect(found).toEqual([])
})
