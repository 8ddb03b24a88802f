import { OptionError, rejectUnknownOptions } from '../../core/errors.ts'
import { shortText, tooltipText } from '../../core/shown-text.ts'
import { counted, grouped } from '../../core/words.ts'
import {
  expectedCategories,
  expectedCategoryCurves,
} from '../../explain/explosion/expected-categories.ts'
import { requireCount } from '../../stats/require-option.ts'
import { logTicks } from './axes.ts'
import type { Chart } from './chart.ts'
import { framedChart, type SpecPart } from './chart-frame.ts'
import { PALETTE } from './palette.ts'

/** How many categories requests turned out to be in. */
export interface ObservedCategories {
  readonly hosts: number
  readonly requests: number
  readonly categories: number
  /** What it is called; by default nothing. */
  readonly name?: string
}

/** What {@link plotExpectedCategories} can be told. */
export interface ExpectedCategoriesOptions {
  /** Cluster sizes, a curve each, up to eight; default 10, 50, 100, 1000. */
  readonly hosts?: readonly number[]
  /** How many hosts a request goes to, one after the other. Default 3. */
  readonly replicas?: number
  /** Fewest and most requests; default 1 to 1,000,000. */
  readonly requests?: readonly [fewest: number, most: number]
  /** Points beside the curves; a cluster size without a curve gets one. Default none. */
  readonly observed?: readonly ObservedCategories[]
}

const WIDTH = 520
const HEIGHT = 320
const POINTS = 61
/** How many standard deviations the band reaches up and down. */
const SDS = 2
/** Along one path of hues as clusters grow; dark enough for lines on white. */
const COLOURS = [
  ...['#35B0BE', '#1D91C0', '#225EA8', '#253494'],
  ...['#54278F', '#7A0177', '#AE017E', '#DD3497'],
]
/** Where bands on a logarithmic axis end, downwards. */
const LEAST = 0.7

/**
 * Draws how the number of categories grows with the number of requests where each request chooses
 * its hosts at random: a curve for each size of cluster on logarithmic axes, a band of two standard
 * deviations around it, and the numbers observed, ringed where they lie outside of theirs.
 *
 * @param options see {@link ExpectedCategoriesOptions}
 * @throws OptionError for numbers that `expectedCategories` does not take, a range that is none, no
 *   curve or more than eight, or an observed number of categories or requests below 1; FlowdeltaError
 *   for an unknown option
 *
 * Source: Sambasivan 2013, Figure 3.7 and Table 3.7.
 *
 * @example
 * plotExpectedCategories({ observed: [{ hosts: 10, requests: 139, categories: 132 }] })
 */
export function plotExpectedCategories(options: ExpectedCategoriesOptions = {}): Chart {
  rejectUnknownOptions(options, ['hosts', 'replicas', 'requests', 'observed'])
  const { hosts: chosen = [10, 50, 100, 1000], replicas = 3, requests, observed = [] } = options
  for (const { requests: count, categories } of observed) {
    requireCount('observed.requests', count)
    requireCount('observed.categories', categories)
  }
  const hosts = [...new Set([...chosen, ...observed.map((each) => each.hosts)])].sort(
    (a, b) => a - b,
  )
  if (hosts.length === 0 || hosts.length > COLOURS.length) {
    throw new OptionError('hosts', hosts.join(', '), `one to ${COLOURS.length} cluster sizes`)
  }
  const rows = curveRows(hosts, replicas, requests)
  const points = observed.map((each) => pointOf(each, replicas))
  return framedChart(
    {
      title: 'Categories to expect when hosts are chosen at random',
      subtitle: [
        `Each request goes to ${counted(replicas, 'host')}, one after the other; the curve of a cluster flattens as it nears the number of ways to choose. ` +
          'Bands reach two standard deviations up and down.',
        ...points.map(({ sentence }) => sentence),
      ],
      width: WIDTH,
    },
    { width: WIDTH, height: HEIGHT, layer: layers(rows, points, hosts) },
  )
}

interface CurveRow {
  readonly hosts: string
  readonly requests: number
  readonly expected: number
  readonly low: number
  readonly high: number
  readonly said: string
}

function curveRows(
  hosts: readonly number[],
  replicas: number,
  requests: readonly [number, number] | undefined,
): CurveRow[] {
  const range = requests === undefined ? {} : { requests }
  // Curves lie on one another at first: those that leave first lie on top.
  const largestFirst = hosts.toReversed()
  const table = expectedCategoryCurves({ hosts: largestFirst, replicas, points: POINTS, ...range })
  return (table.objects() as readonly CurveTableRow[]).map(
    ({ hosts: each, requests: count, expected, sd }) => ({
      ...{ hosts: hostsText(each), requests: count, expected: digits(expected) },
      low: digits(Math.max(LEAST, expected - SDS * sd)),
      high: digits(Math.min(count, expected + SDS * sd)),
      said: `${short(expected)} ± ${short(sd)}`,
    }),
  )
}

interface CurveTableRow {
  readonly hosts: number
  readonly requests: number
  readonly expected: number
  readonly sd: number
}

interface ObservedPoint {
  readonly hosts: string
  readonly requests: number
  readonly categories: number
  readonly name: string
  readonly expected: string
  readonly isOutside: boolean
  readonly sentence: string
}

function pointOf(
  { hosts, requests, categories, name = '' }: ObservedCategories,
  replicas: number,
): ObservedPoint {
  const { expected, sd } = expectedCategories(hosts, replicas, requests)
  // Where the number cannot vary, what is rounded away is no difference.
  const isOutside = Math.abs(categories - expected) > SDS * sd + 1e-9 * expected
  const label = shortText(name, 40)
  const verdict = isOutside
    ? categories > expected
      ? 'more than chance explains, so requests may differ in something else as well'
      : 'fewer than chance explains, so hosts may not be chosen at random'
    : 'as chance has it'
  return {
    ...{ hosts: hostsText(hosts), requests, categories, name: tooltipText(name), isOutside },
    expected: `${short(expected)} ± ${short(sd)}`,
    sentence:
      `${label === '' ? '' : `${label}, `}${hostsText(hosts)}: ` +
      `${counted(categories, 'category', 'categories')} of ${counted(requests, 'request')}, ` +
      `expected ${short(expected)} ± ${short(sd)}: ${verdict}.`,
  }
}

function hostsText(hosts: number): string {
  return counted(hosts, 'host')
}

function digits(value: number): number {
  return Number(value.toPrecision(6))
}

function short(value: number): string {
  return value >= 100 ? grouped(value) : String(Number(value.toPrecision(2)))
}

function layers(
  rows: readonly CurveRow[],
  points: readonly ObservedPoint[],
  hosts: readonly number[],
): SpecPart[] {
  const counts = [...rows, ...points].map(({ requests }) => requests)
  const most = Math.max(...rows.map(({ high }) => high), ...points.map((point) => point.categories))
  const log = (domain: readonly [number, number], title: string) => ({
    scale: { type: 'log', domain: [...domain], nice: false },
    axis: { title, values: logTicks(...domain), format: ',~r' },
  })
  const x = {
    ...{ field: 'requests', type: 'quantitative' },
    ...log([Math.min(...counts), Math.max(...counts) * 1.1], 'requests'),
  }
  const y = (field: string) => ({
    ...{ field, type: 'quantitative' },
    ...log([LEAST, most * 1.4], 'different categories'),
  })
  const color = {
    ...{ field: 'hosts', type: 'nominal' },
    legend: { title: null, symbolType: 'stroke', symbolOpacity: 1, symbolStrokeWidth: 2 },
    scale: {
      domain: hosts.map(hostsText),
      range: hosts.map((_, i) => colourOf(i, hosts.length)),
    },
  }
  const tooltip = [
    { field: 'hosts', type: 'nominal', title: 'cluster' },
    { field: 'requests', type: 'quantitative', title: 'requests', format: ',d' },
    { field: 'said', type: 'nominal', title: 'categories expected' },
  ]
  return [
    {
      data: { values: rows },
      mark: { type: 'area', opacity: 0.22, tooltip: false },
      encoding: { x, y: y('low'), y2: { field: 'high' }, color },
    },
    {
      data: { values: rows },
      mark: { type: 'line', strokeWidth: 2 },
      encoding: { x, y: y('expected'), color, tooltip },
    },
    ...(points.length === 0 ? [] : observedLayers(points, { x, y: y('categories'), color })),
  ]
}

/** As far apart as so many curves allow. */
function colourOf(place: number, curves: number): string {
  const last = COLOURS.length - 1
  return COLOURS[curves === 1 ? 2 : Math.round((place * last) / (curves - 1))] as string
}

function observedLayers(
  points: readonly ObservedPoint[],
  { x, y, color }: Readonly<Record<'x' | 'y' | 'color', SpecPart>>,
): SpecPart[] {
  const rows = points.map(({ sentence: _, ...row }) => row)
  const outside = rows.filter(({ isOutside }) => isOutside)
  return [
    {
      data: { values: outside },
      mark: { type: 'point', size: 190, color: PALETTE.change, strokeWidth: 2, tooltip: false },
      encoding: { x, y },
    },
    {
      data: { values: rows },
      mark: { type: 'point', filled: true, size: 70, opacity: 1, stroke: 'white', strokeWidth: 1 },
      encoding: {
        ...{ x, y, color },
        tooltip: [
          { field: 'name', type: 'nominal', title: 'observed' },
          { field: 'hosts', type: 'nominal', title: 'cluster' },
          { field: 'requests', type: 'quantitative', title: 'requests', format: ',d' },
          { field: 'categories', type: 'quantitative', title: 'categories', format: ',d' },
          { field: 'expected', type: 'nominal', title: 'expected' },
        ],
      },
    },
  ]
}
