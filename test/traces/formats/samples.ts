/** A span of the two requests that every sample tells. */
interface Told {
  readonly trace: number
  readonly id: number
  readonly parent: number
  readonly service: 'shop' | 'stock'
  readonly operation: string
  readonly kind: 'server' | 'client'
  readonly failed: boolean
  /** µs since the first request began. */
  readonly at: number
  readonly us: number
}

const CALLS = [
  [1, 0, 'shop', 'POST /buy', 'server', 0, 30_000],
  [2, 1, 'shop', 'SELECT cart', 'client', 2_000, 6_000],
  [3, 1, 'shop', 'POST stock', 'client', 9_000, 20_000],
  [4, 3, 'stock', 'POST /take', 'server', 10_000, 18_000],
] as const
/** A request of which the call of stock may fail. */
const request = (trace: number, at: number, isFailing: boolean): Told[] =>
  CALLS.map(([id, parent, service, operation, kind, afterUs, us]) => {
    const failed = isFailing && id > 2
    return { trace, id, parent, service, operation, kind, failed, at: at + afterUs, us }
  })
export const TOLD: readonly Told[] = [...request(1, 0, false), ...request(2, 100_000, true)]
export const START_US = 1_790_848_800_192_000

const traceId = ({ trace }: Told) => `6c3a069c5147584750ca72c8c6ee13c${trace}`
const hex = (trace: number, id: number) => (id === 0 ? '' : `e55cf4ada60ba${trace}0${id}`)
const spanId = (told: Told) => hex(told.trace, told.id)
const parentId = (told: Told) => hex(told.trace, told.parent)
const us = (told: Told) => START_US + told.at
const ms = (told: Told) => us(told) / 1e3
const iso = (micros: number) =>
  `${new Date(Math.floor(micros / 1e3)).toISOString().slice(0, -1)}000Z`
const start = (told: Told) => iso(us(told))
const end = (told: Told) => iso(us(told) + told.us)
const digits = (value: object | readonly object[]) =>
  JSON.stringify(value).replace(/"#(\d+)"/g, '$1')
const lines = (records: readonly object[]) =>
  records.map((record) => JSON.stringify(record)).join('\n')
const byTrace = (told: readonly Told[] = TOLD) =>
  [1, 2].map((n) => told.filter(({ trace }) => trace === n))
const cell = (value: unknown) => {
  const text =
    typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value ?? '')
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
const csv = (columns: { readonly [name: string]: (told: Told) => unknown }, delimiter = ',') =>
  [
    Object.keys(columns).join(delimiter),
    ...TOLD.map((told) =>
      Object.values(columns)
        .map((of) => cell(of(told)))
        .join(delimiter),
    ),
  ].join('\n')
const upper = ({ kind }: Told) => kind.toUpperCase()
const records = (of: { readonly [name: string]: (told: Told) => unknown }) =>
  TOLD.map((told) =>
    Object.fromEntries(Object.entries(of).map(([name, value]) => [name, value(told)])),
  )
const clockTime = ({ us }: Told) => `00:00:00.${String(us).padStart(6, '0')}0`

export interface SpanSample {
  /** The row that it is read by; `spans` where none is, but fields. */
  readonly format: string
  readonly title: string
  readonly text: string
  /** What the layout does not say: kinds, failures. */
  readonly lacks?: readonly ('kind' | 'failed')[]
  /** Operations as the layout has them. */
  readonly operation?: (told: Told) => string
  /** Other options of the load. */
  readonly columns?: string
}

const jaegerSpan = (told: Told) => ({
  traceID: traceId(told),
  spanID: spanId(told),
  operationName: told.operation,
  references:
    told.parent === 0
      ? []
      : [{ refType: 'CHILD_OF', traceID: traceId(told), spanID: parentId(told) }],
  startTime: us(told),
  duration: told.us,
  tags: [
    { key: 'span.kind', type: 'string', value: told.kind },
    ...(told.failed ? [{ key: 'error', type: 'bool', value: true }] : []),
  ],
})
const zipkinV1 = (told: Told, kind: 'client' | 'server', endpoint: string) => {
  const annotation = (value: string, timestamp: number) => ({
    value,
    timestamp,
    endpoint: { serviceName: endpoint },
  })
  const [first, last] = kind === 'client' ? ['cs', 'cr'] : ['sr', 'ss']
  return [annotation(first!, us(told)), annotation(last!, us(told) + told.us)]
}
const grafana = {
  traceID: traceId,
  spanID: spanId,
  parentSpanID: parentId,
  operationName: ({ operation }: Told) => operation,
  serviceName: ({ service }: Told) => service,
  kind: ({ kind }: Told) => kind,
  statusCode: ({ failed }: Told) => (failed ? 2 : 0),
  startTime: ms,
  duration: ({ us }: Told) => us / 1e3,
  serviceTags: ({ service }: Told) => [{ key: 'service.name', value: service }],
  tags: () => [{ key: 'cart.size', value: 3 }],
}
const clickhouse = {
  Timestamp: (told: Told) => start(told).replace('T', ' ').replace('Z', '000'),
  TraceId: traceId,
  SpanId: spanId,
  ParentSpanId: parentId,
  SpanName: ({ operation }: Told) => operation,
  SpanKind: ({ kind }: Told) => (kind === 'server' ? 'Server' : 'Client'),
  ServiceName: ({ service }: Told) => service,
  ResourceAttributes: ({ service }: Told) => ({ 'service.name': service, 'host.name': 'h1' }),
  SpanAttributes: () => ({ 'cart.size': '3' }),
  Duration: ({ us }: Told) => `${us}000`,
  StatusCode: ({ failed }: Told) => (failed ? 'Error' : 'Unset'),
}
const segmentId = (told: Told) => `${traceId(told)}.${told.service}`
const skywalking = (told: Told) => ({
  traceId: traceId(told),
  segmentId: segmentId(told),
  spanId: told.service === 'stock' ? 0 : told.id - 1,
  parentSpanId: told.service === 'stock' ? -1 : told.parent - 1,
  refs:
    told.service === 'stock'
      ? [
          {
            traceId: traceId(told),
            parentSegmentId: `${traceId(told)}.shop`,
            parentSpanId: 2,
            type: 'CROSS_PROCESS',
          },
        ]
      : [],
  serviceCode: told.service,
  startTime: Math.round(ms(told)),
  endTime: Math.round(ms(told) + told.us / 1e3),
  endpointName: told.operation.replace(/^POST (?=\/)/, 'POST:'),
  type: told.kind === 'server' ? 'Entry' : 'Exit',
  isError: told.failed,
  tags: [{ key: 'http.method', value: 'POST' }],
})
const decimal = (id: string) => (id === '' ? '0' : BigInt(`0x${id}`).toString())
const xrayTime = (micros: number) => Number((micros / 1e6).toFixed(6))
const xray = (told: Told) => ({
  id: spanId(told),
  name: told.kind === 'server' ? told.service : told.operation,
  start_time: xrayTime(us(told)),
  end_time: xrayTime(us(told) + told.us),
  ...(told.failed ? { fault: true } : {}),
})
const xrayOf = ([root, select, post, take]: readonly Told[]) => [
  {
    ...xray(root!),
    trace_id: traceId(root!),
    http: { request: { method: 'POST', url: 'http://shop/buy' }, response: { status: 200 } },
    subsegments: [select!, post!].map((told) => ({ ...xray(told), namespace: 'remote' })),
  },
  {
    ...xray(take!),
    trace_id: traceId(take!),
    parent_id: spanId(post!),
    http: { request: { method: 'POST', url: 'http://stock/take' } },
  },
]
const elastic = (told: Told) => {
  const event = told.kind === 'server' ? 'transaction' : 'span'
  return {
    '@timestamp': start(told),
    timestamp: { us: us(told) },
    processor: { event },
    trace: { id: traceId(told) },
    ...(told.parent === 0 ? {} : { parent: { id: parentId(told) } }),
    service: { name: told.service },
    event: { outcome: told.failed ? 'failure' : 'success' },
    transaction: {
      id: event === 'span' ? hex(told.trace, 1) : spanId(told),
      ...(event === 'span' ? {} : { name: told.operation, duration: { us: told.us } }),
    },
    ...(event === 'span'
      ? {
          span: {
            id: spanId(told),
            name: told.operation,
            duration: { us: told.us },
            destination: { service: { resource: 'db' } },
          },
        }
      : {}),
  }
}
const js = (told: Told) => ({
  resource: { attributes: { 'service.name': told.service } },
  traceId: traceId(told),
  ...(told.parent === 0 ? {} : { parentId: parentId(told) }),
  name: told.operation,
  id: spanId(told),
  kind: told.kind === 'server' ? 1 : 2,
  timestamp: us(told),
  duration: told.us,
  attributes: { 'cart.size': 3 },
  status: { code: told.failed ? 2 : 0 },
  events: [],
  links: [],
})
const frame = (of: { readonly [name: string]: (told: Told) => unknown }) => ({
  schema: { refId: 'A', fields: Object.keys(of).map((name) => ({ name })) },
  data: { values: Object.values(of).map((value) => TOLD.map(value)) },
})
const OK = ['ok', 'unset']
export const SUCCEEDED: readonly string[] = OK

/** The same two requests in every format, by writers of our own. */
export const SPAN_SAMPLES: readonly SpanSample[] = [
  {
    format: 'jaeger',
    title: 'an answer of the API',
    text: JSON.stringify({
      data: byTrace().map((told) => ({
        traceID: traceId(told[0]!),
        spans: told.map((one) => ({ ...jaegerSpan(one), processID: one.service })),
        processes: {
          shop: { serviceName: 'shop', tags: [] },
          stock: { serviceName: 'stock', tags: [] },
        },
      })),
    }),
  },
  {
    format: 'jaeger',
    title: 'spans as a list',
    text: JSON.stringify(
      TOLD.map((told) => ({
        ...jaegerSpan(told),
        process: { serviceName: told.service, tags: [] },
      })),
    ),
  },
  {
    format: 'jaeger',
    title: 'an answer of Elasticsearch',
    text: JSON.stringify({
      took: 3,
      hits: {
        hits: TOLD.map((told) => ({
          _index: 'jaeger-span-2026-10-01',
          _source: {
            ...jaegerSpan(told),
            startTimeMillis: Math.round(ms(told)),
            process: { serviceName: told.service, tags: [] },
          },
        })),
      },
    }),
  },
  {
    format: 'zipkin',
    title: 'spans',
    text: JSON.stringify(
      TOLD.map((told) => ({
        traceId: traceId(told),
        id: spanId(told),
        ...(told.parent === 0 ? {} : { parentId: parentId(told) }),
        name: told.operation,
        kind: upper(told),
        timestamp: us(told),
        duration: told.us,
        localEndpoint: { serviceName: told.service },
        ...(told.failed ? { tags: { error: 'true' } } : {}),
      })),
    ),
  },
  {
    format: 'zipkin-v1',
    title: 'spans with annotations',
    text: JSON.stringify([
      TOLD.map((told) => ({
        traceId: traceId(told),
        id: spanId(told),
        ...(told.parent === 0 ? {} : { parentId: parentId(told) }),
        name: told.operation,
        timestamp: us(told),
        duration: told.us,
        annotations: zipkinV1(told, told.kind, told.service),
        binaryAnnotations: told.failed ? [{ key: 'error', value: 'true' }] : [],
      })),
    ]),
  },
  {
    format: 'skywalking',
    title: 'an answer of its GraphQL API',
    text: JSON.stringify({ data: { trace: { spans: TOLD.map(skywalking) } } }),
  },
  {
    format: 'skywalking-csv',
    title: 'as CSV',
    text: csv({
      StartTime: (told) => Math.round(ms(told)),
      EndTime: (told) => Math.round(ms(told) + told.us / 1e3),
      URL: ({ operation }) => operation.replace(/^POST (?=\/)/, '{POST}'),
      SpanType: ({ kind }) => (kind === 'server' ? 'Entry' : 'Exit'),
      Service: ({ service }) => service,
      SpanId: spanId,
      TraceId: traceId,
      ParentSpan: (told) => parentId(told) || -1,
      IsError: ({ failed }) => (failed ? 'True' : 'False'),
    }),
  },
  {
    format: 'cloud-trace',
    title: 'an answer of its API',
    lacks: ['failed'],
    text: JSON.stringify({
      traces: byTrace().map((told) => ({
        projectId: 'p',
        traceId: traceId(told[0]!),
        spans: told.map((one) => ({
          spanId: decimal(spanId(one)),
          ...(one.parent === 0 ? {} : { parentSpanId: decimal(parentId(one)) }),
          kind: `RPC_${upper(one)}`,
          name: one.operation,
          startTime: start(one),
          endTime: end(one),
          labels: { 'g.co/r/generic_task/job': one.service },
        })),
      })),
    }),
  },
  {
    format: 'datadog',
    title: "a tracer's spans",
    text: digits(
      byTrace().map((told) =>
        told.map((one) => ({
          trace_id: `#${decimal(traceId(one).slice(16))}`,
          span_id: `#${decimal(spanId(one))}`,
          parent_id: `#${decimal(parentId(one))}`,
          service: one.service,
          name: 'web.request',
          resource: one.operation,
          type: 'web',
          start: `#${us(one)}000`,
          duration: one.us * 1000,
          error: one.failed ? 1 : 0,
          meta: { 'span.kind': one.kind },
        })),
      ),
    ),
  },
  {
    format: 'datadog-api',
    title: 'an answer of its API',
    lacks: ['kind'],
    text: JSON.stringify({
      data: TOLD.map((told) => ({
        id: `AAAA${told.trace}${told.id}`,
        type: 'spans',
        attributes: {
          trace_id: traceId(told),
          span_id: spanId(told),
          parent_id: parentId(told) || '0',
          service: told.service,
          resource_name: told.operation,
          operation_name: 'web.request',
          start_timestamp: start(told),
          end_timestamp: end(told),
          status: told.failed ? 'error' : 'ok',
        },
      })),
    }),
  },
  {
    format: 'x-ray',
    title: 'an answer of BatchGetTraces',
    text: JSON.stringify({
      Traces: byTrace().map((told) => ({
        Id: traceId(told[0]!),
        Duration: 0.03,
        Segments: xrayOf(told).map((one) => ({ Id: one.id, Document: JSON.stringify(one) })),
      })),
    }),
  },
  {
    format: 'new-relic',
    title: 'spans of its trace API',
    text: JSON.stringify(
      (['shop', 'stock'] as const).map((service) => ({
        common: { attributes: { 'service.name': service } },
        spans: TOLD.filter((told) => told.service === service).map((told) => ({
          'trace.id': traceId(told),
          id: spanId(told),
          timestamp: ms(told),
          attributes: {
            'service.name': service,
            name: told.operation,
            'duration.ms': told.us / 1e3,
            'span.kind': told.kind,
            ...(told.parent === 0 ? {} : { 'parent.id': parentId(told) }),
            ...(told.failed ? { error: true } : {}),
          },
        })),
      })),
    ),
  },
  {
    format: 'honeycomb',
    title: 'as CSV',
    text: csv({
      Timestamp: start,
      'trace.trace_id': traceId,
      'trace.span_id': spanId,
      'trace.parent_id': parentId,
      'service.name': ({ service }) => service,
      name: ({ operation }) => operation,
      duration_ms: ({ us }) => us / 1e3,
      'span.kind': ({ kind }) => kind,
      error: ({ failed }) => failed,
    }),
  },
  {
    format: 'app-insights',
    title: 'envelopes, one a line',
    text: lines(
      TOLD.map((told) => {
        const base = told.kind === 'server' ? 'RequestData' : 'RemoteDependencyData'
        return {
          name: `Microsoft.ApplicationInsights.${base.replace('Data', '')}`,
          time: start(told),
          tags: {
            'ai.operation.id': traceId(told),
            'ai.operation.parentId': parentId(told) || traceId(told),
            'ai.cloud.role': told.service,
          },
          data: {
            baseType: base,
            baseData: {
              id: spanId(told),
              name: told.operation,
              duration: clockTime(told),
              success: !told.failed,
              responseCode: told.failed ? '500' : '200',
            },
          },
        }
      }),
    ),
  },
  {
    format: 'log-analytics',
    title: 'as CSV',
    text: csv({
      'TimeGenerated [UTC]': (told) => {
        const date = new Date(Math.round(ms(told)))
        return `${date.getUTCMonth() + 1}/${date.getUTCDate()}/${date.getUTCFullYear()}, ${date.getUTCHours()}:${date.toISOString().slice(14, 23)} AM`
      },
      Id: spanId,
      OperationId: traceId,
      ParentId: (told) => parentId(told) || traceId(told),
      Name: ({ operation }) => operation,
      DurationMs: ({ us }) => us / 1e3,
      Success: ({ failed }) => (failed ? 'False' : 'True'),
      ResultCode: ({ failed }) => (failed ? 500 : 200),
      AppRoleName: ({ service }) => service,
      Type: ({ kind }) => (kind === 'server' ? 'AppRequests' : 'AppDependencies'),
      Properties: () => ({ 'cart.size': 3 }),
    }),
  },
  {
    format: 'app-insights-rows',
    title: 'an answer in columns and rows',
    text: JSON.stringify({
      tables: [
        {
          name: 'PrimaryResult',
          columns: [
            'timestamp',
            'id',
            'operation_Id',
            'operation_ParentId',
            'name',
            'duration',
            'success',
            'cloud_RoleName',
            'itemType',
          ].map((name) => ({ name })),
          rows: TOLD.map((told) => [
            ...[
              start(told),
              spanId(told),
              traceId(told),
              parentId(told) || traceId(told),
              told.operation,
            ],
            ...[told.us / 1e3, told.failed ? 'False' : 'True', told.service],
            told.kind === 'server' ? 'request' : 'dependency',
          ]),
        },
      ],
    }),
  },
  {
    format: 'elastic-apm',
    title: 'an answer of Elasticsearch',
    text: JSON.stringify({
      hits: { hits: TOLD.map((told) => ({ _index: 'traces-apm', _source: elastic(told) })) },
    }),
  },
  {
    format: 'grafana',
    title: 'a data frame',
    text: JSON.stringify({ results: { A: { frames: [frame(grafana)] } } }),
  },
  { format: 'grafana', title: 'a download as CSV', text: csv(grafana) },
  {
    format: 'console-js',
    title: 'as JSON',
    text: TOLD.map((told) => JSON.stringify(js(told), null, 2)).join('\n'),
  },
  {
    format: 'console-js',
    title: 'as the console of Node shows it',
    text: TOLD.map((told) =>
      JSON.stringify({ ...js(told), parentId: parentId(told) || '#undefined' }, null, 2)
        .replace(/"([a-zA-Z]+)":/g, '$1:')
        .replace('"#undefined"', 'undefined')
        .replaceAll('"', "'"),
    ).join('\n'),
  },
  {
    format: 'console-python',
    title: 'as it prints',
    text: TOLD.map((told) =>
      JSON.stringify(
        {
          name: told.operation,
          context: {
            trace_id: `0x${traceId(told)}`,
            span_id: `0x${spanId(told)}`,
            trace_state: '[]',
          },
          kind: `SpanKind.${upper(told)}`,
          parent_id: told.parent === 0 ? null : `0x${parentId(told)}`,
          start_time: start(told),
          end_time: end(told),
          status: { status_code: told.failed ? 'ERROR' : 'UNSET' },
          attributes: { 'cart.size': 3 },
          events: [],
          links: [],
          resource: { attributes: { 'service.name': told.service }, schema_url: '' },
        },
        null,
        4,
      ),
    ).join('\n'),
  },
  { format: 'clickhouse', title: 'JSONEachRow', text: lines(records(clickhouse)) },
  {
    format: 'clickhouse',
    title: 'JSONCompact',
    text: JSON.stringify({
      meta: Object.keys(clickhouse).map((name) => ({ name, type: 'String' })),
      data: TOLD.map((told) => Object.values(clickhouse).map((of) => of(told))),
      rows: 8,
    }),
  },
  {
    format: 'signoz',
    title: 'JSONEachRow',
    text: lines(
      records({
        timestamp: (told) => start(told).replace('T', ' ').replace('Z', '000'),
        traceID: traceId,
        spanID: spanId,
        parentSpanID: parentId,
        serviceName: ({ service }) => service,
        name: ({ operation }) => operation,
        kind: ({ kind }) => (kind === 'server' ? 2 : 3),
        durationNano: ({ us }) => `${us}000`,
        statusCode: ({ failed }) => (failed ? 2 : 0),
        hasError: ({ failed }) => failed,
        stringTagMap: () => ({ 'cart.size': '3' }),
      }),
    ),
  },
  {
    format: 'aiops-2020',
    title: 'as CSV',
    lacks: ['kind'],
    text: csv({
      callType: ({ kind }) => (kind === 'server' ? 'RemoteProcess' : 'CSF'),
      startTime: (told) => Math.round(ms(told)),
      elapsedTime: ({ us }) => us / 1e3,
      success: ({ failed }) => (failed ? 'False' : 'True'),
      traceId,
      id: spanId,
      pid: (told) => parentId(told) || 'None',
      cmdb_id: ({ service }) => service,
      serviceName: ({ operation }) => operation,
    }),
  },
  {
    format: 'aiops-2022',
    title: 'as CSV',
    lacks: ['kind'],
    text: csv({
      timestamp: (told) => Math.round(ms(told)),
      cmdb_id: ({ service }) => `${service}-0`,
      span_id: spanId,
      trace_id: traceId,
      duration: ({ us }) => us,
      type: () => 'rpc',
      status_code: ({ failed }) => (failed ? 13 : 0),
      operation_name: ({ operation }) => operation,
      parent_span: parentId,
    }),
  },
  {
    format: 'rcaeval',
    title: 'as CSV',
    lacks: ['kind'],
    text: csv({
      time: (told) => start(told).slice(0, 19).replace('T', ' '),
      traceID: traceId,
      spanID: spanId,
      serviceName: ({ service }) => service,
      methodName: () => 'POST',
      operationName: ({ operation }) => operation,
      startTimeMillis: (told) => Math.round(ms(told)),
      startTime: us,
      duration: ({ us }) => us,
      statusCode: ({ failed }) => (failed ? 500 : 200),
      parentSpanID: parentId,
    }),
  },
  {
    format: 'csv',
    title: 'by pods',
    lacks: ['kind', 'failed'],
    text: csv({
      TraceID: traceId,
      SpanID: spanId,
      ParentID: (told) => parentId(told) || 'root',
      PodName: ({ service }) => `${service}-579b9bff58-t2dbm`,
      OperationName: ({ operation }) => operation,
      StartTimeUnixNano: (told) => `${us(told)}000`,
      EndTimeUnixNano: (told) => `${us(told) + told.us}000`,
      Duration: ({ us }) => us,
    }),
  },
  {
    format: 'spans',
    title: 'snake_case',
    lacks: ['kind'],
    text: JSON.stringify(
      records({
        trace_id: traceId,
        span_id: spanId,
        parent_id: (told) => parentId(told) || null,
        service: ({ service }) => service,
        name: ({ operation }) => operation,
        start: start,
        duration_ms: ({ us }) => us / 1e3,
        status: ({ failed }) => (failed ? 'ERROR' : 'OK'),
      }),
    ),
  },
  {
    format: 'spans',
    title: 'camelCase lines, starts in seconds, durations by their values',
    lacks: ['kind'],
    text: lines(
      records({
        traceId,
        spanId,
        parentSpanId: parentId,
        app: ({ service }) => service,
        endpoint: ({ operation }) => operation,
        begin: (told) => us(told) / 1e6,
        took: ({ us }) => us / 1e3,
        ok: () => undefined,
        failed: ({ failed }) => failed,
      }),
    ),
  },
  {
    format: 'spans',
    title: 'CSV with tabs, ends beside durations',
    lacks: ['kind'],
    text: csv(
      {
        trace: traceId,
        span: spanId,
        parent: parentId,
        svc: ({ service }) => service,
        op: ({ operation }) => operation,
        started_at: us,
        finish: (told) => us(told) + told.us,
        outcome: ({ failed }) => (failed ? 'failure' : 'success'),
      },
      '\t',
    ),
  },
  {
    format: 'columns',
    title: 'as somebody says',
    lacks: ['kind', 'failed'],
    columns: 'trace=a,span=b,parent=c,service=d,operation=e,start=f:ms,duration=g:us',
    text: csv({
      a: traceId,
      b: spanId,
      c: parentId,
      d: ({ service }) => service,
      e: ({ operation }) => operation,
      f: (told) => Math.round(ms(told)),
      g: ({ us }) => us,
    }),
  },
]
