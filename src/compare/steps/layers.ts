// Runs once a span: the loops index with `!`.

import { range, sum } from 'd3-array'
import { addTo, getOrInsert } from '../../core/entries.ts'
import { AFTER, BEFORE, type IdleWait, type Layer, type Period } from '../../flows/flow-set.ts'
import { Dictionary } from '../../traces/dictionary.ts'
import { withoutSpans } from '../../traces/selection/span-values.ts'
import { CLIENT, CONSUMER, SERVER } from '../../traces/span-columns.ts'
import { SpanTraces } from '../../traces/span-traces.ts'
import type { TraceSet } from '../../traces/trace-set.ts'
import { MIN_TAIL, MOST, NEARLY_ALL, NEGLIGIBLE } from '../thresholds.ts'

type Periods = readonly [runs: readonly TraceSet[], after: TraceSet]

interface Recording {
  readonly traces: SpanTraces
  readonly period: Period
  /** Service and operation of each span, as a code. */
  readonly names: Uint32Array
}

/** Spans of one name between a caller and its callee. */
interface OnWay extends Pick<Layer, 'caller'> {
  spans: number
  allUs: number
  ownUs: number
  /** Whether their service is neither the caller's nor the called one. */
  readonly isOwn: boolean
}

const NONE = -1
const SEVERAL = -2

/**
 * Leaves out layers: spans of a client or a server between a caller and its callee that one period alone records, for
 * example because sidecars or instrumented clients were added. Both periods then measure calls in the same way.
 */
export function withoutLayers([runs, after]: Periods): {
  readonly periods: Periods
  readonly layers: readonly Layer[]
} {
  const named = new Dictionary()
  const recordings = [...runs, after].flatMap((traces): Recording | [] => {
    if (traces.kind !== 'spans') return []
    const period = traces === after ? AFTER : BEFORE
    return { traces, period, names: namesOf(traces, named) }
  })
  const counts = [BEFORE, AFTER].map((period) => {
    const all = new Float64Array(named.size)
    for (const own of recordings) {
      if (own.period === period) for (const name of own.names) all[name]!++
    }
    return all
  }) as [Float64Array, Float64Array]
  const isOfOne = range(named.size).map((name) => {
    const [was, is] = [counts[BEFORE][name]!, counts[AFTER][name]!]
    return Math.max(was, is) >= MIN_TAIL && Math.min(was, is) <= NEGLIGIBLE * Math.max(was, is)
  })
  const unchanged = { periods: [runs, after] as const, layers: [] }
  if (recordings.length <= runs.length || !isOfOne.includes(true)) return unchanged
  const periodOf = (name: number) => (counts[AFTER][name]! > counts[BEFORE][name]! ? AFTER : BEFORE)
  const callsOf = recordings.map((own) => directCalls(own, named.size))
  const pairIsDirect = (pair: number, period: Period) =>
    sum(recordings, (one, i) => (one.period === period ? 0 : (callsOf[i]!.get(pair) ?? 0))) >=
    MIN_TAIL
  const found = new Map<number, OnWay>()
  for (const { traces, period, names } of recordings) {
    const { parent, durationUs, service } = traces.spans
    const only = onlyChildren(traces)
    const isCandidate = (span: number) => isOfOne[names[span]!]!
    for (let span = 0; span < parent.length; span++) {
      const name = names[span]!
      const isOnWay = traces.spans.kind[span] === CLIENT || traces.spans.kind[span] === SERVER
      if (!isOnWay || !isOfOne[name] || periodOf(name) !== period) continue
      let [caller, callee] = [parent[span]!, only[span]!]
      while (caller >= 0 && isCandidate(caller)) caller = parent[caller]!
      while (callee >= 0 && isCandidate(callee)) callee = only[callee]!
      if (caller < 0 || callee < 0 || service[caller] === service[callee]) continue
      if (!pairIsDirect(names[caller]! * named.size + names[callee]!, period)) continue
      const by = traces.services.value(service[caller]!)
      const isOwn = ![service[caller], service[callee]].includes(service[span])
      const own = getOrInsert(found, name, () => ({
        spans: 0,
        allUs: 0,
        ownUs: 0,
        caller: by,
        isOwn,
      }))
      own.spans++
      own.allUs += durationUs[span]!
      own.ownUs += durationUs[span]! - durationUs[only[span]!]!
    }
  }
  const layers = Array.from(found).flatMap(
    ([name, { spans, allUs, ownUs, caller, isOwn }]): (Layer & { readonly name: number })[] => {
      const period = periodOf(name)
      if (spans < NEARLY_ALL * counts[period][name]!) return []
      if (isOwn && allUs - ownUs < MOST * allUs) return []
      const [service, operation] = named.value(name).split('\n') as [string, string]
      return [{ name, service, operation, period, spans, eachUs: ownUs / spans, caller }]
    },
  )
  if (layers.length === 0) return unchanged
  const passed = new Map(
    recordings.map(({ traces, period, names }) => {
      const own = new Set(layers.flatMap((one) => (one.period === period ? one.name : [])))
      const columns = withoutSpans(traces, (span) => own.has(names[span]!))
      return [traces as TraceSet, new SpanTraces(traces.name, columns, traces.quality())]
    }),
  )
  const passing = (traces: TraceSet) => passed.get(traces) ?? traces
  return {
    periods: [runs.map(passing), passing(after)],
    layers: layers.map(({ name: _, ...layer }) => layer),
  }
}

function namesOf({ spans, services, operations }: SpanTraces, named: Dictionary): Uint32Array {
  const codes = new Map<number, number>()
  return spans.operation.map((operation, span) => {
    const service = spans.service[span]!
    return getOrInsert(codes, service * operations.size + operation, () =>
      named.code(`${services.value(service)}\n${operations.value(operation)}`),
    )
  })
}

/** Returns the only child of each span; negative for none or several. */
function onlyChildren({ spans: { parent } }: SpanTraces): Int32Array {
  const only = new Int32Array(parent.length).fill(NONE)
  for (let span = 0; span < parent.length; span++) {
    const above = parent[span]!
    if (above >= 0) only[above] = only[above] === NONE ? span : SEVERAL
  }
  return only
}

/** Counts how often spans of one name lie directly within spans of another. */
function directCalls({ traces, names }: Recording, size: number): Map<number, number> {
  const calls = new Map<number, number>()
  traces.spans.parent.forEach((above, span) => {
    if (above < 0) return
    addTo(calls, names[above]! * size + names[span]!, 1)
  })
  return calls
}

const OPERATIONS = ['messaging.operation.type', 'messaging.operation', 'messaging.operation.name']
const WAITING = /^(?:receive|poll)$/i
/** Names of spans that wait for work, if no attribute says so: polls, and reads of Redis that block. */
const NAMED = /(?:^|[ ._/])(?:receive|poll|BLPOP|BRPOP|BLMOVE|BZPOPMIN|XREAD|XREADGROUP)$/i

/**
 * Leaves out how long consumers wait for work: requests that begin with a poll or receive begin when that
 * ends. Nobody waits for it, and it is longer where messages come more rarely.
 */
export function withoutIdleWaits([runs, after]: Periods): {
  readonly periods: Periods
  readonly waits: readonly IdleWait[]
} {
  const waits = new Map<string, { -readonly [Name in keyof IdleWait]: IdleWait[Name] }>()
  const passing = (traces: TraceSet, period: Period): TraceSet => {
    if (traces.kind !== 'spans') return traces
    const isWaiting = waitingSpans(traces)
    if (!isWaiting.includes(1)) return traces
    const { service, operation, durationUs } = traces.spans
    isWaiting.forEach((is, span) => {
      if (is === 0) return
      const names = {
        service: traces.services.value(service[span]!),
        operation: traces.operations.value(operation[span]!),
      }
      const own = getOrInsert(waits, JSON.stringify(names), () => ({
        ...names,
        counts: [0, 0] as [number, number],
        sumsUs: [0, 0] as [number, number],
      }))
      own.counts[period]++
      own.sumsUs[period] += durationUs[span]!
    })
    const columns = withoutSpans(traces, (span) => isWaiting[span] === 1)
    return new SpanTraces(traces.name, columns, traces.quality())
  }
  const periods = [runs.map((run) => passing(run, BEFORE)), passing(after, AFTER)] as const
  return { periods, waits: [...waits.values()] }
}

/** Finds roots that wait for the work of their only child. */
function waitingSpans(traces: SpanTraces): Uint8Array {
  const { parent, kind, startUs, durationUs, operation } = traces.spans
  const is = new Uint8Array(parent.length)
  const readers = OPERATIONS.flatMap((name) => traces.attributes.reader(name) ?? [])
  const isNamed = traces.operations.values.map((name) => NAMED.test(name))
  if (readers.length === 0 && !isNamed.includes(true)) return is
  const children = new Uint32Array(parent.length)
  for (const above of parent) if (above >= 0) children[above]!++
  for (let span = 0; span < parent.length; span++) {
    const above = parent[span]!
    if (above < 0 || parent[above]! >= 0 || children[above] !== 1) continue
    if (kind[above] !== CLIENT && kind[above] !== CONSUMER) continue
    const said = readers.map((read) => read(above)).find((one) => one !== undefined)
    const isPoll = said === undefined ? isNamed[operation[above]!]! : WAITING.test(String(said))
    const waitedUs = startUs[span]! - startUs[above]!
    if (isPoll && waitedUs >= NEARLY_ALL * durationUs[above]!) is[above] = 1
  }
  return is
}
