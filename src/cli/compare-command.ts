import { type Command, Option } from 'commander'
import { type Comparison, type ComparisonOptions, compare } from '../comparison.ts'
import { type LoadOptions, loadTraces } from '../traces/load-traces.ts'
import { comparisonDocument } from './comparison-document.ts'
import { comparisonText } from './comparison-text.ts'
import { countFrom, numberBetween } from './option-values.ts'

/** What commander makes of the options below. */
interface CompareFlags
  extends Pick<
    ComparisonOptions,
    | 'smPThreshold'
    | 'alpha'
    | 'alternative'
    | 'correction'
    | 'oneToN'
    | 'editTokens'
    | 'omitHosts'
    | 'concurrency'
  > {
  readonly before: string[]
  readonly after: string[]
  readonly json: boolean
  readonly format: NonNullable<LoadOptions['format']>
  readonly limit: number
  readonly strict: boolean
  readonly scaleCounts: boolean
}

/** `flowdelta compare`: the ranked differences between two periods, as text or as JSON. */
export function addCompareCommand(program: Command): void {
  program
    .command('compare')
    .description('rank what changed between the traces of two periods')
    .requiredOption('--before <file...>', 'traces of the good period')
    .requiredOption('--after <file...>', 'traces of the bad period')
    .option('--json', 'print a JSON document instead of text', false)
    .option(
      '--sm-p-threshold <requests>',
      'more requests than this make a structural mutation or a precursor',
      numberBetween(0),
      50,
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
    .option('--no-one-to-n', 'keep precursors that lost fewer requests than the mutation gained')
    .addOption(
      new Option('--edit-tokens <kind>', 'how structures are compared')
        .choices(['preorder', 'edges'])
        .default('preorder'),
    )
    .option('--omit-hosts', 'leave hosts out of node labels', false)
    .addOption(
      new Option('--concurrency <rule>', 'how sibling spans are ordered')
        .choices(['learned', 'observed', 'none'])
        .default('learned'),
    )
    .option('--scale-counts', 'scale the after counts to as many requests as before', false)
    .addOption(
      new Option('--format <name>', 'trace file format')
        .choices(['auto', 'dot', 'otlp', 'jaeger', 'zipkin', 'csv'])
        .default('auto'),
    )
    .option('--strict', 'stop at the first trace that cannot be used', false)
    .option('--limit <n>', 'list at most this many categories and mutations', countFrom(1), 1000)
    .action(runCompare)
}

function levelOption(text: string): number {
  return numberBetween(0, 1)(text)
}

async function runCompare(flags: CompareFlags): Promise<void> {
  const { format, strict } = flags
  const before = await loadTraces(flags.before, { name: 'before', format, strict })
  const after = await loadTraces(flags.after, { name: 'after', format, strict })
  const comparison = compare(before, after, {
    smPThreshold: flags.smPThreshold,
    alpha: flags.alpha,
    alternative: flags.alternative,
    correction: flags.correction,
    oneToN: flags.oneToN,
    editTokens: flags.editTokens,
    omitHosts: flags.omitHosts,
    concurrency: flags.concurrency,
    counts: flags.scaleCounts ? 'scaled' : 'raw',
  })
  process.stdout.write(render(comparison, flags))
}

function render(comparison: Comparison, { json, limit }: CompareFlags): string {
  return json
    ? `${JSON.stringify(comparisonDocument(comparison, { limit }), null, 1)}\n`
    : comparisonText(comparison, { limit })
}
