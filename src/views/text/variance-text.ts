import { max, range, rollup } from 'd3-array'
import type { Categories } from '../../compare/categories/categories.ts'
import { categorize } from '../../compare/categories/categorize.ts'
import { type PrintedWarning, warningLines } from '../../comparison/fairness/comparison-warning.ts'
import { formatAmount, TIME } from '../../core/quantity.ts'
import { leftOutLines, MAX_WIDTH, tableOf } from '../../core/text-layout.ts'
import {
  counted,
  grouped,
  percent,
  pValue,
  shortTexts,
  spoken,
  tooltipText,
} from '../../core/words.ts'
import type { EdgeVariance } from '../../explain/variance/category-variance.ts'
import type { Anomalies } from '../../explain/variance/find-anomalies.ts'
import {
  type CategorySpread,
  VARIANCE_OPTIONS,
  type VarianceSources,
} from '../../explain/variance/find-variance.ts'
import type { MergedBehaviors } from '../../explain/variance/merged-behaviors.ts'
import type { FlowSet } from '../../flows/flow-set.ts'
import type { KsResult } from '../../stats/ks-two-sample.ts'
import { AFTER, BEFORE } from '../../traces/period.ts'
import { rootName } from '../charts/node-names.ts'

export interface VarianceResults {
  readonly variance: VarianceSources
  /** Anomalies, with `--anomalies`. */
  readonly anomalies: Anomalies | null
  /** Variances within categories, before against after; `null` for one period. */
  readonly spreads: KsResult | null
  readonly warnings: readonly PrintedWarning[]
  readonly limit: number
}

const MAX_NAME_LENGTH = 160
const MOST = { categories: 5, edges: 3, merged: 3 } as const

/** Writes categories by the variance of their response times, and its sources. */
export function varianceText(results: VarianceResults, { width = MAX_WIDTH } = {}): string {
  const { variance, anomalies, spreads, warnings, limit } = results
  const { ranked } = variance
  const shown = ranked.slice(0, limit)
  const both = spreads !== null
  const { quantity } = variance.categories.flows
  const nameOf = kindNames(ranked, variance.categories)
  const names = shortTexts(shown.map(nameOf), MAX_NAME_LENGTH)
  const apartBy = rowsApart(shown, variance.categories, nameOf)
  const table = tableOf(
    shown,
    {
      'kind of request': (spread, i) => `${names[i]}${apartBy(spread)}`,
      category: ({ category }) => String(category),
      steps: ({ category }) => String(variance.categories.nodeCount(category)),
      ...(both && { period: ({ period }: CategorySpread) => period }),
      requests: ({ requests }) => String(requests),
      mean: ({ meanUs }) => formatAmount(meanUs, quantity),
      'C²': ({ c2 }) => (Number.isNaN(c2) ? '–' : c2.toPrecision(3)),
    },
    { width },
  )
  return [
    summary(variance),
    ...warningLines(warnings),
    ...(shown.length === 0 ? [] : [table]),
    ...shown
      .slice(0, MOST.categories)
      .map((spread) => sourceText(variance, spread, { name: nameOf(spread), both })),
    ...mergedText(variance, both),
    ...(anomalies === null ? [] : [anomalies.text()]),
    ...(spreads === null ? [] : [spreadsText(spreads, variance.categories.flows)]),
    ...leftOutLines(ranked.length - shown.length),
  ].join('\n\n')
}

function summary(variance: VarianceSources): string {
  const { ranked, small, options } = variance
  const below = variance.shareBelowOne()
  return (
    `${counted(ranked.length, 'category', 'categories')} of more than ${options.large} requests` +
    (Number.isNaN(below)
      ? ''
      : `; C², the variance over the square of the mean, is below 1 in ${percent(below)} of them`) +
    (ranked.length > 0 && Number.isNaN(below) ? '; none has a C²: all took 0 µs' : '') +
    (small === 0 ? '.' : `; ${counted(small, 'smaller one')} left out${smallText(variance)}.`)
  )
}

/** Returns the share of requests in categories that are not large, as Tables 3.2 and 3.3 of the thesis have it. */
function smallText({ categories, options: { large } }: VarianceSources): string {
  const shares = categories.sizes({ large }).array('inLargeShare') as number[]
  return `, with ${shares.map((share) => percent(1 - share)).join(' and ')} of the requests`
}

/** Advises where no category is large: if hosts make them small, `--omit-hosts` helps, and a lower limit does not. */
export function noneLarge(variance: VarianceSources): PrintedWarning[] {
  const { ranked, categories } = variance
  const { large } = variance.options
  if (ranked.length > 0) return []
  const { flows, options } = categories
  const most = largestOf(categories)
  const largest = largestOf(categorize(flows, { ...options, omitHosts: true }))
  const size = `The largest category has ${counted(most, 'request')}`
  const more = 'more traces, or see flowdelta explosion'
  const message =
    largest > large
      ? `${size}, and without hosts ${grouped(largest)}. Give --omit-hosts to merge requests that different hosts served.`
      : most < 2
        ? 'No category has two requests, so there is no variance. Give more traces, or see flowdelta explosion.'
        : most > USUAL_LARGE
          ? `${size}. Give --large ${USUAL_LARGE}, ${more}.`
          : `${size}. Give ${more}.`
  return [{ code: 'none-large', message }]
}

const USUAL_LARGE = VARIANCE_OPTIONS.large.default

function largestOf(categories: Categories): number {
  const counts = [BEFORE, AFTER].flatMap((period) =>
    range(categories.size).map((category) => categories.count(category, period)),
  )
  return max(counts) ?? 0
}

/** Names kinds of request as elsewhere; those that differ by their first step alone, as by its host, by that. */
function kindNames(ranked: readonly CategorySpread[], categories: Categories) {
  const whole = ({ category }: CategorySpread) => rootName(categories, category, MAX_NAME_LENGTH)
  const roots = rollup(ranked, (own) => new Set(own.map(({ root }) => root)).size, whole)
  return (spread: CategorySpread) => (roots.get(whole(spread)) === 1 ? whole(spread) : spread.root)
}

/** Says what distinguishes a row from others of its name: a place or call that the fewest of these have. */
function rowsApart(
  rows: readonly CategorySpread[],
  categories: Categories,
  nameOf: (spread: CategorySpread) => string,
): (spread: CategorySpread) => string {
  const partsOf = ({ category }: CategorySpread) => {
    const labels = range(categories.nodeCount(category)).map((node) =>
      categories.shownNode(category, node),
    )
    return new Set([
      ...labels.map(({ service, host }) => (host === '' ? service : `${service}@${host}`)),
      ...labels.map(({ service, operation }) => `${service} ${operation}`),
    ])
  }
  const all = rollup(rows, (own) => own.map(partsOf), nameOf)
  return (spread) => {
    const others = all.get(nameOf(spread)) ?? []
    const having = (part: string) => others.filter((other) => other.has(part)).length
    const apart = [...partsOf(spread)].filter((part) => having(part) < others.length)
    const [first] = apart.sort((a, b) => having(a) - having(b))
    return first === undefined ? '' : ` · with ${tooltipText(first)}`
  }
}

function sourceText(
  variance: VarianceSources,
  spread: CategorySpread,
  { name: kind, both }: { readonly name: string; readonly both: boolean },
): string {
  const { edges, note } = variance.category(spread)
  const lines = edges
    .filter(({ share }) => Number.isFinite(share))
    .slice(0, MOST.edges)
    .map((edge) => `   ${percent(edge.share)}: ${edgeText(edge, edges)}`)
  const period = both ? `, ${spread.period}` : ''
  const name = `category ${spread.category}, ${tooltipText(kind)}${period}`
  return [`Variance of ${name}. ${note}`, ...lines].join('\n')
}

/** Returns the text of an edge, distinct from others between the same two labels. */
function edgeText(edge: EdgeVariance, edges: readonly EdgeVariance[]): string {
  const { from, to, occurrence, fromRoundBefore } = edge
  const isOne = edges.filter((other) => other.from === from && other.to === to).length === 1
  const number = isOne && occurrence === 0 ? '' : ` (no. ${occurrence + 1} of that name)`
  const round = fromRoundBefore ? ' of the next round' : ''
  return `${tooltipText(from)} → ${tooltipText(to)}${round}${number}`
}

function mergedText({ merged, categories }: VarianceSources, both: boolean): string[] {
  if (merged.length === 0) return []
  const { quantity } = categories.flows
  const part = ({ requests, medianUs }: MergedBehaviors['faster']) =>
    `${counted(requests, 'request')} about ${formatAmount(medianUs, quantity)}`
  return [false, true].flatMap((isTold) => {
    const edges = merged.filter(({ toldBy }) => (toldBy !== null) === isTold)
    if (edges.length === 0) return []
    const title = isTold
      ? 'These steps do two things; an attribute tells which:'
      : 'Instrument here: these steps do two things that the trace does not tell apart.'
    const lines = edges
      .slice(0, MOST.merged)
      .flatMap(({ from, to, category, period, faster, slower, toldBy }) => [
        `   ${tooltipText(from)} → ${tooltipText(to)} (category ${category}${both ? `, ${period}` : ''})`,
        `      ${part(faster)}, ${part(slower)}`,
        toldBy !== null && `      told apart by ${tooltipText(toldBy)}`,
      ])
    const more = edges.length - MOST.merged
    return spoken([title, ...lines, more > 0 && `   … and ${more} more`]).join('\n')
  })
}

function spreadsText({ p, beforeCount }: KsResult, { quantity }: FlowSet): string {
  if (beforeCount === 0) return 'No category is large enough in both periods to compare its spread.'
  const what = quantity === TIME ? 'response times' : quantity.name
  return `Spread of ${what}, before against after: ${pValue(p)} over ${counted(beforeCount, 'category', 'categories')}.`
}
