import { tooltipText } from '../core/shown-text.ts'
import { formatDuration } from '../core/units.ts'
import { counted, percent, pValue } from '../core/words.ts'
import type { EdgeVariance } from '../explain/variance/category-variance.ts'
import type { SpreadComparison } from '../explain/variance/compare-spreads.ts'
import type { CategorySpread, VarianceSources } from '../explain/variance/variance-sources.ts'
import { AFTER, BEFORE } from '../flows/flow-set.ts'
import { warningLines } from './one-period.ts'
import { textTable } from './text-table.ts'
import type { VarianceResults } from './variance-document.ts'

/** Categories whose edges are listed, edges of each, and changed spreads. */
const MOST = { categories: 5, edges: 3, spreads: 5 } as const

/** Variance as text for a terminal; names from traces stay on their line. */
export function varianceText({ variance, spreads, warnings, limit }: VarianceResults): string {
  const { ranked } = variance
  const shown = ranked.slice(0, limit)
  const both = spreads !== null
  const table = textTable(
    ['kind of request', 'category', 'steps', ...(both ? ['period'] : []), 'requests', 'mean', 'C²'],
    shown.map(({ root, category, period, requests, meanUs, c2 }) => [
      ...[tooltipText(root), String(category), String(variance.categories.nodeCount(category))],
      ...[...(both ? [period] : []), String(requests)],
      ...[formatDuration(meanUs), Number.isNaN(c2) ? '–' : c2.toPrecision(3)],
    ]),
  )
  const left = ranked.length - shown.length
  return [
    summary(variance),
    ...warningLines(warnings),
    ...(shown.length === 0 ? [nextStep(variance)] : [table]),
    ...shown.slice(0, MOST.categories).map((spread) => sourceText(variance, spread, both)),
    ...(spreads === null ? [] : [spreadsText(spreads)]),
    ...(left > 0 ? [`… and ${left} more; raise --limit to see them.`] : []),
  ].join('\n\n')
}

function summary(variance: VarianceSources): string {
  const { ranked, small, options } = variance
  const below = variance.shareBelowOne()
  return (
    `${counted(ranked.length, 'category', 'categories')} of more than ${options.large} requests` +
    (Number.isNaN(below) ? '' : `; C² below 1 in ${percent(below)} of them`) +
    (ranked.length > 0 && Number.isNaN(below) ? '; none has a C², as they took 0 µs' : '') +
    (small === 0 ? '.' : `; ${counted(small, 'smaller one')} left out.`)
  )
}

/** What to do where nothing is large enough. */
function nextStep({ categories }: VarianceSources): string {
  let most = 0
  for (let category = 0; category < categories.size; category++) {
    most = Math.max(most, categories.count(category, BEFORE), categories.count(category, AFTER))
  }
  return most < 2
    ? 'No category has two requests, so there is no variance. Give more traces, or see flowdelta explosion.'
    : `The largest category has ${counted(most, 'request')}. Give --large ${Math.min(10, most - 1)}, more traces, or see flowdelta explosion.`
}

function sourceText(variance: VarianceSources, spread: CategorySpread, both: boolean): string {
  const { edges, note } = variance.category(spread)
  const lines = edges
    .filter(({ share }) => Number.isFinite(share))
    .slice(0, MOST.edges)
    .map((edge) => `   ${percent(edge.share)}: ${edgeText(edge, edges)}`)
  const period = both ? `, ${spread.period}` : ''
  const name = `category ${spread.category}, ${tooltipText(spread.root)}${period}`
  return [`Variance of ${name}. ${note}`, ...lines].join('\n')
}

/** An edge, told apart from others between the same two labels. */
function edgeText(edge: EdgeVariance, edges: readonly EdgeVariance[]): string {
  const { from, to, occurrence, fromRoundBefore, mark } = edge
  const isOne = edges.filter((other) => other.from === from && other.to === to).length === 1
  const number = isOne && occurrence === 0 ? '' : ` (no. ${occurrence + 1} of that name)`
  const round = fromRoundBefore ? ' of the next round' : ''
  return `${tooltipText(from)} → ${tooltipText(to)}${round}${number}${mark === null ? '' : `, ${mark}`}`
}

function spreadsText({ overall, tests, changed, categories }: SpreadComparison): string {
  if (tests.length === 0)
    return 'No category is large enough in both periods to compare its spread.'
  const lines = changed.slice(0, MOST.spreads).map(({ category, test, q }) => {
    const [before, after] = [test.beforeDeviation, test.afterDeviation].map(formatDuration)
    return `   category ${category}, ${tooltipText(categories.root(category))}: ${before} → ${after} from the median, ${pValue(q, 'q')}`
  })
  const more = changed.length - lines.length
  return [
    `Spread of response times after against before: over all categories ${pValue(overall.p)}; ` +
      `another one in ${changed.length} of ${counted(tests.length, 'category', 'categories')}` +
      `${changed.length === 0 ? '.' : ':'}`,
    ...lines,
    ...(more > 0 ? [`   … and ${more} more`] : []),
  ].join('\n')
}
