import { group, range, rollup, sum } from 'd3-array'
import { addAt, at } from '../../core/entries.ts'
import { remembered } from '../../core/remembered.ts'
import { columnarStage, own, rowTable, type StageTable } from '../../core/stage.ts'
import { AFTER, BEFORE, type Period } from '../../flows/flow-set.ts'
import { quantile } from '../../stats/quantile.ts'
import { randomSource } from '../../stats/random.ts'
import type { Categories } from '../categories/categories.ts'
import {
  type ComparedCounts,
  comparedCounts,
  type MovedRequests,
  type StructuralMutations,
} from '../mutations/find-structural-mutations.ts'
import { NOTHING, RESAMPLES, SURE_PRICE } from '../thresholds.ts'
import { type Precursors, structureDistances } from './match-precursors.ts'
import { type Pieces, transport } from './transport.ts'

/** Requests of both periods that are taken for the same, and the change of their time. */
export interface Stream {
  /**
   * Kind of stream. `'stays'`: requests of one category in both periods; `'moves'`: of another category than before;
   * `'comes'` and `'goes'`: more or fewer requests without known counterparts; `'chance'`: differences of counts within
   * a kind that may be chance; `'mix'`: more or fewer requests of whole kinds.
   */
  readonly kind: 'stays' | 'moves' | 'comes' | 'goes' | 'chance' | 'mix'
  /** Category before; `null` for none or several. */
  readonly from: number | null
  /** Category after; `null` for none or several. */
  readonly to: number | null
  /** Root of the requests; empty for several kinds. */
  readonly root: string
  readonly requests: number
  readonly beforeMeanUs: number
  readonly afterMeanUs: number
  /** Total time that the requests take longer after, in µs. Streams add up to the change of the period. */
  readonly addedUs: number
}

interface MovesColumns {
  readonly precursors: Precursors
  readonly streams: readonly Stream[]
  /** Excess of all requests after over as many before, in µs in total. */
  readonly totalUs: number
}

/**
 * Moves of requests between categories, with the change of their time. Streams add up to the change of all response
 * times.
 *
 * A category's surplus before moves to categories of its kind that gained, so that structures change least in total
 * (normalized string-edit distance). Categories that surely changed (structural mutations and precursors, as findings
 * see them) move as a whole; others give and take amounts that may be chance, up to two standard errors, at the price
 * of its unlikelihood. No category takes more than it gained.
 *
 * Source: flowdelta's own: an unbalanced transport in place of the 1:N rule of Sambasivan 2013, §2.6.3.
 *
 * @example
 * comparison.moves.table().print()
 */
export class Moves extends columnarStage<MovesColumns>() {
  static readonly madeBy: string = 'comparison.moves'

  /**
   * Returns one row per stream, the largest contribution first; `lowUs` and `highUs` bound the contribution (95 %,
   * bootstrap over the requests of both periods).
   */
  table(): StageTable {
    const { streams, totalUs, precursors } = this
    const bounds = intervalsOf(precursors, streams)
    return rowTable(
      streams,
      {
        ...own('kind root from to requests beforeMeanUs afterMeanUs addedUs'),
        lowUs: (_, stream) => at(bounds, stream)[0],
        highUs: (_, stream) => at(bounds, stream)[1],
        share: ({ addedUs }) => addedUs / totalUs,
      },
      precursors.structural.categories.flows.quantity,
    )
  }
}

/** Finds the moves of requests, from the changes that findings accept. */
export function findMoves(precursors: Precursors): Moves {
  const { streams, totalUs } = streamsOf(precursors, sampleOf(precursors))
  const bySize = [...streams].sort((a, b) => Math.abs(b.addedUs) - Math.abs(a.addedUs))
  return new Moves({ precursors, streams: bySize, totalUs })
}

/** Returns the requests that moved. From and to are the same of a mutation whose requests nobody lost. */
export const movedRequests = remembered((precursors: Precursors): readonly MovedRequests[] => {
  const { categories, options, mutations, changes } = precursors.structural
  const moves = moveRequests(precursors, comparedCounts(categories, options))
  const received = rollup(
    moves,
    (some) => sum(some, ({ requests }) => requests),
    ({ to }) => to,
  )
  const come = mutations.flatMap((to): MovedRequests | [] => {
    const requests = at(changes, to) - (received.get(to) ?? 0)
    return requests > NOTHING ? { from: to, to, requests } : []
  })
  return [...moves, ...come]
})

/** Number of requests in each category, and their total time. */
interface Sample {
  readonly counts: readonly [before: Float64Array, after: Float64Array]
  readonly times: readonly [before: Float64Array, after: Float64Array]
}

/** Counts and times of categories; with `draw`, those of a resample. */
function sampleOf({ structural }: Precursors, draw?: (among: number) => number): Sample {
  const { categories, options } = structural
  const { flows, categoryOf } = categories
  const empty = () => new Float64Array(categories.size)
  const sample = { counts: [empty(), empty()], times: [empty(), empty()] } as const
  const isWeighted = options.counts === 'weighted'
  for (const period of [BEFORE, AFTER] as const) {
    const among = flows.count(period)
    const first = period === BEFORE ? 0 : flows.count(BEFORE)
    for (let i = 0; i < among; i++) {
      const request = first + (draw?.(among) ?? i)
      const count = isWeighted ? flows.weightOf(request) : 1
      addAt(sample.counts[period], at(categoryOf, request), count)
      const timeUs = count * at(flows.responseTimeUs, request)
      addAt(sample.times[period], at(categoryOf, request), timeUs)
    }
  }
  return sample
}

function streamsOf(
  precursors: Precursors,
  { counts, times }: Sample,
): Pick<Moves, 'streams' | 'totalUs'> {
  const { structural } = precursors
  const { categories, options } = structural
  const sure = surelyChanged(structural)
  const compared = comparedCounts(categories, options, (category, period) =>
    at(counts[period], category),
  )
  const meanUs = (category: number, period: Period) =>
    at(times[period], category) / at(counts[period], category)
  const streams: Stream[] = []
  const add = ({ kind, from, to, requests }: Pick<Stream, 'kind' | 'from' | 'to' | 'requests'>) => {
    const beforeMeanUs = from === null ? Number.NaN : meanUs(from, BEFORE)
    const afterMeanUs = to === null ? Number.NaN : meanUs(to, AFTER)
    const addedUs =
      requests * ((to === null ? 0 : afterMeanUs) - (from === null ? 0 : beforeMeanUs))
    const root = categories.root((to ?? from) as number)
    streams.push({ kind, from, to, root, requests, beforeMeanUs, afterMeanUs, addedUs })
  }
  const [was, is] = [compared.before.slice(), compared.after.slice()]
  for (const move of moveRequests(precursors, compared)) {
    add({ kind: 'moves', ...move })
    addAt(was, move.from, -move.requests)
    addAt(is, move.to, -move.requests)
  }
  for (const kind of kindsOf(categories).values()) {
    if (sum(kind, (one) => at(compared.before, one)) === 0) continue
    const chance = { come: 0, gone: 0, addedUs: 0 }
    for (const one of kind) {
      const stays = Math.min(at(was, one), at(is, one))
      if (stays > NOTHING) add({ kind: 'stays', from: one, to: one, requests: stays })
      const rest = at(is, one) - at(was, one)
      if (Math.abs(rest) <= NOTHING) continue
      const isChange = rest * (at(compared.after, one) - at(compared.before, one)) > 0
      if (!sure.has(one) || !isChange) {
        chance.addedUs += rest * meanUs(one, rest > 0 ? AFTER : BEFORE)
        if (rest > 0) chance.come += rest
        else chance.gone -= rest
      } else if (rest > 0) add({ kind: 'comes', from: null, to: one, requests: rest })
      else add({ kind: 'goes', from: one, to: null, requests: -rest })
    }
    const requests = Math.max(chance.come, chance.gone)
    if (requests > NOTHING) {
      const root = categories.requestKind(at(kind, 0))
      streams.push({ ...NOWHERE, kind: 'chance', root, requests, addedUs: chance.addedUs })
    }
  }
  const [allBefore, allAfter] = counts.map((own) => sum(own)) as [number, number]
  const totalUs = sum(times[AFTER]) - (allAfter * sum(times[BEFORE])) / allBefore
  const mixUs = totalUs - sum(streams, ({ addedUs }) => addedUs)
  if (Math.abs(mixUs) > NOTHING) {
    streams.push({ ...NOWHERE, kind: 'mix', root: '', addedUs: mixUs })
  }
  return { streams, totalUs }
}

const NOWHERE = {
  from: null,
  to: null,
  requests: Number.NaN,
  beforeMeanUs: Number.NaN,
  afterMeanUs: Number.NaN,
}

const SEED = 1

function intervalsOf(precursors: Precursors, streams: readonly Stream[]) {
  const rows = new Map(streams.map((stream, row) => [keyOf(stream), row]))
  const drawn = streams.map(() => new Float64Array(RESAMPLES))
  const random = randomSource(SEED)
  for (let resample = 0; resample < RESAMPLES; resample++) {
    for (const stream of streamsOf(precursors, sampleOf(precursors, random.integer)).streams) {
      const row = rows.get(keyOf(stream))
      if (row !== undefined) at(drawn, row)[resample] = stream.addedUs
    }
  }
  return drawn.map((added) => {
    added.sort()
    return [quantile(added, 0.025), quantile(added, 0.975)] as const
  })
}

function keyOf({ kind, root, from, to }: Stream): string {
  return from === null && to === null ? `${kind} ${root}` : `${kind} ${from} ${to}`
}

const kindsOf = remembered((categories: Categories) =>
  group(range(categories.size), (category) => categories.requestKind(category)),
)

const surelyChanged = remembered(
  ({ mutations, precursors }: StructuralMutations): ReadonlySet<number> =>
    new Set([...mutations, ...precursors]),
)

function moveRequests(
  { structural, options }: Precursors,
  { before, after, deviation }: ComparedCounts,
): MovedRequests[] {
  const { categories } = structural
  const sure = surelyChanged(structural)
  const distances = structureDistances(categories, options.editTokens)
  return Array.from(kindsOf(categories).values()).flatMap((kind) => {
    if (!kind.some((category) => sure.has(category))) return []
    const [givers, takers]: [Side[], Side[]] = [[], []]
    for (const category of kind) {
      const surplus = at(before, category) - at(after, category)
      const isSure = sure.has(category)
      const sd = Math.max(1, at(deviation, category))
      if (surplus > 0 || !isSure) {
        const pieces = piecesOf(surplus, { most: at(before, category), sd, isSure })
        if (pieces.length > 0) givers.push({ category, isSure, pieces })
      }
      // A category cannot receive more requests than it gained.
      if (surplus < 0) {
        const pieces = piecesOf(-surplus, { most: -surplus, sd, isSure })
        if (pieces.length > 0) takers.push({ category, isSure, pieces })
      }
    }
    const ways = waysBetween(givers, takers, distances)
    const [from, to] = [numbered(ways.map((way) => way.from)), numbered(ways.map((way) => way.to))]
    const flows = transport(
      {
        supply: from.list.map(({ pieces }) => pieces),
        demand: to.list.map(({ pieces }) => pieces),
      },
      ways.map((way) => ({
        from: from.numberOf(way.from),
        to: to.numberOf(way.to),
        cost: way.cost,
      })),
    )
    return ways.flatMap(({ from, to }, way) => {
      const requests = at(flows, way)
      return requests > NOTHING ? [{ from: from.category, to: to.category, requests }] : []
    })
  })
}

/** Things numbered in the order in which they come first. */
function numbered<T>(all: readonly T[]) {
  const list = [...new Set(all)]
  const numbers = new Map(list.map((one, number) => [one, number]))
  return { list, numberOf: (one: T) => numbers.get(one) as number }
}

/** A category that may give or take requests. */
interface Side {
  readonly category: number
  readonly isSure: boolean
  readonly pieces: Pieces
}

/**
 * Returns the ways to and from categories that surely changed; moves between the others may be chance.
 *
 * The others give only to sure categories, and take only from them. So each of these needs no more than the cheapest of
 * them that together hold all that is sure: where one beyond these is used, one of them is not, and costs less.
 */
function waysBetween(
  givers: readonly Side[],
  takers: readonly Side[],
  distances: Pick<ReturnType<typeof structureDistances>, 'from'>,
) {
  const waysOf = (one: Side, all: readonly Side[], most: number) => {
    const costs = distances.from(
      one.category,
      all.map((other) => other.category),
    ).nsed
    const isNear = cheapest(all, costs, most)
    return all.flatMap((other, i) => (isNear[i] ? [{ other, cost: at(costs, i) }] : []))
  }
  const [sureGivers, sureTakers] = [givers, takers].map((sides) =>
    sides.filter(({ isSure }) => isSure),
  ) as [Side[], Side[]]
  const otherTakers = takers.filter(({ isSure }) => !isSure)
  const toSure = sureTakers.flatMap((to) =>
    waysOf(to, givers, amountOf(sureTakers)).map(({ other: from, cost }) => ({ from, to, cost })),
  )
  const fromSure = sureGivers.flatMap((from) =>
    waysOf(from, otherTakers, amountOf(sureGivers)).map(({ other: to, cost }) => ({
      from,
      to,
      cost,
    })),
  )
  return [...toSure, ...fromSure]
}

function amountOf(sides: readonly Side[]): number {
  return sum(sides, ({ pieces }) => sum(pieces, ([amount]) => amount))
}

/** Marks those that are sure, and those of others that hold `most` together at the lowest cost. */
function cheapest(sides: readonly Side[], costs: Float64Array, most: number): readonly boolean[] {
  const isNear = sides.map(({ isSure }) => isSure)
  const pieces = sides.flatMap(({ isSure, pieces: own }, side) =>
    isSure ? [] : own.map(([amount, price]) => ({ side, amount, cost: price + at(costs, side) })),
  )
  pieces.sort((a, b) => a.cost - b.cost)
  let [held, limit] = [0, Number.NEGATIVE_INFINITY]
  for (const { side, amount, cost } of pieces) {
    // Keeps ways that cost as much as the last, so that the order of all decides.
    if (held >= most && cost > limit + NOTHING) break
    held += amount
    limit = cost
    isNear[side] = true
  }
  return isNear
}

/**
 * Returns how many requests a category may give, by price. An uncertain surplus may be chance (among thousands, some
 * always are), so giving it earns nothing. A category that gives more than its surplus owes the difference to chance,
 * at its log likelihood: half its square in standard errors, piece by piece.
 */
function piecesOf(
  surplus: number,
  { most, sd, isSure }: { readonly most: number; readonly sd: number; readonly isSure: boolean },
): Pieces {
  const pieces: [amount: number, price: number][] = []
  let left = most
  let from = -Math.max(sd, surplus)
  for (let step = -1; step <= 2 && left > 0; step++) {
    const amount = Math.min(step * sd - Math.max(from, -surplus), left)
    from = step * sd
    if (amount <= 0) continue
    left -= amount
    const price = step - 0.5
    pieces.push([amount, price > 0 ? price / sd : isSure ? SURE_PRICE : 0])
  }
  return pieces
}
