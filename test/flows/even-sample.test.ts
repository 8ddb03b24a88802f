import { sum } from 'd3-array'
import { describe, expect, test } from 'vitest'
import { compare } from '../../src/comparison/comparison.ts'
import { buildFlows } from '../../src/flows/build-flows.ts'
import { AFTER, BEFORE } from '../../src/flows/flow-set.ts'
import { randomSource } from '../../src/stats/random.ts'
import { makeSpans, NOON_US, type SpanSketch } from '../make-traces.ts'

const SLOW_US = 20_000
const ODDS = 0.1

/**
 * Requests of a service that calls another. 2 % fail and 10 % are slow; `tails` records all of these
 * but one in ten of the others, as collectors do that sample by tails. From `slowerUs` on all take longer.
 */
function period(seed: number, { tails = false, slowerUs = 0, size = 2000 } = {}) {
  const random = randomSource(seed)
  const spans: SpanSketch[] = []
  let startUs = NOON_US + seed * 1e9
  for (let i = 0; i < size; i++) {
    startUs += -20_000 * Math.log(1 - random.next())
    const [fails, isSlow] = [random.next() < 0.02, random.next() < 0.1]
    const us = slowerUs + random.logNormal(Math.log(isSlow ? SLOW_US : 2000), 0.3)
    const probability = !tails || fails || isSlow ? 1 : ODDS
    if (random.next() >= probability) continue
    const trace = `${seed}-${i}`
    const status = fails ? ('error' as const) : ('ok' as const)
    const common = { trace, status, probability }
    spans.push(
      { ...common, id: 'front', startUs, endUs: startUs + us + 1000 },
      { ...common, id: 'back', parent: 'front', startUs: startUs + 500, endUs: startUs + us + 500 },
    )
  }
  return makeSpans(spans, `period ${seed}`)
}

const EVEN = { sampling: 'even', counts: 'weighted' } as const
const EVEN_FLOWS = { sampling: 'even' } as const
const SEEDS = Array.from({ length: 12 }, (_, seed) => 2 * seed + 1)

describe('an even sample', () => {
  test('of requests of which slow and failed ones were preferred shows no change where there is none', () => {
    const found = SEEDS.slice(0, 4).filter((seed) => {
      const { findings } = compare(period(seed), period(seed + 1, { tails: true }), EVEN)
      return findings.findings.length > 0
    })
    expect(found).toEqual([])
  })

  test('shows the change that there is', { tags: 'full' }, () => {
    for (const seed of SEEDS) {
      const after = period(seed + 1, { tails: true, slowerUs: 1500 })
      const [first] = compare(period(seed), after, EVEN).findings.findings
      expect(first?.title).toMatch(/^back: call (?:itself )?takes 1\.\d+ ms longer/)
    }
  })

  test('stands for as many requests as were recorded, and says how many it leaves out', () => {
    const flows = buildFlows([period(1), period(2, { tails: true, size: 20_000 })], EVEN_FLOWS)
    const weights = Array.from(flows.weight ?? []).slice(flows.count(BEFORE))
    expect(new Set(weights)).toEqual(new Set([1 / ODDS]))
    const stoodFor = weights.reduce((sum, weight) => sum + weight, 0)
    expect(stoodFor / 20_000).toBeCloseTo(1, 1)
    const { thinnedBefore, thinnedAfter } = flows.report.counts
    const recorded = buildFlows([period(1), period(2, { tails: true, size: 20_000 })])
    expect(thinnedBefore).toBe(0)
    expect(thinnedAfter + flows.count(AFTER)).toBe(recorded.count(AFTER))
  })

  test('of requests that are all recorded with one probability is all of them', () => {
    const flows = buildFlows([period(1), period(2)], EVEN_FLOWS)
    expect(flows.ids).toEqual(buildFlows([period(1), period(2)]).ids)
  })

  test('is what a comparison asks for where the sample preferred some', () => {
    const compared = compare(period(1), period(2, { tails: true }), { counts: 'raw' })
    const warned = compared.warnings().find(({ code }) => code === 'sampling-differs')
    expect(warned?.finding).toBe(
      'The sample preferred some requests of a type over others: front call: one in 1 to one in 10 after.',
    )
    expect(warned?.advice).toEqual(EVEN)
    const codes = compared
      .with(EVEN)
      .warnings()
      .map(({ code }) => code)
    expect(codes).not.toContain('sampling-differs')
  })

  test('kept alike in both periods is said once, and that weights answer it', () => {
    const compared = compare(period(1, { tails: true }), period(2, { tails: true }), {
      counts: 'raw',
    })
    const warned = compared.warnings().find(({ code }) => code === 'sampling-differs')
    expect(warned?.finding).toBe(
      'Requests of one type were sampled at different rates within each period, so recorded rates and means are biased: front call: one in 1 to one in 10.',
    )
    expect(warned?.answer).toMatch(/^`counts: 'weighted'` counts each request by its weight/)
    expect(warned?.advice).toEqual(EVEN)
  })

  test('has as many slow requests as are due, not as many as chance draws', () => {
    const flows = buildFlows([period(1), period(2, { tails: true, size: 20_000 })], EVEN_FLOWS)
    const recorded = buildFlows([period(1), period(2, { tails: true, size: 20_000 })])
    const own = new Set(recorded.ids.filter((_, row) => recorded.weightOf(row) === 1))
    const preferred = ({ ids, period: periods }: typeof flows) =>
      ids.filter((id, row) => periods[row] === AFTER && own.has(id)).length
    expect(Math.abs(preferred(flows) - ODDS * preferred(recorded))).toBeLessThan(1)
  })

  test('has statistics and times of the population that it was drawn from', {
    tags: 'full',
  }, () => {
    const drawn = SEEDS.map((seed) => {
      const of = (tails: boolean, options: object) => {
        const [before, after] = [
          period(seed, { tails, size: 4000 }),
          period(seed + 1, { tails, size: 4000, slowerUs: 800 }),
        ]
        const { categories, responseTime } = compare(before, after, options)
        const was = categories.responseTimeMoments(0, BEFORE)
        const shiftUs = categories.responseTimeMoments(0, AFTER).mean - was.mean
        const c2 = was.variance / was.mean ** 2
        return { ks: responseTime.test(0).statistic, meanUs: was.mean, c2, shiftUs }
      }
      const weighted = of(true, { counts: 'weighted' })
      return {
        population: of(false, {}),
        even: of(true, EVEN),
        weighted,
        recorded: of(true, { counts: 'raw' }),
      }
    })
    const off = (
      kind: 'even' | 'weighted' | 'recorded',
      of: 'ks' | 'meanUs' | 'c2' | 'shiftUs',
    ) => {
      const [estimate, truth] = [
        sum(drawn, (o) => o[kind][of]),
        sum(drawn, (o) => o.population[of]),
      ]
      return Math.abs(estimate / truth - 1)
    }
    for (const kind of ['even', 'weighted'] as const) {
      expect(off(kind, 'ks')).toBeLessThan(0.1)
      expect(off(kind, 'meanUs')).toBeLessThan(0.05)
      expect(off(kind, 'c2')).toBeLessThan(0.1)
      expect(off(kind, 'shiftUs')).toBeLessThan(0.15)
    }
    // Without either, times are those of what was recorded.
    expect(off('recorded', 'ks')).toBeGreaterThan(0.3)
    expect(off('recorded', 'meanUs')).toBeGreaterThan(0.5)
  })
})
