import { sum } from 'd3-array'
import { expect, test } from 'vitest'
import { checkSentences } from '../../../evaluation/suites/check-sentences.ts'
import { compare } from '../../../src/index.ts'
import { call, recordWithSum } from '../../worlds.ts'

const HEDGE_AFTER_US = 400_000
const FANNED_OUT = 3

//  bank      ├──────────────────────────────────┤      OPEN
//  bank       ├────────────────────────────────┤       CHECK, given up for the other's answer
//  bank                        ├───────────────┤       CHECK, once the first takes 400 ms: hedging
/** Requests that call a slow service; one of ten calls takes 800 ms more. */
function accounts(seed: number, { hedged = false, fannedOut = false, requests = 1200 } = {}) {
  return recordWithSum({ seed, requests, everyUs: 4e6 }, (r) => {
    const takesUs = () => {
      const [usual, isSlow, slow] = [r.about(180_000, 0.4), r.is(0.1), r.about(800_000, 0.3)]
      return usual + (isSlow ? slow : 0)
    }
    const [first, second, ownUs] = [takesUs(), takesUs(), r.about(5000, 0.3)]
    const isHedged = hedged && first > HEDGE_AFTER_US
    const untilUs = isHedged ? Math.min(first, HEDGE_AFTER_US + second) : first
    const fanned = fannedOut ? Array.from({ length: FANNED_OUT }, (_, n) => 50 * n) : [0]
    const starts = isHedged ? [0, HEDGE_AFTER_US] : fanned
    const checks = starts.map((atUs, n) => {
      const gapUs = atUs - (starts[n - 1] ?? 0)
      return call('bank CHECK', untilUs - atUs, { kind: 'client', host: 'a', beside: true, gapUs })
    })
    return call('bank OPEN', [1000, ownUs], { host: 'a' }, checks)
  })
}

const seeds = [1, 3]

test.each([
  [
    false,
    /OPEN no longer calls CHECK once more while a slow call runs \(hedging\) \(\d+ of 1,200 requests before\)$/,
  ],
  [
    true,
    /OPEN calls CHECK once more while a slow call runs \(hedging\) in \d+ of 1,200 requests \(0 of/,
  ],
])('hedging is told as that, at what all requests take more; now hedged: %s', (hedged, said) => {
  const all = seeds.map((seed) => {
    const [before, after] = [accounts(seed, { hedged: !hedged }), accounts(seed + 1, { hedged })]
    const otherwise = accounts(seed + 1, { hedged: !hedged })
    const comparison = compare(before.traces, after.traces)
    const [first, ...others] = comparison.findings.findings
    expect(first).toMatchObject({ kind: 'concurrency', what: expect.stringMatching(said) })
    expect(others.filter(({ kind }) => kind === 'structure' || kind === 'concurrency')).toEqual([])
    expect(
      checkSentences(comparison).filter(({ id, isTrue }) => id === first?.id && !isTrue),
    ).toEqual([])
    const trueUs = after.totalUs - otherwise.totalUs
    const [low, high] = first?.size.interval.map((us) => us * (first?.requests ?? 0)) ?? []
    return { trueUs, toldUs: first?.contributionUs ?? 0, isWithin: low! < trueUs && trueUs < high! }
  })
  const [trueUs, toldUs] = [sum(all, (one) => one.trueUs), sum(all, (one) => one.toldUs)]
  expect(Math.sign(trueUs)).toBe(hedged ? -1 : 1)
  expect(toldUs / trueUs).toBeGreaterThan(0.6)
  expect(toldUs / trueUs).toBeLessThan(1.4)
  expect(all.filter(({ isWithin }) => isWithin).length).toBeGreaterThanOrEqual(seeds.length - 1)
})

test('as many hedged requests as before are no finding', () => {
  for (const seed of seeds) {
    const [before, after] = [accounts(seed, { hedged: true }), accounts(seed + 1, { hedged: true })]
    expect(compare(before.traces, after.traces).findings.findings).toEqual([])
  }
})

test('calls that are all made at once are several calls, no hedging', () => {
  const { findings, steps } = compare(accounts(1).traces, accounts(2, { fannedOut: true }).traces)
  expect(findings.findings[0]?.title).toBe('bank: OPEN calls CHECK 3 times instead of 1')
  const hedged = steps.calls.filter(({ kind }) => kind === 'hedges')
  expect(hedged.map(({ made, changed }) => [made, changed])).toEqual([[[0, 1200], false]])
})
