import type { Command } from 'commander'
import { formatDuration } from '../units.ts'
import { findVariance } from '../variance/find-variance.ts'
import type { CategorySpread, VarianceSources } from '../variance/variance-sources.ts'
import { counted, percent } from '../wording.ts'
import { numbers } from './json-numbers.ts'
import { addOnePeriod, categorizeFiles, type OnePeriodFlags } from './one-period.ts'
import { countFrom } from './option-values.ts'
import { textTable } from './text-table.ts'

interface VarianceFlags extends OnePeriodFlags {
  readonly json: boolean
  readonly large: number
  readonly limit: number
}

/** Edges listed with one category. */
const MOST_EDGES = 50
const EDGES_IN_TEXT = 3

/** `flowdelta variance`: which kinds of request are unpredictable, and where their variance is. */
export function addVarianceCommand(program: Command): void {
  const command = program
    .command('variance')
    .description(
      'rank kinds of request by the variance of their response times, and find its sources',
    )
  addOnePeriod(command)
    .option('--json', 'print a JSON document instead of text', false)
    .option('--large <n>', 'only categories of more requests than this', countFrom(0), 10)
    .option('--limit <n>', 'list at most this many categories', countFrom(1), 1000)
    .action(runVariance)
}

async function runVariance(files: string[], flags: VarianceFlags): Promise<void> {
  const { json, large, limit } = flags
  const variance = findVariance(await categorizeFiles(files, flags), { large, period: 'before' })
  process.stdout.write(
    json
      ? `${JSON.stringify(varianceDocument(variance, limit), null, 1)}\n`
      : `${varianceText(variance, limit)}\n`,
  )
}

/** `flowdelta.variance/1`: highest C² first, each with the edges that vary most. */
function varianceDocument(variance: VarianceSources, limit: number) {
  return {
    schema: 'flowdelta.variance/1',
    ...numbers({ shareBelowOne: variance.shareBelowOne() }),
    ...{ large: variance.options.large, smallCategories: variance.small },
    categories: variance.ranked.slice(0, limit).map((spread) => {
      const { category, root, requests, meanUs, varianceUs2, c2 } = spread
      const { edges, note } = variance.category(category)
      return {
        ...{ id: category, root, requests, ...numbers({ meanUs, varianceUs2, c2 }), note },
        edges: edges.slice(0, MOST_EDGES).map((edge) => ({
          ...{ from: edge.from, to: edge.to, occurrence: edge.occurrence },
          ...numbers({ varianceUs2: edge.varianceUs2, varianceShare: edge.share }),
          onCriticalPath: edge.onCriticalPath,
        })),
        ...(edges.length > MOST_EDGES && { edgesInAll: edges.length }),
      }
    }),
    ...(variance.ranked.length > limit && { truncated: { categories: variance.ranked.length } }),
  }
}

function varianceText(variance: VarianceSources, limit: number): string {
  const { ranked, small, options } = variance
  const shown = ranked.slice(0, limit)
  const summary =
    `${counted(ranked.length, 'category', 'categories')} of more than ${options.large} requests` +
    (ranked.length === 0 ? '' : `; C² below 1 in ${percent(variance.shareBelowOne())} of them`) +
    (small === 0 ? '.' : `; ${counted(small, 'smaller one')} left out.`)
  const table = textTable(
    ['kind of request', 'category', 'requests', 'mean', 'C²'],
    shown.map(({ root, category, requests, meanUs, c2 }) => [
      ...[root, String(category), String(requests), formatDuration(meanUs), c2.toPrecision(3)],
    ]),
  )
  const sources = shown.slice(0, 5).map((spread) => sourceText(variance, spread))
  const left = ranked.length - shown.length
  return [
    summary,
    ...(shown.length === 0 ? [] : [table, ...sources]),
    ...(left > 0 ? [`… and ${left} more; raise --limit to see them.`] : []),
  ].join('\n\n')
}

function sourceText(variance: VarianceSources, { category, root }: CategorySpread): string {
  const { edges, note } = variance.category(category)
  const lines = edges
    .filter(({ share }) => Number.isFinite(share))
    .toSorted((a, b) => b.share - a.share)
    .slice(0, EDGES_IN_TEXT)
    .map(({ from, to, share }) => `   ${percent(share)}: ${from} → ${to}`)
  return [`Variance of category ${category}, ${root}. ${note}`, ...lines].join('\n')
}
