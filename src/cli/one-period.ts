import type { Command } from 'commander'
import type { Categories } from '../categories/categories.ts'
import { categorize } from '../categories/categorize.ts'
import { buildFlows } from '../flows/build-flows.ts'
import type { FlowOptions } from '../flows/flow-set.ts'
import { type LoadOptions, loadTraces } from '../traces/load-traces.ts'
import { concurrencyOption, formatOption, requireRequests } from './comparison-flags.ts'

/** What commander makes of the options below. */
export interface OnePeriodFlags extends Pick<FlowOptions, 'concurrency'> {
  readonly format: NonNullable<LoadOptions['format']>
  readonly omitHosts: boolean
  readonly strict: boolean
}

/** Adds what it takes to load and to categorize the traces of a single period. */
export function addOnePeriod(command: Command): Command {
  return command
    .argument('<file...>', 'traces of one period')
    .option('--omit-hosts', 'leave hosts out of node labels', false)
    .addOption(concurrencyOption())
    .addOption(formatOption())
    .option('--strict', 'stop at the first trace that cannot be used', false)
}

/** The categories of the requests in some files. */
export async function categorizeFiles(
  files: readonly string[],
  { format, strict, concurrency, omitHosts }: OnePeriodFlags,
): Promise<Categories> {
  const traces = await loadTraces(files, { format, strict })
  requireRequests(traces)
  return categorize(buildFlows(traces, { concurrency }), { omitHosts })
}
