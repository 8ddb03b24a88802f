import { type Command, Option } from 'commander'
import { type Comparison, type ComparisonOptions, compare } from '../compare/comparison.ts'
import { FlowdeltaError } from '../core/errors.ts'
import { type LoadOptions, loadTraces } from '../traces/load-traces.ts'
import type { TraceSet } from '../traces/trace-set.ts'
import { numberBetween, requestsOrAuto } from './option-values.ts'
import { centreOption, testOption } from './statistic-options.ts'

/** What commander makes of the options below. */
export interface ComparisonFlags
  extends Pick<
    ComparisonOptions,
    | 'alpha'
    | 'alternative'
    | 'correction'
    | 'test'
    | 'centre'
    | 'oneToN'
    | 'editTokens'
    | 'omitHosts'
    | 'concurrency'
    | 'fold'
  > {
  readonly before: string[]
  readonly after: string[]
  readonly format: NonNullable<LoadOptions['format']>
  readonly strict: boolean
  readonly beforeParameters?: string[]
  readonly afterParameters?: string[]
  readonly resourceAttributes: boolean
  readonly smPThreshold?: number | 'auto'
  readonly findingsThreshold?: number | 'auto'
  readonly scaleCounts: boolean
  readonly weightCounts: boolean
}

/** Adds the two periods and every option of a comparison to a command. */
export function addComparisonFlags(command: Command): Command {
  return command
    .requiredOption('--before <file...>', 'traces of the good period')
    .requiredOption('--after <file...>', 'traces of the bad period')
    .option(
      '--sm-p-threshold <requests>',
      "more requests than this make a structural mutation or a precursor, or 'auto': what is " +
        'significant does (default: 50)',
      requestsOrAuto,
    )
    .option(
      '--findings-threshold <requests>',
      'the same for findings (default: auto)',
      requestsOrAuto,
    )
    .option('--alpha <level>', 'significance level of the tests', levelOption, 0.05)
    .addOption(
      new Option('--alternative <direction>', 'changes to look for')
        .choices(['two-sided', 'slower', 'faster'])
        .default('two-sided'),
    )
    .addOption(
      new Option('--correction <method>', 'correction for the number of tests')
        .choices(['none', 'bh'])
        .default('none'),
    )
    .addOption(testOption())
    .addOption(centreOption())
    .option('--no-one-to-n', 'keep precursors that lost fewer requests than the mutation gained')
    .addOption(
      new Option('--edit-tokens <kind>', 'how structures are compared')
        .choices(['preorder', 'edges'])
        .default('preorder'),
    )
    .option('--omit-hosts', 'leave hosts out of node labels', false)
    .addOption(concurrencyOption())
    .addOption(foldOption())
    .option('--scale-counts', 'scale the after counts to as many requests as before', false)
    .addOption(
      new Option('--weight-counts', 'count each request as often as its sampling weight says')
        .default(false)
        .conflicts('scaleCounts'),
    )
    .addOption(formatOption())
    .option('--strict', 'stop at the first trace that cannot be used', false)
    .option(
      '--before-parameters <file...>',
      'tables of low-level parameters of the good period: CSV with columns spanId (and traceId) or ' +
        'node, or SQL dumps keyed by the halves of a DOT node id',
    )
    .option('--after-parameters <file...>', 'the same for the bad period')
    .option(
      '--resource-attributes',
      'make attributes of resources (OTLP) and processes (Jaeger) parameters of their spans',
      false,
    )
}

export function concurrencyOption(): Option {
  return new Option('--concurrency <rule>', 'how sibling spans are ordered')
    .choices(['learned', 'observed', 'none'])
    .default('learned')
}

export function foldOption(): Option {
  return new Option(
    '--fold <rule>',
    'fold loops and pipeline lanes into one, told apart by their number or its power of two',
  )
    .choices(['none', 'exact', 'log2'])
    .default('none')
}

export function formatOption(): Option {
  return new Option('--format <name>', 'trace file format')
    .choices(['auto', 'dot', 'otlp', 'jaeger', 'zipkin', 'csv', 'xtrace', 'tracebench'])
    .default('auto')
}

/** Loads both periods and compares them as the options say. */
export async function compareFiles(flags: ComparisonFlags): Promise<Comparison> {
  const { smPThreshold, findingsThreshold, beforeParameters, afterParameters } = flags
  const before = await loadTraces(flags.before, loadOptions('before', flags, beforeParameters))
  const after = await loadTraces(flags.after, loadOptions('after', flags, afterParameters))
  requireRequests(before)
  requireRequests(after)
  return compare(before, after, {
    ...(smPThreshold !== undefined && { smPThreshold }),
    ...(findingsThreshold !== undefined && { findingsThreshold }),
    alpha: flags.alpha,
    alternative: flags.alternative,
    correction: flags.correction,
    test: flags.test,
    centre: flags.centre,
    oneToN: flags.oneToN,
    editTokens: flags.editTokens,
    omitHosts: flags.omitHosts,
    concurrency: flags.concurrency,
    fold: flags.fold,
    counts: countsOf(flags),
  })
}

function loadOptions(
  name: string,
  { format, strict, resourceAttributes }: ComparisonFlags,
  parameters: readonly string[] = [],
): LoadOptions {
  return { name, format, strict, resourceAttributes, parameters }
}

/** Traces that are all left out would be compared as a period in which nothing happened. */
export function requireRequests(traces: TraceSet): void {
  if (traces.size > 0) return
  const [issue] = traces.quality().issues
  throw new FlowdeltaError(
    `No request of the ${traces.name} period could be used${issue === undefined ? '' : `: ${issue.message}`}. ` +
      'Give files with whole traces.',
  )
}

function countsOf({ scaleCounts, weightCounts }: ComparisonFlags): ComparisonOptions['counts'] {
  if (weightCounts) return 'weighted'
  return scaleCounts ? 'scaled' : 'raw'
}

function levelOption(text: string): number {
  return numberBetween(0, 1)(text)
}
