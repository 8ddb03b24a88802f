import { describe, expect, test } from 'vitest'
import { findCases } from '../../evaluation/recorded-cases.ts'
import { compare } from '../../src/comparison/comparison.ts'
import { loadTraces as loadTracesWithLogs } from '../../src/logs/traced/load-traces.ts'
import { quantile } from '../../src/stats/quantile.ts'
import type { SpanTraces } from '../../src/traces/span-traces.ts'
import type { TraceSet } from '../../src/traces/trace-set.ts'
import { recordedCase } from '../recorded.ts'
import { expectCauseFound, RECORDED } from './expect-findings.ts'

// All cases, and those of others, in findings.full.test.ts.
test('in a control nothing is found but what clients do otherwise', { tags: 'full' }, async () => {
  const [recorded] = await findCases(RECORDED, ['control'])
  await expectCauseFound(recorded as NonNullable<typeof recorded>)
})

test('rmw names the read that comes first, whether or not its operation is selected', async () => {
  const all = await recordedCase('rmw')
  for (const comparison of [all, all.where('operation = NFS3 WRITE')]) {
    expect(comparison.findings.findings[0]?.title).toBe(
      'frontend: NFS3 WRITE now calls storage-data SN READ after cache lookup in 1,100 of 2,400 calls (0 of 2,400 before)',
    )
  }
})

test('lost-key: another path of the code, of which no span tells, is found by its log', async () => {
  const [recorded] = await findCases(RECORDED, ['lost-key'])
  const { logged } = (recorded as NonNullable<typeof recorded>).truth
  const file = (name: string) => `${RECORDED}/lost-key/${name}.jsonl.gz`
  const load = (period: string, withLogs: boolean) =>
    loadTracesWithLogs(file(period), { logs: withLogs ? file(`${period}-logs`) : [] })
  const findingsOf = async (withLogs: boolean) =>
    compare(await load('before', withLogs), await load('after', withLogs)).findings.findings
  expect(await findingsOf(false)).toEqual([])
  const [finding, ...others] = await findingsOf(true)
  expect(others).toEqual([])
  expect(finding?.services).toEqual([logged?.service])
  const places = [logged?.after, logged?.noLonger, logged?.now].map((said) =>
    finding?.title.indexOf(said?.replace('WARN ', 'WARN “') ?? ''),
  )
  expect(places).not.toContain(-1)
  expect(places).toEqual(places.toSorted((a, b) => Number(a) - Number(b)))
})

describe('rare-operation: one operation in 3 % of the requests takes three times as long', async () => {
  const comparison = await recordedCase('rare-operation')
  const { before, after, categories, responseTime } = comparison
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
      kind: 'latency',
      direction: 'slower',
      services: ['mds'],
      mutations: [],
      requests: 31,
    })
    expect(finding?.title).toContain('MDS GETLAYOUT')
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
