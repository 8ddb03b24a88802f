import type { Command } from 'commander'
import {
  type CheckedType,
  checkRun,
  type Estimate,
  type Growth,
  type RunCheck,
} from '../compare/baseline/check-run.ts'
import { summarizeRun } from '../compare/baseline/run-summary.ts'
import { KNOWLEDGE_OPTIONS } from '../compare/knowledge/knowledge.ts'
import { nameType } from '../compare/knowledge/names.ts'
import { visibleText } from '../core/errors.ts'
import { defineOptions, flag, level, oneOf, optionalText } from '../core/options.ts'
import { tableOf } from '../core/text-layout.ts'
import { counted, formatDuration, grouped, shortText, spoken } from '../core/words.ts'
import { twoProportionsTest } from '../stats/two-proportions.ts'
import { addRun, RUN_FLAGS, readHistory, runName } from './baseline.ts'
import { type Condition, conditionFrom, conditionOption, failOn, type Terms } from './conditions.ts'
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
} from './document.ts'
import { addOptions, type Flags, type FlagsOf } from './flags.ts'
import { LOAD_FLAGS, loadPeriod, warnOf } from './load-period.ts'
import { givenWidth, printedJson, printText } from './printing.ts'
import { writeReport } from './report.ts'

/** Type of requests with the verdict of `--fail-on` and `--warn-on`. */
interface JudgedType extends CheckedType {
  readonly verdict: 'pass' | 'warn' | 'fail'
  /** Conditions that make it fail, or else warn. */
  readonly conditions: readonly string[]
  /** Whether it warns of a shift, or of failures, that runs before are too few to be sure of. */
  readonly isUntold: boolean
  /** Conditions of `--fail-on` that its interval does not rule out. */
  readonly possible: readonly string[]
}

export interface CheckResults {
  readonly check: RunCheck
  readonly types: readonly JudgedType[]
  /** Quantities that no given condition judges. */
  readonly unjudged: readonly ('errors' | 'tail')[]
}

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
      tail: orNull(
        record<NonNullable<CheckedType['tail']>>({
          share: SHARE,
          growth: ESTIMATE,
          beyondUs: MEASURED,
        }),
      ).about(
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

function verdictOf({ types }: CheckResults): JudgedType['verdict'] {
  const given = types.map(({ verdict }) => verdict)
  return given.includes('fail') ? 'fail' : given.includes('warn') ? 'warn' : 'pass'
}

/** Whether clearly more requests fail than in each run before, which are too few to be sure of it. */
function failsUntold({ failsApart, errors }: CheckedType): boolean {
  return failsApart && !((errors?.growth.low ?? 0) > 0)
}

const MAX_NAME_LENGTH = 60
const LEVEL = 0.05

const shortName = (name: string) => shortText(name, MAX_NAME_LENGTH)

/** Writes the results; without a width, as wide as they are: pipelines keep them and search their lines. */
function checkText(results: CheckResults, width = Number.POSITIVE_INFINITY): string {
  const { check, types } = results
  const { baseline, changes, added, renamed, run } = check
  const [first = '', ...later] = baseline.map(({ name }) => shortName(name))
  const range = later.length === 0 ? first : `${first} to ${later.at(-1)}`
  const head = `${shortName(run.name)} against ${counted(baseline.length, 'run')} (${range})`
  const unsure = types.filter(({ verdict, possible }) => verdict !== 'fail' && possible.length > 0)
  const untold = types.filter((type) => type.isUntold)
  const slower = untold.filter((type) => type.isApart && !(type.shift.low > 0))
  const unsureText = (what: string, of: readonly string[]) =>
    of.length > 0 &&
    `${what}: ${of.join(', ')}. ${counted(baseline.length, 'run')} cannot show run-to-run variation: look at these, or add runs to the history.`
  const unbounded = types.filter(({ shift }) => isUnbounded(shift)).length
  const possible = new Set(unsure.flatMap((type) => type.possible))
  // The numbers before cover all runs together.
  const requestsTitle = later.length === 0 ? 'requests' : `requests (${baseline.length} runs → 1)`
  const columns = {
    'type of request': ({ name }: JudgedType) => shortName(name),
    [requestsTitle]: ({ requests }: JudgedType) => requests.map(grouped).join(' → '),
    median: ({ medianUs }: JudgedType) => medianUs.map(durationText).join(' → '),
    shift: ({ shift }: JudgedType) => percentText(shift.value, '+'),
    '': ({ shift }: JudgedType) => intervalText(shift),
    slow: ({ tail }: JudgedType) => (tail === null ? '' : sharesText(tail)),
    fails: ({ errors }: JudgedType) => percentText(errors?.share ?? Number.NaN),
    verdict: ({ verdict, conditions }: JudgedType) => [verdict, ...conditions].join(' '),
  }
  const notes = spoken([
    later.length === 0
      ? 'shift: median ratio of a request of the run to one before.'
      : 'shift: ratio of the geometric means; unlike the median, it counts every request.',
    'slow: requests slower than 99 % of requests before.',
    ungatedText(results),
    renamed.length > 0 &&
      `Renamed, and compared as one: ${renamed.map(({ was, name }) => `${shortName(was)} to ${shortName(name)}`).join(', ')}.`,
    added.length > 0 && `New: ${added.map(shortName).join(', ')}`,
    unsureText(
      'The typical request is slower than 95 % of requests in every run before',
      slower.map(({ name }) => shortName(name)),
    ),
    unsureText(
      'More requests fail than in any run before',
      untold.filter(failsUntold).map((type) => `${shortName(type.name)} (${failuresText(type)})`),
    ),
    unsure.length > 0 &&
      `Too few requests or runs to rule out ${[...possible].join(', ')} for ${counted(unsure.length, 'type')}.`,
    unbounded > 0 &&
      `Too few ${baseline.length === 1 ? 'requests' : 'runs'} to bound the shift of ${counted(unbounded, 'type')}.`,
    baseline.length === 1 &&
      'A single run before cannot show run-to-run variation: intervals may be too narrow.',
    changes.length > 0 &&
      `Response times changed level at ${shortName(changes.at(-1)?.run ?? '')}.`,
  ])
  return [`${verdictOf(results)}: ${head}`, '', tableOf(types, columns, { width }), ...notes].join(
    '\n',
  )
}

/**
 * Reports changes that no condition covers: more failing requests than chance explains if runs do not differ, or more
 * slow ones, of types that do not fail already.
 */
function ungatedText({ types, unjudged }: CheckResults): string {
  const said = (what: string, condition: string, named: readonly string[]) =>
    named.length > 0 &&
    `${what}, but no condition checks it: ${named.join(', ')}. Add --fail-on '${condition}'.`
  return spoken([
    unjudged.includes('errors') && said('More requests fail', 'errors>1%', failingMore(types)),
    unjudged.includes('tail') && said('More requests are slow', 'tail>0%', slowMore(types)),
  ]).join(' ')
}

function failingMore(types: CheckResults['types']): string[] {
  const more = types.filter(({ errors, requests: [before, now] }) => {
    if (errors === null || errors.growth.value <= 0) return false
    const { share, growth } = errors
    const { p } = twoProportionsTest((share - growth.value) * before, before, share * now, now)
    return p * types.length < LEVEL
  })
  return more.map((type) => {
    const isSure = (type.errors?.growth.low ?? 0) > 0 ? '' : ', unless runs differ by that much'
    return `${shortName(type.name)} (${failuresText(type)}${isSure})`
  })
}

function slowMore(types: CheckResults['types']): string[] {
  return types
    .filter(({ tail, verdict }) => verdict !== 'fail' && tail !== null && tail.growth.low > 0)
    .map((type) => `${shortName(type.name)} (${tailText(type)})`)
}

function failuresText({ errors }: CheckedType): string {
  return sharesText(errors as Growth)
}

function sharesText({ share, growth }: Growth): string {
  return `${percentText(share - growth.value)} → ${percentText(share)}`
}

function tailText({ tail }: JudgedType): string {
  const known = tail as NonNullable<CheckedType['tail']>
  return `over ${durationText(known.beyondUs)}: ${sharesText(known)}`
}

function durationText(us: number): string {
  return Number.isNaN(us) ? 'none' : formatDuration(us)
}

function percentText(share: number, plus = ''): string {
  if (!Number.isFinite(share)) return Number.isNaN(share) ? '' : '∞ %'
  return `${share > 0 ? plus : ''}${(100 * share).toFixed(1)} %`.replace('-', '−')
}

/** Largest ratio of an interval's end to its estimate, or the inverse, at which the interval still bounds something. */
const MAX_RATIO = 100

/** Returns the ends of an interval that are meaningful. */
function boundsOf({ value, low, high }: Estimate) {
  const ratio = (bound: number) => (1 + bound) / (1 + value)
  return { isBelow: ratio(low) > 1 / MAX_RATIO, isAbove: ratio(high) < MAX_RATIO }
}

function isUnbounded(shift: Estimate): boolean {
  const { isBelow, isAbove } = boundsOf(shift)
  return !Number.isNaN(shift.low) && !(isBelow && isAbove)
}

function intervalText(shift: Estimate): string {
  const { low, high } = shift
  if (Number.isNaN(low)) return ''
  const [from, to] = [percentText(low, '+'), percentText(high, '+')]
  if (!isUnbounded(shift)) return `${from} to ${to}`
  // For a shift of a hundred times or more, even such an interval has a meaningful end.
  if (low > 0) return `${from} or more`
  return high < 0 ? `${to} or less` : 'too few to bound it'
}

function sentenceOf(type: JudgedType): string {
  const { requests, medianUs, shift, errors, tail, conditions } = type
  if (requests[1] === 0) return `no request came (${grouped(requests[0])} before)`
  const failing = errors === null ? '' : `; ${percentText(errors.share)} fail`
  const slow = tail !== null && tail.growth.low > 0 ? `; ${tailText(type)}` : ''
  const told = conditions.length === 0 ? '' : `: ${conditions.join(', ')}`
  const times = medianUs.map(durationText).join(' → ')
  return `${times}, ${percentText(shift.value, '+')} (${intervalText(shift)})${failing}${slow}${told}`
}

/** Returns workflow commands: GitHub shows each as an annotation of the check. */
function githubCommands(results: CheckResults): string {
  const data = (text: string) => text.replace(/[%\r\n]/g, encodeURIComponent)
  const lines = results.types.flatMap((type) => {
    const title = shortName(type.name).replace(/[%:,]/g, encodeURIComponent)
    const kind = { fail: 'error', warn: 'warning', pass: '' }[type.verdict]
    return kind === '' ? [] : [`::${kind} title=flowdelta ${title}::${data(sentenceOf(type))}`]
  })
  const [summary = ''] = checkText(results).split('\n')
  const ungated = ungatedText(results)
  if (ungated !== '') lines.push(`::warning title=flowdelta::${data(ungated)}`)
  return `${[...lines, `::notice title=flowdelta::${data(summary)}`].join('\n')}\n`
}

const CHECK_FORMATS = {
  text: (results: CheckResults) => `${checkText(results)}\n`,
  json: (results: CheckResults) => printedJson(CHECK_DOCUMENT.write(results)),
  github: githubCommands,
}

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
