import { memoized } from '../../core/remembered.ts'
import { wordsIn } from '../../core/words.ts'
import { GRPC_FAILURES } from '../outcomes.ts'
import { SPAN_KINDS, type SpanKind, type SpanStatus } from '../span-columns.ts'
import {
  type AttributeEntry,
  isJsonObject,
  type JsonObject,
  objectsIn,
  textOf,
} from './json-values.ts'

const MAX_KIND_LENGTH = 40
/** Names of the kinds of spans in other formats. */
const KIND_WORDS: Readonly<Record<string, SpanKind>> = {
  entry: 'server',
  request: 'server',
  requests: 'server',
  requestdata: 'server',
  apprequests: 'server',
  transaction: 'server',
  exit: 'client',
  dependency: 'client',
  dependencies: 'client',
  remotedependencydata: 'client',
  appdependencies: 'client',
  local: 'internal',
}

const kindOfWord = memoized((text: string): SpanKind | undefined => {
  const word = text.replace(/^(?:SPAN_?KIND[._]|RPC_)/i, '').toLowerCase()
  return SPAN_KINDS.find((kind) => kind === word) ?? KIND_WORDS[word]
})

/** Returns the kind that a word or number says, if it says one: `2`, `"2"`, `"SPAN_KIND_SERVER"` and `"Server"` are a server. */
export function kindNamed(value: unknown, internal = 1): SpanKind | undefined {
  const text = textOf(value)
  if (text.length === 1) return SPAN_KINDS[Number(text) - internal]
  return text.length > MAX_KIND_LENGTH ? undefined : kindOfWord(text)
}

const ERROR_WORDS = /^(?:error|err|failed|failure|fault|faulted|2)$/
const OK_WORDS = /^(?:ok|success|succeeded|1)$/
const HTTP_CODE = 'http.response.status_code'
const GRPC_CODE = 'rpc.grpc.status_code'

/**
 * Returns the status that a word or code says: `{ code: 2 }`, `"STATUS_CODE_ERROR"`, `"Error"` and the like. A code of
 * HTTP or gRPC is an attribute, too.
 */
export function statusNamed(value: unknown, attributes: AttributeEntry[] = []): SpanStatus {
  const code = isJsonObject(value) ? value['code'] : value
  const word = textOf(code)
    .replace(/^(?:STATUS_CODE_|StatusCode\.)/i, '')
    .toLowerCase()
  if (ERROR_WORDS.test(word)) return 'error'
  if (OK_WORDS.test(word)) return 'ok'
  const number = /^\d+$/.test(word) ? Number(word) : 0
  if (number < 3) return 'unset'
  if (number < 17) attributes.push([GRPC_CODE, number])
  else if (number >= 100 && number < 600) attributes.push([HTTP_CODE, number])
  return number >= 500 || GRPC_FAILURES.includes(number) ? 'error' : 'unset'
}

/** Whether a value says yes: true, 1 or a text that does not say no. */
export function saysYes(value: unknown): boolean | undefined {
  if (typeof value === 'boolean') return value
  const text = textOf(value).toLowerCase()
  if (text === '') return undefined
  return !/^(?:false|0|no|null|none)$/.test(text)
}

/** Record of spans, and the records around it. */
export interface Enclosed {
  readonly record: JsonObject
  readonly around: Enclosed | null
}

/** Fields of a role, the best first, each as `path` or `path:unit`; `a+b` joins two. */
type Columns = { readonly [role in Role]?: string | readonly string[] }

/** One row of the table of formats. */
export interface SpanFormat {
  readonly name: string
  /** Writers of the format, for the table in docs/formats.md. */
  readonly by: string
  /** Paths of fields that records have, by which the format is recognized. */
  readonly has: readonly string[]
  /** A field that records of this format do not have. */
  readonly lacks?: string
  /** Roles that names alone do not tell. */
  readonly columns?: Columns
  /** The only fields that become attributes. Default: all that have no role. */
  readonly attributes?: readonly string[]
  /** The number of kind `internal`. Default: 1, as in OTLP. */
  readonly internalKind?: 0
  /** Whether a span without a duration was one way, or never finished, and is kept. */
  readonly mayLackDuration?: boolean
  /** Whether the parent of a root is its trace. */
  readonly rootsNameTrace?: boolean
  readonly serviceOf?: (text: string) => string
  readonly operationOf?: (text: string) => string
  /** Makes other records of one, where roles cannot say what its fields mean. */
  readonly rewrite?: (record: JsonObject, around: Enclosed | null) => readonly JsonObject[]
}

/** Names of fields, small and without separators and units, the best first. */
export const NAMES = {
  trace: wordsIn(`
    traceid tracetraceid contexttraceid spancontexttraceid trace operationid traceuuid
  `),
  span: wordsIn('spanid tracespanid contextspanid spancontextspanid id span spanuuid'),
  parent: wordsIn(`
    parentspanid parentid traceparentid parentspancontextspanid parentspan operationparentid
    parent pid parentuuid
  `),
  references: ['references'],
  service: wordsIn(`
    servicename service resourceservicename localservicename processservicename entityname
    appname approlename cloudrolename servicecode svc microservice application app cmdbid
    podname component
  `),
  operation: wordsIn(`
    operationname spanname name operation endpointname displayname op methodname route url
    api endpoint resource resourcename method
  `),
  start: wordsIn(`
    starttime start starttimestamp startts begin begintime timestamp ts timegenerated time
    startedat datetime
  `),
  end: wordsIn('endtime end endtimestamp endts finish finishtime stop endedat'),
  duration: wordsIn(`
    duration spanduration elapsedtime elapsed took latency durationtime responsetime
    timetaken dur
  `),
  kind: wordsIn('spankind kindstring kind spantype calltype itemtype type'),
  status: wordsIn(`
    statuscodestring statuscode statusstatuscode otelstatuscode status outcome eventoutcome
    code
  `),
  message: wordsIn('statusmessage statusdescription errormessage'),
  error: wordsIn('error iserror haserror fault failed'),
  success: wordsIn('success issuccess succeeded'),
  host: wordsIn('host hostname hostip instance instanceid node cmdbid podname'),
  version: ['serviceversion'],
  resource: wordsIn('resourceattributes resource resourcesstring servicetags processtags'),
  links: ['links'],
  tracestate: wordsIn('tracestate contexttracestate'),
}
/** Role of a field in a record of a span. */
export type Role = keyof typeof NAMES

/** Fields whose content stands for the record's own, or are maps of attributes. */
export const MAPS = new Set(
  wordsIn(`
  attributes spanattributes attributesstring attributesnumber attributesbool attributesint
  attributesfloat tags tag tagmap stringtagmap numbertagmap booltagmap labels meta metrics
  custom properties customdimensions custommeasurements measurements annotations metadata
  fields data
`),
)

/** Names of lists of events within a span. */
export const EVENTS = new Set(['events', 'logs', 'annotations'])

/** A pod's name without the hashes of replica set and pod, or the number of an instance. */
const withoutPod = (pod: string) => pod.replace(/(.)-[^-]+-[^-]+$/, '$1')
const withoutInstance = (name: string) => name.replace(/(.)-\d+$/, '$1')
/** `{POST}/cart` and `POST:/cart`, as SkyWalking's agents write them, are POST /cart. */
const withVerb = (name: string) => name.replace(/^(?:\{([A-Z]+)\}|([A-Z]+):)(?=\/)/, '$1$2 ')

const JAEGER: Pick<SpanFormat, 'attributes' | 'rewrite'> & { readonly columns: Columns } = {
  columns: {
    trace: 'traceID',
    span: 'spanID',
    parent: 'parentSpanID',
    references: 'references',
    service: 'process.serviceName',
    operation: 'operationName',
    start: 'startTime:us',
    duration: 'duration:us',
    resource: ['process.tags', 'process.tag'],
  },
  attributes: ['tags', 'tag', 'logs'],
  rewrite: withProcess,
}

const ZIPKIN: Pick<SpanFormat, 'attributes' | 'mayLackDuration'> & { readonly columns: Columns } = {
  columns: {
    trace: 'traceId',
    span: 'id',
    parent: 'parentId',
    service: 'localEndpoint.serviceName',
    operation: 'name',
    start: 'timestamp:us',
    duration: 'duration:us',
    kind: 'kind',
    host: ['localEndpoint.ipv4', 'localEndpoint.ipv6'],
  },
  attributes: ['tags', 'annotations'],
  mayLackDuration: true,
}

const SKYWALKING: Pick<SpanFormat, 'operationOf'> = { operationOf: withVerb }

/** Formats of spans; the first that fits counts. Other records are read by the look of their fields. */
export const SPAN_FORMATS = [
  {
    name: 'jaeger',
    by: 'Jaeger: answers of its API, traces, downloads from its UI, lists of spans, its documents in Elasticsearch',
    has: ['traceID', 'spanID', 'startTime'],
    lacks: 'serviceName',
    ...JAEGER,
  },
  {
    name: 'zipkin-v1',
    by: 'Zipkin v1: calls as halves with the annotations `cs`, `sr`, `ss`, `cr`',
    has: ['traceId', 'id', 'name', 'binaryAnnotations'],
    ...ZIPKIN,
    columns: { ...ZIPKIN.columns },
    rewrite: halvesOfCall,
  },
  {
    name: 'zipkin',
    by: 'Zipkin v2; a client and a server span may share an id',
    has: ['traceId', 'id', 'localEndpoint'],
    ...ZIPKIN,
    rewrite: withPeer,
  },
  {
    name: 'skywalking',
    by: 'SkyWalking: answers of its GraphQL API',
    has: ['segmentId', 'spanId', 'endpointName', 'serviceCode'],
    columns: {
      trace: 'traceId',
      span: 'segmentId+spanId',
      parent: ['segmentId+parentSpanId', 'parentSegmentId+parentSegmentSpanId'],
      start: 'startTime:ms',
      end: 'endTime:ms',
      kind: 'type',
      error: 'isError',
    },
    ...SKYWALKING,
    rewrite: segmentSpan,
  },
  {
    name: 'skywalking-csv',
    by: 'SkyWalking: CSV as DeepTraLog publishes it',
    has: ['TraceId', 'SpanId', 'ParentSpan', 'SpanType', 'IsError'],
    columns: { start: 'StartTime:ms', end: 'EndTime:ms', operation: 'URL', kind: 'SpanType' },
    ...SKYWALKING,
  },
  {
    name: 'cloud-trace',
    by: 'Google Cloud Trace, API v1',
    has: ['spanId', 'startTime', 'endTime', 'traceId', 'projectId'],
    columns: {
      service: wordsIn(`
        labels.service.name labels.g.co/r/generic_task/job labels.g.co/gae/app/module
        labels.g.co/r/k8s_container/container_name
        labels.g.co/r/cloud_run_revision/service_name labels./component
      `),
    },
    attributes: ['labels'],
  },
  {
    name: 'datadog',
    by: 'Datadog: spans of an agent or tracer, answers of its API',
    has: ['trace_id', 'span_id', 'service', 'resource', 'start', 'duration', 'meta'],
    columns: {
      operation: ['resource', 'name'],
      start: 'start:ns',
      duration: 'duration:ns',
      error: 'error',
    },
    attributes: ['meta', 'metrics', 'type'],
  },
  {
    name: 'datadog-api',
    by: 'Datadog: answers of its API for spans',
    has: ['trace_id', 'span_id', 'start_timestamp', 'resource_name'],
    columns: { operation: ['resource_name', 'operation_name'], duration: 'custom.duration:ns' },
  },
  {
    name: 'x-ray',
    by: 'AWS X-Ray: segments and their subsegments, answers of BatchGetTraces',
    has: ['id', 'name', 'start_time', 'trace_id'],
    columns: {
      trace: 'trace_id',
      span: 'id',
      parent: 'parent_id',
      start: 'start_time:s',
      end: 'end_time:s',
      kind: 'kind',
      error: ['fault', 'error'],
      message: 'cause.message',
    },
    rewrite: segment,
  },
  {
    name: 'new-relic',
    by: 'New Relic: spans of its trace API, answers of NRQL',
    has: ['id', 'trace.id', 'timestamp'],
    lacks: '@timestamp',
    columns: {
      trace: 'trace.id',
      span: 'id',
      parent: ['parent.id', 'parentId', 'attributes.parent.id'],
      service: ['service.name', 'attributes.service.name', 'entity.name', 'appName', 'entityName'],
      operation: ['name', 'attributes.name'],
      start: 'timestamp:ms',
      duration: ['duration.ms:ms', 'attributes.duration.ms:ms', 'durationMs:ms', 'duration:s'],
    },
  },
  {
    name: 'honeycomb',
    by: 'Honeycomb: results as CSV or JSON',
    has: ['trace.trace_id', 'trace.span_id', 'duration_ms'],
  },
  {
    name: 'app-insights',
    by: 'Application Insights: exported envelopes',
    has: ['data.baseData.id', 'data.baseData.duration', 'time'],
    columns: {
      trace: 'tags.ai.operation.id',
      span: 'data.baseData.id',
      parent: 'tags.ai.operation.parentId',
      service: 'tags.ai.cloud.role',
      host: 'tags.ai.cloud.roleInstance',
      operation: 'data.baseData.name',
      start: 'time',
      duration: 'data.baseData.duration:ms',
      kind: 'data.baseType',
      success: 'data.baseData.success',
      status: ['data.baseData.responseCode', 'data.baseData.resultCode'],
    },
    attributes: wordsIn(`
      data.baseData.target data.baseData.type data.baseData.properties data.baseData.data
      data.baseData.url data.baseData.measurements
    `),
    rootsNameTrace: true,
  },
  {
    name: 'log-analytics',
    by: 'Application Insights: rows of Log Analytics and of its portal, as CSV or JSON',
    has: ['Id', 'OperationId', 'ParentId', 'DurationMs', 'AppRoleName'],
    columns: {
      operation: ['Name', 'OperationName'],
      kind: ['Type', 'ItemType', 'itemType'],
      status: 'ResultCode',
      success: 'Success',
      duration: 'DurationMs:ms',
    },
    rootsNameTrace: true,
  },
  {
    name: 'app-insights-rows',
    by: 'Application Insights: rows of its portal, as CSV or JSON',
    has: ['id', 'operation_Id', 'operation_ParentId', 'duration', 'cloud_RoleName'],
    columns: {
      operation: ['name', 'operation_Name'],
      kind: 'itemType',
      status: 'resultCode',
      success: 'success',
      duration: 'duration:ms',
      host: 'cloud_RoleInstance',
    },
    rootsNameTrace: true,
  },
  {
    name: 'elastic-apm',
    by: 'Elastic APM: transactions and spans, answers of Elasticsearch and lines of elasticdump',
    has: ['processor.event', 'trace.id', 'service.name'],
    columns: {
      trace: 'trace.id',
      span: ['span.id', 'transaction.id'],
      parent: 'parent.id',
      service: 'service.name',
      version: 'service.version',
      operation: ['span.name', 'transaction.name'],
      start: ['timestamp.us:us', '@timestamp'],
      duration: ['span.duration.us:us', 'transaction.duration.us:us'],
      kind: 'processor.event',
      status: 'event.outcome',
      host: ['host.name', 'host.hostname'],
    },
    attributes: wordsIn(`
      labels http url span.type span.subtype span.db transaction.type transaction.result
      span.destination
    `),
    rewrite: (record) => {
      const { processor, span } = record
      const event = isJsonObject(processor) ? textOf(processor['event']) : ''
      if (event !== 'span' && event !== 'transaction') return []
      if (event === 'transaction')
        return isJsonObject(span) ? [{ ...record, span: undefined }] : [record]
      const kind = isJsonObject(span) && isJsonObject(span['destination']) ? 'client' : 'internal'
      return [{ ...record, processor: { event: kind } }]
    },
  },
  {
    name: 'grafana',
    by: 'Grafana: the data frame of a trace, and its CSV download',
    has: ['traceID', 'spanID', 'operationName', 'serviceName', 'startTime', 'duration'],
    columns: {
      parent: 'parentSpanID',
      start: 'startTime:ms',
      duration: 'duration:ms',
      status: 'statusCode',
      resource: 'serviceTags',
      kind: 'kind',
    },
    attributes: ['tags', 'logs', 'statusMessage'],
    lacks: 'methodName',
  },
  {
    name: 'console-js',
    by: 'OpenTelemetry for JavaScript: console exporter',
    has: ['traceId', 'id', 'timestamp', 'duration', 'kind', 'resource'],
    columns: {
      start: 'timestamp:us',
      duration: 'duration:us',
      parent: ['parentId', 'parentSpanContext.spanId'],
      resource: 'resource.attributes',
    },
    attributes: ['attributes', 'events'],
    internalKind: 0,
  },
  {
    name: 'console-python',
    by: 'OpenTelemetry for Python: console exporter',
    has: ['context.trace_id', 'context.span_id', 'start_time', 'end_time'],
    columns: { resource: 'resource.attributes' },
    attributes: ['attributes', 'events'],
  },
  {
    name: 'clickhouse',
    by: "ClickHouse: rows of the OpenTelemetry exporter's table, as JSONEachRow, JSON, JSONCompact or CSV",
    has: ['TraceId', 'SpanId', 'ParentSpanId', 'SpanName', 'Duration', 'Timestamp'],
    columns: { duration: 'Duration:ns', resource: 'ResourceAttributes' },
    attributes: ['SpanAttributes', 'Events.Name', 'Events.Attributes', 'SampleRate'],
  },
  {
    name: 'signoz',
    by: 'SigNoz: rows of its index of spans',
    has: ['durationNano', 'spanID', 'traceID'],
    columns: {
      error: 'hasError',
      status: 'statusCode',
      kind: ['spanKind', 'kind'],
      resource: 'resourceTagsMap',
    },
  },
  {
    name: 'aiops-2020',
    by: 'AIOps challenge 2020: CSV in milliseconds',
    has: ['callType', 'elapsedTime', 'traceId', 'id', 'pid', 'cmdb_id'],
    columns: {
      service: 'cmdb_id',
      host: [],
      operation: ['serviceName', 'dsName', 'callType'],
      start: 'startTime:ms',
      duration: 'elapsedTime:ms',
      kind: [],
    },
  },
  {
    name: 'aiops-2022',
    by: 'AIOps challenge 2022: CSV, starts in milliseconds, durations in microseconds',
    has: ['timestamp', 'cmdb_id', 'span_id', 'trace_id', 'duration', 'parent_span'],
    columns: {
      service: 'cmdb_id',
      host: 'cmdb_id',
      start: 'timestamp:ms',
      duration: 'duration:us',
    },
    serviceOf: withoutInstance,
  },
  {
    name: 'rcaeval',
    by: 'RCAEval: CSV in microseconds',
    has: wordsIn('traceID spanID serviceName operationName startTime duration methodName'),
    columns: {
      start: 'startTime:us',
      duration: 'duration:us',
      operation: ['operationName', 'methodName'],
    },
  },
  {
    name: 'csv',
    by: 'Nezha and TraStrainer: CSV of pods; the service is the pod name without its hash',
    has: ['TraceID', 'SpanID', 'ParentID', 'PodName', 'OperationName', 'StartTimeUnixNano'],
    columns: {
      service: 'PodName',
      host: 'PodName',
      start: 'StartTimeUnixNano:ns',
      end: 'EndTimeUnixNano:ns',
      duration: 'Duration:us',
    },
    serviceOf: withoutPod,
  },
] as const satisfies readonly SpanFormat[]

export type SpanFormatName = (typeof SPAN_FORMATS)[number]['name']

/** Returns a Jaeger span with the process that its trace has under its id. */
function withProcess(
  span: { [key: string]: unknown },
  around: Enclosed | null,
): readonly JsonObject[] {
  if (isJsonObject(span['process'])) return [span]
  for (let outer = around; outer !== null; outer = outer.around) {
    const { processes } = outer.record
    if (isJsonObject(processes)) {
      // The record is as it was parsed, and read once: a copy of each would take a third of the time.
      span['process'] = processes[textOf(span['processID'])]
      return [span]
    }
  }
  return [span]
}

/** Returns a Zipkin client with the service that it calls as tag `peer.service`. */
function withPeer(span: JsonObject): readonly JsonObject[] {
  const { kind, remoteEndpoint, tags } = span
  const called = isJsonObject(remoteEndpoint) ? textOf(remoteEndpoint['serviceName']) : ''
  if (called === '' || kind !== 'CLIENT') return [span]
  return [{ ...span, tags: { 'peer.service': called, ...(isJsonObject(tags) ? tags : {}) } }]
}

const HALVES = [
  ['CLIENT', 'cs', 'cr'],
  ['SERVER', 'sr', 'ss'],
] as const

/** Returns the client's and the server's half of a Zipkin v1 call, as spans of v2. */
function halvesOfCall(span: JsonObject): readonly JsonObject[] {
  const annotations = objectsIn(span['annotations'])
  const noted = (value: string) => annotations.find((one) => one['value'] === value)
  const binary = objectsIn(span['binaryAnnotations'])
  const endpointOf = (key: string) => binary.find((one) => one['key'] === key)?.['endpoint']
  const described = binary.filter(
    ({ key, value }) => !/^(?:sa|ca|lc)$/.test(textOf(key)) || value === undefined,
  )
  const tags = Object.fromEntries(described.map(({ key, value }) => [textOf(key), value]))
  const others = annotations.filter(({ value }) => !/^(?:[cs][sr]|[mw][sr])$/.test(textOf(value)))
  const plain = { ...span, tags, annotations: others, binaryAnnotations: undefined }
  const halves = HALVES.flatMap(([kind, first, last]) => {
    const [from, to] = [noted(first), noted(last)]
    const localEndpoint = (from ?? to)?.['endpoint']
    return from || to ? [{ kind, from, to, localEndpoint }] : []
  })
  if (halves.length === 0) {
    const localEndpoint =
      endpointOf('lc') ?? annotations[0]?.['endpoint'] ?? binary[0]?.['endpoint']
    return [{ ...plain, localEndpoint }]
  }
  return halves.flatMap(({ kind, from, to, localEndpoint }) => {
    const isWhole = halves.length === 1 && span['timestamp'] !== undefined
    const [start, end] = [Number(from?.['timestamp']), Number(to?.['timestamp'])]
    const times = isWhole
      ? {}
      : { timestamp: start, duration: Number.isNaN(end) ? undefined : end - start }
    const remoteEndpoint = endpointOf(kind === 'CLIENT' ? 'sa' : 'ca')
    return withPeer({ ...plain, ...times, kind, localEndpoint, remoteEndpoint })
  })
}

/** Returns a SkyWalking span with the parent that is in another segment. */
function segmentSpan(span: JsonObject): readonly JsonObject[] {
  const { segmentId, parentSpanId, refs } = span
  if (Number(parentSpanId) >= 0) return [span]
  const [ref] = objectsIn(refs)
  return [
    {
      ...span,
      parentSpanId: undefined,
      ...(ref === undefined
        ? {}
        : {
            parentSegmentId: ref['parentSegmentId'] ?? segmentId,
            parentSegmentSpanId: ref['parentSpanId'],
          }),
    },
  ]
}

/** Returns an X-Ray segment, or a subsegment, with the service that it is part of. */
function segment(record: JsonObject, around: Enclosed | null): readonly JsonObject[] {
  const { name, namespace, http, in_progress: _, ...others } = record
  let own = around
  while (own !== null && own.record['trace_id'] === undefined) own = own.around
  const isInner = record['trace_id'] === undefined || own !== null
  const { request, response }: JsonObject = isJsonObject(http) ? http : {}
  const { method, url }: JsonObject = isJsonObject(request) ? request : {}
  const path = /^(?:[a-z]+:\/\/[^/]+)?(\/[^?#]*)/i.exec(textOf(url))?.[1]
  const called = textOf(method) && path !== undefined ? `${textOf(method)} ${path}` : textOf(name)
  const kind = !isInner ? 'server' : namespace === undefined ? 'internal' : 'client'
  return [
    {
      ...others,
      service: isInner ? own?.record['name'] : name,
      operation: isInner && namespace !== undefined ? textOf(name) : called,
      kind,
      ...(textOf(url) === '' ? {} : { 'url.full': url, 'http.request.method': method }),
      ...(isJsonObject(response) ? { 'http.response.status_code': response['status'] } : {}),
    },
  ]
}
