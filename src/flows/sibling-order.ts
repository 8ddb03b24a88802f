// Runs once a span, node or edge: the loops index with `!`.
import type { SpanClocks } from './clocks/clock-offsets.ts'
import { AFTER, BEFORE, type FlowOptions, type FlowReport, type Period } from './flow-set.ts'
import { LearnedOrder, separatePeriods } from './learned-order.ts'
import { intervalPrecedence, type Precedence, reducePrecedence } from './precedence.ts'
import type { SpanCalls } from './span-calls.ts'

/** Of each caller, so many combinations of children are kept to be found at once. */
const MAX_LATEST = 16
/** Calls with more children than this are built as observed: pairs grow with their square. */
const MAX_CHILDREN = 256

/** The children of one call in the order that their flow lists them, and how they are ordered. */
interface OrderedChildren {
  readonly spans: ArrayLike<number>
  readonly precedence: Precedence
}

export interface SiblingOrder {
  readonly counts: Partial<FlowReport['counts']>
  order(recording: number, caller: number, children: Uint32Array): OrderedChildren
}

/** What every span of each recording calls, and how many recordings are of the period before. */
interface NamedRuns {
  readonly names: readonly Uint32Array[]
  readonly runs: number
}

/** The rule of a `FlowOptions.concurrency`, learned over all periods where it is `'learned'`. */
export function siblingOrder(
  recordings: readonly SpanCalls[],
  named: NamedRuns,
  { concurrency, slackUs }: FlowOptions,
): SiblingOrder {
  const each = (orderOf: typeof observedOrder): SiblingOrder => ({
    counts: {},
    order: (recording, caller, children) =>
      orderOf(recordings[recording]!, { caller, children, slackUs }),
  })
  if (concurrency === 'none') return each(concurrentOrder)
  const observed = each(observedOrder)
  if (concurrency === 'observed') return observed
  return new LearnedSiblingOrder(recordings, named, { slackUs, observed })
}

interface Call {
  readonly caller: number
  readonly children: Uint32Array
  readonly slackUs: number
}

function outlives(calls: SpanCalls, child: number, call: Call): boolean {
  const { startUs, endUs, detached, outside } = calls
  return (
    detached[child] === 1 ||
    outside[child] === 1 ||
    endUs[child]! > endUs[call.caller]! + call.slackUs ||
    startUs[child]! > endUs[call.caller]!
  )
}

/** `children` come sorted by start, then end: an order in which predecessors come first. */
function observedOrder(calls: SpanCalls, call: Call): OrderedChildren {
  const { children, slackUs } = call
  const startUs = Float64Array.from(children, (span) => calls.startUs[span]!)
  const endUs = Float64Array.from(children, (span) => calls.endUs[span]!)
  const asynchronous = (child: number) => outlives(calls, children[child]!, call)
  if (children.length > MAX_CHILDREN) {
    return {
      spans: children,
      precedence: intervalPrecedence({ startUs, endUs, slackUs }, asynchronous),
    }
  }
  const precedes = (a: number, b: number) => endUs[a]! <= startUs[b]! + slackUs
  const order = children.map((_, i) => i)
  return { spans: children, precedence: reducePrecedence(order, precedes, asynchronous) }
}

function concurrentOrder(calls: SpanCalls, call: Call): OrderedChildren {
  const all = Array.from(call.children, (_, i) => i)
  const finishers = all.filter((i) => !outlives(calls, call.children[i]!, call))
  return {
    spans: call.children,
    precedence: { followers: all.map(() => []), starters: all, finishers },
  }
}

interface Combination {
  readonly period: Period
  readonly numbers: readonly number[]
  /** 1 for children that say that nobody waits for them. */
  readonly detached: readonly number[]
  /** Their places in the order that their flow lists them. */
  readonly listing: readonly number[]
  /** `null` where the rules contradict each other. */
  readonly precedence: Precedence | null
}

/** The `'learned'` rule: the order depends only on which children there are, once a combination. */
class LearnedSiblingOrder implements SiblingOrder {
  readonly #recordings: readonly SpanCalls[]
  readonly #runs: number
  readonly #names: readonly Uint32Array[]
  readonly #slackUs: number
  readonly #resolutionUs: Float64Array
  readonly #observed: SiblingOrder
  readonly #childNumbers = new Map<number, number>()
  readonly #orders = new Map<number, LearnedOrder>()
  readonly #precedences = new Map<string, Precedence | null>()
  /** By what the caller is, the combinations that it had last: it mostly has one of them again. */
  readonly #latest: Combination[][] = []
  /** Of each name, how many children of one call had it so far; 0 in between. */
  readonly #seen: Uint32Array
  readonly counts = {
    learnedPairs: 0,
    differingPairs: 0,
    differingWaits: 0,
    orderViolations: 0,
    circularOrders: 0,
    wideCalls: 0,
    coarseClocks: 0,
  }

  constructor(
    recordings: readonly SpanCalls[],
    { names, runs }: NamedRuns,
    { slackUs, observed }: { slackUs: number; observed: SiblingOrder },
  ) {
    this.#recordings = recordings
    this.#runs = runs
    this.#names = names
    this.#slackUs = slackUs
    this.#observed = observed
    this.#resolutionUs = clockResolutionUs(recordings, names)
    this.#seen = new Uint32Array(this.#resolutionUs.length)
    this.counts.coarseClocks = this.#resolutionUs.filter((resolution) => resolution > 0).length
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
    if (children.length > MAX_CHILDREN) return this.#observed.order(recording, caller, children)
    const period = this.#periodOf(recording)
    const name = this.#names[recording]![caller]!
    const numbers = this.#numberChildren(recording, children)
    const { detached } = this.#recordings[recording]!
    this.#latest[name] ??= []
    const latest = this.#latest[name]
    let combination = latest.find(
      (one) =>
        one.period === period &&
        one.numbers.length === numbers.length &&
        numbers.every((n, i) => n === one.numbers[i] && detached[children[i]!] === one.detached[i]),
    )
    if (combination === undefined) {
      const ofChildren = Array.from(children, (span) => detached[span]!)
      combination = this.#combine(name, { period, numbers, detached: ofChildren })
      latest.unshift(combination)
      latest.length = Math.min(latest.length, MAX_LATEST)
    }
    const { listing, precedence } = combination
    if (precedence === null) {
      this.counts.circularOrders++
      return this.#observed.order(recording, caller, children)
    }
    const spans = listing.map((i) => children[i]!)
    if (this.#violates(recording, spans, precedence)) this.counts.orderViolations++
    return { spans, precedence }
  }

  #combine(name: number, called: Pick<Combination, 'period' | 'numbers' | 'detached'>) {
    const { period, numbers } = called
    const listing = numbers.map((_, i) => i).sort((a, b) => numbers[a]! - numbers[b]!)
    const sorted = listing.map((i) => numbers[i]!)
    const detached = listing.map((i) => called.detached[i]!)
    const key = `${period} ${name} ${sorted.join()} ${detached.join('')}`
    let precedence = this.#precedences.get(key)
    if (precedence === undefined) {
      precedence = this.#precedenceOf(period, name, { sorted, detached })
      this.#precedences.set(key, precedence)
    }
    return { ...called, listing, precedence }
  }

  #periodOf(recording: number): Period {
    return recording < this.#runs ? BEFORE : AFTER
  }

  #learn(recording: number): void {
    const { childOffsets, children, startUs, endUs, outside, clocks } = this.#recordings[recording]!
    const period = this.#periodOf(recording)
    const names = this.#names[recording]!
    for (let caller = 0; caller < names.length; caller++) {
      const siblings = children.subarray(childOffsets[caller], childOffsets[caller + 1])
      if (siblings.length === 0) continue
      if (siblings.length > MAX_CHILDREN) {
        this.counts.wideCalls++
        continue
      }
      const order = this.#orderOf(names[caller]!)
      const numbers = this.#numberChildren(recording, siblings)
      const replyUs = endUs[caller]!
      for (let j = 0; j < siblings.length; j++) {
        const span = siblings[j]!
        const beginUs = startUs[span]! + this.#slackUs
        const slackUs = this.#replySlackUs(names[caller]!, names[span]!)
        const over = outside[span] === 0 && endUs[span]! <= replyUs + slackUs
        order.noteReply(period, numbers[j]!, over)
        for (let i = 0; i < j; i++) {
          const earlier = siblings[i]!
          const done = endUs[earlier]! <= beginUs
          if (clocks !== undefined && isInDoubt(clocks, earlier, span, endUs[earlier]! - beginUs))
            continue
          order.notePair(period, [numbers[i]!, numbers[j]!], done)
        }
      }
    }
  }

  /** A start that was cut to milliseconds moves its span's end by as much. */
  #replySlackUs(caller: number, child: number): number {
    const callerUs = this.#resolutionUs[caller]!
    return Math.max(this.#slackUs, callerUs, this.#resolutionUs[child]!)
  }

  #orderOf(name: number): LearnedOrder {
    const order = this.#orders.get(name) ?? new LearnedOrder()
    this.#orders.set(name, order)
    return order
  }

  /** Numbers children by what is called and which of its calls it is, in order of start. */
  #numberChildren(recording: number, children: Uint32Array): number[] {
    const names = this.#names[recording]!
    const seen = this.#seen
    const numbers: number[] = []
    for (let i = 0; i < children.length; i++) {
      const name = names[children[i]!]!
      const key = name * MAX_CHILDREN + seen[name]!++
      let number = this.#childNumbers.get(key)
      if (number === undefined) {
        number = this.#childNumbers.size
        this.#childNumbers.set(key, number)
      }
      numbers.push(number)
    }
    for (let i = 0; i < children.length; i++) seen[names[children[i]!]!] = 0
    return numbers
  }

  /** The order of one combination of children, or `null` when the rules contradict each other. */
  #precedenceOf(
    period: Period,
    name: number,
    { sorted, detached }: { sorted: readonly number[]; detached: readonly number[] },
  ): Precedence | null {
    const order = this.#orderOf(name)
    const precedes = (a: number, b: number) => order.precedes(period, sorted[a]!, sorted[b]!)
    const topological = topologicalOrder(sorted.length, precedes)
    if (topological === null) return null
    return reducePrecedence(topological, precedes, (child) => {
      const waited = order.waitsFor(period, sorted[child]!)
      return !waited || detached[child] === 1
    })
  }

  #violates(recording: number, spans: readonly number[], { followers }: Precedence): boolean {
    const { startUs, endUs } = this.#recordings[recording]!
    return followers.some((next, i) =>
      next.some((j) => endUs[spans[i]!]! > startUs[spans[j]!]! + this.#slackUs),
    )
  }
}

/** Whether two spans of different clocks are apart by less than their clocks may still be. */
function isInDoubt({ clock, doubtUs }: SpanClocks, a: number, b: number, gapUs: number): boolean {
  return clock[a] !== clock[b] && Math.abs(gapUs) < doubtUs[a]! + doubtUs[b]!
}

/** Kahn's algorithm, lowest number first; `null` when the relation has a cycle. */
function topologicalOrder(n: number, precedes: (a: number, b: number) => boolean): number[] | null {
  const waiting = Array.from({ length: n }, (_, b) => {
    let count = 0
    for (let a = 0; a < n; a++) if (a !== b && precedes(a, b)) count++
    return count
  })
  const order: number[] = []
  const done = new Uint8Array(n)
  while (order.length < n) {
    const next = waiting.findIndex((count, i) => count === 0 && done[i] === 0)
    if (next < 0) return null
    done[next] = 1
    order.push(next)
    for (let b = 0; b < n; b++) {
      if (b !== next && precedes(next, b)) waiting[b] = waiting[b]! - 1
    }
  }
  return order
}

const MILLISECOND_US = 1000
const MILLISECOND_NS = 1_000_000n
/** Of fewer different starts it may be chance that all of them are on a whole millisecond. */
const ENOUGH_STARTS = 20

/**
 * How far off each operation's starts may be: 1000 µs where all, at 20 or more times, are on a
 * whole millisecond and not all ends are: starts were cut, durations were not. Else 0.
 */
export function clockResolutionUs(
  periods: readonly SpanCalls[],
  names: readonly Uint32Array[],
): Float64Array {
  const spans: number[] = []
  const wholeStarts: number[] = []
  const wholeEnds: number[] = []
  const starts: number[] = []
  const latestUs: number[] = []
  periods.forEach(({ traces }, period) => {
    const { startUs, durationUs } = traces.spans
    const phaseUs = Number(traces.epochNs % MILLISECOND_NS) / 1000
    names[period]?.forEach((name, span) => {
      const start = phaseUs + startUs[span]!
      const end = start + durationUs[span]!
      spans[name] = (spans[name] ?? 0) + 1
      if (latestUs[name] !== start) starts[name] = (starts[name] ?? 0) + 1
      latestUs[name] = start
      if (isWhole(start)) wholeStarts[name] = (wholeStarts[name] ?? 0) + 1
      if (isWhole(end)) wholeEnds[name] = (wholeEnds[name] ?? 0) + 1
    })
  })
  return Float64Array.from(spans, (count = 0, name) =>
    wholeStarts[name] === count && wholeEnds[name] !== count && (starts[name] ?? 0) >= ENOUGH_STARTS
      ? MILLISECOND_US
      : 0,
  )
}

function isWhole(us: number): boolean {
  return us % MILLISECOND_US === 0
}
