import { OptionError } from '../../core/errors.ts'
import { custom, defineOptions, type OptionsOf, readOptions } from '../../core/options.ts'
import { shortText, tooltipText } from '../../core/shown-text.ts'
import { counted, grouped } from '../../core/words.ts'
import {
  type ExpectedCategoryCurves,
  expectedCategories,
  expectedCategoryCurves,
} from '../../explain/explosion/expected-categories.ts'
import { requireCount } from '../../stats/require-option.ts'
import { logAxis } from './axes.ts'
import { curves } from './builders.ts'
import { digits, on, tooltip } from './channels.ts'
import { framedChart, PALETTE, type SpecPart } from './chart-frame.ts'

/** How many categories requests turned out to be in. */
export interface ObservedCategories {
  readonly hosts: number
  readonly requests: number
  readonly categories: number
  readonly name?: string
}

export const EXPECTED_CATEGORIES_CHART_OPTIONS = defineOptions({
  observed: custom<readonly ObservedCategories[]>({
    default: [],
    expected: 'a list of { hosts, requests, categories, name }',
    accepts: Array.isArray,
    sentence: 'Points beside the curves; a cluster size without a curve gets one',
  }),
})

const MAX_POINT_NAME_LENGTH = 40
/** Standard deviations that the band reaches up and down. */
const SDS = 2
/** Along one path of hues as clusters grow; dark enough for lines on white. */
const COLORS = '#35B0BE #1D91C0 #225EA8 #253494 #54278F #7A0177 #AE017E #DD3497'.split(' ')
/** Where bands on a logarithmic axis end, downwards. */
const LEAST = 0.7

/**
 * Draws how the number of categories grows with requests that choose hosts at random: a curve and a
 * band of two standard deviations a cluster size, observed numbers ringed where outside. Source:
 * Sambasivan 2013, Figure 3.7 and Table 3.7.
 */
export function expectedCategoriesChart(
  stage: ExpectedCategoryCurves,
  given?: Partial<OptionsOf<typeof EXPECTED_CATEGORIES_CHART_OPTIONS>>,
) {
  const { observed } = readOptions(EXPECTED_CATEGORIES_CHART_OPTIONS, given)
  for (const { requests, categories } of observed) {
    requireCount('observed.requests', requests)
    requireCount('observed.categories', categories)
  }
  const { replicas } = stage.options
  const hosts = [...new Set([...stage.options.hosts, ...observed.map((each) => each.hosts)])].sort(
    (a, b) => a - b,
  )
  if (hosts.length === 0 || hosts.length > COLORS.length) {
    throw new OptionError('hosts', hosts.join(', '), `one to ${COLORS.length} cluster sizes`)
  }
  const rows = curveRows(expectedCategoryCurves({ ...stage.options, hosts }))
  const points = observed.map((each) => pointOf(each, replicas))
  const requests = [...rows, ...points].map((row) => row.requests)
  const most = Math.max(...rows.map(({ high }) => high), ...points.map((point) => point.categories))
  const x = logAxis([Math.min(...requests), Math.max(...requests) * 1.1], 'requests')
  const y = logAxis([LEAST, most * 1.4], 'different categories')
  const color = { field: 'hosts', type: 'nominal' }
  return framedChart(
    {
      title: 'Categories to expect when hosts are chosen at random',
      subtitle: [
        `Each request goes to ${counted(replicas, 'host')}, one after the other. Bands reach two standard deviations up and down.`,
        ...points.map(({ sentence }) => sentence),
      ],
      width: 560,
    },
    curves({
      x,
      y,
      // Curves lie on one another at first: those that leave first lie on top.
      curves: hosts.toReversed().map((each, i) => ({
        name: hostsText(each),
        color: colorOf(hosts.length - 1 - i, hosts.length),
        points: rows
          .filter((row) => row.hosts === hostsText(each))
          .map((row) => [row.requests, row.expected] as const),
      })),
      fields: ['hosts', 'requests', 'expected'],
      interpolate: 'linear',
      legend: { symbolOpacity: 1, symbolStrokeWidth: 2 },
      under: [
        {
          data: { values: rows },
          mark: { type: 'area', fillOpacity: 0.22, strokeOpacity: 0 },
          encoding: {
            x: on(x, 'requests'),
            y: on(y, 'low'),
            y2: { field: 'high' },
            color,
            tooltip: tooltip({
              cluster: 'hosts',
              requests: ['requests', ',d'],
              'categories expected': 'said',
            }),
          },
        },
      ],
      over:
        points.length === 0
          ? []
          : observedLayers(points, { x: on(x, 'requests'), y: on(y, 'categories') }),
    }),
  )
}

function curveRows(stage: ExpectedCategoryCurves) {
  type TableRow = Readonly<Record<'hosts' | 'requests' | 'expected' | 'sd', number>>
  return (stage.table().objects() as readonly TableRow[]).map(
    ({ hosts, requests, expected, sd }) => ({
      hosts: hostsText(hosts),
      requests,
      expected: digits(expected),
      low: digits(Math.max(LEAST, expected - SDS * sd)),
      high: digits(Math.min(requests, expected + SDS * sd)),
      said: `${short(expected)} ± ${short(sd)}`,
    }),
  )
}

function pointOf({ hosts, requests, categories, name = '' }: ObservedCategories, replicas: number) {
  const { expected, sd } = expectedCategories(hosts, replicas, requests)
  // Where the number cannot vary, what is rounded away is no difference.
  const isOutside = Math.abs(categories - expected) > SDS * sd + 1e-9 * expected
  const label = shortText(name, MAX_POINT_NAME_LENGTH)
  const said = `${short(expected)} ± ${short(sd)}`
  const verdict = isOutside
    ? categories > expected
      ? 'more than chance explains; requests may differ in something else as well'
      : 'fewer than chance explains; hosts may not be chosen at random'
    : 'as chance has it'
  return {
    hosts: hostsText(hosts),
    requests,
    categories,
    name: tooltipText(name),
    expected: said,
    isOutside,
    sentence: `${label === '' ? '' : `${label}, `}${hostsText(hosts)}: ${counted(categories, 'category', 'categories')} of ${counted(requests, 'request')}, expected ${said}: ${verdict}.`,
  }
}

function observedLayers(
  points: readonly ReturnType<typeof pointOf>[],
  { x, y }: { readonly x: SpecPart; readonly y: SpecPart },
): SpecPart[] {
  const rows = points.map(({ sentence: _, ...row }) => row)
  return [
    {
      data: { values: rows.filter(({ isOutside }) => isOutside) },
      mark: { type: 'point', size: 190, color: PALETTE.change, strokeWidth: 2, tooltip: false },
      encoding: { x, y },
    },
    {
      data: { values: rows },
      mark: { type: 'point', filled: true, size: 70, opacity: 1, stroke: 'white', strokeWidth: 1 },
      encoding: {
        x,
        y,
        color: { field: 'hosts', type: 'nominal' },
        tooltip: tooltip({
          observed: 'name',
          cluster: 'hosts',
          requests: ['requests', ',d'],
          categories: ['categories', ',d'],
          expected: 'expected',
        }),
      },
    },
  ]
}

function hostsText(hosts: number): string {
  return counted(hosts, 'host')
}

function short(value: number): string {
  return value >= 100 ? grouped(value) : String(Number(value.toPrecision(2)))
}

function colorOf(place: number, curveCount: number): string {
  const last = COLORS.length - 1
  return COLORS[curveCount === 1 ? 2 : Math.round((place * last) / (curveCount - 1))] as string
}
