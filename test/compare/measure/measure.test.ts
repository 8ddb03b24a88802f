import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { restoreComparison, takeSnapshot } from '../../../src/comparison/snapshot.ts'
import { buildFlows } from '../../../src/flows/build-flows.ts'
import {
  compare,
  explain,
  explore,
  findCallingContexts,
  plot,
  reportHtml,
} from '../../../src/index.ts'
import { Chart } from '../../../src/views/charts/chart.ts'
import { comparisonText } from '../../../src/views/text/comparison-text.ts'
import { makeGraphs, makeSpans, type SpanSketch } from '../../make-traces.ts'
import { assistantTraces, compareAssistants, INPUT } from './assistant.ts'

const found = (seed: number, change: Parameters<typeof compareAssistants>[1], measure: string) =>
  compareAssistants(seed, change)
    .with({ measure })
    .findings.findings.map(({ title }) => title)

describe('a change of tokens is found in tokens, one of times in times', () => {
  const longer = compareAssistants(3, { factor: 1.5 })

  test('by service and operation, with unit, interval and share', () => {
    expect(longer.findings.findings).toEqual([])
    const { findings } = longer.with({ measure: INPUT })
    const [finding, ...others] = findings.findings
    expect(others).toEqual([])
    expect(finding?.title).toMatch(/^llm: answer itself takes \d+ input tokens more$/)
    // Half as many again of 800 or so, of which the mean is larger: exp(0.6² / 2).
    expect(finding?.size).toMatchObject({ unit: 'input tokens', per: 'request' })
    expect(finding?.size.interval[0]).toBeLessThan(0.5 * 800 * Math.exp(0.18))
    expect(finding?.size.interval[1]).toBeGreaterThan(0.5 * 800 * Math.exp(0.18))
    expect(findings.text()).toMatch(/9\d % of the increase\n/)
    expect(findings.summary()).toMatch(
      /^Together, \d+ requests took [\d,]+ input tokens more than they would have before\. The finding/,
    )
    expect(finding?.text).toMatch(/more than \d+ % of comparable requests before/)
  })

  test('and the other way round', () => {
    expect(found(4, { slower: 2 }, INPUT)).toEqual([])
    expect(found(4, { slower: 2 }, 'calls')).toEqual([])
    expect(found(4, { slower: 2 }, 'time')).not.toEqual([])
  })

  test('only in the requests of one tenant', () => {
    const [title] = found(5, { factor: 4, of: ({ tier }) => tier === 'enterprise' }, INPUT)
    expect(title).toMatch(
      /^llm: answer itself takes .* input tokens more.*, only for POST \/ask where tenant\.tier = enterprise$/,
    )
  })

  test('calls that are repeated cost calls, and no tokens', () => {
    const [title] = found(6, { retrievals: 4 }, 'calls')
    expect(title).toBe('chat: POST /ask calls store retrieve 4 times instead of 1')
    expect(found(6, { retrievals: 4 }, INPUT)).toEqual([])
  })

  test('of requests that do not differ, nothing is found in 40 comparisons', {
    tags: 'full',
  }, () => {
    const seeds = Array.from({ length: 40 }, (_, i) => 100 + i)
    const named = seeds.flatMap((seed) => {
      const pair = compareAssistants(seed, {}, 100)
      return [INPUT, 'calls'].flatMap((measure) => pair.with({ measure }).findings.findings)
    })
    expect(named.map(({ title }) => title)).toEqual([])
  })
})

describe('flows by another measure', () => {
  /** Requests whose calls have amounts, at any times. */
  const requests = fc.array(
    fc.array(
      fc.record({
        operation: fc.constantFrom('a', 'b', 'c'),
        rows: fc.option(fc.integer({ min: 0, max: 1e6 })),
        startUs: fc.integer({ min: 0, max: 500 }),
        lastsUs: fc.integer({ min: 1, max: 500 }),
      }),
      { minLength: 1, maxLength: 6 },
    ),
    { minLength: 1, maxLength: 5 },
  )
  type Requests = typeof requests extends fc.Arbitrary<infer T> ? T : never
  const tracesOf = (given: Requests, startOf = (us: number) => us) =>
    makeSpans(
      given.flatMap((calls, i): SpanSketch[] => [
        { trace: `t${i}`, id: 'r', service: 'web', startUs: 0, endUs: 2_000 },
        ...calls.map(({ operation, rows, startUs, lastsUs }, k) => ({
          trace: `t${i}`,
          id: `c${k}`,
          parent: 'r',
          service: 'db',
          operation,
          startUs: startOf(startUs),
          endUs: startOf(startUs) + lastsUs,
          attributes: rows === null ? {} : { 'db.rows': rows },
        })),
      ]),
    )

  test('sum what spans have, whenever they have it; requests without any are left out', () => {
    fc.assert(
      fc.property(requests, (given) => {
        const known = given.filter((calls) => calls.some(({ rows }) => rows !== null))
        fc.pre(known.length > 0)
        const flows = buildFlows(tracesOf(given), { measure: 'db.rows' })
        const sums = known.map((calls) => calls.reduce((sum, { rows }) => sum + (rows ?? 0), 0))
        expect(Array.from(flows.responseTimeUs)).toEqual(sums)
        expect(flows.report.counts.unmeasuredBefore).toBe(given.length - known.length)
        const later = buildFlows(
          tracesOf(given, (us) => 1_000 - us),
          { measure: 'db.rows' },
        )
        expect(later.responseTimeUs).toEqual(flows.responseTimeUs)
      }),
    )
  })

  test('have the same kinds of request however calls overlap', () => {
    const call = (id: string, startUs: number): SpanSketch => ({
      id,
      parent: 'r',
      service: id,
      startUs,
      endUs: startUs + 10,
      attributes: { rows: 1 },
    })
    const request = (trace: string, a: number, b: number) =>
      [{ id: 'r', startUs: 0, endUs: 100 }, call('a', a), call('b', b)].map((one) => ({
        ...one,
        trace,
      }))
    const traces = makeSpans([
      ...request('1', 0, 20),
      ...request('2', 30, 5),
      ...request('3', 1, 2),
    ])
    const sizeOf = (measure: string, concurrency: 'learned' | 'observed') =>
      compare(traces, makeSpans(request('4', 0, 20)), { measure, concurrency }).categories.size
    expect([sizeOf('time', 'observed'), sizeOf('rows', 'learned')]).toEqual([3, 1])
  })

  test('of one of ones own, and by what an attribute says, are the same', () => {
    const pair = compareAssistants(7, { factor: 1.3 })
    const own = pair.with({
      measure: {
        name: 'input',
        unit: 'tokens',
        of: ({ attribute }) => attribute(INPUT) as number | undefined,
      },
    })
    expect(own.flows.latencyUs).toEqual(pair.with({ measure: INPUT }).flows.latencyUs)
    expect(own.findings.findings[0]?.title).toMatch(/ tokens more$/)
  })

  test('say what lacks the measure', () => {
    const pair = compareAssistants(8)
    const { flows } = pair.with({ measure: INPUT })
    const { unmeasuredBefore, silentBefore } = flows.report.counts
    expect(flows.size).toBeLessThan(pair.flows.size)
    expect([unmeasuredBefore > 0, silentBefore]).toEqual([true, 0])
    const [warning] = pair.with({ measure: INPUT }).warnings()
    expect(warning?.message).toMatch(
      /^\d+ of 400 \(.* %\) requests before and \d+ of 400 \(.* %\) after have no gen_ai\.usage\.input_tokens\.$/,
    )
    const answers = (unit: number | undefined) => unit
    const half = pair.with({
      measure: {
        name: 'half',
        unit: 'tokens',
        of: ({ operation, durationUs }) =>
          answers(operation === 'answer' && durationUs % 2 === 0 ? undefined : 1),
      },
    })
    expect(half.warnings()[0]?.message).toMatch(
      /; nor do \d+ spans before and \d+ after, of operations/,
    )
  })

  test('need a measure that spans have', () => {
    const traces = assistantTraces({ seed: 1, requests: 20, name: 'a' })
    const built = (measure: string) => () => buildFlows(traces, { measure })
    expect(built('gen_ai.usage.inptu_tokens')).toThrow('Did you mean gen_ai.usage.input_tokens?')
    expect(built('tenant.tier')).toThrow(
      'No span has tenant.tier as a number. Give one of calls, gen_ai.usage.input_tokens, or time.',
    )
    expect(() =>
      buildFlows(traces, { measure: { name: 'debt', unit: 'coins', of: () => -1 } }),
    ).toThrow(/A span of trace a-0 has -1 of debt/)
    const graphs = makeGraphs([{ labels: ['a', 'b'], edges: [[0, 1]] }])
    expect(() => buildFlows(graphs, { measure: 'calls' })).toThrow('Compare them by time.')
  })
})

describe('a comparison by tokens', () => {
  const comparison = compareAssistants(9, {
    factor: 3,
    of: ({ tier }) => tier === 'enterprise',
  }).with({ measure: INPUT })
  /** A number with a unit of time. */
  const DURATION = /\d[\d.,]* (?:µs|ms|s|min)\b/

  test('says no duration in text, tables, charts and reports', () => {
    const { findings, ranking, steps, edges, responseTime, categories, segments } = comparison
    const tables = [findings, ranking, steps, edges, responseTime, categories, comparison.flows]
    const names = tables.flatMap((stage) => stage.table().columnNames())
    expect(names.filter((name) => /Us2?$/.test(name))).toEqual(['startUs'])
    expect(names).toContain('contributionInputTokens')
    const kinds = [
      ...(['findings', 'contributions', 'ribbon', 'shifts', 'segments'] as const),
      ...(['response-times', 'flow', 'variation', 'counts'] as const),
    ]
    const pictures = kinds.map((kind) => plot(comparison, kind))
    expect(pictures.some((picture) => picture instanceof Chart)).toBe(true)
    const page = reportHtml(comparison)
    const text = [
      comparisonText({ comparison, limit: 9, explained: null }, { verbose: true }),
      findings.text(),
      segments.displayText(),
      ...pictures.map((picture) => picture.svg()),
      // Times at which periods were recorded.
      page.replaceAll(/\d\d:\d\d:\d\d/g, ''),
      explore(comparison).mimeBundle()['text/html'],
    ].map((one) => String(one).replaceAll(/<script[\s\S]*?<\/script>/g, ''))
    for (const one of text) expect(one.match(DURATION)?.[0]).toBeUndefined()
    expect(text[0]).toContain(`Compared by ${INPUT}, summed over the spans of each request`)
  })

  test('gives the same findings and tables in a page', () => {
    const everything = { arrivals: true, ids: true, latenciesOf: () => true }
    const restored = restoreComparison(
      JSON.parse(JSON.stringify(takeSnapshot(comparison, everything))),
    )
    expect(restored.findings.text()).toBe(comparison.findings.text())
    expect(restored.steps.table().objects()).toEqual(comparison.steps.table().objects())
  })

  test('opens into its segment, folds, and shows where tokens go', () => {
    const [finding] = comparison.findings.findings
    expect(comparison.where(finding!).flows.quantity.unit).toBe('input tokens')
    expect(comparison.where('tenant.tier = free').findings.findings).toEqual([])
    expect(comparison.with({ fold: 'exact' }).findings.findings).toHaveLength(1)
    const contexts = findCallingContexts(comparison.flows)
    const llm = contexts.contexts.filter(({ service }) => service === 'llm')
    const own = llm.reduce((sum, { after }) => sum + after.selfUs, 0)
    expect(own).toBe(contexts.totalUs(1))
    expect(explain(comparison, finding!).questions.map(({ question }) => question)).toEqual([
      'what-differs',
    ])
  })

  test('has no widgets of times', () => {
    expect(() => explore(comparison, 'swimlanes')).toThrow(
      "Give comparison.with({ measure: 'time' })",
    )
  })
})
