// Runs once a record: the loops index with `!`.
import type { Dictionary } from './dictionary.ts'
import type { LogRecords, ServiceLogs, SpanLogs } from './log-records.ts'
import type { QualityLog } from './quality.ts'
import type { SpanColumns } from './span-columns.ts'

/** Lays records that name no trace to the service that their fields, else the file, name. Others are left out. */
export function logsOfServices(
  { loose: { timeUs, statement, source }, statements, sources }: LogRecords,
  { epochNs, services }: { readonly epochNs: bigint; readonly services: Dictionary },
): ServiceLogs {
  const codeOf = sources.values.map((lines) => {
    const { own, ofFile } = serviceNamed(lines, services)
    return own ?? ofFile ?? -1
  })
  const kept = source.flatMap((each, record) => (codeOf[each]! < 0 ? [] : record))
  return {
    timeUs: Float64Array.from(kept, (record) => timeUs[record]! - Number(epochNs) / 1e3),
    service: Uint32Array.from(kept, (record) => codeOf[source[record]!]!),
    statement: Uint32Array.from(kept, (record) => statement[record]!),
    services,
    statements,
  }
}

/** Returns the services that fields and the file name: by name, or with an instance behind it (`cart-7d9f-x2x4p`). */
function serviceNamed(lines: string, services: Dictionary) {
  const known = services.values
    .filter((service) => service !== '')
    .sort((a, b) => b.length - a.length)
  const serviceIn = (names: readonly string[]) => {
    const found =
      known.find((service) => names.includes(service)) ??
      known.find((service) => names.some((name) => /^[-._]/.test(rest(name, service))))
    return found === undefined ? undefined : services.code(found)
  }
  const names = lines.split('\n')
  return { names, own: serviceIn(names.slice(0, -1)), ofFile: serviceIn(names.slice(-1)) }
}

function rest(name: string, start: string): string {
  return name.startsWith(start) ? name.slice(start.length) : ''
}

interface LoggedSpans {
  readonly epochNs: bigint
  readonly ids: readonly string[]
  readonly spanOffsets: Uint32Array
  readonly spans: Pick<SpanColumns, 'startUs' | 'durationUs' | 'service' | 'host'>
  readonly services: Dictionary
  readonly hosts: Dictionary
  readonly spanId: (row: number) => string
  /** Names of the pod or other instance that a span was recorded in. */
  readonly instancesOf: (row: number) => readonly string[]
  readonly ofServices: ServiceLogs
}

/** Lays records to the span that they name, else to the shortest one under way where they were written. */
export function attachLogs(
  { traceIds, spanIds, timeUs, statement, source, statements, sources }: LogRecords,
  logged: LoggedSpans,
  quality: QualityLog,
): SpanLogs {
  const { epochNs, ids, spanOffsets, spanId, ofServices } = logged
  const traceOf = new Map(ids.map((id, trace) => [id, trace]))
  const rowsOf = new Map<number, Map<string, number>>()
  const nearnessOf = new Map<number, (row: number) => number>()
  const epochUs = Number(epochNs) / 1e3
  const found: number[] = []
  const rowOf = new Uint32Array(traceIds.length)
  traceIds.forEach((id, record) => {
    const trace = traceOf.get(id)
    if (trace === undefined) {
      const message = `A log record names trace ${id}, which is not in the files`
      quality.note('log-without-trace', {}, message, 'log record skipped')
      return
    }
    const [first, end] = [spanOffsets[trace]!, spanOffsets[trace + 1]!]
    let rows = rowsOf.get(trace)
    if (rows === undefined) {
      rows = new Map()
      // If a client and a server share an id, the server, which comes later, wrote the record.
      for (let row = first; row < end; row++) rows.set(spanId(row), row)
      rowsOf.set(trace, rows)
    }
    const named = rows.get(
      spanIds[record]!.replace(HEX_ID, (digits) => digits.toLowerCase().padStart(16, '0')),
    )
    const of = source[record]!
    const nearness = nearnessOf.get(of) ?? nearnessTo(sources.value(of), logged)
    nearnessOf.set(of, nearness)
    const atUs = timeUs[record]! - epochUs
    const placed = named === undefined ? spanAt(logged.spans, [first, end], { atUs, nearness }) : -1
    if (named === undefined && (spanIds[record] !== '' || nearness(placed) === 0)) {
      const message = `A log record names ${spanIds[record] === '' ? 'no span' : `span ${spanIds[record]}, which is not there`}; it goes to the shortest span running where it was written`
      quality.note('log-without-span', { trace: id }, message)
    }
    rowOf[record] = named ?? placed
    found.push(record)
  })
  if (found.length === 0 && ofServices.timeUs.length === 0) {
    quality.note('unused-logs', {}, 'No log record names a trace that was loaded')
  }
  found.sort((a, b) => rowOf[a]! - rowOf[b]! || timeUs[a]! - timeUs[b]!)
  return {
    span: Uint32Array.from(found, (record) => rowOf[record]!),
    timeUs: Float64Array.from(found, (record) => timeUs[record]! - epochUs),
    statement: Uint32Array.from(found, (record) => statement[record]!),
    statements,
  }
}

/** Ids that `SpanIds` keeps as numbers. */
const HEX_ID = /^[0-9a-f]{1,16}$/i

/** Returns a score of the evidence that a span was recorded where a record was written; 0 for none. */
function nearnessTo(
  lines: string,
  { spans: { service, host }, services, hosts, instancesOf }: LoggedSpans,
): (row: number) => number {
  const { names, own, ofFile } = serviceNamed(lines, services)
  const places = new Set(names.slice(0, -1).filter((name) => name !== ''))
  return (row) => {
    const isThere =
      places.size > 0 &&
      (places.has(hosts.value(host[row]!)) || instancesOf(row).some((name) => places.has(name)))
    return 4 * Number(service[row] === own) + 2 * Number(isThere) + Number(service[row] === ofFile)
  }
}

/** Returns the shortest of the nearest spans at a moment; without evidence of a place, the first span. */
function spanAt(
  { startUs, durationUs }: LoggedSpans['spans'],
  [first, end]: readonly [number, number],
  { atUs, nearness }: { readonly atUs: number; readonly nearness: (row: number) => number },
): number {
  let best = first
  let least: readonly number[] = [0, Number.POSITIVE_INFINITY, 0]
  for (let row = first; row < end; row++) {
    const near = nearness(row)
    const offUs = Math.max(startUs[row]! - atUs, atUs - startUs[row]! - durationUs[row]!, 0)
    const rank = [
      -near,
      near === 0 && offUs > 0 ? Number.POSITIVE_INFINITY : offUs,
      durationUs[row]!,
    ]
    const differing = rank.findIndex((part, i) => part !== least[i])
    if (differing >= 0 && rank[differing]! < least[differing]!) {
      best = row
      least = rank
    }
  }
  return best
}
