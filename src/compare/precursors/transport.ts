// The search runs over all ways for each path: its loop indexes with `!`.

import { addAt, at } from '../../core/entries.ts'
import { remembered } from '../../core/remembered.ts'
import { NOTHING } from '../thresholds.ts'

/** Amounts that a place may give or take at a price each, the cheapest first. */
export type Pieces = readonly (readonly [amount: number, price: number])[]

/** Way from a place of supply to one of demand, and the cost per unit. */
export interface Way {
  readonly from: number
  readonly to: number
  readonly cost: number
}

/**
 * Returns how much goes on each way, so that prices and costs add up to the least: nothing goes that
 * costs more than it earns. Of ways that cost as much, those listed first are taken.
 *
 * Source: successive shortest paths, Ahuja, Magnanti and Orlin 1993, "Network Flows", §9.7.
 */
export function transport(
  { supply, demand }: Record<'supply' | 'demand', readonly Pieces[]>,
  ways: readonly Way[],
): Float64Array {
  const flows = new Float64Array(ways.length)
  const [given, taken] = [supply, demand].map((places) =>
    places.map((pieces) => new Meter(pieces)),
  ) as [Meter[], Meter[]]
  const places = given.length + taken.length
  const [distance, via] = [new Float64Array(places), new Int32Array(places)]
  for (;;) {
    findCheapest(given, { ways, flows, distance, via })
    let end = -1
    let least = -NOTHING
    taken.forEach((place, to) => {
      const whole = at(distance, given.length + to) + place.price()
      if (whole < least - NOTHING) [end, least] = [to, whole]
    })
    const last = taken[end]
    if (last === undefined) return flows
    const steps: { readonly way: number; readonly sign: 1 | -1 }[] = []
    let place = given.length + end
    for (let way = at(via, place); way >= 0; way = at(via, place)) {
      const { from, to } = at(ways, way)
      const isForth = place === given.length + to
      steps.push({ way, sign: isForth ? 1 : -1 })
      place = isForth ? from : given.length + to
    }
    const first = at(given, place)
    const back = steps.filter(({ sign }) => sign < 0).map(({ way }) => at(flows, way))
    const amount = Math.min(first.left(), last.left(), ...back)
    for (const { way, sign } of steps) addAt(flows, way, sign * amount)
    first.use(amount)
    last.use(amount)
  }
}

/** Counts down the pieces of a place. */
class Meter {
  readonly #pieces: Pieces
  #piece = 0
  #used = 0

  constructor(pieces: Pieces) {
    this.#pieces = pieces
    this.use(0)
  }

  /** Returns the price of the next one; `Infinity` where none is left. */
  price(): number {
    return this.#pieces[this.#piece]?.[1] ?? Number.POSITIVE_INFINITY
  }

  /** Returns how many are left at the current price. */
  left(): number {
    return (this.#pieces[this.#piece]?.[0] ?? 0) - this.#used
  }

  use(amount: number): void {
    this.#used += amount
    while (this.#piece < this.#pieces.length && this.left() <= NOTHING) {
      this.#piece++
      this.#used = 0
    }
  }
}

interface Net {
  readonly ways: readonly Way[]
  readonly flows: Float64Array
  /** Cost of the cheapest path to each place: first places of supply, then of demand. */
  readonly distance: Float64Array
  /** The last way of that path; -1 where it begins there. */
  readonly via: Int32Array
}

/** Finds the cheapest path to each place (Bellman and Ford). */
function findCheapest(given: readonly Meter[], { ways, flows, distance, via }: Net): void {
  const { from, to, cost } = columnsOf(ways)
  const count = given.length
  distance.fill(Number.POSITIVE_INFINITY)
  via.fill(-1)
  given.forEach((place, row) => {
    distance[row] = place.price()
  })
  for (let isShorter = true; isShorter; ) {
    isShorter = false
    for (let way = 0; way < flows.length; way++) {
      const [start, end, each] = [from[way]!, count + to[way]!, cost[way]!]
      const difference = distance[end]! - distance[start]! - each
      if (difference > NOTHING) {
        distance[end] = distance[start]! + each
        via[end] = way
        isShorter = true
      } else if (difference < -NOTHING && flows[way]! > NOTHING) {
        distance[start] = distance[end]! - each
        via[start] = way
        isShorter = true
      }
    }
  }
}

const columnsOf = remembered((ways: readonly Way[]) => ({
  from: Uint32Array.from(ways, ({ from }) => from),
  to: Uint32Array.from(ways, ({ to }) => to),
  cost: Float64Array.from(ways, ({ cost }) => cost),
}))
