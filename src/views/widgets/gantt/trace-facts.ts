import type { CallTree } from '../../../explain/calling-contexts/call-tree.ts'
import type { FlowSet } from '../../../flows/flow-set.ts'
import { NodeRecords } from '../../../flows/node-records.ts'
import type { AttributeValue } from '../../../traces/attributes.ts'
import { SPAN_KINDS, SPAN_STATUSES, type SpanTraces } from '../../../traces/span-traces.ts'

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
}

/** What the traces say of each call of a request. */
export function callFacts(flows: FlowSet, { request, tree }: Request): CallFacts[] {
  const traces = flows.tracesOf(request)
  const records = new NodeRecords(flows)
  if (traces?.kind !== 'spans') {
    return tree.calls.map(({ start, end }) => {
      const nodes = end < 0 || end === start ? [start] : [start, end]
      return {
        isError: false,
        facts: shortFacts(nodes.flatMap((node) => records.of(request, node))),
      }
    })
  }
  return tree.calls.map(({ start }) => {
    const row = records.spanRow(request, start)
    return row === undefined ? NONE : spanFacts(traces, row)
  })
}

function spanFacts({ spans, attributes }: SpanTraces, row: number): CallFacts {
  const status = SPAN_STATUSES[spans.status[row] as number] ?? 'unset'
  const facts: [string, AttributeValue][] = [
    ['kind', SPAN_KINDS[spans.kind[row] as number] ?? 'internal'],
    ...(status === 'unset' ? [] : [['status', status] as [string, AttributeValue]]),
    ...attributes.entries(row),
  ]
  return { isError: status === 'error', facts: shortFacts(facts) }
}

function shortFacts(facts: readonly (readonly [string, AttributeValue])[]): CallFacts['facts'] {
  return facts
    .slice(0, MOST_FACTS)
    .map(([name, value]) => [
      name.slice(0, LONGEST_VALUE),
      typeof value === 'string' ? value.slice(0, LONGEST_VALUE) : value,
    ])
}
