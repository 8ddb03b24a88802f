// Over the calls of orders that are compared: the loops index with `!`.
import { quantile } from '../../stats/quantile.ts'
import type { CallForest } from '../calls/index-calls.ts'
import { comesBefore, type PrecedenceBits, wordsOf } from './precedence-bits.ts'

/** So many calls tell how much a time varies. */
const MAX_SAMPLED = 1000

/** The calls that follow each order, and when the calls that they wait for ran. */
export interface OrderTimesOf {
  readonly forest: CallForest
  /** As of `PeriodOrders`. */
  readonly orderOf: Uint32Array
  readonly nodeCalls: Uint32Array
  /** 1 for calls that take part; all do when left out. */
  readonly chosen?: Uint8Array
}

/** Two nodes of which `a` is over before `b` begins. */
export interface OrderedPair {
  readonly a: number
  readonly b: number
  /** What else comes before what. */
  readonly others: PrecedenceBits
  /** How many nodes there are. */
  readonly nodes: number
}

/** When the nodes of orders ran in some period: tells waiting from chance. */
export class OrderTimes {
  readonly #of: OrderTimesOf
  /** The calls of order `i` are entries `offsets[i]` to `offsets[i + 1]`. */
  readonly #offsets: Uint32Array
  readonly #calls: Uint32Array

  constructor(of: OrderTimesOf, orders: number) {
    const { orderOf, chosen } = of
    const offsets = new Uint32Array(orders + 1)
    const isChosen = (call: number) => chosen === undefined || chosen[call] === 1
    orderOf.forEach((order, call) => {
      if (isChosen(call)) offsets[order + 1]!++
    })
    for (let order = 0; order < orders; order++) offsets[order + 1]! += offsets[order]!
    const next = offsets.slice()
    const calls = new Uint32Array(offsets[orders]!)
    orderOf.forEach((order, call) => {
      if (isChosen(call)) calls[next[order]!++] = call
    })
    this.#of = of
    this.#offsets = offsets
    this.#calls = calls
  }

  /**
   * How much the time from the end of node `a` to the start of node `b` varies, as a share of how
   * much the time to the start of `b` varies from all else that it waits for: the ratio of their
   * interquartile ranges. Near 0 where `b` waits for `a`; near 1 and above where `a` was over by
   * chance.
   *
   * @param members orders that have the pair
   */
  spread(members: readonly number[], { a, b, others, nodes }: OrderedPair): number {
    const calls = this.#sampled(members)
    const { forest, nodeCalls } = this.#of
    const { childOffsets, offsetUs, latencyUs } = forest
    const words = wordsOf(nodes)
    const before: number[] = []
    for (let node = 0; node < nodes; node++) {
      if (node !== a && comesBefore(others, words, node, b)) before.push(node)
    }
    const waited = new Float64Array(calls.length)
    const without = new Float64Array(calls.length)
    calls.forEach((call, i) => {
      const first = childOffsets[call]!
      const endOf = (node: number) => {
        const child = nodeCalls[first + node]!
        return offsetUs[child]! + latencyUs[child]!
      }
      const startUs = offsetUs[nodeCalls[first + b]!]!
      waited[i] = startUs - endOf(a)
      let lastUs = 0
      for (const node of before) lastUs = Math.max(lastUs, endOf(node))
      without[i] = startUs - lastUs
    })
    const range = interquartileRange(without)
    return range > 0 ? interquartileRange(waited) / range : Number.POSITIVE_INFINITY
  }

  /** Calls of these orders, evenly thinned out where they are very many. */
  #sampled(members: readonly number[]): Uint32Array {
    const all: number[] = []
    for (const order of members) {
      for (let at = this.#offsets[order]!; at < this.#offsets[order + 1]!; at++) {
        all.push(this.#calls[at]!)
      }
    }
    if (all.length <= MAX_SAMPLED) return Uint32Array.from(all)
    const step = all.length / MAX_SAMPLED
    return Uint32Array.from({ length: MAX_SAMPLED }, (_, i) => all[Math.floor(i * step)]!)
  }
}

function interquartileRange(values: Float64Array): number {
  const sorted = values.slice().sort()
  return quantile(sorted, 0.75) - quantile(sorted, 0.25)
}
