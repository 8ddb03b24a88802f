// Runs once a span of a request: the loops index with `!`.
import { getOrInsert } from '../core/entries.ts'
import { memoized, remembered } from '../core/remembered.ts'
import { type Targets, targetReader } from '../flows/call-targets.ts'
import type { FlowSet } from '../flows/flow-set.ts'
import { callName, type Operation, operationOf } from '../flows/node-labels.ts'
import { messageSenders, spanTree } from '../flows/span-tree.ts'
import { CLIENT } from '../traces/span-columns.ts'

/** Client spans of an operation whose other side records no spans, such as those of calls to a database. */
export interface UnrecordedCallee extends Operation {
  /** The narrowest name of it that all of these spans give: a host, or else a system. */
  readonly callee: string
}

/**
 * Returns the operations that call what records no spans, and what each of them calls. An operation must do so in all
 * of its spans, and name one callee.
 */
export const unrecordedCallees = remembered((flows: FlowSet): readonly UnrecordedCallee[] => {
  if (flows.unrecorded !== undefined) return flows.unrecorded
  const { spanRows, spanOffsets, shapeOf, shapes, labels, size } = flows
  if (spanRows === undefined || spanOffsets === undefined) return []
  const ofShape: (readonly (Candidate | null)[])[] = []
  const operations = new Map<string, Candidate>()
  const candidateOf = (operation: Operation) =>
    getOrInsert(operations, callName(operation), () => ({ operation, names: null, said: null }))
  const senders = messageSenders(flows)
  const recording = new Set<string>()
  const readerOf = memoized(targetReader)
  for (const shape of new Set(shapeOf)) {
    const { size: spans, firstChild } = spanTree(flows, shape)
    const codes = shapes.labels(shape)
    ofShape[shape] = Array.from({ length: spans }, (_, span) => {
      const operation = operationOf(labels.get(codes[2 * span]!))
      recording.add(operation.service)
      const isLeaf = firstChild[span] === firstChild[span + 1]
      // Of a span that lost its caller, nobody knows more than that it calls nothing.
      if (isLeaf && span === 0) return null
      const candidate = candidateOf(operation)
      if (!isLeaf || senders.has(callName(operation))) candidate.names = NONE
      return candidate
    })
  }
  for (let request = 0; request < size; request++) {
    const traces = flows.tracesOf(request)
    if (traces?.kind !== 'spans') continue
    const targetsOf = readerOf(traces)
    const own = ofShape[shapeOf[request]!]!
    for (let span = 0; span < own.length; span++) {
      const candidate = own[span]!
      if (candidate === null || candidate.names === NONE) continue
      const row = spanRows[spanOffsets[request]! + span]!
      const said = traces.spans.kind[row] === CLIENT ? targetsOf(row) : NONE
      if (said === candidate.said) continue
      candidate.said = said
      candidate.names = candidate.names === null ? said : agreed(candidate.names, said)
    }
  }
  return [...operations.values()].flatMap(({ operation, names }) => {
    const own = [...(names ?? NONE).values()].filter((name) => !recording.has(name))
    // One name is surer than what several have in common.
    const callee = own.find((name) => !name.includes('*')) ?? own[0]
    return callee === undefined ? [] : { ...operation, callee }
  })
})

/** Returns the names of all callees that record no spans. */
export const calleesWithoutSpans = remembered(
  (flows: FlowSet): ReadonlySet<string> =>
    new Set(unrecordedCallees(flows).map(({ callee }) => callee)),
)

/** Returns the services that call one, in the order of their names. */
export function callersOf(flows: FlowSet, callee: string): string[] {
  const own = unrecordedCallees(flows).filter((one) => one.callee === callee)
  return [...new Set(own.map(({ service }) => service))].sort()
}

interface Candidate {
  readonly operation: Operation
  /** Names that all spans so far give; `null` before the first. */
  names: Targets | null
  /** Names that the last span gave, to pass over spans that give the same. */
  said: Targets | null
}

const NONE: Targets = new Map()

/** Returns the names that both give: as they are written, if they write them alike. */
function agreed(known: Targets, said: Targets): Targets {
  const both = [...known].filter(([key]) => said.has(key))
  if (both.length === 0) return NONE
  return new Map(both.map(([key, name]) => [key, said.get(key) === name ? name : key]))
}
