import type { Command } from 'commander'
import {
  type CheckedType,
  checkRun,
  type Estimate,
  type RunCheck,
} from '../compare/baseline/check-run.ts'
import { summarizeRun } from '../compare/baseline/run-summary.ts'
import { KNOWLEDGE_OPTIONS } from '../compare/knowledge/knowledge.ts'
import { nameType } from '../compare/knowledge/names.ts'
import { visibleText } from '../core/errors.ts'
import { defineOptions, flag, level, oneOf, optionalText } from '../core/options.ts'
import { counted } from '../core/words.ts'
import { addRun, RUN_FLAGS, readHistory, runName } from './baseline.ts'
import { CHECK_FORMATS, checkText, failsUntold, type JudgedType } from './check-formats.ts'
import { type Condition, conditionFrom, conditionOption, failOn, type Terms } from './conditions.ts'
import { addOptions, type Flags, type FlagsOf } from './flags.ts'
import { LOAD_FLAGS, loadPeriod, warnOf } from './load-period.ts'
import { givenWidth, printText } from './printing.ts'
import { writeReport } from './report.ts'

const CHECK_FLAGS = defineOptions({
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

type CheckCondition = Condition<CheckedType, RunCheck>

interface CheckFlags extends FlagsOf<typeof CHECK_FLAGS & typeof KNOWLEDGE_OPTIONS> {
  readonly baseline: string
  readonly failOn?: readonly CheckCondition[]
  readonly warnOn?: readonly CheckCondition[]
}

const isMissing = ({ requests: [, now] }: CheckedType) => now === 0

/** Terms of conditions: the bounds of intervals that are nearest to no change. */
const TERMS: Terms<CheckedType, RunCheck> = {
  things: ({ types }) => types,
  nameOf: ({ name }) => name,
  words: {
    any: ({ shift, errors, tail }) =>
      [shift, errors?.growth, tail?.growth].some((one) => (one?.low ?? 0) > 0),
    missing: isMissing,
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

/** Conditions that give a warning if no given condition judges their quantity. */
const BY_DEFAULT = (['errors', 'tail'] as const).map((quantity) => ({
  quantity,
  condition: conditionFrom(`${quantity}>0%`, TERMS),
}))

export function addCheck(command: Command): void {
  command
    .argument('<file...>', 'Traces of the run to check')
    .requiredOption('--baseline <file>', "History that 'flowdelta baseline write' wrote")
    .addOption(
      conditionOption(
        'fail-on',
        "End with exit code 1 when any type of request surely exceeds it: 'shift>5%' or 'shift>10ms' slower, 'errors>1%' more failures, 'tail>1%' more requests slower than 99 % of requests before (rare timeouts, which typical times do not show), 'missing' if none came, or 'any' (default)",
        TERMS,
      ),
    )
    .addOption(
      conditionOption(
        'warn-on',
        "Warn when any type surely exceeds it; 'errors>0%' and 'tail>0%' warn unless another condition checks failures or the tail",
        TERMS,
      ),
    )
  addOptions(command, CHECK_FLAGS, KNOWLEDGE_OPTIONS, LOAD_FLAGS).action(runCheck)
}

async function runCheck(files: string[], flags: CheckFlags & Flags): Promise<void> {
  const { baseline, alpha, out, append, warnOn = [], knowledge = null } = flags
  const conditions = flags.failOn ?? [conditionFrom('any', TERMS)]
  const history = readHistory(baseline)
  const name = append ? runName(history, flags) : (flags.name ?? 'run')
  const traces = await loadPeriod(undefined, files, flags)
  warnOf(traces, { selected: false })
  const run = summarizeRun(name, traces)
  const found = checkRun(run, history, alpha)
  const named = <Type extends { readonly name: string }>(types: readonly Type[]) =>
    types.map((type) => ({ ...type, name: nameType(knowledge, type.name) }))
  const check = {
    ...found,
    types: named(found.types),
    added: found.added.map((type) => nameType(knowledge, type)),
    renamed: found.renamed.map(({ was, name: now }) => ({
      was: nameType(knowledge, was),
      name: nameType(knowledge, now),
    })),
    changes: found.changes.map((change) => ({ ...change, types: named(change.types) })),
  }
  const meets = (type: CheckedType, given: readonly CheckCondition[]) =>
    given.filter(({ holds }) => holds(type, check)).map((condition) => condition.text)
  const given = [...conditions, ...warnOn]
  const unjudged = BY_DEFAULT.filter(
    ({ quantity }) => !given.some(({ text }) => new RegExp(`\\b(${quantity}|any)\\b`).test(text)),
  )
  const types = check.types.map((type): JudgedType => {
    // A result up to the other bounds cannot be ruled out.
    const worstOf = (of: Estimate) => ({ ...of, low: of.high })
    const { errors, tail } = type
    const worst = {
      ...type,
      shift: worstOf(type.shift),
      errors: errors && { ...errors, growth: worstOf(errors.growth) },
      tail: tail && { ...tail, growth: worstOf(tail.growth) },
    }
    const fails = meets(type, conditions)
    // With only a few earlier runs, a result far worse than any of them is a warning, not a pass.
    const isSlower = type.isApart && !(type.shift.low > 0)
    const isUntold = isSlower || failsUntold(type)
    const warns = [
      ...(isUntold ? meets(worst, given) : meets(type, warnOn)),
      ...meets(
        type,
        unjudged.map(({ condition }) => condition),
      ),
    ]
    return {
      ...type,
      verdict: fails.length > 0 ? 'fail' : warns.length > 0 ? 'warn' : 'pass',
      conditions: fails.length > 0 ? fails : warns,
      isUntold: fails.length === 0 && warns.length > 0 && isUntold,
      possible: meets(worst, conditions).filter((each) => each.includes('>')),
    }
  })
  const results = { check, types, unjudged: unjudged.map(({ quantity }) => quantity) }
  const printed = visibleText(CHECK_FORMATS[flags.as](results))
  if (out === undefined && flags.as === 'text') printText(checkText(results, givenWidth()))
  else if (out === undefined) process.stdout.write(printed)
  else {
    writeReport(out, printed)
    printText(`${out}: ${counted(types.length, 'request type')} as ${flags.as}`)
  }
  failOn(check, conditions, TERMS)
  if (append && !types.some(({ verdict }) => verdict === 'fail')) {
    process.stderr.write(visibleText(`${baseline}: ${addRun(baseline, run)}\n`))
  }
}
