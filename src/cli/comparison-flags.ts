import { type Command, Option } from 'commander'
import { type Comparison, compare } from '../compare/comparison.ts'
import { COMPARISON_OPTIONS, type ComparisonOptions } from '../compare/comparison-options.ts'
import { LOAD_OPTIONS } from '../traces/load-traces.ts'
import { addOptions, type Flags, optionsFrom } from './flags.ts'
import { bothPeriods, loadPeriod } from './load-period.ts'

/** Flags of `addComparisonFlags` that are no options of a table. */
export interface ComparisonFlags {
  readonly before: string[]
  readonly after: string[]
  readonly beforeParameters?: string[]
  readonly afterParameters?: string[]
  readonly scaleCounts?: boolean
  readonly weightCounts?: boolean
}

/** Adds the two periods and every option of a comparison to a command. */
export function addComparisonFlags(command: Command): Command {
  command
    .requiredOption('--before <file...>', 'Traces of the good period')
    .requiredOption('--after <file...>', 'Traces of the bad period')
  addOptions(command, COMPARISON_OPTIONS)
    .addOption(
      new Option('--scale-counts', 'Same as --counts scaled').conflicts(['weightCounts', 'counts']),
    )
    .addOption(new Option('--weight-counts', 'Same as --counts weighted').conflicts('counts'))
  return addOptions(command, LOAD_OPTIONS)
    .option(
      '--before-parameters <file...>',
      'Tables of low-level parameters of the good period: CSV with columns spanId (and traceId) or ' +
        'node, or SQL dumps keyed by the halves of a DOT node id',
    )
    .option('--after-parameters <file...>', 'The same for the bad period')
}

/** Loads both periods and compares them as the options say. */
export async function compareFiles(flags: ComparisonFlags & Flags): Promise<Comparison> {
  const { beforeParameters = [], afterParameters = [] } = flags
  const [before, after] = await bothPeriods(
    loadPeriod('before', flags.before, flags, beforeParameters),
    loadPeriod('after', flags.after, flags, afterParameters),
  )
  return compare(before, after, { ...optionsFrom(COMPARISON_OPTIONS, flags), ...countsOf(flags) })
}

function countsOf(flags: ComparisonFlags): Partial<ComparisonOptions> {
  if (flags.weightCounts) return { counts: 'weighted' }
  return flags.scaleCounts ? { counts: 'scaled' } : {}
}
