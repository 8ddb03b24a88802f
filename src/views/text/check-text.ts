import {
  type CheckedType,
  type Estimate,
  failsUntold,
  type Growth,
  historyChanges,
  type JudgedType,
  type RunCheck,
} from '../../compare/baseline/check-run.ts'
import type { RunSummary } from '../../compare/baseline/run-summary.ts'
import { tableOf } from '../../core/text-layout.ts'
import { counted, formatDuration, grouped, pValue, shortText, spoken } from '../../core/words.ts'
import { twoProportionsTest } from '../../stats/two-proportions.ts'

export interface CheckResults {
  readonly check: RunCheck
  readonly types: readonly JudgedType[]
  /** Quantities that no given condition judges. */
  readonly unjudged: readonly ('errors' | 'tail')[]
}

export function verdictOf({ types }: CheckResults): JudgedType['verdict'] {
  const given = types.map(({ verdict }) => verdict)
  return given.includes('fail') ? 'fail' : given.includes('warn') ? 'warn' : 'pass'
}

const MAX_NAME_LENGTH = 60
const LEVEL = 0.05

const shortName = (name: string) => shortText(name, MAX_NAME_LENGTH)

/** Writes the results; without a width, as wide as they are: pipelines keep them and search their lines. */
export function checkText(results: CheckResults, width = Number.POSITIVE_INFINITY): string {
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
    `${what}: ${of.join(', ')}. ${counted(baseline.length, 'run')} cannot tell how much runs differ: look at these, or add runs to the history.`
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
      'Differences between runs are unknown with only one run before: intervals may be too narrow.',
    changes.length > 0 &&
      `Response times changed level at ${shortName(changes.at(-1)?.run ?? '')}.`,
  ])
  return [`${verdictOf(results)}: ${head}`, '', tableOf(types, columns, { width }), ...notes].join(
    '\n',
  )
}

/** Reports changes that no condition covers: more failing requests than by chance, or more slow ones. */
function ungatedText({ types, unjudged }: CheckResults): string {
  const said = (what: string, condition: string, named: readonly string[]) =>
    named.length > 0 &&
    `${what}, but no condition checks it: ${named.join(', ')}. Add --fail-on '${condition}'.`
  const slower = types
    .filter(({ tail, verdict }) => verdict !== 'fail' && tail !== null && tail.growth.low > 0)
    .map((type) => `${shortName(type.name)} (${tailText(type)})`)
  return spoken([
    unjudged.includes('errors') && said('More requests fail', 'errors>1%', failingMore(types)),
    unjudged.includes('tail') && said('More requests are slow', 'tail>0%', slower),
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

function isUnbounded({ value, low, high }: Estimate): boolean {
  const ratio = (bound: number) => (1 + bound) / (1 + value)
  return !Number.isNaN(low) && !(ratio(low) > 1 / MAX_RATIO && ratio(high) < MAX_RATIO)
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
export function githubCommands(results: CheckResults): string {
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

/** Longest name of a run or type in a history. */
export const MAX_RUN_LENGTH = 90

/** Says with which runs of a history response times changed. */
export function historyText(runs: readonly RunSummary[]): string {
  const lines = historyChanges(runs).flatMap(({ run, types }) => [
    `Changed with ${shortText(run, MAX_RUN_LENGTH)}:`,
    ...types.map(({ name, levelsUs, p }) => {
      const levels = levelsUs.map(formatDuration).join(' → ')
      return `  ${shortText(name, MAX_RUN_LENGTH)}: typically ${levels} (${pValue(p)})`
    }),
  ])
  if (lines.length === 0) lines.push('Response times never changed level.')
  return [counted(runs.length, 'run'), ...lines].join('\n')
}
