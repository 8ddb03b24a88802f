import { describe, expect, test } from 'vitest'
import { randomSource } from '../../src/stats/random.ts'
import { diagnoseLatency } from '../../src/whatif/diagnosis/diagnose-latency.ts'
import { makeSpans, type SpanSketch } from '../make-traces.ts'

/** A state of the pool: the use that it records, and how long calls to it take then. */
interface State {
  readonly use: readonly [from: number, to: number]
  readonly us: number
}

interface World {
  readonly states: readonly State[]
  /** Use is recorded in steps of so much. Default: 1. */
  readonly step?: number
  readonly requests?: number
}

//  web  |pool: by its state| |price 8 ms|
function period(seed: number, { states, step = 1, requests = 800 }: World, shares: number[]) {
  const random = randomSource(seed)
  const about = (us: number) => random.logNormal(Math.log(us), 0.3)
  const spans: SpanSketch[] = []
  for (let request = 0; request < requests; request++) {
    const trace = `t${request}`
    let [state, left] = [0, random.next()]
    while (left >= (shares[state] ?? 1)) left -= shares[state++] ?? 1
    const { use, us } = states[state] as State
    const pooled = 500 + about(us)
    const priced = pooled + 300 + about(8000)
    const noisy = use[0] + random.next() * (use[1] - use[0])
    const attributes = { 'pool.use': step * Math.round(noisy / step) }
    const inside = { trace, parent: 'web' }
    spans.push(
      { trace, id: 'web', startUs: 0, endUs: priced + about(1000) },
      { ...inside, id: 'pool', startUs: 500, endUs: pooled, attributes },
      { ...inside, id: 'price', startUs: pooled + 300, endUs: priced },
    )
  }
  return makeSpans(spans)
}

const IDLE: State = { use: [20, 30], us: 5000 }
const BUSY: State = { use: [80, 90], us: 30_000 }

describe('a noisy number whose values come in another mix', () => {
  test.each<[string, World, before: number[], after: number[], cut: number]>([
    ['idle or busy', { states: [IDLE, BUSY] }, [0.95, 0.05], [0.5, 0.5], 55],
    ['of few values', { states: [IDLE, BUSY], step: 5 }, [0.95, 0.05], [0.5, 0.5], 55],
    ['in few requests', { states: [IDLE, BUSY], requests: 300 }, [0.95, 0.05], [0.5, 0.5], 55],
    [
      'of other ranges and shares',
      {
        states: [
          { use: [100, 300], us: 4000 },
          { use: [700, 900], us: 16_000 },
        ],
      },
      [0.9, 0.1],
      [0.6, 0.4],
      500,
    ],
    [
      'of three states',
      { states: [IDLE, { use: [50, 60], us: 12_000 }, BUSY] },
      [0.9, 0.05, 0.05],
      [0.3, 0.2, 0.5],
      40,
    ],
    [
      'of three states in few values',
      { states: [IDLE, { use: [50, 60], us: 12_000 }, BUSY], step: 5 },
      [0.9, 0.05, 0.05],
      [0.3, 0.2, 0.5],
      40,
    ],
  ])('%s: the mix is named, and explains the change', (_, world, before, after, cut) => {
    const { ranked, together } = diagnoseLatency(
      period(1, world, before),
      period(2, world, after),
      { depth: 2 },
    )
    const mixes = ranked.slice(0, 2).map(({ scenario }) => scenario.title)
    expect(mixes).toContain('mix of calls to pool call by pool.use as after')
    const ofRequests = mixes.find((title) => title.startsWith('mix of requests by pool.use'))
    expect(ofRequests).toMatch(RegExp(`\\([≤>] ${cut} `))
    expect(together[0]?.gain).toBeGreaterThan(0.75)
    expect(ranked.slice(2).filter(({ scenario }) => /price|web/.test(scenario.service))).toSatisfy(
      (others: typeof ranked) => others.every(({ significant }) => !significant),
    )
  })

  test('a number that tells nothing of times is no mix', () => {
    const same = { states: [IDLE, { ...BUSY, us: IDLE.us }] }
    const { ranked } = diagnoseLatency(period(1, same, [0.95, 0.05]), period(2, same, [0.5, 0.5]))
    expect(ranked.filter(({ significant }) => significant)).toEqual([])
  })
})
