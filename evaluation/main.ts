// npm run evaluate: how good the diagnosis is on recorded cases whose cause is known.
import { Command, CommanderError } from 'commander'
import { addOptions } from '../src/cli/flags.ts'
import type { SampleTest } from '../src/compare/mutations/compare-samples.ts'
import {
  type Correction,
  RESPONSE_TIME_OPTIONS,
} from '../src/compare/mutations/find-response-time-mutations.ts'
import { type Centre, RANKING_OPTIONS } from '../src/compare/ranking/rank-mutations.ts'
import { FlowdeltaError } from '../src/core/errors.ts'
import {
  count,
  defineOptions,
  flag,
  oneOf,
  optionalText,
  share,
  text,
} from '../src/core/options.ts'
import type { Alternative } from '../src/stats/two-sample.ts'
import { type EvaluatedCase, evaluateCase } from './evaluate-case.ts'
import { evaluateNull } from './evaluate-null.ts'
import { evaluationText } from './evaluation-text.ts'
import { findCases } from './recorded-cases.ts'
import { scoreTool, studyText } from './study-kit.ts'
import { runFewSuite } from './suites/few-suite.ts'
import { type HdxFlags, runHdxSuite } from './suites/hdx-suite.ts'
import { runIncidentSuite } from './suites/incident-suite.ts'
import { type NezhaFlags, runNezhaSuite } from './suites/nezha-text.ts'
import { type NullFlags, runNullSuite } from './suites/null-suite.ts'
import { runPlantedSuite } from './suites/planted-suite.ts'
import { runVariedSuite } from './suites/varied-incidents.ts'
import { runWhatIfEvaluation, type WhatIfFlags } from './testbed-text.ts'

type Suite = 'few' | 'hdx' | 'incidents' | 'nezha' | 'nulls' | 'planted' | 'varied'

/** What commander makes of the options below. */
interface EvaluateFlags extends WhatIfFlags, HdxFlags, NezhaFlags, NullFlags {
  readonly suite?: Suite
  readonly tool?: string
  readonly whatif: boolean
  readonly null: boolean
  readonly splits: number
  readonly alternative: Alternative
  readonly correction: Correction
  readonly test: SampleTest
  readonly centre: Centre
}

const { alternative, correction, test } = RESPONSE_TIME_OPTIONS
const FLAGS = defineOptions({
  data: text({
    default: 'datasets/storage-service',
    flag: 'data <folder>',
    sentence: 'Folder of the cases',
  }),
  json: flag({ default: false, sentence: 'Print a JSON document instead of a table' }),
  null: flag({
    default: false,
    sentence: 'Compare halves of each before period: how often is there a false alarm?',
  }),
  splits: count({ default: 50, sentence: 'With --null: random splits of each period' }),
  alternative: { ...alternative, default: 'slower' as const },
  correction: { ...correction, default: 'bh' as const },
  test,
  ...RANKING_OPTIONS,
  tool: optionalText(
    "Score another tool on five pairs: a command that prints a suspect a line, such as 'mytool {before} {after}'",
    'tool <command>',
  ),
  whatif: flag({
    default: false,
    sentence:
      'Change services of a simulated system instead: does the latency diagnosis find which?',
  }),
  changes: count({ default: 100, sentence: 'With --whatif: changes, one at a time' }),
  services: count({ default: 90, min: 3, sentence: 'With --whatif: services of the system' }),
  requests: count({ default: 1000, sentence: 'With --whatif: requests of each run' }),
  drift: share({
    default: 0.03,
    max: 0.999,
    flag: 'drift <share>',
    sentence: 'With --whatif: how much two runs of the same system differ',
  }),
  decoys: flag({
    default: false,
    sentence: 'With --whatif: siblings of each cause change too, without effect on response times',
  }),
  seed: count({
    default: 1,
    min: 0,
    sentence: 'With --whatif: seed of the system, the changes and the runs',
  }),
})

/** Options that only suites take. */
const SUITE_FLAGS = defineOptions({
  suite: oneOf(['few', 'hdx', 'incidents', 'nezha', 'nulls', 'planted', 'varied', null], {
    default: null,
    flag: 'suite <name>',
    sentence:
      "Judge findings instead: on incidents that concern a minority (hdx), on such incidents made at random (incidents), of more kinds and volumes (varied), planted into recorded noise (planted), on Nezha's labelled faults (nezha), on runs without a change (nulls), or on a few requests of one run (few)",
  }),
  half: oneOf(['even', 'odd', null], {
    default: null,
    flag: 'half <which>',
    sentence: 'With --suite: only every second case of each kind',
  }),
  cases: flag({ default: false, sentence: 'With --suite: a row for each case' }),
  checkSentences: flag({
    default: false,
    flag: 'check-sentences',
    sentence: 'With --suite nezha: check what each finding says against the recorded spans',
  }),
  late: share({
    default: 0,
    min: 0,
    max: 0.9,
    flag: 'late <share>',
    sentence: 'With --suite nezha: part of after in which the fault has not yet begun',
  }),
  logs: flag({ default: false, sentence: 'With --suite nezha: read the logs of TrainTicket too' }),
})

const program = new Command('evaluate')
  .argument('[case...]', 'Names of cases; all of them by default')
  .description('Measure the quality of ranked lists on recorded cases with known causes.')
  .exitOverride()
  .showHelpAfterError('(add --help for the options)')
addOptions(program, FLAGS)
addOptions(program, SUITE_FLAGS)
program.action(runEvaluate)

async function runEvaluate(names: string[], flags: EvaluateFlags): Promise<void> {
  if (flags.suite !== undefined) {
    await runSuite(names, { ...flags, half: flags.half ?? null, suite: flags.suite })
    return
  }
  if (flags.tool !== undefined) {
    const results = await scoreTool(flags.tool, flags.data)
    process.stdout.write(flags.json ? `${JSON.stringify(results, null, 1)}\n` : studyText(results))
    return
  }
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

async function runSuite(
  names: string[],
  flags: EvaluateFlags & { readonly suite: Suite },
): Promise<void> {
  const refused = flags.whatif ? '--whatif' : flags.null ? '--null' : undefined
  if (refused !== undefined) {
    throw new FlowdeltaError(
      `--suite ${flags.suite} has its own cases, and does nothing with ${refused}. Leave one of the two out.`,
    )
  }
  if (flags.suite === 'nezha') return runNezhaSuite(names, flags)
  if (names.length > 0) {
    throw new FlowdeltaError(
      `--suite ${flags.suite} takes no cases, and was given ${names.join(', ')}.`,
    )
  }
  if (flags.suite === 'incidents') return runIncidentSuite(flags)
  if (flags.suite === 'few') return runFewSuite(flags)
  if (flags.suite === 'varied') return runVariedSuite(flags)
  if (flags.suite === 'planted') return runPlantedSuite()
  return flags.suite === 'hdx' ? runHdxSuite(flags) : runNullSuite(flags)
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
