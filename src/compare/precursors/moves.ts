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
} from '../mutations/find-structural-mutations.ts'
import { type Precursors, structureDistances } from './match-precursors.ts'
import { type Pieces, transport, type Way } from './transport.ts'

/** Requests of both periods that are taken for the same, and what became of their time. */
export interface Stream {
  /**
   * `'stays'`: of one category in both periods; `'moves'`: of another than before; `'comes'` and
   * `'goes'`: more or fewer requests, whose others are not known; `'chance'`: of a kind, what counts
   * differ by that may be chance; `'mix'`: more or fewer requests of whole kinds.
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
  /** By how much the requests take longer after, in µs in all. Streams add up to the change of the period. */
  readonly addedUs: number
}

interface MovesColumns {
  readonly precursors: Precursors
  readonly streams: readonly Stream[]
  /** By how much all requests after take longer than as many before, in µs in all. */
  readonly totalUs: number
}

/**
 * Where requests went between categories, with what that added to their time. Streams add up to the
 * change of all response times.
 *
 * A category's surplus before moves to those of its kind that gained, by the way that changes
 * structures least in all (normalized string-edit distance). What surely changed (structural mutations
 * and precursors, as findings see them) moves as a whole; others give and take what chance may hide,
 * up to two standard errors, at the price of its unlikelihood. No category takes more than it gained.
 *
 * Source: flowdelta's own: an unbalanced transport in place of the 1:N rule of Sambasivan 2013, §2.6.3.
 *
 * @example
 * comparison.moves.table().print()
 */
export class Moves extends columnarStage<MovesColumns>() {
  static readonly madeBy: string = 'comparison.moves'

  /**
   * One row a stream, what adds or saves the most first; `lowUs` and `highUs` bound what it adds
   * (95 %, bootstrap over the requests of both periods).
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

/** Finds where requests went, from what findings take for changed. */
export function findMoves(precursors: Precursors): Moves {
  const { streams, totalUs } = streamsOf(precursors, sampleOf(precursors))
  const bySize = [...streams].sort((a, b) => Math.abs(b.addedUs) - Math.abs(a.addedUs))
  return new Moves({ precursors, streams: bySize, totalUs })
}

/** The requests that moved. From and to are the same of a mutation whose requests nobody lost. */
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

/** How many requests of each category there are, and how long they take in all. */
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
  const { categories, options, mutations, precursors: lost } = structural
  const sure = new Set([...mutations, ...lost])
  const compared = comparedCounts(categories, options, (category, period) =>
    at(counts[period], category),
  )
  const meanUs = (category: number, period: Period) =>
    at(times[period], category) / at(counts[period], category)
  const streams: Stream[] = []
  const add = (stream: Pick<Stream, 'kind' | 'from' | 'to' | 'requests'>) => {
    const { from, to, requests } = stream
    const [beforeMeanUs, afterMeanUs] = [
      from === null ? Number.NaN : meanUs(from, BEFORE),
      to === null ? Number.NaN : meanUs(to, AFTER),
    ]
    const addedUs =
      requests * ((to === null ? 0 : afterMeanUs) - (from === null ? 0 : beforeMeanUs))
    const root = categories.root((to ?? from) as number)
    streams.push({ ...stream, root, beforeMeanUs, afterMeanUs, addedUs })
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

const RESAMPLES = 200
const SEED = 1

function intervalsOf(precursors: Precursors, streams: readonly Stream[]) {
  const keyOf = ({ kind, root, from, to }: Stream) => JSON.stringify([kind, root, from, to])
  const random = randomSource(SEED)
  const drawn = range(RESAMPLES).map(() => {
    const all = streamsOf(precursors, sampleOf(precursors, random.integer))
    return new Map(all.streams.map((stream) => [keyOf(stream), stream.addedUs]))
  })
  return streams.map((stream) => {
    const key = keyOf(stream)
    const sorted = drawn.map((added) => added.get(key) ?? 0).sort((a, b) => a - b)
    return [quantile(sorted, 0.025), quantile(sorted, 0.975)] as const
  })
}

const kindsOf = remembered((categories: Categories) =>
  group(range(categories.size), (category) => categories.requestKind(category)),
)

const NOTHING = 1e-6
/** Sure changes move at any distance, whose largest is 1, and beyond any price of chance. */
const SURE = -10

function moveRequests(
  { structural, options }: Precursors,
  { before, after, deviation }: ComparedCounts,
): MovedRequests[] {
  const { categories, mutations, precursors } = structural
  const sure = new Set([...mutations, ...precursors])
  const distances = structureDistances(categories, options.editTokens)
  return Array.from(kindsOf(categories).values()).flatMap((kind) => {
    if (!kind.some((category) => sure.has(category))) return []
    const sides = ([before, after] as const).map((own, side) => {
      const other = side === 0 ? after : before
      return kind.flatMap((category) => {
        const surplus = at(own, category) - at(other, category)
        const isSure = sure.has(category)
        // No more requests came to a category than it gained.
        if (surplus <= 0 && (isSure || side === 1)) return []
        const most = side === 1 ? surplus : at(own, category)
        const pieces = piecesOf({ surplus, most, isSure, deviation: at(deviation, category) })
        return pieces.length === 0 ? [] : [{ category, isSure, pieces }]
      })
    })
    const [givers = [], takers = []] = sides
    const ways = waysBetween(givers, takers, distances)
    const flows = transport({ supply: givers.map(piecesIn), demand: takers.map(piecesIn) }, ways)
    return ways.flatMap(({ from, to }, way) => {
      const requests = at(flows, way)
      const ends = { from: at(givers, from).category, to: at(takers, to).category }
      return requests > NOTHING ? [{ ...ends, requests }] : []
    })
  })
}

/** A category that may give or take requests. */
interface Side {
  readonly category: number
  readonly isSure: boolean
  readonly pieces: Pieces
}

const piecesIn = ({ pieces }: Side) => pieces

/** The ways to and from what surely changed: between others, chance moves as many. */
function waysBetween(
  givers: readonly Side[],
  takers: readonly Side[],
  distances: Pick<ReturnType<typeof structureDistances>, 'from'>,
): Way[] {
  const unsure = range(takers.length).filter((to) => !at(takers, to).isSure)
  const costs = ({ category }: Side, others: readonly Side[]) =>
    distances.from(
      category,
      others.map((other) => other.category),
    ).nsed
  const toSure = takers.flatMap((taker, to) => {
    const cost = taker.isSure ? costs(taker, givers) : []
    return Array.from(cost, (each, from): Way => ({ from, to, cost: each }))
  })
  const toOthers = unsure.map((to) => at(takers, to))
  const fromSure = givers.flatMap((giver, from) => {
    const cost = giver.isSure ? costs(giver, toOthers) : []
    return Array.from(cost, (each, i): Way => ({ from, to: at(unsure, i), cost: each }))
  })
  return [...toSure, ...fromSure]
}

/**
 * How many requests a category may give, by price. A category that gives more or less than its surplus
 * owes the difference to chance. The price is its log likelihood: half its square in standard errors,
 * piece by piece.
 */
function piecesOf(of: {
  readonly surplus: number
  readonly most: number
  readonly deviation: number
  readonly isSure: boolean
}): Pieces {
  const { surplus, deviation, isSure } = of
  const sd = Math.max(1, deviation)
  const ends = [-Math.max(sd, surplus), -sd, 0, sd, 2 * sd]
  let left = of.most
  return [-1.5, -0.5, 0.5, 1.5].flatMap((price, i) => {
    const wanted = at(ends, i + 1) - Math.max(at(ends, i), -surplus)
    const amount = Math.min(wanted, left)
    if (amount <= 0) return []
    left -= amount
    return [[amount, isSure && price < 0 ? SURE : price / sd] as const]
  })
}
