// npm run evaluate: how good the diagnosis is on recorded cases whose cause is known.
import { Command, CommanderError, Option } from 'commander'
import { countFrom, numberBetween } from '../src/cli/option-values.ts'
import { centreOption, testOption } from '../src/cli/statistic-options.ts'
import type { SampleTest } from '../src/compare/mutations/compare-samples.ts'
import type { Correction } from '../src/compare/mutations/response-time-mutations.ts'
import type { Centre } from '../src/compare/ranking/ranking.ts'
import { FlowdeltaError } from '../src/core/errors.ts'
import type { Alternative } from '../src/stats/two-sample.ts'
import { type EvaluatedCase, evaluateCase } from './evaluate-case.ts'
import { evaluateNull } from './evaluate-null.ts'
import { evaluationText } from './evaluation-text.ts'
import { findCases } from './recorded-cases.ts'
import { runWhatIfEvaluation, type WhatIfFlags } from './testbed-text.ts'

/** What commander makes of the options below. */
interface EvaluateFlags extends WhatIfFlags {
  readonly data: string
  readonly whatif: boolean
  readonly null: boolean
  readonly splits: number
  readonly alternative: Alternative
  readonly correction: Correction
  readonly test: SampleTest
  readonly centre: Centre
}

const program = new Command('evaluate')
  .argument('[case...]', 'names of cases; all of them by default')
  .description('Measure the quality of ranked lists on recorded cases with known causes.')
  .exitOverride()
  .showHelpAfterError('(add --help for the options)')
  .option('--data <folder>', 'folder of the cases', 'datasets/storage-service')
  .option('--json', 'print a JSON document instead of a table', false)
  .option(
    '--null',
    'compare halves of each before period: how often is there a false alarm?',
    false,
  )
  .option('--splits <n>', 'with --null: random splits of each period', countFrom(1), 50)
  .addOption(
    new Option('--alternative <direction>', 'changes to look for; the thesis looked for slower')
      .choices(['two-sided', 'slower', 'faster'])
      .default('slower'),
  )
  .addOption(
    new Option('--correction <method>', 'correction for the number of tests')
      .choices(['none', 'bh'])
      .default('bh'),
  )
  .addOption(testOption())
  .addOption(centreOption())
  .option(
    '--whatif',
    'change services of a simulated system instead: does the latency diagnosis find which?',
    false,
  )
  .option('--changes <n>', 'with --whatif: how many changes, one at a time', countFrom(1), 100)
  .option('--services <n>', 'with --whatif: services of the system', countFrom(3), 90)
  .option('--requests <n>', 'with --whatif: requests of each run', countFrom(1), 1000)
  .option(
    '--drift <share>',
    'with --whatif: by how much two runs of the same differ',
    numberBetween(0, 0.999),
    0.03,
  )
  .option('--seed <n>', 'with --whatif: of the system, the changes and the runs', countFrom(0), 1)
  .action(runEvaluate)

async function runEvaluate(names: string[], flags: EvaluateFlags): Promise<void> {
  if (flags.whatif) {
    rejectCases(names, flags)
    runWhatIfEvaluation(flags)
    return
  }
  const folders = await findCases(flags.data, names)
  const cases: EvaluatedCase[] = []
  const { alternative, correction, test, centre } = flags
  for (const folder of folders) {
    cases.push(...(await evaluateCase(folder, { alternative, correction, test, centre })))
  }
  const nullRates = flags.null ? await evaluateNull(folders, { comparisons: flags.splits }) : null
  const document = {
    schema: 'flowdelta.evaluation/1',
    parameters: { alternative, correction, test, centre },
    cases,
    ...(nullRates !== null && { null: nullRates }),
  }
  process.stdout.write(
    flags.json ? `${JSON.stringify(document, null, 1)}\n` : evaluationText(cases, nullRates),
  )
}

function rejectCases([name]: string[], flags: EvaluateFlags): void {
  const refused = name ?? (flags.null ? '--null' : undefined)
  if (refused === undefined) return
  throw new FlowdeltaError(
    `--whatif simulates its cases, and does nothing with ${refused}. Leave one of the two out.`,
  )
}

try {
  await program.parseAsync()
} catch (problem) {
  if (problem instanceof FlowdeltaError) process.stderr.write(`evaluate: ${problem.message}\n`)
  else if (!(problem instanceof CommanderError)) throw problem
  process.exitCode = problem instanceof CommanderError && problem.exitCode === 0 ? 0 : 2
}
