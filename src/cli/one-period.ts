import type { Command } from 'commander'
import type { Categories } from '../compare/categories/categories.ts'
import { categorize } from '../compare/categories/categorize.ts'
import type { ComparisonOptions } from '../compare/comparison-options.ts'
import type { ComparisonWarning } from '../compare/fairness/comparison-warning.ts'
import { dataQuality } from '../compare/fairness/data-quality.ts'
import { unfinishedFolding } from '../compare/fairness/unfinished-folding.ts'
import { buildFlows } from '../flows/build-flows.ts'
import type { FlowOptions } from '../flows/flow-set.ts'
import { foldFlows } from '../flows/fold/fold-flows.ts'
import { type LoadOptions, loadTraces } from '../traces/load-traces.ts'
import { concurrencyOption, foldOption, formatOption, requireRequests } from './comparison-flags.ts'

/** What commander makes of the options below. */
export interface OnePeriodFlags
  extends Pick<FlowOptions, 'concurrency'>,
    Pick<ComparisonOptions, 'fold'> {
  readonly format: NonNullable<LoadOptions['format']>
  readonly omitHosts: boolean
  readonly strict: boolean
}

/** A warning as text and documents have it. */
export type PeriodWarning = { readonly code: string; readonly message: string }

/** Requests by category, and what was left out or in doubt on the way. */
export interface LoadedCategories {
  readonly categories: Categories
  readonly warnings: readonly PeriodWarning[]
}

/** Adds what it takes to load and to categorize the traces of a single period. */
export function addOnePeriod(command: Command): Command {
  return command
    .argument('<file...>', 'traces of one period')
    .option('--omit-hosts', 'leave hosts out of node labels', false)
    .addOption(concurrencyOption())
    .addOption(foldOption())
    .addOption(formatOption())
    .option('--strict', 'stop at the first trace that cannot be used', false)
}

/**
 * The categories of the requests in some files.
 *
 * @param after files of a second period, to be compared with the first
 */
export async function categorizeFiles(
  files: readonly string[],
  { format, strict, concurrency, fold, omitHosts }: OnePeriodFlags,
  after?: readonly string[],
): Promise<LoadedCategories> {
  const named = after === undefined ? {} : { name: 'before' }
  const first = await loadTraces(files, { format, strict, ...named })
  requireRequests(first)
  const second = after && (await loadTraces(after, { format, strict, name: 'after' }))
  if (second !== undefined) requireRequests(second)
  const built = buildFlows(second === undefined ? first : [first, second], { concurrency })
  const flows = fold === 'none' ? built : foldFlows(built, { log2: fold === 'log2', omitHosts })
  const periods = second === undefined ? [first] : [first, second]
  return {
    categories: categorize(flows, { omitHosts }),
    warnings: [
      ...periods.flatMap((traces) => dataQuality(traces, [])),
      ...unfinishedFolding({ flows }),
    ],
  }
}

/** Warnings as lines of text, as `compare` has them. */
export function warningLines(
  warnings: readonly (PeriodWarning | ComparisonWarning)[],
): readonly string[] {
  return warnings.map(({ code, message }) => `! ${code}: ${message}`)
}
