// Runs once a span of a request: the loops index with `!`.
import { median } from 'd3-array'
import { spanTimes } from '../../calls/span-times.ts'
import {
  allVisits,
  callsOf,
  type MadeCall,
  operationAt,
  type ShapeVisits,
} from '../../calls/visits.ts'
import { getOrInsert } from '../../core/entries.ts'
import { memoized } from '../../core/remembered.ts'
import type { FlowSet, Period } from '../../flows/flow-set.ts'
import { callName, isSame, type Operation } from '../../flows/node-labels.ts'
import { NS } from '../../flows/span-tree.ts'
import { normalQuantile } from '../../stats/distributions.ts'
import { lostCalls } from './lost-spans.ts'
import { recordedOtherwise } from './recorded-otherwise.ts'
import { rootCalls } from './root-types.ts'
import { slowSample } from './slow-sample.ts'
import { StretchCounts, timeBlocks } from './time-blocks.ts'

export { isSame, type Operation } from '../../flows/node-labels.ts'

export function isSameCall(a: Operation | null, b: Operation | null): boolean {
  return a === null || b === null ? a === b : isSame(a, b)
}

/** Kind of caller: spans that make the same calls, in any shape. */
export interface CallerKind {
  readonly number: number
  readonly of: Operation
  /** Call that tells the type of its requests, or an empty text; see `rootCalls`. */
  readonly type: string
  readonly isRoot: boolean
  /** Operation that called this one; empty for the root. */
  readonly context: string
  /** Called operations, each once; their places here are the callees' numbers. */
  readonly callees: readonly Operation[]
  /** Callee of each call. */
  readonly numbers: readonly number[]
}

/** A span in which an operation works, and its calls. */
export interface Caller {
  readonly kind: CallerKind
  readonly span: number
  readonly calls: readonly MadeCall[]
}

/** Order in time of the calls of one span; callees by their numbers. */
export interface CallOrder {
  /** Callees whose calls overlap, directly or through others, group after group. */
  readonly groups: readonly (readonly number[])[]
  /** Callees that outlive their caller. */
  readonly outliving: readonly number[]
  /** Callees that are called again once a call of theirs has failed. */
  readonly again: readonly number[]
  /** Relation of the calls of two callees; for one and itself, of its repeated calls. */
  readonly relation: (a: number, b: number) => Relation
}

/** Relation in time of the calls of two callees. */
export interface Relation {
  /** Some of them overlap. */
  readonly together: boolean
  /** Whether none overlap, and one begins right after the end of the other. */
  readonly inTurn: boolean
  /** All of the first are over before any of the second begins. */
  readonly before: boolean
}

/** One order of the calls of spans of one kind, in whichever requests. */
export interface CallSite extends CallerKind {
  readonly order: CallOrder
  /** Requests by stretch of time, those before first. */
  readonly requests: StretchCounts
}

/** Every order in which the spans of requests made their calls, by recorded times. */
export class CallSites {
  readonly sites: readonly CallSite[]
  /** Spans that work, of each shape. */
  readonly callers: readonly (readonly Caller[])[]
  readonly #flows: FlowSet
  /** Sites of request `i` are entries `#offsets[i]` to `#offsets[i + 1]`. */
  readonly #entries: Uint32Array
  readonly #offsets: Uint32Array

  /** @param flows built from spans and not folded */
  constructor(flows: FlowSet) {
    this.#flows = flows
    const callers: Caller[][] = []
    const reader = callerReader(flows)
    for (const [shape, spans] of allVisits(flows)) {
      callers[shape] = reader(shape, spans)
    }
    this.callers = callers
    const { of: blocks, perRun, runs } = timeBlocks(flows)
    const sites: CallSite[] = []
    const known = new Map<string, number>()
    const [turnsOf, turnsOfKind] = [memoized(noTurns<Caller>), memoized(noTurns<CallerKind>)]
    this.#offsets = new Uint32Array(flows.size + 1)
    for (let request = 0; request < flows.size; request++) {
      this.#offsets[request + 1] =
        this.#offsets[request]! + callers[flows.shapeOf[request]!]!.length
    }
    // Requests with unknown latencies have no sites, nor do callers that lack calls.
    this.#entries = new Uint32Array(this.#offsets[flows.size]!).fill(NO_SITE)
    const siteOf = (kind: CallerKind, like: string, order: string) =>
      getOrInsert(known, `${kind.number}${like} ${order}`, () => {
        const requests = new StretchCounts(flows, perRun * (runs + 1))
        const context = `${kind.context}${like}`
        return sites.push({ ...kind, context, order: readOrder(order, kind), requests }) - 1
      })
    const sample = slowSample(flows)
    this.#eachRequest((request, times) => {
      let entry = this.#offsets[request]! - 1
      // A sample that prefers slow requests holds more of their calls.
      const isSlow = sample?.keptFor(request) === 'slow'
      const isLost = lostCalls(flows)(request)
      for (const caller of callers[flows.shapeOf[request]!]!) {
        entry++
        const { kind, span, calls } = caller
        // A span known to lack calls does not show which are made.
        if (isLost?.(callName(kind.of))) continue
        // A failing caller makes other calls, so it is compared with failing ones.
        const isFailing = flows.outcomes?.failed(request, span) === true
        // A single call has only one order.
        const turns = calls.length > 1 ? turnsOf(caller) : turnsOfKind(kind)
        if (calls.length > 1 && turns.calls === NONE) turns.calls = calls.toSorted(byStart(times))
        const inOrder = calls.length > 1 ? turns.calls : calls
        const isInTurn = !isFailing && this.#areInTurn(caller, inOrder, times)
        const inTurn = isInTurn ? turns.sites[Number(isSlow)]! : -1
        const like = `${isSlow ? ' slow' : ''}${isFailing ? ' failing' : ''}`
        const site =
          inTurn >= 0 ? inTurn : siteOf(kind, like, this.#orderOf(request, caller, times))
        if (isInTurn) turns.sites[Number(isSlow)] = site
        sites[site]!.requests.add(request, blocks[request]!)
        this.#entries[entry] = site
      }
    })
    this.sites = sites
  }

  /** Whether any span of a request has one of these sites. */
  hasAny(request: number, sites: ReadonlySet<number>): boolean {
    for (let entry = this.#offsets[request]!; entry < this.#offsets[request + 1]!; entry++) {
      if (sites.has(this.#entries[entry]!)) return true
    }
    return false
  }

  /**
   * Collects when an operation that makes some calls made them.
   *
   * @returns for each period, one row a caller: start and end of the first call of each of
   *   `callees`, then of the caller, in ns
   */
  timesOf(of: Operation, callees: readonly Operation[]): [Float64Array[], Float64Array[]] {
    const found: [Float64Array[], Float64Array[]] = [[], []]
    this.#eachRequest((request, times) => {
      for (const caller of this.callers[this.#flows.shapeOf[request]!]!) {
        if (!isSame(caller.kind.of, of)) continue
        const spans = callees.map((callee) => firstOf(caller, callee, times))
        if (spans.includes(-1)) continue
        const nodes = [...spans, caller.span].flatMap((span) => [2 * span, 2 * span + 1])
        const row = Float64Array.from(nodes, (node) => times[node]!)
        found[this.#flows.period[request] as Period].push(row)
      }
    })
    return found
  }

  /**
   * Whether calls come more often after failed ones than after others: an operation that makes a call several times in
   * any case goes on after failed ones as after others.
   */
  isRetried(of: Operation, call: Operation, period: Period): boolean {
    // By a call's place among those of its caller: how many failed or not, and how many of these were not the last.
    const places: Record<'all' | 'followed', [succeeded: number, failed: number]>[] = []
    this.#eachRequest((request, times) => {
      if (this.#flows.period[request] !== period) return
      for (const { kind, calls } of this.callers[this.#flows.shapeOf[request]!]!) {
        if (!isSame(kind.of, of)) continue
        const own = calls.filter(({ callee }) => isSame(callee, call)).toSorted(byStart(times))
        for (const [at, one] of own.entries()) {
          places[at] ??= { all: [0, 0], followed: [0, 0] }
          const outcome = Number(this.#isFailed(request, one))
          places[at].all[outcome]!++
          places[at].followed[outcome]! += Number(at + 1 < own.length)
        }
      }
    })
    let [beyond, variance] = [0, 0]
    for (const { all, followed } of places) {
      const inAnyCase = followed[0] / all[0] || 0
      beyond += followed[1] - inAnyCase * all[1]
      variance += inAnyCase * (1 - inAnyCase) * all[1]
    }
    return beyond > normalQuantile(0.975) * Math.sqrt(variance)
  }

  /** Whether most calls that are made alone are over by the time that others are made once more. */
  isHedged(of: Operation, call: Operation, period: Period): boolean {
    const [alone, started]: [number[], number[]] = [[], []]
    this.#eachRequest((request, times) => {
      if (this.#flows.period[request] !== period) return
      for (const { kind, calls } of this.callers[this.#flows.shapeOf[request]!]!) {
        if (!isSame(kind.of, of)) continue
        const own = calls.filter(({ callee }) => isSame(callee, call)).toSorted(byStart(times))
        const [first, second] = own.map(({ span }) => times[2 * span]!)
        if (first === undefined) continue
        if (second !== undefined) started.push(second - first)
        else alone.push(times[2 * own[0]!.span + 1]! - first)
      }
    })
    return (median(alone) ?? Number.POSITIVE_INFINITY) < (median(started) ?? 0)
  }

  #eachRequest(visit: (request: number, times: Float64Array) => void): void {
    for (let request = 0; request < this.#flows.size; request++) {
      const times = spanTimes(this.#flows).of(request)
      // A snapshot may carry the latencies of some requests only.
      if (times.length > 0) visit(request, times)
    }
  }

  /**
   * Whether the calls of a span, each to another operation, are made in an order that is known, each
   * once the one before is over, and none outlives it: whatever their times, that is one site.
   */
  #areInTurn({ span, kind }: Caller, calls: readonly MadeCall[], times: Float64Array): boolean {
    if (kind.callees.length < calls.length) return false
    const slack = this.#flows.options.slackUs * NS
    const most = times[2 * span + 1]! + slack
    let [started, reached] = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY]
    for (let i = 0; i < calls.length; i++) {
      const { span: call } = calls[i]!
      const start = times[2 * call]!
      const end = times[2 * call + 1]!
      if (start <= started || start + slack < reached || end <= reached || end > most) return false
      started = start
      reached = end
    }
    return true
  }

  /** Writes how the calls of a span lie in time: equal texts are equal orders. */
  #orderOf(request: number, { span, calls, kind }: Caller, times: Float64Array) {
    const { callees, numbers } = kind
    if (calls.length === 0) return ''
    const slack = this.#flows.options.slackUs * NS
    const startOf = (call: number) => times[2 * calls[call]!.span]!
    const endOf = (call: number) => times[2 * calls[call]!.span + 1]!
    // Other hosts' clocks may be wrong: calls timed by such a clock must overlap by half of the shorter one.
    const slackOf = (a: number, b = a) =>
      calls[a]!.isRemote || calls[b]!.isRemote
        ? Math.max(slack, Math.min(endOf(a) - startOf(a), endOf(b) - startOf(b)) / 2)
        : slack
    const precedes = (a: number, b: number) => endOf(a) <= startOf(b) + slackOf(a, b)
    const outlives = (call: number) => endOf(call) > times[2 * span + 1]! + slackOf(call)
    if (calls.length === 1) return `${outlives(0) ? OUTLIVES : 0} 0 0`
    const size = callees.length
    const flags = new Array<number>(size).fill(0)
    const relations = new Array<number>(size * size).fill(0)
    const relate = (a: number, b: number, relation: number) => {
      relations[Math.min(a, b) * size + Math.max(a, b)]! |= relation
    }
    const first = new Array<number>(size).fill(-1)
    const last = new Array<number>(size).fill(-1)
    const groups: string[] = []
    let group: number[] = []
    let latest = -1
    let running: number[] = []
    const byStart = Array.from(calls.keys()).sort((a, b) => startOf(a) - startOf(b))
    const hasFailed = new Set<number>()
    for (const call of byStart) {
      const callee = numbers[call]!
      const isOver = (other: number) => precedes(other, call)
      for (const other of running) {
        if (!isOver(other)) relate(callee, numbers[other]!, TOGETHER)
        else {
          if (latest < 0 || endOf(other) > endOf(latest)) latest = other
          if (this.#isFailed(request, calls[other]!)) hasFailed.add(numbers[other]!)
        }
      }
      running = running.filter((other) => !isOver(other))
      if (running.length === 0 && group.length > 0) {
        addGroup(groups, group)
        group = []
      }
      running.push(call)
      if (latest >= 0) relate(callee, numbers[latest]!, IN_TURN)
      if (hasFailed.has(callee)) flags[callee]! |= AGAIN
      if (outlives(call)) flags[callee]! |= OUTLIVES
      if (!group.includes(callee)) group.push(callee)
      if (first[callee]! < 0) first[callee] = call
      if (last[callee]! < 0 || endOf(call) > endOf(last[callee]!)) last[callee] = call
    }
    addGroup(groups, group)
    for (let a = 0; a < size; a++) {
      for (let b = a + 1; b < size; b++) {
        if (precedes(last[a]!, first[b]!)) relations[a * size + b]! |= FORWARD
        else if (precedes(last[b]!, first[a]!)) relations[a * size + b]! |= BACKWARD
      }
    }
    return `${flags.join('')} ${relations.map((bits) => bits.toString(16)).join('')} ${groups.join()}`
  }

  #isFailed(request: number, { span, called }: MadeCall): boolean {
    const { outcomes } = this.#flows
    return [span, ...called].some((one) => outcomes?.failed(request, one) === true)
  }
}

const NONE: readonly MadeCall[] = []
const NO_SITE = 2 ** 32 - 1

function noTurns<Of>(_: Of): { calls: readonly MadeCall[]; readonly sites: number[] } {
  return { calls: NONE, sites: [-1, -1] }
}

function byStart(times: Float64Array) {
  return (a: MadeCall, b: MadeCall) => times[2 * a.span]! - times[2 * b.span]!
}

const [TOGETHER, IN_TURN, FORWARD, BACKWARD] = [1, 2, 4, 8]
const [OUTLIVES, AGAIN] = [1, 2]

function addGroup(groups: string[], group: readonly number[]): void {
  const text = group.length === 1 ? `${group[0]}` : group.toSorted((a, b) => a - b).join('+')
  if (groups.at(-1) !== text) groups.push(text)
}

function readOrder(text: string, { callees: { length: size } }: CallerKind): CallOrder {
  const [flags = '', relations = '', groups = ''] = text.split(' ')
  const having = (flag: number) =>
    Array.from(flags).flatMap((bits, callee) => (Number(bits) & flag ? [callee] : []))
  return {
    groups: groups === '' ? [] : groups.split(',').map((group) => group.split('+').map(Number)),
    outliving: having(OUTLIVES),
    again: having(AGAIN),
    relation: (a, b) => {
      const bits = Number.parseInt(relations[Math.min(a, b) * size + Math.max(a, b)]!, 16)
      const together = (bits & TOGETHER) !== 0
      return {
        together,
        inTurn: !together && (bits & IN_TURN) !== 0,
        before: (bits & (a < b ? FORWARD : BACKWARD)) !== 0,
      }
    },
  }
}

/** Reads the calls of spans, by shape; spans of one kind share their common properties. */
function callerReader(flows: FlowSet) {
  const { through } = recordedOtherwise(flows)
  const { callOf } = rootCalls(flows)
  const kinds = new Map<string, CallerKind>()
  let count = 0
  const operations = memoized((service: string) =>
    memoized((operation: string) => ({ number: count++, of: { service, operation } })),
  )
  const shared = ({ service, operation }: Operation) => operations(service)(operation)
  return (shape: number, spans: ShapeVisits): Caller[] => {
    const type = callOf.get(shape) ?? ''
    const isThrough = (span: number) => through.has(callName(operationAt(spans, span)))
    const callerOf = (span: number, context: string): Caller => {
      const calls = callsOf(spans, span, through.size > 0 ? isThrough : undefined)
      const { of, number } = shared(operationAt(spans, span))
      const called = calls.map(({ callee }) => shared(callee))
      const isRoot = span === 0
      const made = called.map((one) => one.number)
      const kind = getOrInsert(kinds, JSON.stringify([number, type, isRoot, context, made]), () => {
        const callees = [...new Set(called)]
        const numbers = called.map((one) => callees.indexOf(one))
        const common = { of, type, isRoot, context, numbers, number: kinds.size }
        return { ...common, callees: callees.map((one) => one.of) }
      })
      return { kind, span, calls: calls.length > 0 ? calls : NONE }
    }
    return spans.visits.flatMap(({ spans: own, caller }) => {
      const context = caller === null ? '' : spans.operations[caller.entry]!
      return own.map((span) => callerOf(span, context))
    })
  }
}

function firstOf({ calls }: Caller, callee: Operation, times: Float64Array): number {
  const own = calls.filter((call) => isSame(call.callee, callee)).map(({ span }) => span)
  return own.reduce(
    (best, one) => (best < 0 || times[2 * one]! < times[2 * best]! ? one : best),
    -1,
  )
}
