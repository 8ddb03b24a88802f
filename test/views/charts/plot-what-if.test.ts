import { describe, expect, test } from 'vitest'
import type { Chart } from '../../../src/views/charts/chart.ts'
import { latencyProfilesChart } from '../../../src/views/charts/latency-profiles.ts'
import { diagnosisChart, diagnosisRows } from '../../../src/views/charts/what-if.ts'
import { groupedModel } from '../../../src/views/drawing/drawn-stages.tsx'
import { plot } from '../../../src/views/plot.ts'
import { diagnoseLatency } from '../../../src/whatif/diagnosis/diagnose-latency.ts'
import { learnExecutionModels } from '../../../src/whatif/models/execution-models.ts'
import { LatencyProfile } from '../../../src/whatif/recompute/latency-profile.ts'
import { applyScenario, ScenarioProfile } from '../../../src/whatif/scenarios/apply-scenario.ts'
import { scaleCalls } from '../../../src/whatif/scenarios/parse-scenario.ts'
import { makeSpans, type SpanSketch } from '../../make-traces.ts'
import { HOSTILE } from '../notebook/fixture.ts'
import { dataOf, EXPRESSIONS, expectDrawable, partsOf } from './fixture.ts'
import { AFTER, BEFORE, namedServices } from './what-if-fixture.ts'

const diagnosis = diagnoseLatency(BEFORE, AFTER)
const { models } = diagnosis

describe('latency profiles', () => {
  test('before, scenario and target are curves from 0 to 1, with dots at p50, p90 and p99', () => {
    const chart = latencyProfilesChart(diagnosis.profile(1), { targetName: 'after' })
    const [curves, dots] = dataOf(chart)
    const names = ['before', diagnosis.best?.scenario.title, 'after']
    expect([...new Set(curves?.map(({ profile }) => profile))]).toEqual(names)
    for (const name of names) {
      const shares = curves?.filter(({ profile }) => profile === name).map(({ share }) => share)
      expect([shares?.[0], shares?.at(-1)]).toEqual([0, 1])
      expect(shares).toEqual(shares?.toSorted((a, b) => Number(a) - Number(b)))
    }
    const medians = dots?.filter(({ share }) => share === 0.5).map(({ timeUs }) => timeUs)
    const profiles = [diagnosis.base, diagnosis.profile(1).profile, diagnosis.target]
    expect(medians).toEqual(profiles.map((of) => Number(of.quantile(0.5).toPrecision(5))))
    expectDrawable(chart)
  })

  test('as densities: the shares of each profile add up to 1', () => {
    const chart = latencyProfilesChart([diagnosis.profile(1), diagnosis.profile(2)], {
      as: 'density',
    })
    const [rows] = dataOf(chart)
    const sums = new Map<unknown, number>()
    for (const { profile, share } of rows ?? []) {
      sums.set(profile, (sums.get(profile) ?? 0) + Number(share))
    }
    // The last bin is drawn up to its end.
    for (const [name, sum] of sums) {
      const last = rows?.filter(({ profile }) => profile === name).at(-2)
      expect(sum - Number(last?.['share'])).toBeCloseTo(1, 3)
    }
    expect(sums.size).toBe(4)
    expectDrawable(chart)
  })

  test('weights count, requests of 0 µs are told, and like names are told apart', () => {
    const profile = (us: readonly number[], weight: readonly number[]) =>
      LatencyProfile.ofRequests(us, weight)
    const before = profile([10, 1000], [3, 1])
    const zero = new ScenarioProfile({
      title: 'before',
      before,
      profile: profile([0, 1000], [3, 1]),
      target: null,
      touched: 3,
    })
    const chart = latencyProfilesChart(zero)
    expect(chart.description).toContain(
      'Requests of 0 µs (75 % of before (2)) are at the left end.',
    )
    const [rows] = dataOf(chart)
    expect(rows?.filter(({ profile: of }) => of === 'before')[1]).toMatchObject({ share: 0.75 })
    expectDrawable(chart)
  })

  test('as recorded, of one period or of two; and beside a target of one’s own', () => {
    const names = (chart: Chart) => [...new Set(dataOf(chart)[0]?.map(({ profile }) => profile))]
    const both = latencyProfilesChart(models)
    expect(both.title).toBe('Response times before and after')
    expect(names(both)).toEqual(['before', 'after'])
    const one = latencyProfilesChart(learnExecutionModels(BEFORE))
    expect(names(one)).toEqual(['before'])
    expect(one.description).toMatch(/^before: p50\s[\d.]+\s[mµ]s, p90/)
    const slower = applyScenario(models, scaleCalls({ service: 'db', addUs: 3000 }))
    const beside = latencyProfilesChart(slower, { target: diagnosis.target, targetName: 'after' })
    expect(names(beside)).toEqual(['before', 'db +3 ms', 'after'])
    for (const chart of [both, one, beside]) expectDrawable(chart)
    expect(() => latencyProfilesChart(models, { target: diagnosis.target })).toThrow(
      'Give profiles of applyScenario beside it',
    )
  })

  test('what cannot be drawn together is refused', () => {
    const other = applyScenario(
      learnExecutionModels(AFTER),
      scaleCalls({ service: 'db', factor: 2 }),
    )
    expect(() => latencyProfilesChart([])).toThrow('Option profiles is 0.')
    expect(() => latencyProfilesChart([diagnosis.profile(1), other])).toThrow(
      'Option profiles[1] is "db × 2". Give a profile of the same requests',
    )
    expect(() => latencyProfilesChart(other, { as: 'bars' as never })).toThrow(
      'Option as is "bars"',
    )
    expect(() => latencyProfilesChart(other, { limit: 1 } as never)).toThrow('no option limit')
  })
})

describe('a diagnosis', () => {
  test('each scenario stands once, below what it lies within', () => {
    const rows = diagnosisRows(diagnosis, 12)
    const ranks = rows.map(({ cause }) => cause.rank)
    expect(new Set(ranks).size).toBe(ranks.length)
    for (const rank of Array.from({ length: 12 }, (_, i) => i + 1)) expect(ranks).toContain(rank)
    rows.forEach(({ cause, level }, i) => {
      if (cause.parent === null) {
        expect(level).toBe(0)
        return
      }
      const above = rows.slice(0, i).findLast((row) => row.level < level)
      expect(above?.cause.rank).toBe(cause.parent.rank)
    })
  })

  test('bars lead from before to what the scenario makes of it', () => {
    const chart = diagnosisChart(diagnosis, { limit: 3 })
    expect(chart.description).toContain('Closest: server time of db serve db as after')
    const [rows] = dataOf(chart)
    expect(rows?.find(({ label }) => String(label).includes('1. '))).toMatchObject({
      label: expect.stringMatching(/1\. server time of db serve db$/),
      kind: 'explains a change',
      fromP50Us: diagnosis.base.quantile(0.5),
      p50Us: diagnosis.best?.p50Us,
    })
    const rules = partsOf(chart.spec).filter(([key]) => key === 'datum')
    expect(rules.map(([, value]) => value)).toContain(diagnosis.divergence)
    expectDrawable(chart)
  })

  test('of a wish, by time, and of one scenario', () => {
    const wish = { quantile: 0.9, belowUs: diagnosis.base.quantile(0.9) * 0.8 }
    const wished = diagnosisChart(diagnoseLatency(BEFORE, wish, { depth: 1 }), { limit: 1 })
    expect(dataOf(wished)[0]?.[0]).toMatchObject({ kind: 'comes closer' })
    expectDrawable(wished)
    const byTime = diagnoseLatency(BEFORE, AFTER, { divergence: 'wasserstein', depth: 1 })
    expect(dataOf(diagnosisChart(byTime))[0]?.[0]?.['text']).toMatch(/ (µs|ms)$/)
    expect(() => diagnosisChart(byTime, { limit: 0 })).toThrow('Option limit is 0.')
  })
})

/** A request whose root makes calls at these times. */
function rootWith(calls: readonly (readonly [string, number, number, Partial<SpanSketch>?])[]) {
  return makeSpans(
    Array.from({ length: 3 }, (_, trace) => trace).flatMap((trace) => [
      { trace: `t${trace}`, id: `root${trace}`, service: 'web', startUs: 0, endUs: 1000 },
      ...calls.map(([service, startUs, endUs, more], i) => ({
        trace: `t${trace}`,
        id: `c${trace}.${i}`,
        parent: `root${trace}`,
        service,
        startUs,
        endUs,
        ...more,
      })),
    ]),
  )
}

describe('an execution model', () => {
  test('says how many calls it explains, and how long steps take', () => {
    const learned = learnExecutionModels(
      rootWith([
        ['db', 100, 300],
        ['db', 400, 600],
        ['mail', 700, 720, { followsFrom: true }],
      ]),
    )
    const chart = plot(learned, 'model', { id: 0 })
    expect(chart.title).toBe('Execution model 0: web call')
    expect(chart.description).toContain('Explains 3 calls to it, 100 % of all.')
    const text = expectDrawable(chart)
    expect(text).toContain('db · takes 200 µs · 2 one after the other')
    expect(text).toContain('+100 µs')
    expect(text).toContain('+400 µs')
    expect(text).toContain('mail · not waited for, 1 a call')
    expectDrawable(chart)
  })

  test('of many parallel calls is small, and a long one is cut with a word', () => {
    const fan = learnExecutionModels(
      rootWith(Array.from({ length: 40 }, (_, i) => ['db', 100 + i, 900 - i] as const)),
    )
    const chart = plot(fan, 'model', { id: 0 })
    expect(chart.svg()).toContain('40 at the same time')
    const long = learnExecutionModels(
      rootWith(Array.from({ length: 40 }, (_, i) => [`s${i}`, 20 * i + 5, 20 * i + 15] as const)),
    )
    const cut = plot(long, 'model', { id: 0, limit: 5 })
    expect(cut.description).toContain('The first 5 of 40 calls are drawn.')
    expect(cut.svg()).toContain('… 35 more calls')
    for (const each of [chart, cut]) expectDrawable(each)
  })

  test('every model of a system is drawable', () => {
    for (const { id } of models.models) expectDrawable(plot(models, 'model', { id }))
    expect(() => plot(models, 'model', { id: 99 })).toThrow(
      'Option id is 99. Give a model from 0 to',
    )
  })
})

describe('calls that are drawn as one', () => {
  const node = (service: string) => ({ service, operation: '', occurrence: 0 })

  test('equal ones with equal neighbours, then chains of one kind', () => {
    const { groups, replyWaitsFor } = groupedModel({
      nodes: ['a', 'b', 'b', 'c', 'c', 'c'].map(node),
      predecessors: [[], [0], [0], [1, 2], [3], [4]],
      returnPredecessors: [5],
    })
    expect(groups).toEqual([
      { nodes: [0], inSequence: false, waitsFor: [] },
      { nodes: [1, 2], inSequence: false, waitsFor: [0] },
      { nodes: [3, 4, 5], inSequence: true, waitsFor: [1] },
    ])
    expect(replyWaitsFor).toEqual([2])
  })

  test('a chain is found wherever it is entered', () => {
    const { groups } = groupedModel({
      nodes: ['c', 'c', 'c'].map(node),
      predecessors: [[2], [0], []],
      returnPredecessors: [1],
    })
    expect(groups).toEqual([{ nodes: [0, 1, 2], inSequence: true, waitsFor: [] }])
  })

  test('not those that others wait for differently', () => {
    const { groups, replyWaitsFor } = groupedModel({
      nodes: ['a', 'a', 'b'].map(node),
      predecessors: [[], [], [0]],
      returnPredecessors: [1, 2],
    })
    expect(groups.map(({ nodes }) => nodes)).toEqual([[0], [1], [2]])
    expect(replyWaitsFor).toEqual([1, 2])
  })
})

test.each([HOSTILE, `'+datum.constructor('alert(1)')()+'`, '"]}}, \u202etxt', 'x'.repeat(300_000)])(
  'names from traces are data only, and short',
  (name) => {
    const [before, after] = namedServices(name)
    const found = diagnoseLatency(before, after, { depth: 1 })
    const charts = [
      latencyProfilesChart(found.profile(1), { targetName: found.targetTitle }),
      diagnosisChart(found),
      plot(found.models, 'model', { id: 0 }),
    ]
    for (const chart of charts) {
      for (const [key, value] of partsOf('spec' in chart ? chart.spec : {})) {
        if (!EXPRESSIONS.includes(key) || typeof value !== 'string') continue
        expect(value).not.toMatch(/alert|onerror|constructor/)
      }
      const svg = expectDrawable(chart)
      expect(svg).not.toMatch(/<img|<script|\u202e/)
      expect(JSON.stringify('spec' in chart ? chart.spec : chart.svg()).length).toBeLessThan(
        120_000,
      )
    }
  },
)
