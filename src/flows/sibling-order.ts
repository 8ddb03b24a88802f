// Runs once a span, node or edge: the loops index with `!`.
import { max, sum } from 'd3-array'
import { getOrInsert } from '../core/entries.ts'
import { benjaminiHochberg } from '../stats/benjamini-hochberg.ts'
import { twoProportionsTest } from '../stats/two-proportions.ts'
import type { SpanClocks } from './clocks/clock-offsets.ts'
import type { ClockResolution } from './clocks/clock-resolution.ts'
import { AFTER, BEFORE, type FlowOptions, type FlowReport, type Period } from './flow-set.ts'
import {
  closedPrecedence,
  intervalPredecessors,
  type Predecessors,
  type SiblingWaits,
  siblingWaits,
  topologicalOrder,
} from './precedence.ts'
import type { SpanCalls } from './span-calls.ts'

/** Calls with more children than this are built as observed: pairs grow with their square. */
const MAX_CHILDREN = 256

/** The children of one call in the order that their flow lists them, and how they are ordered. */
interface OrderedChildren {
  /** Places in the order that their flow lists them; `null` for the order they come in. */
  readonly listing: readonly number[] | null
  readonly waits: SiblingWaits
  /** Whether other calls of the same children, by name and in order of start, have the same. */
  readonly isByRule: boolean
}

export interface SiblingOrder {
  readonly counts: Partial<FlowReport['counts']>
  order(recording: number, caller: number, children: Uint32Array): OrderedChildren
}

/** Names of the calls of every span in each recording, the number of recordings before, and the coarse clocks. */
interface NamedRuns {
  readonly names: readonly Uint32Array[]
  readonly runs: number
  readonly resolution: ClockResolution
}

/** Returns the rule of a `FlowOptions.concurrency`, learned over all periods if it is `'learned'`. */
export function siblingOrder(
  recordings: readonly SpanCalls[],
  named: NamedRuns,
  { concurrency, slackUs }: FlowOptions,
): SiblingOrder {
  const slackOf = recordings.map(({ traces }) => slackOfSpans(traces, named.resolution, slackUs))
  const each = (predecessorsOf: typeof observedPredecessors): SiblingOrder => ({
    counts: {},
    order(recording, caller, children) {
      const calls = recordings[recording]!
      const call = { caller, children, slackOf: slackOf[recording]! }
      const order = children.map((_, i) => i)
      const asynchronous = (child: number) => outlives(calls, children[child]!, call)
      const waits = siblingWaits(predecessorsOf(calls, call), order, asynchronous)
      return { listing: null, waits, isByRule: false }
    },
  })
  if (concurrency === 'none') return each((_, { children }) => Array.from(children, () => []))
  const observed = each(observedPredecessors)
  if (concurrency === 'observed') return observed
  return new LearnedSiblingOrder({ ...named, recordings, slackOf, observed })
}

/** Returns the largest overlap of a span with another at which it still counts as over before it, in µs. */
type SlackOfSpan = (span: number) => number

/** Times are accurate to the slack, or to the resolution of the service's clock if that is coarser. */
function slackOfSpans(
  { spans, services }: SpanCalls['traces'],
  resolution: ClockResolution,
  slackUs: number,
): SlackOfSpan {
  if (resolution.size === 0) return () => slackUs
  const ofServices = Float64Array.from(services.values, (name) =>
    Math.max(slackUs, resolution.get(name)?.overlapUs ?? 0),
  )
  return (span) => ofServices[spans.service[span]!]!
}

interface Call {
  readonly caller: number
  readonly children: Uint32Array
  readonly slackOf: SlackOfSpan
}

function outlives(calls: SpanCalls, child: number, call: Call): boolean {
  const { startUs, endUs, detached, outside } = calls
  return (
    detached[child] === 1 ||
    outside[child] === 1 ||
    endUs[child]! >
      endUs[call.caller]! + Math.max(call.slackOf(call.caller), call.slackOf(child)) ||
    startUs[child]! > endUs[call.caller]!
  )
}

/** `children` come sorted by start, then end: an order in which predecessors come first. */
function observedPredecessors(calls: SpanCalls, { caller, children, slackOf }: Call): Predecessors {
  const startUs = Float64Array.from(children, (span) => calls.startUs[span]!)
  const endUs = Float64Array.from(children, (span) => calls.endUs[span]!)
  if (children.length > MAX_CHILDREN) {
    return intervalPredecessors({ startUs, endUs, slackUs: slackOf(caller) })
  }
  const slacksUs = Float64Array.from(children, slackOf)
  const precedes = (a: number, b: number) =>
    endUs[a]! <= startUs[b]! + Math.max(slacksUs[a]!, slacksUs[b]!)
  const order = children.map((_, i) => i)
  return closedPrecedence(order, precedes).predecessors
}

/** Children of one caller, by their names. */
interface Children {
  /** By name and by which of the calls to it this is. */
  readonly numbers: readonly number[]
  /**
   * Tallies of how often the reply waited for each child, and of how often each child began after another, both ways
   * round.
   */
  readonly replies: readonly Tally[]
  readonly pairs: (readonly [forward: Tally, backward: Tally])[]
}

interface Combination {
  readonly listing: readonly number[]
  /** `null` where the rules contradict each other. */
  readonly waits: SiblingWaits | null
}

/** Recordings that orders are learned from, by recording, and the order of calls that they say nothing of. */
interface LearnedFrom extends Pick<NamedRuns, 'names' | 'runs'> {
  readonly recordings: readonly SpanCalls[]
  readonly slackOf: readonly SlackOfSpan[]
  readonly observed: SiblingOrder
}

/** The `'learned'` rule: the order depends only on which children there are, once a combination. */
class LearnedSiblingOrder implements SiblingOrder {
  readonly #of: LearnedFrom
  readonly #childNumbers = new Map<number, number>()
  readonly #orders = new Map<number, LearnedOrder>()
  readonly #combinations = new Map<string, Combination>()
  /** Number of children seen so far with each name in one call; 0 in between. */
  readonly #seen: Uint32Array
  readonly counts = {
    learnedPairs: 0,
    differingPairs: 0,
    differingWaits: 0,
    circularOrders: 0,
    wideCalls: 0,
  }

  constructor(of: LearnedFrom) {
    const { recordings, names, runs } = of
    this.#of = of
    this.#seen = new Uint32Array(1 + Math.max(-1, ...names.map((ofSpans) => max(ofSpans) ?? -1)))
    recordings.forEach((_, recording) => {
      this.#learn(recording)
    })
    if (recordings.length > runs) {
      const { pairs, waits } = separatePeriods(this.#orders.values())
      this.counts.differingPairs = pairs
      this.counts.differingWaits = waits
    }
    for (const order of this.#orders.values()) this.counts.learnedPairs += order.pairs / 2
  }

  order(recording: number, caller: number, children: Uint32Array): OrderedChildren {
    const { observed } = this.#of
    if (children.length > MAX_CHILDREN) return observed.order(recording, caller, children)
    const { listing, waits } = this.#combination(recording, caller, children)
    if (waits === null) {
      this.counts.circularOrders++
      return observed.order(recording, caller, children)
    }
    return { listing, waits, isByRule: true }
  }

  #combination(recording: number, caller: number, children: Uint32Array): Combination {
    const period = this.#periodOf(recording)
    const ofSpans = this.#of.names[recording]!
    const { detached } = this.#of.recordings[recording]!
    const name = ofSpans[caller]!
    const called = Array.from(children, (span) => ofSpans[span]!)
    const isDetached = Array.from(children, (span) => detached[span]!)
    const key = `${period} ${name} ${called} ${isDetached}`
    return getOrInsert(this.#combinations, key, () => {
      const numbers = this.#numberChildren(called)
      const listing = numbers.map((_, i) => i).sort((a, b) => numbers[a]! - numbers[b]!)
      const waits = this.#waitsOf(period, name, {
        sorted: listing.map((i) => numbers[i]!),
        detached: listing.map((i) => isDetached[i]!),
      })
      return { listing, waits }
    })
  }

  #periodOf(recording: number): Period {
    return recording < this.#of.runs ? BEFORE : AFTER
  }

  #learn(recording: number): void {
    const of = this.#of
    const { childOffsets, children, startUs, endUs, outside, clocks } = of.recordings[recording]!
    const period = this.#periodOf(recording)
    const names = of.names[recording]!
    const slackOf = of.slackOf[recording]!
    const known = new Map<string, Children>()
    for (let caller = 0; caller < names.length; caller++) {
      const first = childOffsets[caller]!
      const count = childOffsets[caller + 1]! - first
      if (count === 0) continue
      if (count > MAX_CHILDREN) {
        this.counts.wideCalls++
        continue
      }
      const called = Array.from(children.subarray(first, first + count), (span) => names[span]!)
      const order = this.#orderOf(names[caller]!)
      const { replies, pairs, numbers } = getOrInsert(known, `${names[caller]} ${called}`, () => {
        const numbers = this.#numberChildren(called)
        return { numbers, replies: numbers.map((number) => order.reply(number)), pairs: [] }
      })
      const replyUs = endUs[caller]!
      for (let j = 0, pair = 0; j < count; j++) {
        const span = children[first + j]!
        const ownSlackUs = slackOf(span)
        const latestUs = replyUs + Math.max(slackOf(caller), ownSlackUs)
        replies[j]!.note(period, outside[span] === 0 && endUs[span]! <= latestUs)
        for (let i = 0; i < j; i++, pair++) {
          const earlier = children[first + i]!
          const beginUs = startUs[span]! + Math.max(ownSlackUs, slackOf(earlier))
          const gapUs = endUs[earlier]! - beginUs
          if (clocks !== undefined && isInDoubt(clocks, earlier, span, gapUs)) continue
          pairs[pair] ??= [
            order.pair(numbers[i]!, numbers[j]!),
            order.pair(numbers[j]!, numbers[i]!),
          ]
          const [forward, backward] = pairs[pair]!
          forward.note(period, endUs[earlier]! <= beginUs)
          backward.note(period, false)
        }
      }
    }
  }

  #orderOf(name: number): LearnedOrder {
    return getOrInsert(this.#orders, name, () => new LearnedOrder())
  }

  /** Numbers children by the called operation and the count of its calls, in order of start. */
  #numberChildren(names: readonly number[]): number[] {
    const seen = this.#seen
    const numbers = names.map((name) => {
      const key = name * MAX_CHILDREN + seen[name]!++
      return getOrInsert(this.#childNumbers, key, () => this.#childNumbers.size)
    })
    for (const name of names) seen[name] = 0
    return numbers
  }

  /** The order of one combination of children, or `null` when the rules contradict each other. */
  #waitsOf(
    period: Period,
    name: number,
    { sorted, detached }: { sorted: readonly number[]; detached: readonly number[] },
  ): SiblingWaits | null {
    const order = this.#orderOf(name)
    const precedes = (a: number, b: number) => order.precedes(period, sorted[a]!, sorted[b]!)
    const topological = topologicalOrder(sorted.length, precedes)
    if (topological === null) return null
    const { predecessors } = closedPrecedence(topological, precedes)
    return siblingWaits(predecessors, topological, (child) => {
      const waited = order.waitsFor(period, sorted[child]!)
      return !waited || detached[child] === 1
    })
  }
}

/** Whether two spans of different clocks are apart by less than their clocks may still be. */
function isInDoubt({ clock, doubtUs }: SpanClocks, a: number, b: number, gapUs: number): boolean {
  return clock[a] !== clock[b] && Math.abs(gapUs) < doubtUs[a]! + doubtUs[b]!
}

/** One child precedes another when it did in this share of the calls that have both. */
const NEARLY_ALWAYS = 0.99
/** A parent waits for a child when it did in this share of the calls; fewer is clock skew. */
const USUALLY = 0.5
/** Periods get rules of their own only on at least this many calls in each … */
const ENOUGH_CALLS = 30
/** … and when their shares differ by at least this much, significantly. */
const CLEAR_DIFFERENCE = 0.05
const ALPHA = 0.05
/** Limit above the number of children in any set of traces. */
const CHILDREN = 2 ** 26

class Tally {
  readonly calls: [number, number] = [0, 0]
  readonly held: [number, number] = [0, 0]
  /** The periods disagree: each has a rule of its own. */
  differs = false

  note(period: Period, held: boolean): void {
    this.calls[period]++
    if (held) this.held[period]++
  }

  share(period: Period): number {
    if (this.differs) return this.held[period] / this.calls[period]
    return (this.held[0] + this.held[1]) / (this.calls[0] + this.calls[1])
  }
}

/**
 * Counts, under one parent operation, how often a child was over before another began, and before the reply. A second
 * call of an operation is another child than its first.
 */
class LearnedOrder {
  readonly #pairs = new Map<number, Tally>()
  readonly #replies = new Map<number, Tally>()

  get pairs(): number {
    return this.#pairs.size
  }

  /** Returns the tally of calls that have both, which counts those where `first` was over before `second`. */
  pair(first: number, second: number): Tally {
    return getOrInsert(this.#pairs, first * CHILDREN + second, () => new Tally())
  }

  reply(child: number): Tally {
    return getOrInsert(this.#replies, child, () => new Tally())
  }

  precedes(period: Period, first: number, second: number): boolean {
    const tally = this.#pairs.get(first * CHILDREN + second)
    return tally !== undefined && tally.share(period) >= NEARLY_ALWAYS
  }

  waitsFor(period: Period, child: number): boolean {
    const tally = this.#replies.get(child)
    return tally === undefined || tally.share(period) >= USUALLY
  }

  tallies(): Tally[] {
    return [...this.#pairs.values(), ...this.#replies.values()]
  }

  /** Counts the pairs, and the waits of replies, in which the periods differ. */
  differences(): { readonly pairs: number; readonly waits: number } {
    const pairs = [...this.#pairs.keys()].filter((key) => {
      const [first, second] = [Math.floor(key / CHILDREN), key % CHILDREN]
      return (
        first < second && (this.#orderDiffers(first, second) || this.#orderDiffers(second, first))
      )
    })
    const waits = [...this.#replies.keys()].filter(
      (child) => this.waitsFor(0, child) !== this.waitsFor(1, child),
    )
    return { pairs: pairs.length, waits: waits.length }
  }

  #orderDiffers(first: number, second: number): boolean {
    return this.precedes(0, first, second) !== this.precedes(1, first, second)
  }
}

/**
 * Lets each period keep its own rules where they disagree: a test of two proportions over rules
 * with at least 30 calls of each period (Benjamini-Hochberg, 5 %), by at least five points. Gives
 * how many rules then differ.
 */
function separatePeriods(orders: Iterable<LearnedOrder>) {
  const learned = [...orders]
  const candidates = learned
    .flatMap((order) => order.tallies())
    .filter(({ calls }) => Math.min(...calls) >= ENOUGH_CALLS)
  const p = candidates.map(
    ({ held, calls }) => twoProportionsTest(held[0], calls[0], held[1], calls[1]).p,
  )
  const q = benjaminiHochberg(p)
  candidates.forEach((tally, i) => {
    const { held, calls } = tally
    const difference = Math.abs(held[0] / calls[0] - held[1] / calls[1])
    tally.differs = q[i]! < ALPHA && difference >= CLEAR_DIFFERENCE
  })
  const differences = learned.map((order) => order.differences())
  return {
    pairs: sum(differences, ({ pairs }) => pairs),
    waits: sum(differences, ({ waits }) => waits),
  }
}
