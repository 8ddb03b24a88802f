import type { CallTree, FlowCall } from '../../calling-contexts/call-tree.ts'
import type { FlowSet } from '../../flows/flow-set.ts'
import type { AttributeValue } from '../../traces/attributes.ts'
import type { GraphTraces } from '../../traces/graph-traces.ts'
import { NO_PARENT, SPAN_KINDS, SPAN_STATUSES, type SpanTraces } from '../../traces/span-traces.ts'
import type { StretchUs } from '../drawing/stretches.ts'

/** What was recorded of a call beside its name and time. */
export interface CallFacts {
  readonly isError: boolean
  /** Kind, status and parameters as they were recorded, names first. */
  readonly facts: readonly (readonly [name: string, value: AttributeValue])[]
}

/** More parameters of one call are not carried along. */
const MOST_FACTS = 40
const LONGEST_VALUE = 500
const NONE: CallFacts = { isError: false, facts: [] }

interface Request {
  readonly request: number
  readonly tree: CallTree
  /** When each call began and ended, in µs since any moment. */
  readonly spans: readonly StretchUs[]
}

/** What the traces say of each call of a request. */
export function callFacts(flows: FlowSet, of: Request): CallFacts[] {
  const traces = flows.periods[flows.period[of.request] as number]
  const trace = flows.traceOf[of.request] as number
  if (traces === undefined) return of.tree.calls.map(() => NONE)
  return traces.kind === 'spans'
    ? spanFacts(traces, { trace, startUs: flows.startUs[of.request] as number }, of)
    : pointFacts(traces, trace, of.tree)
}

function pointFacts(
  { attributes, shapes, shapeOf }: GraphTraces,
  trace: number,
  { calls }: CallTree,
): CallFacts[] {
  if (attributes === null) return calls.map(() => NONE)
  let first = 0
  for (let i = 0; i < trace; i++) first += shapes.nodeCount(shapeOf[i] as number)
  return calls.map(({ start, end }) => {
    const nodes = end < 0 || end === start ? [start] : [start, end]
    const facts = nodes.flatMap((node) => [...attributes.entries(first + node)])
    return { isError: false, facts: shortFacts(facts) }
  })
}

/**
 * Finds the span of every call: below its caller's span, of the same name, nearest in time. Spans
 * that are alike in all of this are told apart by nothing, and so need not be.
 */
function spanFacts(
  traces: SpanTraces,
  { trace, startUs: requestStartUs }: { trace: number; startUs: number },
  { tree, spans }: Request,
): CallFacts[] {
  const { spans: columns } = traces
  const free = rowsByParent(traces, trace)
  const rowOf: number[] = []
  const clockUs = requestStartUs - (spans[0] as StretchUs)[0]
  return tree.calls.map((call, number) => {
    const [startUs, endUs] = spans[number] as StretchUs
    const distance = (row: number) => {
      const fromUs = (columns.startUs[row] as number) - clockUs
      const toUs = fromUs + (columns.durationUs[row] as number)
      return Math.abs(fromUs - startUs) + Math.abs(toUs - endUs)
    }
    const siblings = free.get(rowOf[call.parent] ?? NO_PARENT) ?? []
    const [row] = siblings
      .filter((candidate) => isNamed(traces, candidate, call))
      .sort((a, b) => distance(a) - distance(b) || a - b)
    if (row === undefined) return NONE
    rowOf[number] = row
    siblings.splice(siblings.indexOf(row), 1)
    const status = SPAN_STATUSES[columns.status[row] as number] ?? 'unset'
    const facts: [string, AttributeValue][] = [
      ['kind', SPAN_KINDS[columns.kind[row] as number] ?? 'internal'],
      ...(status === 'unset' ? [] : [['status', status] as [string, AttributeValue]]),
      ...traces.attributes.entries(row),
    ]
    return { isError: status === 'error', facts: shortFacts(facts) }
  })
}

/** The spans of a trace below each; those that nothing loaded called, below `NO_PARENT`. */
function rowsByParent({ spans, spanOffsets }: SpanTraces, trace: number): Map<number, number[]> {
  const rows = new Map<number, number[]>()
  const end = spanOffsets[trace + 1] as number
  for (let row = spanOffsets[trace] as number; row < end; row++) {
    const parent = Math.max(NO_PARENT, spans.parent[row] as number)
    const siblings = rows.get(parent) ?? []
    siblings.push(row)
    rows.set(parent, siblings)
  }
  return rows
}

function isNamed(
  { spans, services, operations }: SpanTraces,
  row: number,
  { service, name }: FlowCall,
): boolean {
  return (
    services.value(spans.service[row] as number) === service &&
    operations.value(spans.operation[row] as number) === name
  )
}

function shortFacts(facts: readonly (readonly [string, AttributeValue])[]): CallFacts['facts'] {
  return facts
    .slice(0, MOST_FACTS)
    .map(([name, value]) => [
      name.slice(0, LONGEST_VALUE),
      typeof value === 'string' ? value.slice(0, LONGEST_VALUE) : value,
    ])
}
