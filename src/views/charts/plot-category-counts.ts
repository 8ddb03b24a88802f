import type { StructuralMutations } from '../../compare/mutations/structural-mutations.ts'
import { OptionError } from '../../core/errors.ts'
import { shortText } from '../../core/shown-text.ts'
import { counted, grouped } from '../../core/words.ts'
import { type CategoryPoint, categoryPoints, KIND_NAMES } from './category-points.ts'
import type { Chart } from './chart.ts'
import { framedChart, type SpecPart } from './chart-frame.ts'
import { type CountScale, countScale } from './count-scale.ts'
import { LABEL_SIZE, placedLabels, STANDS, type Stand } from './label-placement.ts'
import { PALETTE } from './palette.ts'

/** What {@link plotCategoryCounts} can be told. */
export interface CategoryCountsOptions {
  /**
   * At most this many points; beyond it, those with the smallest change are left out, and the
   * chart says so. Default 2,000.
   */
  readonly limit?: number
  /** At most this many of the largest changes are named, where there is room. Default 8. */
  readonly labels?: number
}

const SIDE = 460
const BAND_STEPS = 60

/**
 * Draws the number of requests of every category, before against after, and the band in which a
 * change counts as none (`smPThreshold`). Categories above it are structural mutations, those
 * below it precursors. Axes are nearly logarithmic, with a place for 0; categories with the same
 * two counts share a point.
 *
 * @param structural a stage of `findStructuralMutations`
 * @param options see {@link CategoryCountsOptions}
 * @throws OptionError for a limit or a number of labels that is negative or no number
 *
 * Source: Sambasivan 2013, §2.4.3 (the threshold).
 *
 * @example
 * plotCategoryCounts(comparison.structural)
 */
export function plotCategoryCounts(
  structural: StructuralMutations,
  { limit = 2000, labels = 8 }: CategoryCountsOptions = {},
): Chart {
  if (!(limit >= 1)) throw new OptionError('limit', limit, 'a number of points, 1 or more')
  if (!(labels >= 0)) throw new OptionError('labels', labels, 'a number of labels, 0 or more')
  const all = categoryPoints(structural)
  const points = all.slice(Math.max(0, all.length - limit))
  const largest = all.reduce((most, { before, after }) => Math.max(most, before, after), 0)
  const scale = countScale(largest)
  return framedChart(
    {
      title: 'Requests per category, before and after',
      subtitle: subtitle(structural),
      omissions: omissions(all, points.length),
      width: SIDE,
    },
    {
      width: SIDE,
      height: SIDE,
      layer: [...band(structural, scale), dots(points, scale), ...names(points, { scale, labels })],
      resolve: { scale: { size: 'independent' } },
    },
  )
}

function subtitle({ categories, options, mutations, precursors }: StructuralMutations): string[] {
  const scaled = options.counts === 'scaled' ? ', after scaled to as many requests as before' : ''
  return [
    `${counted(categories.size, 'category', 'categories')}: ${grouped(mutations.length)} gained and ` +
      `${grouped(precursors.length)} lost ${more(options)}${scaled}.`,
    options.smPThreshold === 'auto'
      ? 'Each category’s share of the requests of its type was tested. Names have the number of their category in brackets.'
      : 'Inside the grey band the number of requests changed by no more than that. Names have the number of their category in brackets.',
  ]
}

function more({ smPThreshold }: StructuralMutations['options']): string {
  return smPThreshold === 'auto'
    ? 'significantly many requests'
    : `more than ${counted(smPThreshold, 'request')}`
}

function omissions(all: readonly CategoryPoint[], shown: number): string[] {
  const left = all
    .slice(0, Math.max(0, all.length - shown))
    .reduce((sum, { categories }) => sum + categories, 0)
  if (left === 0) return []
  return [`${counted(left, 'category', 'categories')} with the smallest changes are not drawn.`]
}

/** Where `after` is within the threshold of `before`, both ways, and the line of no change. */
function band({ options, categories }: StructuralMutations, scale: CountScale): SpecPart[] {
  const [low, high] = scale.domain
  const { flows } = categories
  const factor =
    options.counts === 'scaled' && flows.count(1) > 0 ? flows.count(0) / flows.count(1) : 1
  const threshold = options.smPThreshold === 'auto' ? 0 : options.smPThreshold
  const inside = (after: number) => Math.min(high, Math.max(low, after / factor))
  const values = Array.from({ length: BAND_STEPS + 1 }, (_, i) => {
    const before = i === 0 ? low : Math.expm1((Math.log1p(high) * i) / BAND_STEPS)
    const count = Math.max(0, before)
    return {
      before,
      low: inside(count - threshold - (i === 0 ? 1 : 0)),
      high: inside(count + threshold),
      same: inside(i === 0 ? low : count),
    }
  })
  const x = { field: 'before', type: 'quantitative' }
  return [
    {
      data: { values },
      mark: { type: 'area', color: PALETTE.band, tooltip: false },
      encoding: { x, y: { field: 'low', type: 'quantitative' }, y2: { field: 'high' } },
    },
    {
      data: { values },
      mark: { type: 'line', color: PALETTE.faint, strokeWidth: 1, strokeDash: [4, 3] },
      encoding: { x, y: { field: 'same', type: 'quantitative' } },
    },
  ]
}

const LOOKS = [
  { name: KIND_NAMES['structural-mutation'], color: PALETTE.after, shape: 'triangle-up' },
  { name: KIND_NAMES.precursor, color: PALETTE.before, shape: 'triangle-down' },
  { name: KIND_NAMES.unchanged, color: PALETTE.rest, shape: 'circle' },
]

function dots(points: readonly CategoryPoint[], scale: CountScale): SpecPart {
  const several = points.some(({ categories }) => categories > 1)
  const most = points.reduce((sum, { categories }) => Math.max(sum, categories), 1)
  const looks = LOOKS.filter(({ name }) => points.some(({ kind }) => kind === name))
  const domain = looks.map(({ name }) => name)
  const legend = { title: null, columns: 1 }
  return {
    data: { values: points },
    mark: { type: 'point', filled: true, opacity: 0.85, stroke: 'white', strokeWidth: 0.5 },
    encoding: {
      x: { field: 'before', type: 'quantitative', ...scale.encoding('requests before') },
      y: { field: 'after', type: 'quantitative', ...scale.encoding('requests after') },
      color: {
        ...{ field: 'kind', type: 'nominal', legend },
        scale: { domain, range: looks.map(({ color }) => color) },
      },
      shape: {
        ...{ field: 'kind', type: 'nominal', legend },
        scale: { domain, range: looks.map((look) => look.shape) },
      },
      size: {
        ...{ field: 'categories', type: 'quantitative' },
        scale: {
          type: 'sqrt',
          domain: [1, Math.max(2, most)],
          range: [80, Math.min(600, 80 * most)],
        },
        legend: several ? sizeLegend(most) : null,
      },
      tooltip: [
        { field: 'root', type: 'nominal', title: 'root' },
        { field: 'ids', type: 'nominal', title: 'category' },
        { field: 'categories', type: 'quantitative', title: 'categories here', format: ',d' },
        { field: 'before', type: 'quantitative', title: 'requests before', format: ',d' },
        { field: 'after', type: 'quantitative', title: 'requests after', format: ',d' },
        { field: 'change', type: 'quantitative', title: 'change', format: '+,~r' },
        { field: 'kind', type: 'nominal', title: 'kind' },
      ],
    },
  }
}

function sizeLegend(most: number): SpecPart {
  const middle = Math.round(Math.sqrt(most))
  const values = [...new Set([1, middle, most])].sort((a, b) => a - b)
  return {
    title: 'categories at one point',
    values,
    format: ',d',
    columns: 1,
    symbolType: 'circle',
  }
}

/** The names of the largest changes, where there is room for them. */
function names(
  points: readonly CategoryPoint[],
  { scale, labels }: { scale: CountScale; labels: number },
): SpecPart[] {
  const at = ({ before, after }: CategoryPoint) => ({
    x: scale.position(before) * SIDE,
    y: (1 - scale.position(after)) * SIDE,
  })
  const changed = points.filter(({ kind }) => kind !== KIND_NAMES.unchanged).reverse()
  const wanted = changed.slice(0, labels).map((point) => ({
    ...at(point),
    texts: [`${shortText(point.root, 30)} (${point.ids})`, `(${point.ids})`],
  }))
  const placed = placedLabels(wanted, points.map(at), { width: SIDE, height: SIDE })
  return STANDS.flatMap((stand) => {
    const values = placed
      .filter((label) => label.stand === stand)
      .map(({ x, y, text }) => ({ px: Math.round(x), py: Math.round(y), text }))
    return values.length === 0 ? [] : [namesAt(stand, values)]
  })
}

function namesAt(stand: Stand, values: readonly SpecPart[]): SpecPart {
  const mark = { type: 'text', fontSize: LABEL_SIZE, color: PALETTE.text, baseline: 'middle' }
  return {
    data: { values },
    mark: { ...mark, ...stand },
    encoding: {
      x: { field: 'px', type: 'quantitative', scale: null },
      y: { field: 'py', type: 'quantitative', scale: null },
      text: { field: 'text', type: 'nominal' },
    },
  }
}
