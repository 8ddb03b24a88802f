// Runs once a span and once an attribute: columns are indexed with `!`.
import { createWriteStream } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { bisectRight, range, rollup } from 'd3-array'
import { FlowdeltaError } from '../../core/errors.ts'
import { remembered } from '../../core/remembered.ts'
import type { AttributeValue } from '../attributes.ts'
import { VERSION_ATTRIBUTE } from '../attributes.ts'
import { savedLogs, savedSpanId } from '../log-records.ts'
import { MISSING_TRACES, type Quality } from '../quality.ts'
import { NO_PARENT, type SpanTraceColumns } from '../span-columns.ts'

export interface Savable {
  readonly traces: SpanTraceColumns
  readonly quality: Quality
}

/**
 * Writes traces as OTLP JSON lines, one trace a line, compressed if the path ends in `.gz`; see `SpanTraces.save`. An
 * existing file of that name is replaced once everything is written. The first line lists the missing traces, and each
 * line its logs, under a key that other programs ignore.
 *
 * @throws FlowdeltaError for a file that cannot be written
 */
export function saveOtlp(path: string, { traces, quality }: Savable): Promise<void> {
  return replaceFile(path, (partial) => {
    const lines = Readable.from(linesOf(traces, quality))
    const file = createWriteStream(partial)
    return path.endsWith('.gz') ? pipeline(lines, createGzip(), file) : pipeline(lines, file)
  })
}

/** Writes a file under a name of its own, which becomes `path` once all is written. */
export async function replaceFile(
  path: string,
  write: (partial: string) => Promise<void>,
): Promise<void> {
  const partial = `${path}.${process.pid}.partial`
  try {
    await write(partial)
    await rename(partial, path)
  } catch (error) {
    await rm(partial, { force: true })
    const code = (error as NodeJS.ErrnoException).code ?? String(error)
    throw new FlowdeltaError(`${path} cannot be written (${code}). Check the name and the disk.`)
  }
}

/** Returns what only flowdelta reads of traces: their logs, and with the first the missing traces. */
export function savedBeside(traces: SpanTraceColumns, quality: Quality, from: number, to: number) {
  const missing = quality.issues.filter(({ code }) => from === 0 && code === MISSING_TRACES)
  const logs = savedLogs(traces, from, to)
  const isSaid = logs !== undefined && (from === 0 || logs.span.length > 0)
  return { ...(missing.length > 0 && { missing }), ...(isSaid && { logs }) }
}

function* linesOf(traces: SpanTraceColumns, quality: Quality): Generator<string> {
  for (let trace = 0; trace < traces.ids.length; trace++) {
    const beside = savedBeside(traces, quality, trace, trace + 1)
    const flowdelta = Object.keys(beside).length > 0 && { flowdelta: beside }
    yield `${JSON.stringify({ resourceSpans: resourceSpansOf(traces, trace), ...flowdelta })}\n`
  }
}

/** Returns the spans of a trace in their order: neighbors of one service, host and version together. */
function resourceSpansOf(traces: SpanTraceColumns, trace: number): object[] {
  const { spans, spanOffsets, services, hosts, versionNames } = traces
  const resources: object[] = []
  let last: { readonly row: number; readonly spans: object[] } | undefined
  const isLike = (row: number, other: number) =>
    spans.service[row] === spans.service[other] &&
    spans.host[row] === spans.host[other] &&
    spans.version[row] === spans.version[other]
  for (let row = spanOffsets[trace]!; row < spanOffsets[trace + 1]!; row++) {
    if (last === undefined || !isLike(row, last.row)) {
      const described = [
        ['service.name', services.value(spans.service[row]!)],
        ['host.name', hosts.value(spans.host[row]!)],
        [VERSION_ATTRIBUTE, versionNames.value(spans.version[row]!)],
      ] as const
      const attributes = attributesOf(described.filter(([, value]) => value !== ''))
      last = { row, spans: [] }
      resources.push({ resource: { attributes }, scopeSpans: [{ spans: last.spans }] })
    }
    last.spans.push(spanOf(traces, trace, row))
  }
  return resources
}

function spanOf(traces: SpanTraceColumns, trace: number, row: number): object {
  const { epochNs, ids, spanOffsets, spans, operations, attributes, weight } = traces
  // Ids of spans are not kept: their places in the file stand for them.
  const idOf = (span: number) => savedSpanId(span + 1)
  const parentSpanId = parentIdOf(spans.parent[row]!)
  const startNs = epochNs + BigInt(Math.round(spans.startUs[row]! * 1e3))
  const standsFor = weight?.[trace] ?? Number.NaN
  const recorded = attributesOf(attributes.entries(row))
  const follows = attributesOf([['opentracing.ref_type', 'follows_from']])
  const links = [
    ...(spans.followsFrom[row] === 1
      ? [{ traceId: ids[trace], spanId: parentSpanId, attributes: follows }]
      : []),
    ...sendersOf(traces.links, row).map((sender) => {
      return { traceId: ids[bisectRight(spanOffsets, sender) - 1], spanId: idOf(sender) }
    }),
  ]
  return {
    traceId: ids[trace],
    spanId: idOf(row),
    parentSpanId,
    name: operations.value(spans.operation[row]!),
    kind: spans.kind[row]! + 1,
    startTimeUnixNano: String(startNs),
    endTimeUnixNano: String(startNs + BigInt(Math.round(spans.durationUs[row]! * 1e3))),
    ...(recorded.length > 0 && { attributes: recorded }),
    ...(spans.status[row]! > 0 && { status: { code: spans.status[row] } }),
    ...(links.length > 0 && { links }),
    ...(!Number.isNaN(standsFor) && { traceState: `ot=th:${threshold(1 / standsFor)}` }),
  }
}

/** Returns the id of a parent by its row; one that is missing has an id that no span has. */
export function parentIdOf(parent: number): string {
  return parent === NO_PARENT ? '' : parent < 0 ? 'f'.repeat(16) : savedSpanId(parent + 1)
}

/** Rows of producers that a consumer is linked to. */
export function sendersOf(links: Uint32Array | undefined, consumer: number): readonly number[] {
  return (links && sendersByConsumer(links).get(consumer)) ?? []
}

const sendersByConsumer = remembered((links: Uint32Array) =>
  rollup(
    range(0, links.length, 2),
    (pairs) => pairs.map((at) => links[at + 1]!),
    (at) => links[at]!,
  ),
)

function attributesOf(entries: Iterable<readonly [key: string, value: AttributeValue]>): object[] {
  return Array.from(entries, ([key, value]) => ({ key, value: anyValue(value) }))
}

function anyValue(value: AttributeValue): object {
  if (typeof value === 'string') return { stringValue: value }
  if (typeof value === 'boolean') return { boolValue: value }
  if (Number.isSafeInteger(value)) return { intValue: String(value) }
  return { doubleValue: Number.isFinite(value) ? value : String(value) }
}

/** Returns the share of traces that were rejected, as `traceStateProbability` reads it. */
function threshold(probability: number): string {
  const rejected = 2n ** 56n - BigInt(Math.round(probability * 2 ** 56))
  return rejected.toString(16).padStart(14, '0').replace(/0+$/, '') || '0'
}
