import { max, min, range, rollup } from 'd3-array'
import { Categories } from '../../compare/categories/categories.ts'
import { EVENT_OPTIONS } from '../../compare/onset/events.ts'
import { Comparison } from '../../comparison/comparison.ts'
import { OptionError } from '../../core/errors.ts'
import { custom, defineOptions, most, type OptionsOf, optionalNumber } from '../../core/options.ts'
import { counted, formatDuration, grouped, tooltipText } from '../../core/words.ts'
import { AFTER, BEFORE, type FlowSet, type Period } from '../../flows/flow-set.ts'
import { linearDurationAxis } from './axes.ts'
import { panelTitle, tooltip } from './builders.ts'
import { defineChart, framedChart, PALETTE, PERIOD_NAMES, type SpecPart } from './chart-frame.ts'
import { lanesOf, longestPause } from './lanes.ts'
import { rootName } from './node-names.ts'
import { MARKS_MEANING, marksOfPeriod, placedMarks, timeMarks, withMarks } from './time-marks.ts'

const ARRIVALS_CHART_OPTIONS = defineOptions({
  category: optionalNumber('Category to draw; by default all requests'),
  rangeUs: custom<readonly [fromUs: number, toUs: number] | null>({
    default: null,
    unit: 'µs',
    expected: 'two numbers in µs, the smaller first',
    accepts: (value) => {
      const [from, to] = Array.isArray(value) ? value : []
      return value === null || (Number.isFinite(to - from) && to > from)
    },
    sentence:
      'Stretch of each period to draw, from its start; by default as much as fits the limit. Where it holds more requests, bars count them',
  }),
  limit: most(400, 'requests', 'Maximum number of requests of each period drawn one by one'),
  ...EVENT_OPTIONS,
})

const WIDTH = 640
const MAX_HEIGHT = 240
const MIN_HEIGHT = 28
const LANE = 12
const OVERVIEW_HEIGHT = 36
const DENSITY_HEIGHT = 72
const BINS = 240
const PERIODS: readonly Period[] = [0, 1]
const COLORS = [PALETTE.before, PALETTE.after] as const

/**
 * Draws when requests arrived and how long each took, on one time scale; gaps are times without
 * requests. Beyond `limit` it draws a stretch, below an overview; of a stretch that was asked for, bars
 * with how many arrive. Source: Sambasivan 2013, §3.3.6.
 */
export const arrivalsChart = defineChart(
  ARRIVALS_CHART_OPTIONS,
  (given: FlowSet | Categories | Comparison, options) => {
    const source = given instanceof Comparison ? given.categories : given
    const flows = source instanceof Categories ? source.flows : source
    const marks = timeMarks(given instanceof Comparison ? given : flows, options.events)
    const title = titleOf(source, options.category)
    const window = arrivalWindow(source, options)
    const left = omissions(window)
    const whole = { fromUs: window.firstUs, toUs: window.lastUs }
    const marked = (panel: TimePanel, period: Period, stretch: TimeRange) => {
      const own = marksOfPeriod(marks, flows, period)
      const placed = placedMarks(own, { ...stretch, width: WIDTH, height: panel.height })
      return withMarks(panel, placed, (field) => timeOf(period, stretch, { field, title: null }))
    }
    return framedChart(
      {
        title,
        subtitle: [
          window.isDense
            ? `Each bar counts the requests that arrive within ${formatDuration(binOf(window))}: more than ${counted(options.limit, 'request')} of a period are too many to draw one by one.`
            : 'Each rectangle is a request from arrival to reply; concurrent ones are stacked.',
          pauses(window),
          marks.length > 0 && MARKS_MEANING,
        ],
        omissions: left,
        width: WIDTH,
      },
      {
        vconcat: [
          ...(left.length === 0
            ? []
            : PERIODS.map((period) => marked(overview(window, period), period, whole))),
          ...PERIODS.map((period) => marked(detail(flows, window, period), period, window)),
        ],
        spacing: 14,
      },
    )
  },
)

function titleOf(source: FlowSet | Categories, category: number | null): string {
  if (category === null) return 'When requests arrived and how long they took'
  if (source instanceof Categories) {
    return `When requests of ${rootName(source, category, 100)} (category ${category}) arrived and how long they took`
  }
  const example =
    "no category with flows, or categories: plot(comparison.categories, 'arrivals', { category: 3 })"
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
  return `Longest pause without requests: before ${before}, after ${after}.`
}

function omissions({ inside, all, fromUs, toUs, isDense }: ArrivalWindow): string[] {
  if (PERIODS.every((period) => inside[period].length === all[period].length)) return []
  const shown = PERIODS.map((period) => {
    const drawn = grouped(inside[period].length)
    return `${drawn} of ${counted(all[period].length, 'request')} ${PERIOD_NAMES[period]}`
  })
  const range =
    fromUs === 0
      ? `the first ${formatDuration(toUs)}`
      : `${formatDuration(fromUs)} to ${formatDuration(toUs)}`
  return [
    `Drawn${isDense ? '' : ' one by one'}: ${range} (framed in the overview), ${shown.join(', ')}.`,
  ]
}

type TimePanel = SpecPart & { readonly height: number }
interface TimeRange {
  readonly fromUs: number
  readonly toUs: number
}

/** Draws the requests in the window, or when they arrive if they are too many. */
function detail(flows: FlowSet, window: ArrivalWindow, period: Period): TimePanel {
  const arrivals = window.inside[period]
  if (window.isDense) {
    return {
      width: WIDTH,
      height: DENSITY_HEIGHT,
      title: panelTitle(`${PERIOD_NAMES[period]}: ${counted(arrivals.length, 'request')}`),
      ...arrivalBars(window.inside, period, window, 'time since the start of the period'),
    }
  }
  const { lanes, count: atOnce } = lanesOf(arrivals)
  const laneHeight = Math.min(LANE, MAX_HEIGHT / Math.max(1, atOnce))
  const values = arrivals.map(({ request, startUs, endUs }, i) => ({
    startUs,
    endUs,
    lane: lanes[i] ?? 0,
    laneEnd: (lanes[i] ?? 0) + 0.85,
    trace: tooltipText(flows.ids[request] ?? ''),
    took: formatDuration(endUs - startUs),
    arrived: formatDuration(startUs),
  }))
  const words =
    values.length === 0
      ? 'no requests'
      : `${counted(values.length, 'request')}, at most ${grouped(atOnce)} at once`
  return {
    width: WIDTH,
    height: Math.max(MIN_HEIGHT, Math.ceil(laneHeight * atOnce)),
    title: panelTitle(`${PERIOD_NAMES[period]}: ${words}`),
    data: { values },
    mark: {
      type: 'rect',
      color: COLORS[period],
      stroke: COLORS[period],
      strokeWidth: laneHeight > 3 ? 0.5 : 0,
      clip: true,
      aria: false,
    },
    encoding: {
      x: timeOf(period, window, { field: 'startUs', title: 'time since the start of the period' }),
      x2: { field: 'endUs' },
      y: {
        field: 'lane',
        type: 'quantitative',
        axis: null,
        scale: { domain: [0, Math.max(MIN_HEIGHT / LANE, atOnce)], nice: false, zero: true },
      },
      y2: { field: 'laneEnd' },
      tooltip: tooltip({ trace: 'trace', arrived: 'arrived', took: 'took' }),
    },
  }
}

function overview(window: ArrivalWindow, period: Period): TimePanel {
  const { firstUs, lastUs, fromUs, toUs, all } = window
  const whole = { fromUs: firstUs, toUs: lastUs }
  const bars = arrivalBars(all, period, whole)
  const { x } = bars.encoding
  const frame = { fromUs: Math.max(fromUs, firstUs), toUs: Math.min(toUs, lastUs) }
  const total = counted(all[period].length, 'request')
  return {
    width: WIDTH,
    height: OVERVIEW_HEIGHT,
    title: panelTitle(
      `${PERIOD_NAMES[period]}, overview: ${total}, by arrival in each ${formatDuration(binOf(whole))}`,
    ),
    layer: [
      bars,
      {
        data: { values: [frame] },
        mark: { type: 'rect', filled: false, stroke: PALETTE.text, strokeWidth: 1.5 },
        encoding: { x, x2: { field: 'toUs' } },
      },
    ],
  }
}

/** Bars of arrivals in a stretch of time, on one scale for both periods. */
function arrivalBars(
  all: ArrivalWindow['inside'],
  period: Period,
  stretch: TimeRange,
  title: string | null = null,
) {
  const { fromUs } = stretch
  const binUs = binOf(stretch)
  const counts = all.map((arrivals) => {
    const bins = rollup(
      arrivingIn(arrivals, stretch),
      ({ length }) => length,
      ({ startUs }) => Math.min(BINS - 1, Math.floor((startUs - fromUs) / binUs)),
    )
    return range(BINS).map((bin) => bins.get(bin) ?? 0)
  })
  const values = (counts[period] ?? [])
    .map((arrivals, bin) => ({
      fromUs: fromUs + bin * binUs,
      toUs: fromUs + (bin + 1) * binUs,
      arrivals,
      when: `${formatDuration(fromUs + bin * binUs)} and the ${formatDuration(binUs)} after`,
    }))
    .filter(({ arrivals }) => arrivals > 0)
  return {
    data: { values },
    mark: { type: 'rect', color: COLORS[period], aria: false },
    encoding: {
      x: timeOf(period, stretch, { field: 'fromUs', title }),
      x2: { field: 'toUs' },
      y: {
        field: 'arrivals',
        type: 'quantitative',
        axis: null,
        scale: { domain: [0, max(counts.flat()) || 1], nice: false },
      },
      y2: { datum: 0 },
      tooltip: tooltip({ time: 'when', arrivals: ['arrivals', ',d'] }),
    },
  }
}

function arrivingIn(arrivals: readonly Arrival[], { fromUs, toUs }: TimeRange): Arrival[] {
  return arrivals.filter(({ startUs }) => startUs >= fromUs && startUs <= toUs)
}

function binOf({ fromUs, toUs }: TimeRange): number {
  return (toUs - fromUs) / BINS || 1
}

function timeOf(
  period: Period,
  { fromUs, toUs }: TimeRange,
  { field, title }: { field: string; title: string | null },
): SpecPart {
  const extent = { lowUs: fromUs, highUs: toUs, ticks: 9, nice: false, title: '' }
  const { scale, axis } = linearDurationAxis(extent)
  const shown = period === 1 ? { title } : { title: null, labels: false, ticks: false }
  return { field, type: 'quantitative', scale, axis: { ...axis, ...shown } }
}

type Arrival = ReturnType<typeof arrivals>[number]

type ArrivalWindow = ReturnType<typeof arrivalWindow>

/** Returns all requests, or the longest stretch from the first arrival with at most `limit` a period. */
function arrivalWindow(
  source: FlowSet | Categories,
  { category, rangeUs, limit }: OptionsOf<typeof ARRIVALS_CHART_OPTIONS>,
) {
  const before = arrivals(source, BEFORE, category)
  const after = arrivals(source, AFTER, category)
  const both = [...before, ...after]
  const earliestUs = min(both, ({ startUs }) => startUs) ?? 0
  const lastUs = max(both, ({ endUs }) => endUs) ?? 0
  const isNearStart = earliestUs > 0 && earliestUs < 0.1 * lastUs
  const firstUs = isNearStart ? 0 : earliestUs
  const [fromUs, toUs] = rangeUs ?? [
    firstUs,
    Math.min(
      lastUs,
      ...[before, after].flatMap((own) =>
        own.length > limit ? (own[limit - 1] as Arrival).startUs : [],
      ),
    ),
  ]
  const ofBoth = (chosen: (byStart: readonly Arrival[]) => readonly Arrival[]) =>
    [chosen(before), chosen(after)] as const
  const inside = ofBoth((byStart) =>
    byStart.filter(({ startUs, endUs }) => startUs <= toUs && endUs >= fromUs),
  )
  const isDense = rangeUs !== null && inside.some(({ length }) => length > limit)
  return {
    fromUs,
    toUs,
    /** Whether a stretch that was asked for has too many to draw one by one. */
    isDense,
    /** Range from the first arrival (or 0, if that is near) to the last reply of both periods. */
    firstUs,
    lastUs,
    all: [before, after] as const,
    inside: isDense
      ? ofBoth((byStart) => arrivingIn(byStart, { fromUs, toUs }))
      : ([inside[0].slice(0, limit), inside[1].slice(0, limit)] as const),
  }
}

function arrivals(source: FlowSet | Categories, period: Period, category: number | null) {
  const flows = source instanceof Categories ? source.flows : source
  const requests =
    source instanceof Categories && category !== null
      ? source.members(category, period)
      : range(flows.size).filter((request) => flows.period[request] === period)
  return Array.from(requests, (request) => {
    const start = flows.startUs[request] as number
    return { request, startUs: start, endUs: start + flows.durationUs(request) }
  })
    .filter(({ startUs: start, endUs }) => Number.isFinite(start) && Number.isFinite(endUs))
    .sort((a, b) => a.startUs - b.startUs || a.request - b.request)
}
