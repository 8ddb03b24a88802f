import { describe, expect, test } from 'vitest'
import { randomSource } from '../../src/stats/random.ts'
import { diagnoseLatency } from '../../src/whatif/diagnosis/diagnose-latency.ts'
import { makeSpans, type SpanSketch } from '../make-traces.ts'

interface Period {
  readonly seed: number
  /** Share of calls to the store that the cache answers; the others ask the disk. */
  readonly hits?: number
  /** How many times as long calls to `price` take, on its host 1 and on host 0. */
  readonly factors?: readonly [first: number, second: number]
}

//  web  |store 2 ms, or |disk 20 ms| | |price 10 ms, on one of two hosts|
function period({ seed, hits = 0.8, factors = [1, 1] }: Period) {
  const random = randomSource(seed)
  const about = (us: number) => random.logNormal(Math.log(us), 0.3)
  const spans: SpanSketch[] = []
  for (let request = 0; request < 800; request++) {
    const trace = `t${request}`
    const hit = random.next() < hits
    const host = random.integer(2)
    const storeUs = about(2000)
    const diskUs = hit ? 0 : about(20_000)
    const stored = 500 + storeUs + diskUs
    const priced = stored + 500 + about(10_000) * (factors[host] ?? 1)
    spans.push(
      { trace, id: 'web', startUs: 0, endUs: priced + about(1000) },
      { trace, id: 'store', parent: 'web', startUs: 500, endUs: stored, attributes: { hit } },
      {
        trace,
        id: 'price',
        parent: 'web',
        startUs: stored + 500,
        endUs: priced,
        host: `price-${host}`,
      },
    )
    if (!hit)
      spans.push({ trace, id: 'disk', parent: 'store', startUs: 500 + storeUs, endUs: stored })
  }
  return makeSpans(spans)
}

describe('parts of calls', () => {
  const before = period({ seed: 1 })

  test('one host that became slower is named', () => {
    const { best } = diagnoseLatency(before, period({ seed: 2, factors: [1, 3] }))
    expect(best?.scenario.title).toBe('server time of price call on host price-1 as after')
    expect(best?.significant).toBe(true)
  })

  test('no host is where all became slower, nor what became none', () => {
    const { ranked, best } = diagnoseLatency(before, period({ seed: 2, factors: [2, 2] }))
    expect(best?.scenario.title).toBe('server time of price call as after')
    const found = ranked.filter(({ significant }) => significant)
    expect(found.filter(({ scenario }) => scenario.kind === 'partition')).toEqual([])
  })

  test('a cache that answers less often makes its store call the disk more often', () => {
    const { best } = diagnoseLatency(before, period({ seed: 2, hits: 0.2 }))
    expect(best?.scenario.title).toBe(
      'store call calls disk call in 81 % of its calls instead of 19 %',
    )
    expect(best?.significant).toBe(true)
  })
})
