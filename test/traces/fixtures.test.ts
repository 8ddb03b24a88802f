import { readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { loadTraces } from '../../src/traces/load-traces.ts'
import { NO_PARENT, PARENT_MISSING, SPAN_KINDS } from '../../src/traces/span-columns.ts'
import { describeWithShared, sharedFile } from '../shared.ts'

/** traces, spans, services, roots, orphans, then spans by kind where not all are internal. */
type Counts = readonly [
  traces: number,
  spans: number,
  services: number,
  roots: number,
  orphans: number,
  kinds?: Partial<Record<(typeof SPAN_KINDS)[number], number>>,
]

const LOADED: Record<string, Counts> = {
  'jaeger-criticalpath/crisp_1.json': [1, 1, 1, 1, 0],
  'jaeger-criticalpath/crisp_2.json': [1, 2, 2, 1, 0],
  'jaeger-criticalpath/crisp_3.json': [1, 2, 2, 1, 0],
  'jaeger-criticalpath/crisp_5.json': [1, 4, 2, 1, 0],
  'jaeger-criticalpath/crisp_9.json': [1, 4, 4, 1, 0],
  'jaeger-criticalpath/crisp_10.json': [1, 4, 4, 1, 0],
  'jaeger-criticalpath/crisp_12.json': [1, 4, 4, 1, 0],
  'jaeger-criticalpath/crisp_15.json': [1, 7, 7, 1, 0],
  'jaeger-criticalpath/crisp_18.json': [1, 9, 9, 1, 0],
  'jaeger-criticalpath/crisp_23.json': [1, 9, 3, 1, 0],
  'jaeger-criticalpath/crisp_24.json': [1, 9, 3, 1, 0],
  'jaeger-criticalpath/crisp_25.json': [1, 9, 3, 1, 0],
  'jaeger-json/api_hotel_clockskew_warnings.json': [1, 11, 6, 1, 0, { server: 6, client: 5 }],
  'jaeger-json/backend_ui_01.json': [1, 4, 2, 1, 0],
  'jaeger-json/ui_TraceFlamegraph_testTrace.json': [1, 4, 2, 1, 0, { server: 1, client: 1 }],
  'jaeger-json/ui_TraceGraph_testTrace.json': [
    1,
    11,
    2,
    1,
    0,
    { server: 2, client: 3, producer: 1, consumer: 1 },
  ],
  'jaeger-json/ui_download_nested_references_socialnetwork_2traces.json': [2, 66, 12, 2, 0],
  'jaeger-json/ui_otlp2jaeger-multi-out.json': [1, 4, 1, 1, 0],
  'jaeger-json/ui_otlp2jaeger-out.json': [1, 1, 1, 0, 1, { server: 1 }],
  'jaeger-json/ui_spanLongerAsParent.json': [1, 8, 2, 1, 0, { server: 5, client: 1 }],
  'jaeger-json/ui_traceWithOverlappingChildrenLongerThanParent.json': [
    1,
    4,
    2,
    1,
    0,
    { client: 3, producer: 1 },
  ],
  'jaeger-json/ui_traceWithThreeShortOverlappingChildren.json': [
    1,
    4,
    2,
    1,
    0,
    { client: 3, producer: 1 },
  ],
  'otlp-json/hyperdx_basic-insert.json': [1, 2, 1, 1, 0, { server: 1, client: 1 }],
  'otlp-json/jaeger_otel_traces_01.json': [
    2,
    4,
    1,
    0,
    4,
    { server: 1, client: 1, producer: 1, consumer: 1 },
  ],
  'otlp-json/jaegerui_multi-in-combined.json': [1, 4, 1, 1, 0],
  'otlp-json/jaegerui_multi-in.jsonl': [1, 4, 1, 1, 0],
  'otlp-json/jaegerui_otlp2jaeger-in.json': [1, 1, 1, 0, 1, { server: 1 }],
  'otlp-json/proto_example_trace.json': [1, 1, 1, 0, 1, { server: 1 }],
  'zipkin-v2/ascend.json': [1, 8, 3, 1, 0, { server: 3, client: 3 }],
  'zipkin-v2/envoy.json': [1, 1, 1, 1, 0, { server: 1 }],
  'zipkin-v2/messaging-kafka.json': [1, 28, 2, 1, 0, { producer: 9, consumer: 7 }],
  'zipkin-v2/messaging.json': [1, 4, 2, 1, 0, { server: 1, producer: 1, consumer: 1 }],
  'zipkin-v2/messaging2.json': [1, 11, 4, 1, 6, { server: 2, client: 4, producer: 1, consumer: 1 }],
  'zipkin-v2/simple-db-p6.json': [1, 5, 1, 1, 0, { server: 1, client: 4 }],
  'zipkin-v2/skew.json': [1, 4, 2, 1, 0, { server: 2, client: 1 }],
  'zipkin-v2/smartthings-oauth-authorization.json': [1, 175, 8, 1, 0, { server: 77, client: 95 }],
  'zipkin-v2/yelp.json': [1, 16, 6, 1, 0, { server: 4, client: 11 }],
}

/** What is left out or doubtful, where anything is. */
const NOTED: Record<string, Record<string, number>> = {
  'jaeger-json/api_hotel_clockskew_warnings.json': { 'jaeger-warning': 1, 'clock-skew': 1 },
  'jaeger-json/backend_ui_01.json': { 'jaeger-warning': 1, 'duplicate-span': 1 },
  'jaeger-json/ui_otlp2jaeger-out.json': { 'duplicate-span': 1, 'orphan-span': 1 },
  'jaeger-json/ui_spanLongerAsParent.json': { 'clock-skew': 1 },
  'otlp-json/jaeger_otel_traces_01.json': { 'orphan-span': 2 },
  'otlp-json/jaegerui_otlp2jaeger-in.json': { 'duplicate-span': 1, 'orphan-span': 1 },
  'otlp-json/proto_example_trace.json': { 'orphan-span': 1 },
  'zipkin-v2/ascend.json': { 'clock-skew': 1 },
  'zipkin-v2/envoy.json': { 'no-service': 1 },
  'zipkin-v2/messaging2.json': { 'orphan-span': 1 },
  'zipkin-v2/skew.json': { 'clock-skew': 1 },
  'zipkin-v2/smartthings-oauth-authorization.json': { 'no-duration': 1, 'clock-skew': 1 },
}

const REFUSED: Record<string, RegExp> = {
  'README.md': /in no known trace format; it begins "# Format fixtures written by others/,
  'alibaba-callgraph/2021-shuffled-sample-traces-small.csv.gz':
    /Alibaba call graph \(columns traceid, timestamp, rpcid, um, rpctype, dm, interface, rt\).*--columns trace=/,
  'alibaba-callgraph/2022-shuffled-sample-traces-small.csv.gz':
    /Alibaba call graph \(columns timestamp, traceid, service, rpc_id, .*\).*--columns trace=/,
  'graphviz-dot/LICENSE.spectroscope': /in no known trace format; it begins "Copyright/,
  'xtrace/LICENSE.xtrace': /in no known trace format; it begins "Copyright/,
  'xtrace/xtrace-spec-00-id.txt': /specification of X-Trace, a text without traces/,
  'zipkin-v2/ORIGIN_README.md': /in no known trace format; it begins "# Test json/,
}

/** Answers and tables of trace stores, which are no trace files. */
const OF_STORES = /^(clickhouse-schemas|jaeger-api-v3|tempo-blocks)\//

describeWithShared('trace files written by others', () => {
  const folder = sharedFile('fixtures') ?? ''

  test('every file is listed here as loaded or refused', () => {
    const files = readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => `${entry.parentPath.slice(folder.length + 1)}/${entry.name}`)
      .map((path) => path.replace(/^\//, ''))
      .filter((path) => !OF_STORES.test(path))
    const listed = [
      ...Object.keys(LOADED),
      ...Object.keys(REFUSED),
      'graphviz-dot/spectroscope_readme_example.dot',
    ]
    expect(files.sort()).toEqual(listed.sort())
  })

  test.each(Object.entries(LOADED))('%s loads: %j', async (path, counts) => {
    const set = await loadTraces(`${folder}/${path}`)
    if (set.kind !== 'spans') throw new Error('not spans')
    const { parent, kind } = set.spans
    const [traces, spans, services, roots, orphans, kinds = {}] = counts
    expect({
      traces: set.size,
      spans: parent.length,
      services: set.services.size,
      roots: parent.filter((p) => p === NO_PARENT).length,
      orphans: parent.filter((p) => p === PARENT_MISSING).length,
    }).toEqual({ traces, spans, services, roots, orphans })
    for (const [code, name] of SPAN_KINDS.entries()) {
      const others = Object.values(kinds).reduce((sum, count) => sum + count, 0)
      const expected = kinds[name] ?? (name === 'internal' ? spans - others : 0)
      expect([name, kind.filter((k) => k === code).length]).toEqual([name, expected])
    }
    expect(Object.fromEntries(set.quality().counts)).toEqual(NOTED[path] ?? {})
  })

  test.each(Object.entries(REFUSED))('%s is refused with a true reason', async (path, reason) => {
    await expect(loadTraces(`${folder}/${path}`)).rejects.toThrow(reason)
  })

  test("Spectroscope's own example is one graph of 4.38146 µs", async () => {
    const set = await loadTraces(`${folder}/graphviz-dot/spectroscope_readme_example.dot`)
    expect(set.kind).toBe('graphs')
    if (set.kind !== 'graphs') return
    expect([...set.responseTimeUs]).toEqual([4.38146])
  })

  test('a message to five servers under one id makes five children of its sender', async () => {
    const set = await loadTraces(`${folder}/zipkin-v2/smartthings-oauth-authorization.json`)
    if (set.kind !== 'spans') throw new Error('not spans')
    const { operation, parent } = set.spans
    const received = [...operation.keys()].filter(
      (row) => set.operations.value(operation[row] ?? 0) === 'receive iot-events360',
    )
    const senders = received.map((row) => operation[parent[row] ?? 0] ?? 0)
    expect(senders.map((code) => set.operations.value(code))).toEqual(
      new Array(5).fill('send iot-events360'),
    )
  })
})
