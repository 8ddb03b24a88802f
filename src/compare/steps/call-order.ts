// Runs once a span of a request: the loops index with `!`.
import { median } from 'd3-array'
import type { FlowSet, Period } from '../../flows/flow-set.ts'
import { NS, readTimesNs } from '../../flows/span-tree.ts'
import { lostCalls } from './lost-spans.ts'
import { recordedOtherwise } from './recorded-otherwise.ts'
import { slowSample } from './slow-sample.ts'
import { StretchCounts, timeBlocks } from './time-blocks.ts'
import {
  allVisits,
  callName,
  callsOf,
  type MadeCall,
  type Operation,
  operationAt,
  type ShapeVisits,
} from './visits.ts'

export type { Operation } from './visits.ts'

export function isSame(a: Operation, b: Operation): boolean {
  return a.service === b.service && a.operation === b.operation
}

export function isSameCall(a: Operation | null, b: Operation | null): boolean {
  return a === null || b === null ? a === b : isSame(a, b)
}

/** A span in which an operation works, and what it calls. */
export interface Caller {
  readonly shape: number
  readonly span: number
  readonly of: Operation
  /** Operation that called this one; empty for the root. */
  readonly context: string
  readonly calls: readonly MadeCall[]
  /** What is called, each once: callees are numbered by their place here. */
  readonly callees: readonly Operation[]
  /** Callee of each call. */
  readonly numbers: readonly number[]
}

/** How the calls of one span lie in time; callees by their numbers. */
export interface CallOrder {
  /** Callees whose calls overlap, directly or through others, group after group. */
  readonly groups: readonly (readonly number[])[]
  /** Callees that outlive their caller. */
  readonly outliving: readonly number[]
  /** Callees that are called again once a call of theirs has failed. */
  readonly again: readonly number[]
  /** How the calls of two callees lie; of one and itself, those that are made several times. */
  readonly relation: (a: number, b: number) => Relation
}

/** How the calls of two callees lie in time. */
export interface Relation {
  /** Some of them overlap. */
  readonly together: boolean
  /** None does, and one begins with nothing between it and the end of the other. */
  readonly inTurn: boolean
  /** All of the first are over before any of the second begins. */
  readonly before: boolean
}

/** One order of the calls of one span, in whichever requests. */
export interface CallSite extends Caller {
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
  readonly #trees: readonly ShapeVisits['tree'][]
  /** Sites of request `i` are entries `#offsets[i]` to `#offsets[i + 1]`. */
  readonly #entries: Uint32Array
  readonly #offsets: Uint32Array

  /** @param flows built from spans and not folded */
  constructor(flows: FlowSet) {
    this.#flows = flows
    const callers: Caller[][] = []
    const trees: ShapeVisits['tree'][] = []
    const { through } = recordedOtherwise(flows)
    for (const [shape, spans] of allVisits(flows)) {
      trees[shape] = spans.tree
      callers[shape] = callersOf(shape, spans, through)
    }
    this.callers = callers
    this.#trees = trees
    const { of: blocks, perRun, runs } = timeBlocks(flows)
    const sites: CallSite[] = []
    const known = callers.map((own) =>
      own.map((caller) => ({
        caller,
        ofOrder: new Map<string, number>(),
        turns: NONE,
        inTurn: [-1, -1],
      })),
    )
    this.#offsets = new Uint32Array(flows.size + 1)
    for (let request = 0; request < flows.size; request++) {
      this.#offsets[request + 1] = this.#offsets[request]! + known[flows.shapeOf[request]!]!.length
    }
    // Requests whose latencies are not known have none, nor have callers that lack calls.
    this.#entries = new Uint32Array(this.#offsets[flows.size]!).fill(NO_SITE)
    const siteOf = (
      { caller, ofOrder }: { caller: Caller; ofOrder: Map<string, number> },
      { request, times, like }: { request: number; times: Float64Array; like: string },
    ) => {
      const order = this.#orderOf(request, caller, times)
      const name = `${like} ${order}`
      const site = ofOrder.get(name) ?? sites.length
      if (site < sites.length) return site
      ofOrder.set(name, site)
      const requests = new StretchCounts(flows, perRun * (runs + 1))
      const context = `${caller.context}${like}`
      sites.push({ ...caller, context, order: readOrder(order, caller), requests })
      return site
    }
    const sample = slowSample(flows)
    this.#eachRequest((request, times) => {
      let entry = this.#offsets[request]! - 1
      // A sample that prefers slow requests has more of what these call.
      const isSlow = sample?.isSlow(request) === true
      const isLost = lostCalls(flows)(request)
      for (const one of known[flows.shapeOf[request]!]!) {
        entry++
        // What is known to lack calls tells nothing of which are made.
        if (isLost?.(callName(one.caller.of))) continue
        // What fails calls otherwise: it is compared with what failed.
        const isFailing = flows.outcomes?.failed(request, one.caller.span) === true
        if (one.turns === NONE) one.turns = one.caller.calls.toSorted(byStart(times))
        const isInTurn = !isFailing && this.#areInTurn(one.caller, one.turns, times)
        const known = isInTurn ? one.inTurn[Number(isSlow)]! : -1
        const like = `${isSlow ? ' slow' : ''}${isFailing ? ' failing' : ''}`
        const site = known >= 0 ? known : siteOf(one, { request, times, like })
        if (isInTurn) one.inTurn[Number(isSlow)] = site
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
        if (!isSame(caller.of, of)) continue
        const spans = callees.map((callee) => firstOf(caller, callee, times))
        if (spans.includes(-1)) continue
        const nodes = [...spans, caller.span].flatMap((span) => [2 * span, 2 * span + 1])
        const row = Float64Array.from(nodes, (node) => times[node]!)
        found[this.#flows.period[request] as Period].push(row)
      }
    })
    return found
  }

  /** Whether most calls that are made alone are over by the time that others are made once more. */
  isHedged(of: Operation, call: Operation, period: Period): boolean {
    const [alone, started]: [number[], number[]] = [[], []]
    this.#eachRequest((request, times) => {
      if (this.#flows.period[request] !== period) return
      for (const { of: one, calls } of this.callers[this.#flows.shapeOf[request]!]!) {
        if (!isSame(one, of)) continue
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
    let times = new Float64Array(64)
    for (let request = 0; request < this.#flows.size; request++) {
      const tree = this.#trees[this.#flows.shapeOf[request]!]!
      const latencies = this.#flows.latencies(request)
      if (2 * tree.size > times.length) times = new Float64Array(4 * tree.size)
      // A snapshot may carry the latencies of some requests only.
      if (latencies.length < tree.from.length) continue
      readTimesNs(tree, latencies, times)
      visit(request, times)
    }
  }

  /**
   * Whether the calls of a span, each to another operation, are made in an order that is known, each
   * once the one before is over, and none outlives it: whatever their times, that is one site.
   */
  #areInTurn({ span, callees }: Caller, calls: readonly MadeCall[], times: Float64Array): boolean {
    if (callees.length < calls.length) return false
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
  #orderOf(request: number, { span, calls, callees, numbers }: Caller, times: Float64Array) {
    if (calls.length === 0) return ''
    const slack = this.#flows.options.slackUs * NS
    const startOf = (call: number) => times[2 * calls[call]!.span]!
    const endOf = (call: number) => times[2 * calls[call]!.span + 1]!
    // Clocks of others may be wrong: what is timed by one must overlap by half of the shorter call.
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

function byStart(times: Float64Array) {
  return (a: MadeCall, b: MadeCall) => times[2 * a.span]! - times[2 * b.span]!
}

const [TOGETHER, IN_TURN, FORWARD, BACKWARD] = [1, 2, 4, 8]
const [OUTLIVES, AGAIN] = [1, 2]

function addGroup(groups: string[], group: readonly number[]): void {
  const text = group.length === 1 ? `${group[0]}` : group.toSorted((a, b) => a - b).join('+')
  if (groups.at(-1) !== text) groups.push(text)
}

function readOrder(text: string, { callees: { length: size } }: Caller): CallOrder {
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

function callersOf(shape: number, spans: ShapeVisits, through: ReadonlySet<string>): Caller[] {
  const isThrough = (span: number) => through.has(callName(operationAt(spans, span)))
  return spans.visits.flatMap(({ spans: own, caller }) =>
    own.map((span): Caller => {
      const calls = callsOf(spans, span, isThrough)
      const callees: Operation[] = []
      const numbers = calls.map(({ callee }) => {
        const known = callees.findIndex((other) => isSame(other, callee))
        return known >= 0 ? known : callees.push(callee) - 1
      })
      return {
        shape,
        span,
        of: operationAt(spans, span),
        calls,
        callees,
        numbers,
        context: caller === null ? '' : spans.operations[caller.entry]!,
      }
    }),
  )
}

function firstOf({ calls }: Caller, callee: Operation, times: Float64Array): number {
  const own = calls.filter((call) => isSame(call.callee, callee)).map(({ span }) => span)
  return own.reduce(
    (best, one) => (best < 0 || times[2 * one]! < times[2 * best]! ? one : best),
    -1,
  )
}
