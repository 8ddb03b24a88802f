// The search runs over all ways for each path: its loop indexes with `!`.
import { addAt, at } from '../../core/entries.ts'
import { remembered } from '../../core/remembered.ts'

/** Amounts that a place may give or take at a price each, the cheapest first. */
export type Pieces = readonly (readonly [amount: number, price: number])[]

/** A way from a place of supply to one of demand, and what one costs on it. */
export interface Way {
  readonly from: number
  readonly to: number
  readonly cost: number
}

interface Places {
  readonly supply: readonly Pieces[]
  readonly demand: readonly Pieces[]
}

const NOTHING = 1e-9

/**
 * Returns how much goes on each way, so that prices and costs add up to the least: nothing goes that
 * costs more than it earns. Of ways that cost as much, those listed first are taken.
 *
 * Source: successive shortest paths, Ahuja, Magnanti and Orlin 1993, "Network Flows", §9.7.
 */
export function transport({ supply, demand }: Places, ways: readonly Way[]): Float64Array {
  const flows = new Float64Array(ways.length)
  const [given, taken] = [supply.map(meter), demand.map(meter)]
  for (;;) {
    const { distance, via } = cheapestWays(given, { ways, flows, places: taken.length })
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

interface Meter {
  /** Price of the next one; `Infinity` where none is left. */
  price(): number
  /** How many have that price. */
  left(): number
  use(amount: number): void
}

function meter(pieces: Pieces): Meter {
  let piece = 0
  let used = 0
  const left = () => (pieces[piece]?.[0] ?? 0) - used
  const skip = () => {
    while (piece < pieces.length && left() <= NOTHING) {
      piece++
      used = 0
    }
  }
  skip()
  return {
    price: () => pieces[piece]?.[1] ?? Number.POSITIVE_INFINITY,
    left,
    use: (amount) => {
      used += amount
      skip()
    },
  }
}

interface Net {
  readonly ways: readonly Way[]
  readonly flows: Float64Array
  readonly places: number
}

/** Finds the last way to each place on the cheapest path there: of supply, then of demand (Bellman and Ford). */
function cheapestWays(given: readonly Meter[], { ways, flows, places }: Net) {
  const { from, to, cost } = columnsOf(ways)
  const count = given.length
  const distance = new Float64Array(count + places).fill(Number.POSITIVE_INFINITY)
  const via = new Int32Array(count + places).fill(-1)
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
  return { distance, via }
}

const columnsOf = remembered((ways: readonly Way[]) => ({
  from: Uint32Array.from(ways, ({ from }) => from),
  to: Uint32Array.from(ways, ({ to }) => to),
  cost: Float64Array.from(ways, ({ cost }) => cost),
}))
