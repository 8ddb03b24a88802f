import { describe, expect, test } from 'vitest'
import { compare } from '../../../src/compare/comparison.ts'
import { randomSource } from '../../../src/stats/random.ts'
import { makeSpans, type SpanSketch } from '../../make-traces.ts'

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
  const random = randomSource(seed)
  const cut = (us: number) => Math.floor(us / tickUs) * tickUs
  const spans: SpanSketch[] = []
  for (let i = 0, atUs = 0; i < requests; i++) {
    atUs += 20_000 + 30_000 * random.next()
    const startUs = atUs + 300 + 600 * random.next()
    const isSlow = random.next() < slow
    const endUs = startUs + priceUs * (0.7 + 0.6 * random.next()) + (isSlow ? 10_000 : 0)
    const id = `${name}-${i}`
    const rootEndUs = endUs + 300 + 600 * random.next()
    const root = { id, trace: id, service: 'api', operation: 'GET' }
    spans.push({ ...root, startUs: cut(atUs), endUs: cut(rootEndUs) })
    const price = { id: `${id}-p`, trace: id, parent: id, service: 'pricing', operation: 'price' }
    spans.push({ ...price, startUs: cut(startUs), endUs: cut(endUs) })
  }
  return makeSpans(spans, name)
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
