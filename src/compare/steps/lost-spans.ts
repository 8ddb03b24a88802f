// Runs once a span of a request: the loops index with `!`.

import { namedShapes } from '../../calls/visits.ts'
import { getOrInsert } from '../../core/entries.ts'
import { remembered } from '../../core/remembered.ts'
import { AFTER, BEFORE, type FlowSet, type Period } from '../../flows/flow-set.ts'

/**
 * Tells of a request whose calls were lost: of which its trace has the called side apart, though the
 * caller is recorded. `undefined` where nothing was recorded apart.
 */
export const lostCalls = remembered((flows: FlowSet) => {
  const shapes = namedShapes(flows)
  const rootOf = (request: number) => shapes.get(flows.shapeOf[request]!)!.names[0]!
  // Of traces in several parts alone, where their parts begin: by each of these requests.
  const partsOf = new Map<number, Set<string>>()
  const firstIn = new Map<number, Map<string, number>>()
  flows.ids.forEach((id, request) => {
    const requests = getOrInsert(firstIn, flows.recordedIn[request]!, () => new Map())
    const first = requests.get(id)
    if (first === undefined) requests.set(id, request)
    else {
      const parts = getOrInsert(partsOf, first, () => new Set([rootOf(first)]))
      partsOf.set(request, parts.add(rootOf(request)))
    }
  })
  const callsOf = new Map<string, Set<string>>()
  const add = (caller: string, called: string) =>
    getOrInsert(callsOf, caller, () => new Set()).add(called)
  for (const { visits, names, tree } of shapes.values()) {
    for (let span = 1; span < tree.size; span++) add(names[tree.parent[span]!]!, names[span]!)
    // A span within the work of another may be lost itself: what it called stands apart, too.
    for (const { spans, calls } of visits) {
      const own = [...spans, ...calls.flatMap(({ span, called }) => [span, ...called])]
      for (const span of spans) {
        for (const one of own) if (one > span) add(names[span]!, names[one]!)
      }
    }
  }
  return (request: number): ((caller: string) => boolean) | undefined => {
    const parts = partsOf.get(request)
    if (parts === undefined || parts.size < 2) return undefined
    return (caller) => {
      const calls = callsOf.get(caller)
      return calls !== undefined && [...parts].some((root) => calls.has(root))
    }
  }
})

/** Whether spans of a request's trace were lost: what it did not call is not known. */
export const lostSome = remembered((flows: FlowSet) => {
  const traceOf = (request: number) => `${flows.recordedIn[request]} ${flows.ids[request]}`
  const parts = [...flows.ids.keys()].filter((request) => flows.isPart(request))
  const traces = new Set(parts.map(traceOf))
  return (request: number): boolean => traces.size > 0 && traces.has(traceOf(request))
})

/** Share of each period's spans whose caller's span was lost: so many of all are, if at random. */
export const lostSpans = remembered((flows: FlowSet): [before: number, after: number] => {
  const lost: [number, number] = [0, 0]
  const spans: [number, number] = [0, 0]
  const shapes = namedShapes(flows)
  const called = new Set<string>()
  for (const { names } of shapes.values()) for (const name of names.slice(1)) called.add(name)
  for (let request = 0; request < flows.size; request++) {
    const period = flows.period[request] as Period
    const { names } = shapes.get(flows.shapeOf[request]!)!
    spans[period] += names.length
    if (called.has(names[0]!)) lost[period]++
  }
  return [lost[BEFORE] / Math.max(1, spans[BEFORE]), lost[AFTER] / Math.max(1, spans[AFTER])]
})
