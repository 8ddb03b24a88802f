import type { Comparison } from '../../../compare/comparison.ts'
import { AFTER, BEFORE, type FlowSet, type Period } from '../../../flows/flow-set.ts'
import type { RangeUs } from '../../../flows/select-requests.ts'
import { rootName } from '../../charts/node-names.ts'
import { roundUp } from '../../drawing/axis-scale.ts'

/** Requests of one period as they travel: by arrival, in whole µs, each after the one before it. */
interface PackedRequests {
  readonly gapsUs: readonly number[]
  readonly responseTimeUs: readonly number[]
  readonly categories: readonly number[]
}

/** What the timeline carries into a page. */
export interface TimelineData {
  readonly packed: readonly [PackedRequests, PackedRequests]
  /** Whole labels of the nodes that requests begin with. */
  readonly roots: readonly string[]
  /** Number in `roots`, and a short name, of each category. */
  readonly categories: readonly (readonly [root: number, name: string])[]
  /** What the comparison is called in code. */
  readonly name: string
  readonly initial: TimelineState
}

/** Which requests are looked at. */
export type TimelineFilter =
  | { readonly kind: 'all' }
  | { readonly kind: 'root' | 'category'; readonly of: number }

/** What the reader has set. */
export interface TimelineState {
  readonly ranges: readonly [RangeUs | null, RangeUs | null]
  readonly filter: TimelineFilter
}

/** Requests of one period by arrival. */
export interface TimelineRequests {
  /** In whole µs, rounded down: ranges that end at whole µs hold what they hold unrounded. */
  readonly startUs: Float64Array
  readonly responseTimeUs: Float64Array
  readonly categories: Uint32Array
}

/** Both periods on one scale of time. */
export interface TimelineModel {
  readonly requests: readonly [TimelineRequests, TimelineRequests]
  /** From the first arrival, or 0 where that is earlier, to beyond the last. */
  readonly spanUs: RangeUs
  /** What ranges are rounded to. */
  readonly stepUs: number
  /** How long a part of the time is whose arrivals are counted together. */
  readonly binUs: number
  /** Smallest and largest response time above 0. */
  readonly extentUs: readonly [number, number]
  /** The smallest of all, where a logarithmic axis has no place for it: 0 or less; else `null`. */
  readonly zeroUs: number | null
}

/** Significant digits of response times: far more than can be seen or are said. */
const DIGITS = 5
/** A range begins and ends at one of about so many places. */
const PLACES = 1000
const BIN_STEPS = 10
const LONGEST_NAME = 60

/** Takes arrivals, response times and categories out of a comparison. */
export function timelineData(
  { flows, categories }: Comparison,
  { name, initial }: Pick<TimelineData, 'name' | 'initial'>,
): TimelineData {
  const roots = new Map<string, number>()
  const named = Array.from({ length: categories.size }, (_, category) => {
    const text = categories.root(category)
    const root = roots.get(text) ?? roots.size
    roots.set(text, root)
    return [root, rootName(categories, category, LONGEST_NAME)] as const
  })
  return {
    ...{ name, initial, roots: [...roots.keys()], categories: named },
    packed: [
      packRequests(flows, BEFORE, categories.categoryOf),
      packRequests(flows, AFTER, categories.categoryOf),
    ],
  }
}

/** Requests whose times are no numbers cannot be drawn and are left out. */
function packRequests(flows: FlowSet, period: Period, categoryOf: Uint32Array): PackedRequests {
  const first = period === BEFORE ? 0 : flows.count(BEFORE)
  const start = (request: number) => Math.floor(flows.startUs[request] as number)
  const time = (request: number) => flows.responseTimeUs[request] as number
  const rows = Array.from({ length: flows.count(period) }, (_, i) => first + i)
    .filter((request) => Number.isFinite(start(request)) && Number.isFinite(time(request)))
    .sort((a, b) => start(a) - start(b) || a - b)
  return {
    gapsUs: rows.map((request, i) => start(request) - (i === 0 ? 0 : start(rows[i - 1] as number))),
    responseTimeUs: rows.map((request) => Number(time(request).toPrecision(DIGITS))),
    categories: rows.map((request) => categoryOf[request] as number),
  }
}

/** Unpacks what a page was given. */
export function timelineModel({ packed }: TimelineData): TimelineModel {
  const requests = [unpackRequests(packed[0]), unpackRequests(packed[1])] as const
  const firsts = requests.map(({ startUs }) => startUs[0] ?? 0)
  const lasts = requests.map(({ startUs }) => startUs.at(-1) ?? 0)
  const earliest = Math.min(0, ...firsts)
  const latest = Math.max(0, ...lasts)
  const stepUs = Math.max(1, roundUp((latest - earliest + 1) / PLACES))
  let low = Number.POSITIVE_INFINITY
  let high = 0
  let least = Number.POSITIVE_INFINITY
  for (const { responseTimeUs } of requests) {
    for (const time of responseTimeUs) {
      if (time > 0) low = Math.min(low, time)
      high = Math.max(high, time)
      least = Math.min(least, time)
    }
  }
  return {
    ...{ requests, stepUs, binUs: BIN_STEPS * stepUs },
    spanUs: [
      Math.floor(earliest / stepUs) * stepUs,
      // A range ends before its end: the last request is to be within.
      (Math.floor(latest / stepUs) + 1) * stepUs,
    ],
    extentUs: high > 0 ? [low, high] : [1, 10],
    zeroUs: least <= 0 ? least : null,
  }
}

function unpackRequests({ gapsUs, responseTimeUs, categories }: PackedRequests): TimelineRequests {
  const startUs = new Float64Array(gapsUs.length)
  let nowUs = 0
  for (const [i, gap] of gapsUs.entries()) {
    nowUs += gap
    startUs[i] = nowUs
  }
  return {
    startUs,
    responseTimeUs: Float64Array.from(responseTimeUs),
    categories: Uint32Array.from(categories),
  }
}

/** Whether a category's requests are looked at, for each category. */
export function shownCategories(
  categories: TimelineData['categories'],
  filter: TimelineFilter,
): readonly boolean[] {
  return categories.map(([root], category) =>
    filter.kind === 'all' ? true : filter.of === (filter.kind === 'root' ? root : category),
  )
}

/** Only the requests of some categories. */
export function filteredRequests(
  { startUs, responseTimeUs, categories }: TimelineRequests,
  shown: readonly boolean[],
): TimelineRequests {
  const keep = (_: unknown, i: number) => shown[categories[i] as number] as boolean
  return {
    startUs: startUs.filter(keep),
    responseTimeUs: responseTimeUs.filter(keep),
    categories: categories.filter(keep),
  }
}
