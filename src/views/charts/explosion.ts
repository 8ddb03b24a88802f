import { extent, max, sort } from 'd3-array'
import { OptionError } from '../../core/errors.ts'
import { custom } from '../../core/options.ts'
import { counted, grouped, percent, shortNumber, shortText, tooltipText } from '../../core/words.ts'
import type { ExplosionDiagnosis } from '../../explain/explosion/diagnose-explosion.ts'
import {
  type ExpectedCategoryCurves,
  expectedCategories,
  expectedCategoryCurves,
} from '../../explain/explosion/expected-categories.ts'
import { type FoldedFlows, foldedSizes } from '../../flows/fold/folded-flows.ts'
import { requireCount } from '../../stats/require-option.ts'
import { SIZE_SCALE } from '../page/palette.ts'
import { type Axis, logAxis, shareAxis } from './axes.ts'
import { curves, digits, distinctTexts, moves, on, ruleAt, tooltip } from './builders.ts'
import { defineChart, framedChart, mostDrawn, PALETTE, type SpecPart } from './chart-frame.ts'

/** Draws what each remedy does to categories and their requests, best first. Source: Sambasivan 2013, §3.5.3. */
export const explosionChart = defineChart({}, (diagnosis: ExplosionDiagnosis) => {
  const rows = rowsOf(diagnosis)
  const notTried = diagnosis.leftOut.map(
    ({ remedy, reason }) => `${remedy} (${shortText(reason, 80)})`,
  )
  return framedChart(
    {
      title: 'What each remedy does against too many categories',
      // What helps is drawn.
      subtitle: rows.length === 0 ? 'There are no requests.' : diagnosis.text().split('\n', 1),
      omissions: notTried.length > 0 && rows.length > 0 && `Not tried: ${notTried.join('; ')}.`,
      width: 840,
    },
    {
      data: { values: rows },
      spacing: 22,
      hconcat: [
        panel(rows, 'categories', wideLogAxis(rows, 'categories', 'categories')),
        panel(
          rows,
          'perCategory',
          wideLogAxis(rows, 'perCategory', 'requests in each, on average'),
        ),
        panel(rows, 'testable', shareAxis('requests that can be tested', { room: 0.22 })),
      ],
    },
  )
})

function rowsOf({ sizes, remedies }: ExplosionDiagnosis) {
  const asIs = { remedy: 'as it is', code: '–', ...sizes }
  return [asIs, ...remedies]
    .filter(({ categories }) => categories > 0)
    .map(({ remedy, code, categories, requestsPerCategory, testableShare, medianC2 }) => ({
      label: remedy,
      code: tooltipText(code),
      isNow: remedy === asIs.remedy,
      categories,
      perCategory: digits(requestsPerCategory),
      testable: Number(testableShare.toFixed(6)),
      categoriesNow: sizes.categories,
      perCategoryNow: digits(sizes.requestsPerCategory),
      testableNow: Number(sizes.testableShare.toFixed(6)),
      categoriesText: grouped(categories),
      perCategoryText: shortNumber(requestsPerCategory),
      testableText: percent(testableShare),
      spread: Number.isNaN(medianC2) ? 'none' : String(Number(medianC2.toPrecision(2))),
    }))
}

type Rows = ReturnType<typeof rowsOf>
type Measure = 'categories' | 'perCategory' | 'testable'

function panel(rows: Rows, measure: Measure, axis: Axis): SpecPart {
  const [now] = rows
  const line = { color: PALETTE.rest, strokeDash: [4, 3] }
  return moves({
    rows,
    axis,
    isShared: true,
    under: now === undefined ? [] : [ruleAt(now[measure], line)],
    from: `${measure}Now`,
    to: measure,
    toText: `${measure}Text`,
    tooltip: {
      remedy: 'label',
      'in code': 'code',
      categories: 'categoriesText',
      'requests in each': 'perCategoryText',
      'requests that can be tested': 'testableText',
      'median C²': 'spread',
    },
    width: 210,
    hidden: measure !== 'categories',
  })
}

function wideLogAxis(rows: Rows, measure: Measure, title: string): Axis {
  const [low = 1, high = 1] = extent(rows, (row) => row[measure])
  const span = Math.max(10, high / low)
  return logAxis([low / span ** 0.22, low * span ** 1.3], title)
}

/** Draws how many nodes flows have, as recorded and folded. Source of the figures: Sambasivan 2013, Table 3.6. */
export const foldedSizesChart = defineChart(
  {
    limit: mostDrawn(20, 'kinds of flow', 'largest flows first'),
  },
  (flows: FoldedFlows, { limit }) => {
    const all = foldedSizes(flows).objects() as readonly SizeRow[]
    const kinds = all.toSorted((a, b) => b.nodesMean - a.nodesMean).slice(0, limit)
    const labels = distinctTexts(kinds, 44, ({ root }) => root)
    const rows = kinds.map(({ root, requests, nodesMean, foldedMean }, i) => ({
      label: labels[i] as string,
      name: tooltipText(root),
      requests: grouped(requests),
      recorded: digits(nodesMean),
      folded: digits(foldedMean),
      recordedText: shortNumber(nodesMean),
      foldedText: shortNumber(foldedMean),
      // Beside the dot; nothing where both are the same.
      foldedLabel: nodesMean === foldedMean ? '' : shortNumber(foldedMean),
    }))
    const sizes = rows.flatMap(({ recorded, folded }) => [recorded, folded])
    const low = Math.min(...sizes, 10)
    const [largest] = rows
    return framedChart(
      {
        title: 'Nodes of flows, as recorded and folded',
        none: largest === undefined && 'There are no requests.',
        subtitle: [
          'Gray: mean as recorded. Blue: folded, with repetitions drawn once.',
          `Largest: ${labels[0]}, ${largest?.recordedText} nodes, folded ${largest?.foldedText}.`,
        ],
        omissions:
          all.length > rows.length &&
          `Leaves out ${counted(all.length - rows.length, 'smaller kind')}.`,
        width: 660,
      },
      moves({
        rows,
        axis: logAxis([low / 1.6, Math.max(...sizes, 10 * low) * 2], 'nodes'),
        from: 'recorded',
        to: 'folded',
        fromText: 'recordedText',
        toText: 'foldedLabel',
        tooltip: {
          'kind of flow': 'name',
          requests: 'requests',
          'nodes, as recorded': 'recordedText',
          'nodes, folded': 'foldedText',
        },
        width: 420,
      }),
    )
  },
)

type SizeRow = Readonly<Record<'requests' | 'nodesMean' | 'foldedMean', number>> & { root: string }

/** Observed number of categories of requests. */
export interface ObservedCategories {
  readonly hosts: number
  readonly requests: number
  readonly categories: number
  readonly name?: string
}

const MAX_POINT_NAME_LENGTH = 40
const SDS = 2
const LEAST = 0.7

/**
 * Draws how the number of categories grows with requests that choose hosts at random: a curve and a
 * band of two standard deviations a cluster size, observed numbers ringed where outside. Source:
 * Sambasivan 2013, Figure 3.7 and Table 3.7.
 */
export const expectedCategoriesChart = defineChart(
  {
    observed: custom<readonly ObservedCategories[]>({
      default: [],
      expected: 'a list of { hosts, requests, categories, name }',
      accepts: Array.isArray,
      sentence: 'Points beside the curves; a cluster size without a curve gets one',
    }),
  },
  (stage: ExpectedCategoryCurves, { observed }) => {
    for (const { requests, categories } of observed) {
      requireCount('observed.requests', requests)
      requireCount('observed.categories', categories)
    }
    const { replicas } = stage.options
    const hosts = sort(new Set([...stage.options.hosts, ...observed.map((each) => each.hosts)]))
    if (hosts.length === 0 || hosts.length > SIZE_SCALE.length) {
      throw new OptionError('hosts', hosts.join(', '), `one to ${SIZE_SCALE.length} cluster sizes`)
    }
    const rows = curveRows(expectedCategoryCurves({ ...stage.options, hosts }))
    const points = observed.map((each) => pointOf(each, replicas))
    const requests = [...rows, ...points].map((row) => row.requests)
    const most =
      max([...rows.map(({ high }) => high), ...points.map(({ categories }) => categories)]) ?? 1
    const x = logAxis([Math.min(...requests), Math.max(...requests) * 1.1], 'requests')
    const y = logAxis([LEAST, most * 1.4], 'different categories')
    const color = { field: 'hosts', type: 'nominal' }
    return framedChart(
      {
        title: 'Categories to expect when hosts are chosen at random',
        subtitle: [
          `Each request goes to ${counted(replicas, 'host')}, one after the other. Bands reach two standard deviations up and down.`,
          hosts.length > 1 &&
            'Where lines lie on one another, nearly every request has a category of its own.',
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
          points.length === 0 ? [] : observedLayers(points, on(x, 'requests'), on(y, 'categories')),
      }),
    )
  },
)

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
  // If the number cannot vary, a rounding error is no difference.
  const isOutside = Math.abs(categories - expected) > SDS * sd + 1e-9 * expected
  const label = shortText(name, MAX_POINT_NAME_LENGTH)
  const said = `${short(expected)} ± ${short(sd)}`
  const verdict = isOutside
    ? categories > expected
      ? 'more than chance explains: requests may differ in something else, too'
      : 'fewer than chance explains: hosts may not be chosen at random'
    : 'as expected by chance'
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
  x: SpecPart,
  y: SpecPart,
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
  const last = SIZE_SCALE.length - 1
  const at = curveCount === 1 ? 2 : Math.round((place * last) / (curveCount - 1))
  return SIZE_SCALE[at]?.[0] ?? PALETTE.rest
}
