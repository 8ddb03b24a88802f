import { Categories } from '../../compare/categories/categories.ts'
import { OptionError } from '../../core/errors.ts'
import { formatDuration } from '../../core/units.ts'
import { counted, grouped } from '../../core/words.ts'
import type { FlowSet, Period } from '../../flows/flow-set.ts'
import { detailView, overviewView, TIMELINE_WIDTH } from './arrival-views.ts'
import { type ArrivalWindow, arrivalWindow } from './arrival-window.ts'
import type { Chart } from './chart.ts'
import { framedChart } from './chart-frame.ts'
import { longestPause } from './lanes.ts'
import { rootName } from './node-names.ts'

/** What {@link plotArrivals} can be told. */
export interface ArrivalsOptions {
  /** Draw only the requests of this category; needs `Categories`. Default: all requests. */
  readonly category?: number | null
  /**
   * Draw only this stretch, in µs since the start of each period. Default: everything, or as much
   * from the first arrival on as `limit` lets through.
   */
  readonly rangeUs?: readonly [fromUs: number, toUs: number] | null
  /** At most this many requests of each period, one by one. Default 400. */
  readonly limit?: number
}

const PERIODS: readonly Period[] = [0, 1]

/**
 * Draws when requests arrived and how long each took, both periods on one time scale: each
 * rectangle is a request, from its arrival to its reply; those under way at the same time stand
 * above each other. Gaps are times in which nothing was asked for: when response times stay the
 * same and gaps appear, the cause is outside the system.
 *
 * Where there are more requests than `limit`, only a stretch of time is drawn, below an overview
 * of both periods in 240 bars each.
 *
 * @param source a stage of `buildFlows` or `categorize`
 * @param options see {@link ArrivalsOptions}
 * @throws OptionError for a category without `Categories`, an empty range, or a limit below 1
 * @throws RangeError when there is no such category
 *
 * Source: Sambasivan 2013, §3.3.6 and Figure 3.5.
 *
 * @example
 * plotArrivals(comparison.flows, { rangeUs: [0, 5e6] })
 */
export function plotArrivals(
  source: FlowSet | Categories,
  { category = null, rangeUs = null, limit = 400 }: ArrivalsOptions = {},
): Chart {
  if (!(limit >= 1)) throw new OptionError('limit', limit, 'a number of requests, 1 or more')
  if (rangeUs !== null && !(Number.isFinite(rangeUs[1] - rangeUs[0]) && rangeUs[1] > rangeUs[0])) {
    throw new OptionError('rangeUs', rangeUs.join(' to '), 'two numbers in µs, the smaller first')
  }
  const window = arrivalWindow(source, { category, rangeUs, limit })
  const flows = source instanceof Categories ? source.flows : source
  const left = omissions(window)
  return framedChart(
    {
      title: title(source, category),
      subtitle: [
        'Each rectangle is one request, from arrival to reply; requests under way at the same time stand above each other.',
        pauses(window),
      ],
      omissions: left,
      width: TIMELINE_WIDTH,
    },
    {
      vconcat: [
        ...(left.length === 0 ? [] : PERIODS.map((period) => overviewView(window, period))),
        ...PERIODS.map((period) => detailView(flows, window, period)),
      ],
      spacing: 14,
    },
  )
}

function title(source: FlowSet | Categories, category: number | null): string {
  if (category === null) return 'When requests arrived and how long they took'
  if (source instanceof Categories) {
    return `When requests of ${rootName(source, category, 50)} (category ${category}) arrived and how long they took`
  }
  const example =
    'no category with flows, or categories: plotArrivals(comparison.categories, { category: 3 })'
  throw new OptionError('category', category, example)
}

function pauses({ all }: ArrivalWindow): string {
  const [before, after] = all.map((arrivals) => {
    const { fromUs, lengthUs } = longestPause(arrivals)
    if (arrivals.length === 0) return 'no requests at all'
    return lengthUs === 0
      ? 'none'
      : `${formatDuration(lengthUs)} (from ${formatDuration(fromUs)} on)`
  })
  return `Longest pause with no request under way: before ${before}, after ${after}.`
}

function omissions({ inside, all, fromUs, toUs }: ArrivalWindow): string[] {
  if (PERIODS.every((period) => inside[period].length === all[period].length)) return []
  const shown = PERIODS.map((period) => {
    const drawn = grouped(inside[period].length)
    return `${drawn} of ${counted(all[period].length, 'request')} ${period === 0 ? 'before' : 'after'}`
  })
  const range =
    fromUs === 0
      ? `the first ${formatDuration(toUs)}`
      : `${formatDuration(fromUs)} to ${formatDuration(toUs)}`
  return [`Drawn one by one: ${range} (framed in the overview), ` + `${shown.join(', ')}.`]
}
