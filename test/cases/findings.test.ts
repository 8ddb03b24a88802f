import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { compareHalves } from '../../evaluation/null-comparisons.ts'
import { findCases } from '../../evaluation/recorded-cases.ts'
import { firstRelevantFinding } from '../../evaluation/relevant-finding.ts'
import { compare } from '../../src/compare/comparison.ts'
import type { Finding } from '../../src/compare/findings/finding.ts'
import { buildFlows } from '../../src/flows/build-flows.ts'
import { AFTER } from '../../src/flows/flow-set.ts'
import { quantile } from '../../src/stats/quantile.ts'
import { loadTraces } from '../../src/traces/load-traces.ts'
import type { SpanTraces } from '../../src/traces/span-traces.ts'
import type { TraceSet } from '../../src/traces/trace-set.ts'
import { describeWithShared, sharedFile } from '../shared.ts'

const RECORDED = fileURLToPath(new URL('../../datasets/storage-service', import.meta.url))
const MOST_FINDINGS = 10

describe('recorded cases', async () => {
  const cases = await findCases(RECORDED, [])
  test.each(cases.map((one) => [`${one.name} (${one.recording})`, one] as const))(
    '%s: the cause is the first or second finding of at most ten',
    async (_, { before, after, truth }) => {
      const comparison = compare(await loadTraces(before), await loadTraces(after))
      const { findings, omitted } = comparison.findings
      expect(findings.length + omitted).toBeLessThanOrEqual(MOST_FINDINGS)
      const moved = findings.filter(({ kind }) => kind === 'structure')
      const requests = moved.reduce((sum, finding) => sum + finding.requests, 0)
      expect(requests).toBeLessThanOrEqual(comparison.flows.count(AFTER))
      if (truth.cause === null) expect(findings).toEqual([])
      else expect([1, 2]).toContain(firstRelevantFinding(comparison, truth))
    },
  )
})

async function sharedFindings(
  folder: string,
  [before, after] = ['normal_trace.csv.gz', 'faulty_trace.csv.gz'],
) {
  const comparison = compare(
    await loadTraces(sharedFile(`data/${folder}/${before}`) as string),
    await loadTraces(sharedFile(`data/${folder}/${after}`) as string),
  )
  return comparison.findings
}

/** All that a finding accuses: what it says first, and where it says to look. */
function accused({ title, services }: Finding): string {
  return `${title} → ${services.join(', ')}`
}

describeWithShared(
  'faults injected by others are the first or second finding of at most ten',
  () => {
    test.each([
      ['nezha-onlineboutique/ob1_currency_network_delay', 'currencyservice', 'edges'],
      ['nezha-onlineboutique/ob2_productcatalog_cpu_consumed', 'productcatalogservice', 'edges'],
      ['nezha-onlineboutique/ob3_frontend_cpu_contention', 'frontend', 'edges'],
      ['nezha-onlineboutique/ob4_frontend_return', 'frontend', 'structure'],
      ['nezha-onlineboutique/ob5_recommendation_network_delay', 'recommendationservice', 'edges'],
      ['nezha-onlineboutique/ob6_ad_cpu_contention', 'adservice', 'edges'],
      ['nezha-trainticket/tt1_route_network_delay', 'ts-route-service', 'edges'],
      ['nezha-trainticket/tt2_travel_network_delay', 'ts-travel-service', 'edges'],
      ['nezha-trainticket/tt3_basic_cpu_contention', 'ts-basic-service', 'edges'],
      ['nezha-trainticket/tt4_basic_return', 'ts-basic-service', 'structure'],
      ['nezha-trainticket/tt5_price_exception', 'ts-price-service', 'structure'],
      ['trastrainer-trainticket-extra', 'ts-route-service', 'edges'],
    ])('%s: %s', async (folder, service, kind) => {
      const { findings, omitted } = await sharedFindings(folder)
      expect(findings.length + omitted).toBeLessThanOrEqual(MOST_FINDINGS)
      const right = findings.slice(0, 2).filter((finding) => finding.services.includes(service))
      expect(right.map((finding) => finding.kind)).toContain(kind)
      expect(right.map(accused).join('\n')).toContain(service)
    })

    test('an early return that makes everything faster is said to', async () => {
      const { findings } = await sharedFindings('nezha-onlineboutique/ob4_frontend_return')
      expect(findings[0]?.direction).toBe('faster')
    })
  },
)

describeWithShared('periods without a fault give no finding', () => {
  test('ob0, a heavy-tailed control (mean +49 %, median unchanged)', async () => {
    const { findings } = await sharedFindings('nezha-onlineboutique/ob0_control_no_fault')
    expect(findings).toEqual([])
  })

  test('tw0, two interleaved halves of one run', async () => {
    const { findings } = await sharedFindings(
      'traceweaver-jaeger/tw0_hotel_control_load100_even_vs_odd',
      ['normal.json.gz', 'faulty.json.gz'],
    )
    expect(findings).toEqual([])
  })

  const COMPARISONS = 100
  /** Three standard errors above 5 %. */
  const LIMIT = 0.05 + 3 * Math.sqrt((0.05 * 0.95) / COMPARISONS)
  test.each([
    'nezha-onlineboutique/ob0_control_no_fault/normal_trace.csv.gz',
    'nezha-onlineboutique/ob0_control_no_fault/faulty_trace.csv.gz',
    'nezha-trainticket/tt1_route_network_delay/faulty_trace.csv.gz',
    'traceweaver-jaeger/tw0_hotel_control_load100_even_vs_odd/normal.json.gz',
  ])('random halves of %s do in few comparisons', async (file) => {
    const flows = buildFlows(await loadTraces(sharedFile(`data/${file}`) as string))
    const rates = compareHalves(flows, {
      ...{ comparisons: COMPARISONS, correction: 'bh', edges: false },
    })
    console.log(`${file}: any finding in ${100 * rates.anyFindingRate} % of ${COMPARISONS}`)
    expect(rates.anyFindingRate).toBeLessThanOrEqual(LIMIT)
  })
})

describe('rare-operation: one operation in 3 % of the requests takes three times as long', async () => {
  const folder = `${RECORDED}/rare-operation`
  const before = await loadTraces(`${folder}/before.jsonl.gz`)
  const after = await loadTraces(`${folder}/after.jsonl.gz`)
  const comparison = compare(before, after)
  const { categories, responseTime } = comparison
  const concerned = Array.from({ length: categories.size }, (_, category) => category).filter(
    (category) => categories.structure(category).labels.includes('mds-0 MDS GETLAYOUT call'),
  )

  test('the recording is what it says', () => {
    for (const period of [0, 1] as const) {
      const requests = concerned.reduce((sum, one) => sum + categories.count(one, period), 0)
      const share = requests / comparison.flows.count(period)
      expect(share).toBeGreaterThan(0.025)
      expect(share).toBeLessThan(0.035)
    }
    const [then, now] = [before, after].map((traces) => medianOf(traces, 'MDS GETLAYOUT'))
    expect((now as number) / (then as number)).toBeGreaterThan(2.7)
    expect((now as number) / (then as number)).toBeLessThan(3.3)
  })

  test('its categories are too thin to test, and the ranked list is silent', () => {
    expect(concerned.length).toBeGreaterThan(5)
    expect(concerned.filter((category) => responseTime.test(category).testable)).toEqual([])
    expect(comparison.ranking.mutations).toEqual([])
  })

  test('it is the first finding', () => {
    const [finding] = comparison.findings.findings
    expect(finding).toMatchObject({
      ...{ kind: 'edges', direction: 'slower', services: ['mds'], mutations: [] },
      requests: 31,
    })
    expect(finding?.title).toContain('“MDS GETLAYOUT”')
    expect(finding?.changedEdges[0]?.shiftUs).toBeCloseTo(300, -1)
  })
})

/** Median duration of the metadata server's spans of one operation, in µs. */
function medianOf(traces: TraceSet, operation: string): number {
  const { spans, services, operations } = traces as SpanTraces
  const durations = Array.from(spans.durationUs).filter(
    (_, span) =>
      services.value(spans.service[span] as number) === 'mds' &&
      operations.value(spans.operation[span] as number) === operation,
  )
  return quantile(Float64Array.from(durations).sort(), 0.5)
}
