// Runs once a record: the loops index with `!`.
import { nameStatements, type Statement } from '../logs/traced/statements.ts'
import { entriesWithin } from '../traces/group-rows.ts'
import { growingUint32 } from '../traces/growing-columns.ts'
import type { SpanTraces } from '../traces/span-traces.ts'

/** What requests logged: one entry a record, those of a request next to each other. */
export interface FlowLogColumns {
  readonly statements: readonly Statement[]
  /** Index in `statements`. */
  readonly statement: Uint32Array
  /** Span of the request's shape that each was written in; those of one span in order of time. */
  readonly span: Uint32Array
  /** The records of request `i` are entries `offsets[i]` to `offsets[i + 1]`. */
  readonly offsets: Uint32Array
}

/** What requests logged, by spans of their shapes; `undefined` unless all recordings have logs. */
export function flowLogs(
  recordings: readonly SpanTraces[],
  runs: number,
  {
    recordedIn,
    spanRows,
    spanOffsets,
  }: {
    readonly recordedIn: Uint8Array
    readonly spanRows: Uint32Array
    readonly spanOffsets: Uint32Array
  },
): FlowLogColumns | undefined {
  const logs = recordings.flatMap((traces) => traces.logs ?? [])
  if (logs.length < recordings.length || logs.length === 0) return undefined
  const { statements, codes } = nameStatements(logs, runs)
  const starts = logs.map((own, i) => {
    const offsets = new Uint32Array(recordings[i]!.spans.parent.length + 1)
    for (const row of own.span) offsets[row + 1]!++
    for (let row = 1; row < offsets.length; row++) offsets[row]! += offsets[row - 1]!
    return offsets
  })
  const [statement, span] = [growingUint32(), growingUint32()]
  const offsets = new Uint32Array(recordedIn.length + 1)
  recordedIn.forEach((recording, request) => {
    const [first, end] = [spanOffsets[request]!, spanOffsets[request + 1]!]
    const start = starts[recording]!
    for (let at = first; at < end; at++) {
      const row = spanRows[at]!
      for (let record = start[row]!; record < start[row + 1]!; record++) {
        statement.push(codes[recording]![logs[recording]!.statement[record]!]!)
        span.push(at - first)
      }
    }
    offsets[request + 1] = statement.length
  })
  return { statements, statement: statement.finish(), span: span.finish(), offsets }
}

export function selectLogs(logs: FlowLogColumns, requests: Uint32Array): FlowLogColumns {
  const { offsets, entries } = entriesWithin(logs.offsets, requests)
  const pick = (column: Uint32Array) => entries.map((entry) => column[entry]!)
  const { statements, statement, span } = logs
  return { statements, statement: pick(statement), span: pick(span), offsets }
}
