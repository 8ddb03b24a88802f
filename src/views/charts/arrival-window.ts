import { Categories } from '../../compare/categories/categories.ts'
import { AFTER, BEFORE, type FlowSet, type Period } from '../../flows/flow-set.ts'
import type { Stretch } from './lanes.ts'

/** One request of a timeline. */
export interface Arrival extends Stretch {
  /** Row in the flow set. */
  readonly request: number
}

/** The part of both periods that a timeline shows. */
export interface ArrivalWindow {
  readonly fromUs: number
  readonly toUs: number
  /** From the first arrival (or 0, where that is near) to the last reply of both periods. */
  readonly firstUs: number
  readonly lastUs: number
  /** All requests by start, before and after. */
  readonly all: readonly [readonly Arrival[], readonly Arrival[]]
  /** Those under way in the window. */
  readonly inside: readonly [readonly Arrival[], readonly Arrival[]]
}

/**
 * The requests to draw: all of them, where neither period has more than `limit`; else those of
 * the longest stretch from the first arrival on that has no more in either period.
 */
export function arrivalWindow(
  source: FlowSet | Categories,
  {
    category,
    rangeUs,
    limit,
  }: {
    category: number | null
    rangeUs: readonly [number, number] | null
    limit: number
  },
): ArrivalWindow {
  const before = arrivals(source, BEFORE, category)
  const after = arrivals(source, AFTER, category)
  const both = [...before, ...after]
  const isEmpty = both.length === 0
  const earliestUs = isEmpty
    ? 0
    : both.reduce((least, { startUs }) => Math.min(least, startUs), Number.POSITIVE_INFINITY)
  const lastUs = both.reduce((most, { endUs }) => Math.max(most, endUs), earliestUs)
  const isNearStart = earliestUs > 0 && earliestUs < 0.1 * lastUs
  const firstUs = isNearStart ? 0 : earliestUs
  const [fromUs, toUs] = rangeUs ?? [
    firstUs,
    Math.min(lastUs, endOfRoom(before, limit), endOfRoom(after, limit)),
  ]
  const within = (byStart: readonly Arrival[]) =>
    byStart.filter(({ startUs, endUs }) => startUs <= toUs && endUs >= fromUs)
  return {
    ...{ fromUs, toUs, firstUs, lastUs },
    all: [before, after],
    inside: [within(before).slice(0, limit), within(after).slice(0, limit)],
  }
}

/** When the last request arrives for which there is room. */
function endOfRoom(byStart: readonly Arrival[], limit: number): number {
  return byStart.length > limit ? (byStart[limit - 1] as Arrival).startUs : Number.POSITIVE_INFINITY
}

/** Requests by start; those whose times are not numbers are left out. */
function arrivals(
  source: FlowSet | Categories,
  period: Period,
  category: number | null,
): readonly Arrival[] {
  const { startUs, responseTimeUs } = source instanceof Categories ? source.flows : source
  return Array.from(requestsOf(source, period, category), (request) => {
    const start = startUs[request] as number
    return { request, startUs: start, endUs: start + (responseTimeUs[request] as number) }
  })
    .filter(({ startUs: start, endUs }) => Number.isFinite(start) && Number.isFinite(endUs))
    .sort((a, b) => a.startUs - b.startUs || a.request - b.request)
}

function requestsOf(
  source: FlowSet | Categories,
  period: Period,
  category: number | null,
): ArrayLike<number> {
  if (source instanceof Categories && category !== null) {
    source.structure(category)
    return source.members(category, period)
  }
  const flows = source instanceof Categories ? source.flows : source
  const first = period === BEFORE ? 0 : flows.count(BEFORE)
  return Array.from({ length: flows.count(period) }, (_, i) => first + i)
}
