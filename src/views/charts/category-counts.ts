import { extent, group, max, range, sort, sum } from 'd3-array'
import type {
  StructuralLabel,
  StructuralMutations,
} from '../../compare/mutations/find-structural-mutations.ts'
import { most } from '../../core/options.ts'
import { counted, grouped, tooltipText } from '../../core/words.ts'
import { AFTER, BEFORE } from '../../flows/flow-set.ts'
import { type Axis, countAxis, plainAxis } from './axes.ts'
import { bars, colorBy, digits, distinctTexts, on, quantity, tooltip } from './builders.ts'
import { defineChart, framedChart, mostDrawn, PALETTE, type SpecPart } from './chart-frame.ts'
import { rootName } from './node-names.ts'

const SIDE = 340
const BAND_STEPS = 60
const MAX_NAMED_TOGETHER = 3

const KINDS: Readonly<Record<StructuralLabel, string>> = {
  'structural-mutation': 'structural mutation (gained requests)',
  precursor: 'precursor (lost requests)',
  unchanged: 'no change beyond the threshold',
}
const LOOKS = [
  { name: KINDS['structural-mutation'], color: PALETTE.after, shape: 'triangle-up' },
  { name: KINDS.precursor, color: PALETTE.before, shape: 'triangle-down' },
  { name: KINDS.unchanged, color: PALETTE.rest, shape: 'circle' },
]

/** Draws requests per category, before against after; names the largest changes. Source: Sambasivan 2013, §2.6.3. */
export const categoryCountsChart = defineChart(
  {
    limit: mostDrawn(2000, 'points', 'largest change first'),
    labels: most(8, 'changes', 'Maximum number of changes listed by name beside the points', 0),
  },
  (structural: StructuralMutations, { limit, labels }) => {
    const { categories } = structural
    const together = group(
      range(categories.size),
      (category) => `${categories.count(category, BEFORE)} ${categories.count(category, AFTER)}`,
    )
    const all = sort(
      Array.from(together.values(), (some) => pointOf(structural, some)),
      ({ change }) => Math.abs(change),
    )
    const points = all.slice(Math.max(0, all.length - limit))
    const largest = max(all, ({ before, after }) => Math.max(before, after)) ?? 0
    const named = points
      .filter(({ kind }) => kind !== KINDS.unchanged)
      .reverse()
      .slice(0, labels)
    const left = sum(all.slice(0, all.length - points.length), (point) => point.categories)
    const isFailing = points.some(hasFailed)
    const scatter = {
      width: SIDE,
      height: SIDE,
      layer: [...band(structural, countAxis(largest, '').domain), dots(points, largest)],
      resolve: { scale: { size: 'independent' } },
    }
    return framedChart(
      {
        title: 'Requests per category, before and after',
        subtitle: [
          ...subtitle(structural),
          isFailing && 'A red outline: some of these requests failed.',
        ],
        omissions:
          left > 0 &&
          `Leaves out ${counted(left, 'category', 'categories')} with the smallest changes.`,
        width: SIDE + 290,
      },
      named.length === 0
        ? scatter
        : {
            hconcat: [scatter, changes(named)],
            spacing: 12,
            resolve: { scale: { color: 'independent', shape: 'independent' } },
          },
    )
  },
)

type CategoryPoint = ReturnType<typeof pointOf>

function pointOf(structural: StructuralMutations, together: readonly number[]) {
  const { categories, changes: changeOf } = structural
  const first = together[0] as number
  const named = together.slice(0, MAX_NAMED_TOGETHER)
  const more = together.length > named.length ? ` and ${together.length - named.length} more` : ''
  const roots = [...new Set(named.map((category) => rootName(categories, category, 80)))]
  return {
    before: categories.count(first, BEFORE),
    after: categories.count(first, AFTER),
    /** After minus before, scaled if the stage was told to. */
    change: digits(changeOf[first] ?? 0),
    kind: KINDS[structural.label(first)],
    categories: together.length,
    ...(categories.flows.outcomes && {
      failedBefore: sum(together, (category) => categories.failed(category, BEFORE)),
      failedAfter: sum(together, (category) => categories.failed(category, AFTER)),
    }),
    ids: `${named.join(', ')}${more}`,
    root: tooltipText(`${roots.join(', ')}${more}`),
  }
}

function subtitle({ categories, options, mutations, precursors }: StructuralMutations): string[] {
  const { smPThreshold } = options
  const scaled =
    options.counts === 'scaled' ? ', after scaled to the number of requests before' : ''
  const many =
    smPThreshold === 'auto'
      ? 'significantly many requests'
      : `more than ${counted(smPThreshold, 'request')}`
  return [
    `${counted(categories.size, 'category', 'categories')}: ${grouped(mutations.length)} gained and ${grouped(precursors.length)} lost ${many}${scaled}.`,
    smPThreshold === 'auto'
      ? 'Each category’s share of the requests of its type was tested.'
      : 'Inside the gray band the number of requests changed by no more than that.',
  ]
}

function band(
  { options, categories: { flows } }: StructuralMutations,
  [low, high]: Axis['domain'],
): SpecPart[] {
  const isScaled = options.counts === 'scaled' && flows.count(AFTER) > 0
  const factor = isScaled ? flows.count(BEFORE) / flows.count(AFTER) : 1
  const threshold = options.smPThreshold === 'auto' ? 0 : options.smPThreshold
  const inside = (after: number) => Math.min(high, Math.max(low, after / factor))
  const values = Array.from({ length: BAND_STEPS + 1 }, (_, i) => {
    const before = i === 0 ? low : Math.expm1((Math.log1p(high) * i) / BAND_STEPS)
    const requests = Math.max(0, before)
    return {
      before,
      low: inside(requests - threshold - (i === 0 ? 1 : 0)),
      high: inside(requests + threshold),
      same: inside(i === 0 ? low : requests),
    }
  })
  const x = quantity('before')
  return [
    {
      data: { values },
      mark: { type: 'area', color: PALETTE.band, tooltip: false },
      encoding: { x, y: quantity('low'), y2: { field: 'high' } },
    },
    {
      data: { values },
      mark: { type: 'line', color: PALETTE.faint, strokeWidth: 1, strokeDash: [4, 3] },
      encoding: { x, y: quantity('same') },
    },
  ]
}

function dots(points: readonly CategoryPoint[], largest: number): SpecPart {
  const most = max(points, ({ categories }) => categories) ?? 1
  const legend = { title: null, columns: 1 }
  const color = colorBy(LOOKS, points, { legend })
  const { domain } = color['scale'] as { domain: readonly string[] }
  const sizes = {
    title: 'categories at one point',
    values: [...new Set([1, Math.round(Math.sqrt(most)), most])],
    format: ',d',
    orient: 'bottom',
    titleOrient: 'left',
    symbolType: 'circle',
  }
  const shapes = domain.map((kind) => LOOKS.find(({ name }) => name === kind)?.shape)
  return {
    data: { values: points },
    mark: { type: 'point', filled: true, opacity: 0.85 },
    encoding: {
      stroke: { condition: { test: FAILED, value: PALETTE.change }, value: 'white' },
      strokeWidth: { condition: { test: FAILED, value: 2 }, value: 0.5 },
      x: on(countAxis(largest, 'requests before'), 'before'),
      y: on(countAxis(largest, 'requests after'), 'after'),
      color,
      shape: { ...color, scale: { domain, range: shapes } },
      size: {
        field: 'categories',
        type: 'quantitative',
        scale: {
          type: 'sqrt',
          domain: [1, Math.max(2, most)],
          range: [80, Math.min(600, 80 * most)],
        },
        legend: most === 1 ? null : sizes,
      },
      tooltip: tooltip({
        root: 'root',
        category: 'ids',
        'categories here': ['categories', ',d'],
        'requests before': ['before', ',d'],
        'requests after': ['after', ',d'],
        change: ['change', '+,~r'],
        kind: 'kind',
        ...(points.some(hasFailed) && {
          'failed before': ['failedBefore', ',d'],
          'failed after': ['failedAfter', ',d'],
        }),
      }),
    },
  }
}

const FAILED = 'datum.failedBefore + datum.failedAfter > 0'

function hasFailed({ failedBefore = 0, failedAfter = 0 }: CategoryPoint): boolean {
  return failedBefore + failedAfter > 0
}

function changes(named: readonly CategoryPoint[]): SpecPart {
  const labels = distinctTexts(named, 30, ({ root, ids }) => `${root} (${ids})`)
  const rows = named.map((point, i) => ({
    ...point,
    label: labels[i] as string,
    text: `${point.change > 0 ? '+' : '−'}${grouped(Math.abs(point.change))}`,
  }))
  const [low = 0, high = 0] = extent([0, ...rows.map(({ change }) => change)])
  const room = (high - low) * 0.75
  return {
    ...bars({
      rows,
      axis: plainAxis([low < 0 ? low - room : 0, high > 0 ? high + room : 0], {
        title: 'change in requests',
        tickCount: 4,
        labelExpr: "datum.value === 0 ? '0' : format(datum.value, '~s')",
      }),
      to: 'change',
      text: 'text',
      color: colorBy(LOOKS, rows, { legend: null }),
      tooltip: { root: 'root', category: 'ids', change: ['change', '+,~r'], kind: 'kind' },
      width: 155,
    }),
    title: { text: 'Largest changes', anchor: 'start', fontSize: 12, fontWeight: 'normal' },
  }
}
