import { describe, expect, test } from 'vitest'
import { compare } from '../../../src/comparison/comparison.ts'
import { call, record, recordWithSum, tries } from '../../worlds.ts'

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
  return record({ seed }, (r) => {
    const calls = Object.entries(besides).map(([service, ms]) =>
      call(`${service} RUN`, r.about(1000 * ms, 0.1), { beside: true }),
    )
    const web = call('web GET', [1000, r.about(1000 * ownMs, 0.1)], {}, calls)
    return call('gate IN', 0, {}, [web])
  })
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
  return recordWithSum({ seed, requests: 1500, everyUs: 1e7 }, (r) => {
    const times = [0, 0, 0].map(() => r.about(180, 0.4))
    const calls = tries(3, (n) => {
      const ms = times[n]!
      return call('kyc CHECK', 1000 * Math.min(ms, limitMs), { fails: ms >= limitMs })
    })
    return call('kyc VERIFY', [2000, 0], {}, calls)
  })
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
