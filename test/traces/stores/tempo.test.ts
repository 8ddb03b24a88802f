import { expect, test } from 'vitest'
import { compare } from '../../../src/comparison/comparison.ts'
import { loadTraces } from '../../../src/traces/load-traces.ts'
import {
  fileOf,
  type RecordedTrace,
  recordedTraces,
  spansOf,
  stretchOf,
} from './recorded-traces.ts'
import { type Reply, serve } from './serve.ts'

const BEFORE = recordedTraces('before', 200)
const AFTER = recordedTraces('after', 200)

/** Answers as Tempo does: ids in base64, and in searches without their leading zeros. */
function tempo(url: URL, traces: readonly RecordedTrace[], most = 1e9): Reply {
  const asked = (name: string) => url.searchParams.get(name) ?? ''
  if (url.pathname === '/api/search') {
    const [start, end] = [Number(asked('start')) * 1e6, Number(asked('end')) * 1e6]
    const service = /resource\.service\.name = "(.*?)"/.exec(asked('q'))?.[1]
    const some = traces
      .filter(({ startsUs }) => startsUs.some((us) => us >= start && us < end))
      .filter(({ services }) => service === undefined || services.has(service))
      .slice(0, Math.min(most, Number(asked('limit'))))
    const found = some.map(({ id }) => ({ traceID: id.replace(/^0+/, ''), rootTraceName: 'x' }))
    return { body: { traces: found, metrics: {} } }
  }
  const id = /^\/api\/v2\/traces\/([0-9a-f]{32})$/.exec(url.pathname)?.[1]
  const trace = traces.find((one) => one.id === id)
  if (trace === undefined) return { status: 404, body: 'trace not found' }
  return { body: { trace: { resourceSpans: inBase64(trace) }, status: 'COMPLETE' } }
}

function inBase64({ resourceSpans }: RecordedTrace) {
  return JSON.parse(JSON.stringify(resourceSpans), (key, value) =>
    /^(traceId|spanId|parentSpanId)$/.test(key)
      ? Buffer.from(value, 'hex').toString('base64')
      : value,
  )
}

const address = (host: string, traces: readonly RecordedTrace[], parameters = '') =>
  `tempo://${host}?tries=2${parameters}&between=${stretchOf(traces)}`
const idsOf = (traces: readonly RecordedTrace[]) => traces.map(({ id }) => id).sort()

test('traces from Tempo give the findings that the same traces give in files', {
  tags: 'full',
}, async () => {
  const served = await serve((url) => tempo(url, BEFORE))
  const later = await serve((url) => tempo(url, AFTER))
  const [before, after] = await Promise.all([
    loadTraces(address(served.host, BEFORE, '&tenant=team-a')),
    loadTraces(address(later.host, AFTER)),
  ])
  const files = await Promise.all([loadTraces(fileOf(BEFORE)), loadTraces(fileOf(AFTER))])
  const found = compare(before, after).findings.text()
  expect(found).toContain('SN WRITE itself')
  expect(found).toBe(compare(...files).findings.text())
  expect(new Set(served.asked.map(({ headers }) => headers['x-scope-orgid']))).toEqual(
    new Set(['team-a']),
  )
})

test('searches that are cut, said or not, are asked for again in halves down to a second', async () => {
  const spread = BEFORE.map((trace, i) => later(trace, i * 0.05e6))
  for (const [most, limit] of [
    [1e9, 30],
    [45, 500],
  ] as const) {
    const served = await serve((url) => tempo(url, spread, most))
    const traces = await loadTraces(address(served.host, spread, `&limit=${limit}`))
    expect([...traces.ids].sort()).toEqual(idsOf(spread))
    expect(traces.quality().counts.get('incomplete-answer')).toBeUndefined()
  }
})

/** A trace that began later, by µs. */
function later(trace: RecordedTrace, us: number): RecordedTrace {
  const resourceSpans = JSON.parse(
    JSON.stringify(trace.resourceSpans),
  ) as typeof trace.resourceSpans
  for (const span of spansOf(resourceSpans)) {
    for (const name of ['startTimeUnixNano', 'endTimeUnixNano']) {
      span[name] = `${BigInt(span[name]) + BigInt(us) * 1000n}`
    }
  }
  return { ...trace, resourceSpans, startsUs: trace.startsUs.map((start) => start + us) }
}

test('a second with more traces than the limit is told', async () => {
  const served = await serve((url) => tempo(url, BEFORE))
  const traces = await loadTraces(address(served.host, BEFORE, '&limit=10'))
  expect(traces.size).toBeLessThan(BEFORE.length)
  expect(traces.quality().issues[0]?.message).toMatch(
    /^traces are missing: the server gives at most 10/,
  )
})

test('traces that search lists and nobody has, or that come in part, are counted', async () => {
  const [gone, torn] = BEFORE
  const served = await serve((url) => {
    if (url.pathname.endsWith(gone?.id as string)) return { status: 404 }
    const reply = tempo(url, BEFORE)
    if (!url.pathname.endsWith(torn?.id as string)) return reply
    const { body } = reply as { body: object }
    return { body: { ...body, status: 'PARTIAL', message: 'trace exceeds max size' } }
  })
  const traces = await loadTraces(address(served.host, BEFORE))
  expect(traces.size).toBe(BEFORE.length - 1)
  const notes = traces.quality().issues.filter(({ code }) => code === 'incomplete-answer')
  expect(notes.map(({ message }) => message).sort()).toEqual([
    'handed over in part (trace exceeds max size): 1 trace',
    'listed by search, but not found by id: 1 trace',
  ])
})

test('older servers are asked for traces in their own way', async () => {
  const served = await serve((url) => {
    if (url.pathname === '/api/search') return tempo(url, BEFORE)
    const trace = BEFORE.find(({ id }) => url.pathname === `/api/traces/${id}`)
    return trace === undefined ? { status: 404 } : { body: { batches: inBase64(trace) } }
  })
  const traces = await loadTraces(address(served.host, BEFORE))
  expect([...traces.ids].sort()).toEqual(idsOf(BEFORE))
})

test('conditions are part of the search where it can hold them, and leave what they leave in files', async () => {
  const served = await serve((url) => tempo(url, BEFORE))
  const where =
    'service = frontend and storage-data is called and duration >= 0.3ms and host is not x'
  const traces = await loadTraces(address(served.host, BEFORE), { where })
  const file = await loadTraces(fileOf(BEFORE), { where })
  expect([...traces.ids].sort()).toEqual([...file.ids].sort())
  expect(served.asked[0]?.url.searchParams.get('q')).toBe(
    '{ resource.service.name = "frontend" } && { resource.service.name = "storage-data" } && { traceDuration >= 300000ns }',
  )
})
