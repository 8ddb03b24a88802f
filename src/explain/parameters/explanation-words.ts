import { formatDuration, grouped, percent, shortText, tooltipText } from '../../core/words.ts'
import type { PathCondition } from '../../stats/decision-tree/tree-paths.ts'
import type { ParameterDifference } from './parameter-differences.ts'
import type { ExplainedPath, Prediction } from './parameter-question.ts'

/** What the two groups of a question are called. */
export type GroupWords = Readonly<Record<Prediction, string>>

export const MUTATION_WORDS: GroupWords = {
  mutation: 'mutations',
  precursor: 'precursors',
  slow: 'slow',
  usual: 'as fast as usual',
}

export const PERIOD_WORDS: GroupWords = {
  ...MUTATION_WORDS,
  mutation: 'of the period after',
  precursor: 'of the period before',
}

/** Of requests of one period that fail and those that do not. */
export const FAILURE_WORDS: GroupWords = {
  ...MUTATION_WORDS,
  mutation: 'failing',
  precursor: 'not failing',
}

/** Of calls that do what a finding says is done otherwise now, and those that do not. */
export const CHOICE_WORDS: GroupWords = {
  ...MUTATION_WORDS,
  mutation: 'changed',
  precursor: 'not changed',
}

const MOST_LEVELS = 4
const LONGEST_NAME = 100
const LONGEST_LEVEL = 40

export function pathSentence(
  path: ExplainedPath,
  { rows, words }: { readonly rows: string; readonly words: GroupWords },
): string {
  const { predicts, requests, precision, recall, lift, times } = path
  const which = words[predicts]
  const hits = Math.round(precision * requests)
  const share = `${grouped(hits)} of ${grouped(Math.round(requests))} (${percent(precision)})`
  const found = recall === 1 ? `all that are` : `${percent(recall)} of all that are`
  const often =
    lift >= 1.05
      ? `, ${lift >= 9.95 ? Math.round(lift) : lift.toFixed(1)} times as often as overall`
      : ''
  const time =
    times === null || path.question !== 'what-is-slow'
      ? ''
      : `; ${formatDuration(times.hereUs)} on average against ${formatDuration(times.elsewhereUs)} elsewhere`
  return `Where ${conditionsText(path)}, ${rows}s are ${precision < 0.5 ? 'more often ' : ''}${which}: ${share}, ${found}${often}${time}.`
}

export function conditionsText({ conditions }: Pick<ExplainedPath, 'conditions'>): string {
  return conditions.map(conditionWords).join(' and ')
}

export function conditionWords(condition: PathCondition): string {
  const column = shortText(condition.column, LONGEST_NAME)
  if (condition.kind === 'range') {
    const { above, atMost } = condition
    if (above === undefined) return `${column} is at most ${number(atMost as number)}`
    if (atMost === undefined) return `${column} is above ${number(above)}`
    return `${column} is above ${number(above)} and at most ${number(atMost)}`
  }
  return `${column} is ${levelWords(condition)}`
}

function levelWords({ codes, levels }: Extract<PathCondition, { kind: 'levels' }>): string {
  const [first, ...others] = levels.map(levelText)
  const last = others.pop()
  if (last === undefined) return String(first)
  if (levels.length <= MOST_LEVELS) return `${[first, ...others].join(', ')} or ${last}`
  // Levels are sorted: codes without a gap are all there is from the first to the last.
  const span = (codes.at(-1) as number) - (codes[0] as number)
  if (span === codes.length - 1) return `${first} to ${last} (${grouped(levels.length)} values)`
  const shown = [first, ...others.slice(0, MOST_LEVELS - 1)]
  return `${shown.join(', ')} or ${grouped(levels.length - shown.length)} more`
}

function levelText(level: string): string {
  const text = shortText(level, LONGEST_LEVEL)
  return text === '' || text.includes(',') ? `"${text}"` : text
}

function number(value: number): string {
  return Number.isInteger(value) ? grouped(value) : String(Number(value.toPrecision(9)))
}

export function periodText({ column, before, after }: ParameterDifference): string {
  const values = [before, after].map(summaryWords).map(tooltipText)
  return `${tooltipText(column)} changed with the period alone: ${values.join(' before, ')} after.`
}

export function summaryWords({ quartiles, commonest }: ParameterDifference['before']): string {
  if (quartiles !== null) {
    const [low, , middle, , high] = quartiles.map((value) => Number(value.toPrecision(5)))
    return low === high ? `${low}` : `${low} … ${middle} … ${high}`
  }
  return commonest.map(([level, share]) => `${level} ${Math.round(share * 100)} %`).join(', ')
}
