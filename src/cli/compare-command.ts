import { type Command, Option } from 'commander'
import type { Comparison } from '../compare/comparison.ts'
import { comparisonDocument } from './comparison-document.ts'
import { addComparisonFlags, type ComparisonFlags, compareFiles } from './comparison-flags.ts'
import { comparisonText } from './comparison-text.ts'
import { explainRank } from './explain-rank.ts'
import { collectFailOn, type FailOn, failingFindings } from './fail-on.ts'
import { countFrom } from './option-values.ts'

/** What commander makes of the options below. */
interface CompareFlags extends ComparisonFlags {
  readonly json: boolean
  readonly limit: number
  readonly explain?: number
  readonly failOn?: readonly FailOn[]
}

/** `flowdelta compare`: what changed between two periods, as text or as JSON. */
export function addCompareCommand(program: Command): void {
  const command = program
    .command('compare')
    .description('find and rank what changed between the traces of two periods')
  addComparisonFlags(command)
    .option('--json', 'print a JSON document instead of text', false)
    .option('--limit <n>', 'list at most this many categories and mutations', countFrom(1), 1000)
    .option(
      '--explain <rank>',
      'explain the finding and the mutation of this rank by the parameters of their requests',
      countFrom(1),
    )
    .addOption(
      new Option(
        '--fail-on <condition>',
        "end with exit code 1 when a finding exceeds it: 'contribution>5%' of the time all requests " +
          "took before, 'shift>10ms' of one step, or 'any'; only what became slower counts; may stand " +
          'more than once',
      ).argParser(collectFailOn),
    )
    .action(runCompare)
}

async function runCompare(flags: CompareFlags): Promise<void> {
  const comparison = await compareFiles(flags)
  process.stdout.write(render(comparison, flags))
  for (const condition of flags.failOn ?? []) {
    const failing = failingFindings(comparison, condition)
    if (failing.length === 0) continue
    const names = failing.map(({ rank, title }) => `#${rank} ${title}`).join('; ')
    process.stderr.write(`flowdelta: --fail-on ${condition.text} holds for ${names}\n`)
    process.exitCode = 1
  }
}

function render(comparison: Comparison, { json, limit, explain }: CompareFlags): string {
  const explained = explain === undefined ? null : explainRank(comparison, explain)
  return json
    ? `${JSON.stringify(comparisonDocument(comparison, { limit, explained }), null, 1)}\n`
    : comparisonText(comparison, { limit, explained })
}
