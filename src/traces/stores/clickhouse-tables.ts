/** Columns of a span, each as SQL over one table. */
export interface SpanTable {
  readonly needs: readonly string[]
  /** Whether attributes have their types; else they are texts that may be numbers. */
  readonly isTyped: boolean
  readonly traceId: string
  readonly service: string
  /** `DateTime64(9)` at which a span began. */
  readonly time: string
  /** Duration, in ns. */
  readonly duration: string
  /** Texts of an attribute of a span, whose name is SQL as well; empty where it has none. */
  readonly attribute: (name: string) => readonly string[]
  /** Other condition that holds from `{from:Int64}` on, for a table that is ordered by it. */
  readonly alsoFrom?: string
  /** Expressions to read, in the order of `SPAN_PARTS`; a missing part is empty. */
  readonly parts: { readonly [part in SpanPart]?: string }
}

/** Parts of a span to read, besides the id of its trace, service, time and duration. */
export const SPAN_PARTS = [
  'spanId',
  'parentId',
  'traceState',
  'name',
  'kind',
  'status',
  'message',
  'resource',
  'attributes',
  'events',
  'links',
  'sampleRate',
] as const
export type SpanPart = (typeof SPAN_PARTS)[number]

/** Jaeger keeps attributes by type: `[key, text, type]` of all of them. */
const typedLists = (prefix: string) =>
  `arrayConcat(${JAEGER_TYPES.map(
    ([name, letter]) =>
      `arrayMap((k, v) -> (k, toString(v), '${letter}'), ${prefix}${name}_attributes.key, ${prefix}${name}_attributes.value)`,
  ).join(', ')})`
const JAEGER_TYPES = [
  ['bool', 'b'],
  ['double', 'n'],
  ['int', 'n'],
  ['str', 's'],
  ['complex', 's'],
] as const
/** The same of events or links, each of which has lists of pairs. */
const nestedLists = (parent: string, head: string) =>
  `arrayMap((head, ${JAEGER_TYPES.map(([name]) => name).join(', ')}) -> (head, arrayConcat(${JAEGER_TYPES.map(
    ([name, letter]) => `arrayMap(x -> (x.1, toString(x.2), '${letter}'), ${name})`,
  ).join(
    ', ',
  )})), ${head}, ${JAEGER_TYPES.map(([name]) => `${parent}.${name}_attributes`).join(', ')})`

/** Tables of spans that others write, the first that fits is taken. */
export const SPAN_TABLES: Readonly<Record<string, SpanTable>> = {
  // The Collector's exporter, attributes as Map or JSON; ClickStack and HyperDX have the same.
  collector: {
    needs: ['TraceId', 'SpanId', 'ParentSpanId', 'Timestamp', 'SpanName', 'SpanAttributes'],
    isTyped: false,
    traceId: 'TraceId',
    service: 'ServiceName',
    time: 'Timestamp',
    duration: 'Duration',
    attribute: (name) => [`SpanAttributes[${name}]`],
    parts: {
      spanId: 'SpanId',
      parentId: 'ParentSpanId',
      traceState: 'TraceState',
      name: 'SpanName',
      kind: 'SpanKind',
      status: 'StatusCode',
      message: 'StatusMessage',
      resource: 'ResourceAttributes',
      attributes: 'SpanAttributes',
      events: 'arrayZip(`Events.Name`, `Events.Attributes`)',
      links: 'arrayZip(`Links.SpanId`, `Links.Attributes`, `Links.TraceId`)',
      sampleRate: 'SampleRate',
    },
  },
  jaeger: {
    needs: ['id', 'trace_id', 'parent_span_id', 'start_time', 'duration', 'str_attributes.key'],
    isTyped: true,
    traceId: 'trace_id',
    service: 'service_name',
    time: 'start_time',
    duration: 'duration',
    attribute: (name) => [`arrayFirst(x -> x.1 = ${name}, ${typedLists('')}).2`],
    parts: {
      spanId: 'id',
      parentId: 'parent_span_id',
      traceState: 'trace_state',
      name: 'name',
      kind: 'kind',
      status: 'status_code',
      message: 'status_message',
      resource: typedLists('resource_'),
      attributes: typedLists(''),
      events: nestedLists('events', 'events.name'),
      links: `arrayMap((link, trace) -> (link.1, link.2, trace), ${nestedLists('links', 'links.span_id')}, links.trace_id)`,
    },
  },
  signoz: {
    needs: [
      'trace_id',
      'span_id',
      'parent_span_id',
      'timestamp',
      'duration_nano',
      'attributes_string',
    ],
    isTyped: true,
    traceId: 'trace_id',
    service: '`resource_string_service$$name`',
    time: 'timestamp',
    duration: 'duration_nano',
    attribute: (name) => [
      `attributes_string[${name}]`,
      `if(mapContains(attributes_number, ${name}), toString(attributes_number[${name}]), '')`,
      `if(mapContains(attributes_bool, ${name}), toString(attributes_bool[${name}]), '')`,
    ],
    alsoFrom: 'ts_bucket_start >= toUInt64(greatest({from:Int64}, 0) / 1e9) - 1800',
    parts: {
      spanId: 'span_id',
      parentId: 'parent_span_id',
      traceState: 'trace_state',
      name: 'name',
      kind: 'kind_string',
      status: 'status_code_string',
      message: 'status_message',
      resource: 'resources_string',
      attributes:
        '[toJSONString(attributes_string), toJSONString(attributes_number), toJSONString(attributes_bool)]',
      events: 'events',
      links: 'links',
    },
  },
}
