import type { Command } from 'commander'
import {
  type CheckedType,
  checkRun,
  type Estimate,
  type Growth,
  type JudgedType,
  judgeTypes,
  type RunCheck,
} from '../compare/baseline/check-run.ts'
import { runName, summarizeRun } from '../compare/baseline/run-summary.ts'
import { visibleText } from '../core/errors.ts'
import {
  document,
  FLAG,
  listOf,
  MEASURED,
  orNull,
  Part,
  record,
  SHARE,
  TEXT,
  words,
} from '../core/json-parts.ts'
import { defineOptions, flag, level, oneOf, optionalText } from '../core/options.ts'
import { conditionFrom, type Terms } from '../core/result-conditions.ts'
import { counted } from '../core/words.ts'
import {
  type CheckResults,
  checkText,
  githubCommands,
  verdictOf,
} from '../views/text/check-text.ts'
import { addRun, RUN_FLAGS, readHistory } from './baseline.ts'
import { conditions, failOn } from './conditions.ts'
import { addOptions, type Flags, type FlagsOf, required } from './flags.ts'
import { LOAD_FLAGS, loadPeriod, warnOf } from './load-period.ts'
import { givenWidth, printedJson, printText } from './printing.ts'
import { writeReport } from './report.ts'

const VERDICT = words('pass', 'warn', 'fail')
const ESTIMATE = record<Estimate>({
  value: MEASURED,
  low: MEASURED.about('Bounds of the interval that holds for all types together.'),
  high: MEASURED,
})
const BASELINE_AND_RUN = new Part<readonly [number, number]>(
  { type: 'array', prefixItems: [MEASURED.schema, MEASURED.schema], items: false },
  (pair) => pair.map(MEASURED.write),
)

export const CHECK_DOCUMENT = document<CheckResults>('check', 'A run checked against a history.', {
  verdict: VERDICT.from(verdictOf),
  run: TEXT.from(({ check }) => check.run.name),
  baseline: listOf(TEXT).from(({ check }) => check.baseline.map(({ name }) => name)),
  types: listOf(
    record<JudgedType>({
      name: TEXT,
      requests: BASELINE_AND_RUN.about('In the baseline and in the run.'),
      medianUs: BASELINE_AND_RUN,
      shift: ESTIMATE.about('Typical ratio of response times minus 1: 0.05 is 5 % slower.'),
      errors: orNull(record<Growth>({ share: SHARE, growth: ESTIMATE })).about(
        'Share of requests that fail, and its growth; null where traces do not record failures.',
      ),
      tail: orNull(record({ share: SHARE, growth: ESTIMATE, beyondUs: MEASURED })).about(
        'Share of requests slower than 99 % of requests before, its growth, and that limit; null where none came.',
      ),
      verdict: VERDICT as Part<JudgedType['verdict']>,
      conditions: listOf(TEXT).about('Conditions that make it fail, or else warn.'),
      isUntold: FLAG.about(
        'Whether it warns because the typical request is slower than 95 % of requests of every run before, or more requests fail than in any of them, with too few runs to be sure.',
      ),
      possible: listOf(TEXT).about('Conditions of --fail-on that its interval does not rule out.'),
    }),
  ),
  added: listOf(TEXT).from(({ check }) => check.added, 'Types that only the run has.'),
  renamed: listOf(record<RunCheck['renamed'][number]>({ was: TEXT, name: TEXT })).from(
    ({ check }) => check.renamed,
    'Types that earlier runs had under another name: equally frequent, of the same service, with the same calls.',
  ),
})

const CHECK_FORMATS = {
  text: (results: CheckResults) => `${checkText(results)}\n`,
  json: (results: CheckResults) => printedJson(CHECK_DOCUMENT.write(results)),
  github: githubCommands,
}

/** Terms of conditions: the bounds of intervals that are nearest to no change. */
const TERMS: Terms<CheckedType, RunCheck> = {
  things: ({ types }) => types,
  nameOf: ({ name }) => name,
  words: {
    any: ({ shift, errors, tail }) =>
      [shift, errors?.growth, tail?.growth].some((one) => (one?.low ?? 0) > 0),
    missing: ({ requests: [, now] }) => now === 0,
  },
  quantities: {
    shift: {
      percent: ({ shift }) => 100 * shift.low,
      us: ({ shift, medianUs: [usual] }) => shift.low * usual,
    },
    errors: { percent: ({ errors }) => 100 * (errors?.growth.low ?? 0) },
    tail: { percent: ({ tail }) => 100 * (tail?.growth.low ?? 0) },
  },
  examples:
    "'shift>5%', 'shift>10ms', 'errors>1%', 'tail>1%', 'missing' or 'any'; 'contribution>5%' is judged by flowdelta compare",
}

const CHECK_FLAGS = defineOptions({
  ...required({
    baseline: optionalText("History that 'flowdelta baseline write' wrote", 'baseline <file>'),
  }),
  failOn: conditions(
    'fail-on',
    "End with exit code 1 when any type of request surely exceeds it: 'shift>5%' or 'shift>10ms' slower, 'errors>1%' more failures, 'tail>1%' more requests slower than 99 % of requests before (rare timeouts, which typical times do not show), 'missing' if none came, or 'any' (default)",
    TERMS,
  ),
  warnOn: conditions(
    'warn-on',
    "Warn when any type surely exceeds it; 'errors>0%' and 'tail>0%' warn unless another condition checks failures or the tail",
    TERMS,
  ),
  alpha: level({
    default: 0.05,
    sentence: 'Chance that any interval of the check, or any change of the history, is wrong',
  }),
  as: oneOf(Object.keys(CHECK_FORMATS) as (keyof typeof CHECK_FORMATS)[], {
    unit: 'format',
    default: 'text',
    sentence: 'How to print: text, json, or annotations of GitHub checks',
  }),
  out: optionalText('File to write to, not standard output', 'out <file>'),
  ...RUN_FLAGS,
  append: flag({ default: false, sentence: 'Add the run to the history unless it fails' }),
})

type CheckFlags = FlagsOf<typeof CHECK_FLAGS>

export function addCheck(command: Command): void {
  command.argument('<file...>', 'Traces of the run to check')
  addOptions(command, CHECK_FLAGS, LOAD_FLAGS).action(runCheck)
}

async function runCheck(files: string[], flags: CheckFlags & Flags): Promise<void> {
  const { baseline = '', alpha, out, append, warnOn = [] } = flags
  const failing = flags.failOn ?? [conditionFrom('any', TERMS)]
  const history = readHistory(baseline)
  const name = append ? runName(history, flags) : (flags.name ?? 'run')
  const traces = await loadPeriod(undefined, files, flags)
  warnOf(traces, { selected: false })
  const run = summarizeRun(name, traces)
  const check = checkRun(run, history, alpha)
  const given = [...failing, ...warnOn]
  // Those that no given condition judges give a warning.
  const unjudged = (['errors', 'tail'] as const).filter(
    (quantity) => !given.some(({ text }) => new RegExp(`\\b(${quantity}|any)\\b`).test(text)),
  )
  const byDefault = unjudged.map((quantity) => conditionFrom(`${quantity}>0%`, TERMS))
  const types = judgeTypes(check, { failOn: failing, warnOn, byDefault })
  const results = { check, types, unjudged }
  const printed = visibleText(CHECK_FORMATS[flags.as](results))
  if (out === undefined && flags.as === 'text') printText(checkText(results, givenWidth()))
  else if (out === undefined) process.stdout.write(printed)
  else {
    writeReport(out, printed)
    printText(`${out}: ${counted(types.length, 'request type')} as ${flags.as}`)
  }
  failOn(check, failing, TERMS)
  if (append && !types.some(({ verdict }) => verdict === 'fail')) {
    process.stderr.write(visibleText(`${baseline}: ${addRun(baseline, run)}\n`))
  }
}
