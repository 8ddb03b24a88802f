// Runs for each span and attribute: nested columns are indexed with `!`.
import type { RowGroup } from 'hyparquet'
import { TraceFormatError } from '../../core/errors.ts'
import { isJsonObject, objectsIn } from '../readers/json-values.ts'
import { readResources } from '../readers/otlp.ts'
import type { ReadSink } from '../readers/trace-reader.ts'
import { asHex, asText, type ParquetFile } from './parquet-file.ts'
import type { Wanted } from './pushed-conditions.ts'

// biome-ignore lint/suspicious/noExplicitAny: columns are nested as deep as their schema says
type Nested = ArrayLike<any>

const RESOURCE = 'rs.list.element.Resource.'
const SPAN = 'rs.list.element.ss.list.element.Spans.list.element.'
const EVENT = `${SPAN}Events.list.element.`
const LINK = `${SPAN}Links.list.element.`
const ATTRIBUTES = 'Attrs.list.element.'

/** Columns that hold one attribute each, and its name. */
const WELL_KNOWN: Readonly<Record<string, string>> = {
  Cluster: 'cluster',
  Namespace: 'namespace',
  Pod: 'pod',
  Container: 'container',
  K8sClusterName: 'k8s.cluster.name',
  K8sNamespaceName: 'k8s.namespace.name',
  K8sPodName: 'k8s.pod.name',
  K8sContainerName: 'k8s.container.name',
  HttpMethod: 'http.method',
  HttpUrl: 'http.url',
  HttpStatusCode: 'http.status_code',
}

/** Whether a file has the columns of Tempo's blocks: a trace a row. */
export function isTempoBlock({ leaves }: ParquetFile): boolean {
  return (
    leaves.some(({ path }) => path[0] === 'TraceID') && leaves.some(({ path }) => path[0] === 'rs')
  )
}

/**
 * Reads a block of Grafana Tempo (`vParquet4`, `vParquet5`). Ids are raw bytes. `meta.json` names
 * the attributes that have dedicated columns; without it they keep the columns' names.
 *
 * Source: grafana/tempo, tempodb/encoding/vparquet4/schema.go and vparquet5/schema.go.
 */
export async function readTempoBlock(
  file: ParquetFile,
  sink: ReadSink,
  wanted: Wanted | null,
): Promise<number> {
  if (!file.leaves.some(({ path }) => path.join('.') === `${SPAN}SpanID`)) {
    const problem = 'This is a block of Tempo in an older form than vParquet4'
    throw new TraceFormatError(
      problem,
      { file: file.name },
      'Let Tempo compact it, or export it as OTLP',
    )
  }
  let passedOver = 0
  for (const group of file.metadata.row_groups) {
    const rows = await wantedRows(file, group, wanted)
    if (rows.every((isWanted) => !isWanted)) passedOver++
    else await readGroup(file, group, rows, sink)
  }
  return passedOver
}

async function wantedRows(
  file: ParquetFile,
  group: RowGroup,
  wanted: Wanted | null,
): Promise<boolean[]> {
  const read = readerOf(file, group)
  if (wanted === null) return new Array<boolean>(Number(group.num_rows)).fill(true)
  const [starts, ends] = await Promise.all([read('StartTimeUnixNano'), read('EndTimeUnixNano')])
  const services = await read(`${RESOURCE}ServiceName`)
  return Array.from(
    starts,
    (start, row) =>
      wanted.seen(Number(start) / 1e3, Number(ends[row]) / 1e3, services[row]) === wanted.all,
  )
}

function readerOf(file: ParquetFile, group: RowGroup) {
  const leaves = new Map(file.leaves.map((leaf) => [leaf.path.join('.'), leaf]))
  return async (path: string, fromBytes = asText): Promise<Nested> => {
    const leaf = leaves.get(path)
    return leaf === undefined ? [] : file.read(group, leaf, fromBytes)
  }
}

/** Reads the rows of a group as what OTLP would say of them. */
async function readGroup(
  file: ParquetFile,
  group: RowGroup,
  isWanted: readonly boolean[],
  sink: ReadSink,
): Promise<void> {
  const read = readerOf(file, group)
  const ids = (path: string) => read(path, asHex)
  const span = (name: string) => read(SPAN + name)
  const traceIds = await ids('TraceID')
  const services = await read(`${RESOURCE}ServiceName`)
  const [spanIds, parentIds] = [await ids(`${SPAN}SpanID`), await ids(`${SPAN}ParentSpanID`)]
  const [names, kinds, states] = [await span('Name'), await span('Kind'), await span('TraceState')]
  const [starts, durations] = [await span('StartTimeUnixNano'), await span('DurationNano')]
  const [codes, messages] = [await span('StatusCode'), await span('StatusMessage')]
  const eventNames = await read(`${EVENT}Name`)
  const [linkIds, linkTraces] = [await ids(`${LINK}SpanID`), await ids(`${LINK}TraceID`)]
  const ofResources = await attributeSet(file, read, RESOURCE)
  const ofSpans = await attributeSet(file, read, SPAN)
  const ofEvents = await attributeSet(file, read, EVENT)
  const ofLinks = await attributeSet(file, read, LINK)
  const spanAt = (place: readonly number[]) => {
    const of = (column: Nested) => valueAt(column, place)
    const start = of(starts) as bigint
    return {
      traceId: traceIds[place[0]!],
      spanId: of(spanIds),
      parentSpanId: of(parentIds),
      name: of(names),
      kind: Number(of(kinds)),
      traceState: of(states),
      startTimeUnixNano: String(start),
      endTimeUnixNano: String(start + (of(durations) as bigint)),
      status: { code: Number(of(codes)), message: of(messages) },
      attributes: attributesAt(ofSpans, place),
      events: (of(eventNames) as readonly string[]).map((name, i) => ({
        name,
        attributes: attributesAt(ofEvents, [...place, i]),
      })),
      links: (of(linkIds) as readonly string[]).map((spanId, i) => ({
        traceId: valueAt(linkTraces, [...place, i]),
        spanId,
        attributes: attributesAt(ofLinks, [...place, i]),
      })),
    }
  }
  for (let row = 0; row < traceIds.length; row++) {
    if (!isWanted[row]) continue
    const resources = (services[row] as readonly string[]).map((service, r) => ({
      resource: {
        attributes: [
          { key: 'service.name', value: service },
          ...attributesAt(ofResources, [row, r]),
        ],
      },
      scopeSpans: (spanIds[row]![r] as readonly (readonly string[])[]).map((list, s) => ({
        spans: list.map((_, i) => spanAt([row, r, s, i])),
      })),
    }))
    readResources(resources, sink, { file: file.name })
  }
}

function valueAt(column: Nested, place: readonly number[]): unknown {
  return place.reduce<Nested | undefined>((part, i) => part?.[i], column)
}

/** Attributes of resources, spans, events or links: a list of each, and columns of single ones. */
interface AttributeSet {
  readonly keys: Nested
  readonly isList: Nested
  /** Texts, integers, doubles and truths, of which each attribute has values in one. */
  readonly values: readonly Nested[]
  readonly single: readonly { readonly name: string; readonly values: Nested }[]
}

async function attributeSet(
  file: ParquetFile,
  read: (path: string) => Promise<Nested>,
  prefix: string,
): Promise<AttributeSet> {
  const list = prefix + ATTRIBUTES
  const values = ['Value', 'ValueInt', 'ValueDouble', 'ValueBool']
  const dedicated = dedicatedNames(file, prefix)
  const single = file.leaves.flatMap((leaf) => {
    const path = leaf.path.join('.')
    const column = path.startsWith(prefix) ? path.slice(prefix.length) : ''
    const name = WELL_KNOWN[column] ?? dedicated(column)
    return name === undefined ? [] : [{ name, path }]
  })
  const isArray = await read(`${list}IsArray`)
  return {
    keys: await read(`${list}Key`),
    isList: isArray.length > 0 ? isArray : await read(`${list}ValueType`),
    values: await Promise.all(values.map((name) => read(`${list}${name}.list.element`))),
    single: await Promise.all(
      single.map(async ({ name, path }) => ({ name, values: await read(path) })),
    ),
  }
}

/**
 * Returns a function that names the attribute in a dedicated column. The first attribute of a block's list for spans is
 * in `String01` of spans, and so on; the list leaves out scope `span` and type `string`.
 */
function dedicatedNames(file: ParquetFile, prefix: string): (column: string) => string | undefined {
  const scope = prefix === RESOURCE ? 'resource' : prefix === SPAN ? 'span' : 'event'
  const meta = file.meta()
  const list = isJsonObject(meta) ? objectsIn(meta['dedicatedColumns']) : []
  return (column) => {
    const [, type, number] = /^DedicatedAttributes\.(String|Int)(\d+)$/.exec(column) ?? []
    if (type === undefined) return undefined
    const alike = list.filter(
      ({ s = 'span', t = 'string' }) =>
        s === scope && String(t).toLowerCase() === type.toLowerCase(),
    )
    const name = alike[Number(number) - 1]?.['n']
    if (typeof name === 'string') return name
    return list.length === 0 ? `${type}${number}` : undefined
  }
}

/** v4 writes lists of a type as types from 4 on. */
const FIRST_LIST_TYPE = 4

function attributesAt(set: AttributeSet, place: readonly number[]): Attribute[] {
  const keys = (valueAt(set.keys, place) ?? []) as readonly string[]
  const kinds = valueAt(set.isList, place) as Nested | undefined
  const values = set.values.map((column) => valueAt(column, place) as Nested | undefined)
  const listed = keys.flatMap((key, i): Attribute[] => {
    const held = values.map((column) => column?.[i] as unknown[] | undefined)
    const list = held.find((each) => each !== undefined && each.length > 0)?.map(plainOf)
    const isList = kinds?.[i] === true || Number(kinds?.[i]) >= FIRST_LIST_TYPE
    return list === undefined ? [] : [{ key, value: isList ? list : list[0] }]
  })
  const single = set.single.map(({ name, values }) => {
    return { key: name, value: plainOf([valueAt(values, place)].flat()[0]) }
  })
  return [...listed, ...single.filter(({ value }) => value !== null && value !== undefined)]
}

/** An attribute as OTLP lists it, but for its value, which is plain. */
interface Attribute {
  readonly key: string
  readonly value: unknown
}

/** Integers that a double cannot hold stay text. */
function plainOf(value: unknown): unknown {
  if (typeof value !== 'bigint') return value
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : String(value)
}
