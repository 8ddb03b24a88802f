import { cumsum, group, max, median, min, range, rollup, sort } from 'd3-array'
import { Categories } from '../../compare/categories/categories.ts'
import { Comparison } from '../../compare/comparison.ts'
import { EVENT_OPTIONS } from '../../compare/onset/events.ts'
import { OptionError } from '../../core/errors.ts'
import { custom, optionalNumber } from '../../core/options.ts'
import { counted, formatDuration, grouped } from '../../core/words.ts'
import { AFTER, BEFORE, type FlowSet, type Period } from '../../flows/flow-set.ts'
import type { RangeUs } from '../../flows/select-requests.ts'
import { type Axis, linearDurationAxis, logDurationAxis, roundUp } from './axes.ts'
import { digits, on, panelTitle, tooltip } from './builders.ts'
import { defineChart, framedChart, PALETTE, PERIOD_NAMES, type SpecPart } from './chart-frame.ts'
import { longestPause } from './lanes.ts'
import { rootName } from './node-names.ts'
import { MARKS_MEANING, marksOfPeriod, placedMarks, timeMarks, withMarks } from './time-marks.ts'

const WIDTH = 640
const BARS = 30
const DOTS = 130
/** Room for the words of marks above the dots. */
const LABELS = 36
/** Dots across and up: as many as saved pages have room for. */
const CELLS = { across: 40, up: 10 } as const
/** Places where a range can begin or end, about, and how many of them make a bar. */
const PLACES = 1000
const STEPS_PER_BIN = 10
/** Fewest requests of a part of the time that have a median. */
const MIN_REQUESTS = 5
/** Significant digits of response times: more than can be seen. */
const DIGITS = 5
const COLORS = [PALETTE.before, PALETTE.after] as const

/**
 * Draws when requests arrived (bars) and how long they took (dots, and their medians), before and after on one scale;
 * gaps are times without requests. Source: Sambasivan 2013, §3.3.6.
 */
export const arrivalsChart = defineChart(
  {
    category: optionalNumber('Category to draw; by default all requests'),
    rangeUs: custom<RangeUs | null>({
      default: null,
      unit: 'µs',
      expected: 'two numbers in µs, the smaller first',
      accepts: isRange,
      sentence: 'Stretch of each period to draw, from its start; by default all of it',
    }),
    ...EVENT_OPTIONS,
  },
  (given: FlowSet | Categories | Comparison, { category, rangeUs, events }) => {
    const source = given instanceof Comparison ? given.categories : given
    const flows = source instanceof Categories ? source.flows : source
    const title = titleOf(source, category)
    const marks = timeMarks(given instanceof Comparison ? given : flows, events)
    const model = arrivalsModel(arrivalsData(source, marks), rangeUs)
    const isWanted = (one: ArrivedRequest) => category === null || one.category === category
    const requests = model.requests.map((all) => all.filter(isWanted))
    return arrivalsPicture(model, requests, { title })
  },
)

function isRange(value: unknown): boolean {
  if (value === null) return true
  const [from, to] = Array.isArray(value) ? value : []
  return Number.isFinite(to - from) && to > from
}

function titleOf(source: FlowSet | Categories, category: number | null): string {
  if (category === null) return 'When requests arrived and how long they took'
  if (source instanceof Categories) {
    return `When requests of ${rootName(source, category, 100)} (category ${category}) arrived and how long they took`
  }
  const example =
    "no category with flows, or categories: plot(comparison.categories, 'arrivals', { category: 3 })"
  throw new OptionError('category', category, example)
}

export type ArrivalsData = ReturnType<typeof arrivalsData>

/** Returns what a page carries of the requests of both periods, and of the events among them. */
export function arrivalsData(
  source: FlowSet | Categories,
  marks: Parameters<typeof marksOfPeriod>[0],
) {
  const flows = source instanceof Categories ? source.flows : source
  const categoryOf = source instanceof Categories ? source.categoryOf : new Uint32Array(source.size)
  return {
    packed: [
      packRequests(flows, BEFORE, categoryOf),
      packRequests(flows, AFTER, categoryOf),
    ] as const,
    /** Onsets of findings, and other events, from the start of each period. */
    marks: [marksOfPeriod(marks, flows, BEFORE), marksOfPeriod(marks, flows, AFTER)] as const,
  }
}

/** Packs requests by arrival, in whole µs since the one before. */
function packRequests(flows: FlowSet, period: Period, categoryOf: Uint32Array) {
  const first = period === BEFORE ? 0 : flows.count(BEFORE)
  const start = (request: number) => Math.floor(flows.startUs[request] as number)
  const time = (request: number) => flows.responseTimeUs[request] as number
  const requests = Array.from({ length: flows.count(period) }, (_, i) => first + i)
  const rows = sort(
    requests.filter((row) => Number.isFinite(start(row)) && Number.isFinite(time(row))),
    start,
  )
  return {
    gapsUs: rows.map((row, i) => start(row) - (i === 0 ? 0 : start(rows[i - 1] as number))),
    timesUs: rows.map((row) => Number(time(row).toPrecision(DIGITS))),
    categories: rows.map((row) => categoryOf[row] as number),
  }
}

export interface ArrivedRequest {
  /** Start in whole µs, rounded down, so that ranges of whole µs hold the same requests as unrounded. */
  readonly startUs: number
  readonly timeUs: number
  readonly category: number
}

export type ArrivalsModel = ReturnType<typeof arrivalsModel>

export function arrivalsModel(
  { packed, marks }: Pick<ArrivalsData, 'packed' | 'marks'>,
  rangeUs: RangeUs | null = null,
) {
  const unpack = (period: (typeof packed)[0]): readonly ArrivedRequest[] =>
    Array.from(cumsum(period.gapsUs), (startUs, i) => ({
      startUs,
      timeUs: period.timesUs[i] as number,
      category: period.categories[i] as number,
    }))
  const requests = [unpack(packed[0]), unpack(packed[1])] as const
  const earliest = Math.min(0, ...requests.map((arrived) => arrived[0]?.startUs ?? 0))
  const latest = Math.max(0, ...requests.map((arrived) => arrived.at(-1)?.startUs ?? 0))
  const stepUs = Math.max(1, roundUp((latest - earliest + 1) / PLACES))
  const times = packed.flatMap(({ timesUs }) => timesUs.filter((us) => us > 0))
  const spanUs: RangeUs = rangeUs ?? [
    Math.floor(earliest / stepUs) * stepUs,
    // A range does not contain its end; the last request must be inside.
    (Math.floor(latest / stepUs) + 1) * stepUs,
  ]
  return {
    requests,
    marks,
    stepUs,
    binUs:
      rangeUs === null
        ? STEPS_PER_BIN * stepUs
        : ((rangeUs[1] - rangeUs[0]) * STEPS_PER_BIN) / PLACES,
    /** Range from the first arrival, or 0 if that is earlier, to beyond the last. */
    spanUs,
    /** Shortest and longest response time above 0. */
    extentUs: [min(times) ?? 1, max(times) ?? 10] as const,
  }
}

interface Look {
  readonly title: string
  /** Height of the dots of a period, in pixels. */
  readonly height?: number
  /** Selected stretches of both periods, for pictures in which nothing can be selected. */
  readonly ranges?: readonly (RangeUs | null)[]
}

/** Draws requests of a model: of each period bars of arrivals, and below them response times. */
export function arrivalsPicture(
  model: ArrivalsModel,
  requests: readonly (readonly ArrivedRequest[])[],
  { title, height = DOTS, ranges = [] }: Look,
) {
  const { spanUs, binUs, marks } = model
  const [fromUs, toUs] = spanUs
  const within = requests.map((all) =>
    all.filter(({ startUs }) => startUs >= fromUs && startUs <= toUs),
  )
  const bins = within.map((own) => binsOf(own, model))
  const most = max(bins.flat(), ({ requests: { length } }) => length) ?? 1
  const y = timesAxis(model, height)
  const zeros = within.flat().filter(({ timeUs }) => timeUs <= 0).length
  const views = ([BEFORE, AFTER] as const).flatMap((period) => {
    const x = (field: string, isShown = false) => {
      const { scale, axis } = linearDurationAxis({
        lowUs: fromUs,
        highUs: toUs,
        ticks: 9,
        nice: false,
        title: 'time since the start of the period',
      })
      return { field, type: 'quantitative', scale, axis: isShown ? axis : null }
    }
    const own = within[period] ?? []
    const color = COLORS[period]
    const peak = max(bins[period] ?? [], ({ requests: { length } }) => length) ?? 0
    const words = `${counted(own.length, 'request')}${own.length > 0 ? `, up to ${grouped(peak)} in ${formatDuration(binUs)}` : ''}`
    const shade = rangeLayer(ranges[period] ?? null, x)
    const dots = {
      width: WIDTH,
      height,
      layer: [
        {
          data: { values: cellsOf(own, spanUs, model.extentUs) },
          mark: { type: 'rect', color, aria: false },
          encoding: {
            x: x('fromUs', period === AFTER),
            x2: { field: 'toUs' },
            y: on(y, 'low'),
            y2: { field: 'high' },
            opacity: {
              field: 'darkness',
              type: 'quantitative',
              scale: { domain: [0, DARKNESS.length - 1], range: [0.4, 1] },
              legend: null,
            },
          },
        },
        {
          data: { values: mediansOf(bins[period] ?? []) },
          mark: { type: 'line', color: PALETTE.text, strokeWidth: 2, aria: false },
          encoding: {
            x: x('atUs', period === AFTER),
            y: on(y, 'medianUs'),
            detail: { field: 'run', type: 'nominal' },
          },
        },
        ...shade,
      ],
    }
    const placed = placedMarks(marks[period], { fromUs, toUs, width: WIDTH, height: LABELS })
    return [
      {
        width: WIDTH,
        height: BARS,
        title: panelTitle(`${PERIOD_NAMES[period]}: ${words}`),
        layer: [
          {
            data: { values: (bins[period] ?? []).map(barOf) },
            mark: { type: 'rect', color, aria: false },
            encoding: {
              x: x('fromUs'),
              x2: { field: 'toUs' },
              y: {
                field: 'arrivals',
                type: 'quantitative',
                axis: null,
                scale: { domain: [0, most], nice: false },
              },
              y2: { datum: 0 },
              tooltip: tooltip({ time: 'when', arrivals: ['arrivals', ',d'] }),
            },
          },
          ...shade,
        ],
      },
      withMarks(dots, placed, (field) => x(field, period === AFTER)),
    ]
  })
  return framedChart(
    {
      title,
      subtitle: [
        `Bars: arrivals. Dots: response times, darker where there are more; lines: the median of each ${formatDuration(binUs)}.`,
        pausesText(within),
        marks.flat().length > 0 && MARKS_MEANING,
      ],
      omissions:
        zeros > 0 && `${counted(zeros, 'request')} of 0 µs or less: drawn at the lower edge.`,
      width: WIDTH,
    },
    { vconcat: views, spacing: 4 },
  )
}

/** Returns a logarithmic axis of response times, with room for the words of marks above. */
function timesAxis({ extentUs: [low, high], marks }: ArrivalsModel, height: number): Axis {
  const [lowUs, topUs] = [low / 1.1, high * 1.1]
  const room = marks.flat().length > 0 ? LABELS / height : 0
  const highUs = lowUs * (topUs / lowUs) ** (1 / (1 - room))
  return logDurationAxis({ lowUs, highUs, title: '' })
}

function binsOf(requests: readonly ArrivedRequest[], { spanUs, binUs }: ArrivalsModel) {
  const [fromUs, toUs] = spanUs
  const last = Math.ceil((toUs - fromUs) / binUs - 1e-9) - 1
  const bins = group(requests, ({ startUs }) =>
    Math.min(last, Math.floor((startUs - fromUs) / binUs)),
  )
  return Array.from(bins, ([bin, own]) => ({
    fromUs: digits(fromUs + bin * binUs, 12),
    toUs: Math.min(toUs, digits(fromUs + (bin + 1) * binUs, 12)),
    requests: own,
  }))
}

type Bin = ReturnType<typeof binsOf>[number]

function barOf({ fromUs, toUs, requests }: Bin) {
  const when = `${formatDuration(fromUs)} and the ${formatDuration(toUs - fromUs)} after`
  return { fromUs, toUs, arrivals: requests.length, when }
}

/** Returns the median of each part of the time, at its middle; parts of few requests interrupt the line. */
function mediansOf(bins: readonly Bin[]) {
  const medians = bins.flatMap(({ fromUs, toUs, requests }) => {
    const medianUs = median(requests, ({ timeUs }) => timeUs) ?? 0
    return requests.length < MIN_REQUESTS || medianUs <= 0 ? [] : [{ fromUs, toUs, medianUs }]
  })
  const begins = medians.map(({ fromUs }, i) => Number(fromUs !== medians[i - 1]?.toUs))
  const runs = cumsum(begins)
  return medians.flatMap(({ fromUs, toUs, medianUs }, i) => {
    const run = runs[i] as number
    const atUs = [
      ...(run === runs[i - 1] ? [] : [fromUs]),
      digits((fromUs + toUs) / 2, 12),
      ...(run === runs[i + 1] ? [] : [toUs]),
    ]
    return atUs.map((at) => ({ atUs: at, medianUs, run }))
  })
}

/** Fewest requests of each step of darkness, as shares of the most. */
const DARKNESS = [0, 1 / 4]

/**
 * Counts requests by arrival and response time; neighbors of one darkness are one dot, so that their number does not
 * depend on that of the requests.
 */
function cellsOf(
  requests: readonly ArrivedRequest[],
  [fromUs, toUs]: RangeUs,
  [low, high]: readonly [number, number],
) {
  const place = (share: number, cells: number) =>
    Math.min(cells - 1, Math.max(0, Math.floor(share * cells)))
  const ratio = Math.max(1.01, high / low)
  const counts = rollup(
    requests,
    ({ length }) => length,
    ({ timeUs }) => (timeUs > 0 ? place(Math.log(timeUs / low) / Math.log(ratio), CELLS.up) : 0),
    ({ startUs }) => place((startUs - fromUs) / (toUs - fromUs), CELLS.across),
  )
  const most = max(counts.values(), (columns) => max(columns.values())) ?? 0
  const darknessOf = (count: number) =>
    count === 0 ? -1 : DARKNESS.findLastIndex((share) => count >= share * most)
  const timeAt = (column: number) => digits(fromUs + ((toUs - fromUs) * column) / CELLS.across, 7)
  const lengthAt = (row: number) => digits(low * ratio ** (row / CELLS.up), 4)
  return Array.from(counts, ([row, columns]) => {
    const darkness = range(CELLS.across).map((column) => darknessOf(columns.get(column) ?? 0))
    const starts = range(CELLS.across).filter((at) => darkness[at] !== darkness[at - 1])
    return starts.flatMap((at, i) =>
      darkness[at] === -1
        ? []
        : {
            fromUs: timeAt(at),
            toUs: timeAt(starts[i + 1] ?? CELLS.across),
            low: lengthAt(row),
            high: lengthAt(row + 1),
            darkness: darkness[at] as number,
          },
    )
  }).flat()
}

function rangeLayer(range: RangeUs | null, x: (field: string) => SpecPart): SpecPart[] {
  if (range === null) return []
  return [
    {
      data: { values: [{ fromUs: range[0], toUs: range[1] }] },
      mark: { type: 'rect', filled: false, stroke: PALETTE.text, strokeWidth: 1.5 },
      encoding: { x: x('fromUs'), x2: { field: 'toUs' } },
    },
  ]
}

function pausesText(requests: readonly (readonly ArrivedRequest[])[]): string {
  const [before, after] = requests.map((own) => {
    const byStart = own.map(({ startUs, timeUs }) => ({ startUs, endUs: startUs + timeUs }))
    const { fromUs, lengthUs } = longestPause(byStart)
    if (own.length === 0) return 'no requests at all'
    return lengthUs === 0
      ? 'none'
      : `${formatDuration(lengthUs)} (from ${formatDuration(fromUs)} on)`
  })
  return `Longest pause without requests: before ${before}, after ${after}.`
}
