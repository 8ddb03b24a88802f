import { expect, test } from 'vitest'
import { compare } from '../../../src/compare/comparison.ts'
import { randomSource } from '../../../src/stats/random.ts'
import { makeSpans, type SpanSketch } from '../../make-traces.ts'

interface World {
  readonly seed: number
  /** Whether requests with the flag call insights, 35 ms each. */
  readonly insights?: boolean
  /** Whether a fifth of the calls to the ledger wait, 60 ms on average. */
  readonly waits?: boolean
}

/** 600 requests of the web, a fifth with a flag, and 60 batches of twelve calls in four lanes. */
function period({ seed, insights = false, waits = false }: World) {
  const random = randomSource(seed)
  const spans: SpanSketch[] = []
  let totalUs = 0
  const entries = (of: Pick<SpanSketch, 'trace' | 'parent'>, id: string, startUs: number) => {
    const usual = 7000 * random.logNormal(0, 0.3)
    const [isSlow, wait] = [random.next() < 0.2, -60_000 * Math.log(1 - random.next())]
    const endUs = startUs + usual + (waits && isSlow ? wait : 0)
    spans.push({ ...of, id, service: 'ledger', operation: 'ENTRIES', startUs, endUs })
    return endUs
  }
  for (let i = 0; i < 660; i++) {
    const [trace, startUs] = [`t${i}`, i * 1e6]
    const root = { trace, id: `r${i}`, startUs }
    const of = { trace, parent: root.id }
    if (i % 11 === 0) {
      const lanes = [0, 0, 0, 0].map(() => startUs + 2000)
      for (let call = 0; call < 12; call++) {
        lanes.sort((a, b) => a - b)
        lanes[0] = entries(of, `e${i}.${call}`, lanes[0] as number)
      }
      const endUs = Math.max(...lanes) + 2000
      totalUs += endUs - startUs
      spans.push({ ...root, service: 'batch', operation: 'RUN', endUs })
      continue
    }
    const flag = random.next() < 0.2 ? 'on' : 'off'
    const insightsUs = 32_000 * random.logNormal(0, 0.3)
    let endUs = entries(of, `e${i}`, startUs + 2000 * random.logNormal(0, 0.3))
    if (insights && flag === 'on') {
      const from = endUs
      endUs += insightsUs
      const called = { service: 'insights', operation: 'GET', startUs: from, endUs }
      spans.push({ ...of, id: `i${i}`, ...called })
    }
    endUs += 1000 * random.logNormal(0, 0.3)
    totalUs += endUs - startUs
    spans.push({ ...root, service: 'web', operation: 'SHOW', endUs, attributes: { flag } })
  }
  return { traces: makeSpans(spans), totalUs }
}

const compared = (world: Omit<World, 'seed'>, seed: number) => {
  const after = period({ ...world, seed: seed + 1 })
  const { findings } = compare(period({ seed }).traces, after.traces)
  return { findings, trulyUs: after.totalUs - period({ seed: seed + 1 }).totalUs }
}

test.each([11, 21, 31])(
  'a new call of some requests accounts for all that these take longer, seed %i',
  (seed) => {
    const { findings, trulyUs } = compared({ insights: true }, seed)
    expect(findings.findings.map(({ title }) => title)).toEqual([
      expect.stringMatching(/^web: SHOW .*(insights|ENTRIES).*, only where flag = on$/),
    ])
    expect(Math.abs(findings.attributedUs / trulyUs - 1)).toBeLessThan(0.1)
    expect(findings.text()).not.toContain('other findings count')
  },
)

test.each([41, 51, 61])(
  'a slow step accounts for batches that wait for the slowest of its calls in parallel, seed %i',
  (seed) => {
    const { findings } = compared({ waits: true }, seed)
    expect(findings.findings.map(({ title }) => title)).toEqual([
      expect.stringMatching(/^ledger: ENTRIES itself takes .* ms longer( a call)? in \d+ % of/),
    ])
  },
)
