import { describe, expect, test } from 'vitest'
import { compare } from '../../../src/comparison/comparison.ts'
import { randomSource } from '../../../src/stats/random.ts'
import { loadTraces } from '../../../src/traces/load-traces.ts'
import type { TraceSet } from '../../../src/traces/trace-set.ts'
import { describeWithShared, sharedFile } from '../../shared.ts'
import { period, type Steps } from './sketches.ts'

function structural(before: TraceSet, after: TraceSet, options = {}) {
  const { ranking } = compare(before, after, options)
  const [first] = ranking.mutations
  expect(first?.kind).toBe('structural')
  return first
}

describeWithShared('the recorded case knife-edge', () => {
  const load = async (name: string) =>
    loadTraces(sharedFile(`cases/papers/knife-edge/${name}.dot.gz`) as string, { name })

  test('has hits as the precursor of misses, of which one more came than hits went', async () => {
    const found = structural(await load('before'), await load('after'))
    expect(found).toMatchObject({ noPrecursor: false, precursors: [{ weight: 1 }] })
    expect(found?.contributionUs).toBeCloseTo(401_484, 0)
  })

  test('has them with counting noise, too', async () => {
    const found = structural(await load('noise-before'), await load('noise-after'))
    expect(found).toMatchObject({ noPrecursor: false, precursors: [{ weight: 1 }] })
    expect(found?.contributionUs).toBeCloseTo(246_383, 0)
  })
})

const HIT: Steps = [
  ['e1__t__ASK', 0],
  ['e1__t__HIT', 100],
]
const MISS: Steps = [
  ['e1__t__ASK', 0],
  ['e1__t__MISS', 40],
  ['e2__t__DISK', 800],
  ['e1__t__DONE', 60],
]
const PUT: Steps = [
  ['e1__t__PUT', 0],
  ['e1__t__DONE', 300],
]

describe('counts that chance moves', () => {
  /** As many requests, each of a kind by chance. */
  function drawn(shares: readonly (readonly [Steps, number])[], seed: number) {
    const random = randomSource(seed)
    return Array.from({ length: 1200 }, () => {
      let left = random.next()
      const kind = shares.find(([, share]) => {
        left -= share
        return left < 0
      })
      return { steps: kind?.[0] ?? PUT }
    })
  }

  test('leave no mutation without its precursor in 30 of 30 pairs', () => {
    for (let seed = 0; seed < 30; seed++) {
      const before = drawn([[HIT, 0.5], [MISS, 0.08]], 2 * seed) // biome-ignore format: shares
      const after = drawn([[HIT, 0.3], [MISS, 0.28]], 2 * seed + 1) // biome-ignore format: shares
      const found = structural(period(before, seed), period(after, seed + 100))
      expect(found).toMatchObject({ noPrecursor: false, significant: true })
      expect(found?.contributionUs).toBeCloseTo((found?.requests ?? 0) * 800, -4)
    }
  })

  test('allow for no precursor that lost clearly too few', () => {
    const requests = (hits: number, misses: number) =>
      [HIT, MISS].flatMap((steps, i) =>
        Array.from({ length: i === 0 ? hits : misses }, () => ({ steps })),
      )
    const [before, after] = [period(requests(1000, 100), 1), period(requests(900, 600), 2)]
    expect(structural(before, after)).toMatchObject({
      contributionUs: 0,
      noPrecursor: true,
      precursors: [],
    })
    expect(structural(before, after, { oneToN: false })).toMatchObject({ noPrecursor: false })
  })
})
