import { sum } from 'd3-array'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { compare } from '../../../src/comparison/comparison.ts'
import { call, record, recordWithSum } from '../../worlds.ts'

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
  return recordWithSum({ seed }, (r) => {
    const cart = call('cart', r.about(20_000, 0.1) + cartUs)
    const found = Array.from({ length: looks }, (_, look) => {
      const how = look === 0 || areAtOnce ? { beside: true } : { isNext: true }
      return call('stock', r.about(lookUs, spread) + stockUs, how)
    })
    const mail = call('mail', r.about(3000, 0.1))
    return call('web', [1000, r.about(1000, 0.1)], {}, [cart, ...found, mail])
  })
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
    const shop = (isEarly: boolean) =>
      record({ seed: 3 }, (r) => {
        const calls = [call('price', r.about(8000)), call('ad', r.about(5000))]
        return call('web', 1000, {}, isEarly && r.index % 2 === 0 ? [] : calls)
      })
    const { findings } = compare(shop(false), shop(true)).findings
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
