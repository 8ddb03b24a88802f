import { describe, expect, test } from 'vitest'
import { compare } from '../../../src/compare/comparison.ts'
import { randomSource } from '../../../src/stats/random.ts'
import { makeSpans, type SpanSketch } from '../../make-traces.ts'

interface World {
  readonly seed: number
  /** How long `web` works itself, in ms. */
  readonly ownMs?: number
  /** How long calls that start together take, by service, in ms. */
  readonly besides: Readonly<Record<string, number>>
}

//  gate IN   |========================|
//  web  GET  |========================|
//  a    RUN     |=======|                 both begin together
//  b    RUN     |=============|
function period({ seed, ownMs = 10, besides }: World) {
  const random = randomSource(seed)
  const spans = Array.from({ length: 300 }, (_, i): SpanSketch[] => {
    const [trace, startUs] = [`${seed} ${i}`, 1e6 * i]
    const about = (ms: number) => 1000 * ms * random.logNormal(0, 0.1)
    const calls = Object.entries(besides).map(([service, ms]): SpanSketch => {
      const own = { trace, id: service, parent: 'web', service, operation: 'RUN' }
      return { ...own, startUs: startUs + 1000, endUs: startUs + 1000 + about(ms) }
    })
    const endUs = Math.max(...calls.map((call) => call.endUs)) + about(ownMs)
    const gate = { trace, id: 'gate', service: 'gate', operation: 'IN', startUs, endUs }
    const web = { trace, id: 'web', parent: 'gate', service: 'web', operation: 'GET' }
    return [gate, { ...web, startUs, endUs }, ...calls]
  })
  return makeSpans(spans.flat(), `period ${seed}`)
}

const costMs = (before: Omit<World, 'seed'>, after: Omit<World, 'seed'>, title: RegExp) => {
  const { findings } = compare(
    period({ seed: 1, ...before }),
    period({ seed: 2, ...after }),
  ).findings
  const found = findings.find((one) => title.test(one.title))
  const [low, high] = found?.eachInterval ?? [Number.NaN, Number.NaN]
  return (low + high) / 2 / 1000
}

describe('what all requests call anew', () => {
  const usual = { besides: { a: 20 } }
  const title = /^web: GET now calls b RUN in 300 of 300 calls/

  test('costs what the calls take, not what else takes longer since', () => {
    const after = { besides: { a: 20, b: 50 }, ownMs: 25 }
    expect(costMs(usual, after, title)).toBeCloseTo(30, -0.5)
  })

  test('costs nothing while another call runs as long', () => {
    expect(Math.abs(costMs(usual, { besides: { a: 20, b: 12 } }, title))).toBeLessThan(0.1)
  })
})

test('a call that is faster than one beside it saves what requests waited for it, though none does any more', () => {
  const [before, after] = [{ besides: { a: 60, b: 20 } }, { besides: { a: 5, b: 20 } }]
  expect(costMs(before, after, /^a: RUN itself takes 5\d(\.\d)? ms less/)).toBeCloseTo(-40, -0.5)
})

//  kyc VERIFY  |============================|
//  kyc CHECK     |==X |==X |=========|         given up after `limitMs`, up to three times
function verifications(seed: number, limitMs: number) {
  const random = randomSource(seed)
  let totalUs = 0
  const spans = Array.from({ length: 1500 }, (_, i): SpanSketch[] => {
    const [trace, startUs] = [`${seed} ${i}`, 1e7 * i]
    const tries = [0, 0, 0].map(() => 180 * random.logNormal(0, 0.4))
    const ended = tries.findIndex((ms) => ms < limitMs)
    let nowUs = startUs + 2000
    const calls = tries.slice(0, ended < 0 ? 3 : ended + 1).map((ms, n): SpanSketch => {
      const [from, status] = [nowUs, ms < limitMs ? ('ok' as const) : ('error' as const)]
      nowUs += 1000 * Math.min(ms, limitMs)
      const own = { trace, id: `c${n}`, parent: 'v', service: 'kyc', operation: 'CHECK', status }
      return { ...own, startUs: from, endUs: nowUs }
    })
    totalUs += nowUs - startUs
    const own = { trace, id: 'v', service: 'kyc', operation: 'VERIFY', startUs }
    return [{ ...own, endUs: nowUs }, ...calls]
  })
  return { traces: makeSpans(spans.flat(), `period ${seed}`), totalUs }
}

test('calls made again after a shorter timeout cost what they take beyond calls that were slow before', () => {
  const after = verifications(2, 250)
  const { findings } = compare(verifications(1, 5000).traces, after.traces).findings
  const told = findings.reduce((all, one) => all + one.contributionUs, 0)
  const truly = after.totalUs - verifications(2, 5000).totalUs
  const again = findings.flatMap((one) => one.consequences).find(({ what }) => /retries/.test(what))
  // What is given up early saves a part of what the retries take.
  expect(again!.contributionUs).toBeGreaterThan(truly)
  expect(told / truly).toBeGreaterThan(0.75)
  expect(told / truly).toBeLessThan(1.25)
})
