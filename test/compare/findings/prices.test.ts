import { sum } from 'd3-array'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { compare } from '../../../src/compare/comparison.ts'
import { randomSource } from '../../../src/stats/random.ts'
import { makeSpans, type SpanSketch } from '../../make-traces.ts'

interface World {
  readonly seed: number
  /** What calls of the cart and of the stock take more, in µs. */
  readonly cartUs?: number
  readonly stockUs?: number
  /** Calls of the stock beside the one of the cart, one after the other or all at the same time. */
  readonly looks?: number
  readonly areAtOnce?: boolean
  /** What such a call takes, in µs, and the standard deviation of its log. */
  readonly lookUs?: number
  readonly spread?: number
}

/*
 *  web    GET  |-------------------------|
 *  cart   READ   |-------|
 *  stock  LOOK   |---||---|               at the same time as the cart
 *  mail   SEND              |----|        after both
 */
function period({
  seed,
  cartUs = 0,
  stockUs = 0,
  looks = 1,
  areAtOnce = false,
  lookUs = 5000,
  spread = 0.1,
}: World) {
  const random = randomSource(seed)
  const about = (us: number) => us * random.logNormal(0, 0.1)
  let totalUs = 0
  const spans = Array.from({ length: 300 }, (_, i): SpanSketch[] => {
    const [trace, startUs] = [`t${i}`, i * 1e6]
    const call = (id: string, service: string, from: number, us: number): SpanSketch => {
      return { trace, id, parent: 'r', service, startUs: from, endUs: from + us }
    }
    const cart = call('c', 'cart', startUs + 1000, about(20_000) + cartUs)
    const found: SpanSketch[] = []
    for (let look = 0; look < looks; look++) {
      const from = (areAtOnce ? undefined : found.at(-1)?.endUs) ?? startUs + 1000
      const takesUs = lookUs * random.logNormal(0, spread)
      found.push(call(`s${look}`, 'stock', from, takesUs + stockUs))
    }
    const mail = call(
      'm',
      'mail',
      Math.max(cart.endUs, ...found.map(({ endUs }) => endUs)),
      about(3000),
    )
    const endUs = mail.endUs + about(1000)
    totalUs += endUs - startUs
    return [{ trace, id: 'r', service: 'web', startUs, endUs }, cart, ...found, mail]
  })
  return { traces: makeSpans(spans.flat()), totalUs }
}

describe('prices of findings', () => {
  test.each<[what: string, after: Partial<World>]>([
    ['a slower call', { cartUs: 8000 }],
    ['a slower call behind a longer one', { stockUs: 6000 }],
    ['a slower call that becomes the longer one', { stockUs: 30_000 }],
    ['two slower calls at the same time', { cartUs: 10_000, stockUs: 40_000 }],
    ['calls that are repeated beside a longer one', { looks: 3 }],
    ['calls that are repeated until they are the longer ones', { looks: 8 }],
    ['repeated calls that are slower as well', { looks: 4, stockUs: 4000 }],
  ])('add up to what requests truly take more: %s', (_, after) => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1000 }), (seed) => {
        const now = period({ seed: seed + 1000, ...after })
        const { findings } = compare(period({ seed }).traces, now.traces)
        const trulyUs = now.totalUs - period({ seed: seed + 1000 }).totalUs
        // Times differ by chance between the periods: by 2 ms / √300, twice.
        const unsureUs = 4 * 300 * 2000 * Math.sqrt(2 / 300)
        expect(Math.abs(findings.attributedUs - trulyUs)).toBeLessThan(unsureUs)
      }),
      { numRuns: 2 },
    )
  })

  test('calls that are repeated at the same time cost what the longest takes beyond one of them', () => {
    const usual = { seed: 5, lookUs: 40_000, spread: 0.4 }
    const now = period({ ...usual, seed: 6, looks: 8, areAtOnce: true })
    const { findings } = compare(period(usual).traces, now.traces)
    const trulyUs = now.totalUs - period({ ...usual, seed: 6 }).totalUs
    expect(findings.findings.map(({ title }) => title)).toEqual([
      expect.stringContaining('8 times instead of 1'),
    ])
    expect(findings.attributedUs / trulyUs).toBeGreaterThan(0.85)
    expect(findings.attributedUs / trulyUs).toBeLessThan(1.15)
  })

  test('requests that end early take less by all that they leave out', () => {
    const shop = (isEarly: boolean) => {
      const random = randomSource(3)
      return Array.from({ length: 300 }, (_, i): SpanSketch[] => {
        const [trace, startUs] = [`t${i}`, i * 1e6]
        const one = (id: string, parent: string, from: number, us: number): SpanSketch => {
          return { trace, id, parent, service: id, startUs: from, endUs: from + us }
        }
        const left = isEarly && i % 2 === 0
        const us = [8000, 5000].map((mean) => mean * random.logNormal(0, 0.2))
        const [priceUs = 0, adUs = 0] = left ? [] : us
        const root = { trace, id: 'web', service: 'web', startUs, endUs: startUs + 1000 }
        if (left) return [root]
        const price = one('price', 'web', startUs + 500, priceUs)
        const ad = one('ad', 'web', price.endUs, adUs)
        return [{ ...root, endUs: ad.endUs + 500 }, price, ad]
      }).flat()
    }
    const { findings } = compare(makeSpans(shop(false)), makeSpans(shop(true))).findings
    expect(findings).toHaveLength(1)
    expect(findings[0]).toMatchObject({ kind: 'structure', where: 'web', direction: 'faster' })
    expect(findings[0]?.contributionUs).toBeCloseTo(-150 * 13_000, -5.5)
  })

  test('and findings, mix and rest to the whole change', () => {
    const now = period({ seed: 2, looks: 4, cartUs: 9000 })
    const comparison = compare(period({ seed: 1 }).traces, now.traces)
    const { findings, mixUs, restUs, totalUs } = comparison.account.withFindings(
      comparison.findings,
    )
    expect(findings.length).toBe(comparison.findings.findings.length)
    expect(sum(findings, ({ us }) => us) + mixUs + restUs).toBeCloseTo(totalUs, 9)
    expect(Math.abs(restUs / totalUs)).toBeLessThan(0.05)
  })
})
