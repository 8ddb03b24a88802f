import { type PrintedWarning, warningLines } from '../../comparison/fairness/comparison-warning.ts'
import type { OptionAdvice } from '../../core/errors.ts'
import { leftOutLines, MAX_WIDTH, tableOf } from '../../core/text-layout.ts'
import { counted, formatDuration, grouped, pValue, shortText, spoken } from '../../core/words.ts'
import {
  causeText,
  decoyText,
  differenceOf,
  differences,
  differencesText,
  fewText,
  graphLines,
  graphTitle,
  inputText,
  leftOutSentences,
  MAX_VARIABLE_LENGTH,
  newComesFirst,
  newEvents,
  newnessText,
  performanceSentences,
  phaseShareText,
  relationText,
  tellingGraphs,
  titleName,
  tText,
} from '../../explain/logs/log-words.ts'
import type { AttentionGraph } from '../../logs/attention/focus-attention.ts'
import type { LogComparison } from '../../logs/compare-logs.ts'
import {
  strongestDifference,
  type VariableDivergence,
} from '../../logs/divergence/find-divergence.ts'
import { optionsIn, skipAdvice, skipText } from '../../logs/readers/log-sink.ts'
import { blockLines } from '../charts/ribbon.ts'

export interface LogResults {
  readonly compared: LogComparison
  readonly warnings: readonly PrintedWarning[]
  readonly limit: number
}

interface TextOptions {
  /** Whether every difference is listed, and what performance depends on. */
  readonly isWhole: boolean
  /** Writes the options of a message as flags. */
  readonly inFlags: (message: string, advice: OptionAdvice) => string
  /** Characters of a line. Default: 100. */
  readonly width?: number
}

const INDENT = '    '
/** Longest printed text of a new message: all of it is informative. */
const MAX_MESSAGE_LENGTH = 200
const NODES = 10

/** Writes a comparison of logs: its input, whether performance differs, the differences, and where to look first. */
export function logsText(
  { compared, warnings, limit }: LogResults,
  { isWhole, inFlags, width = MAX_WIDTH }: TextOptions,
): string {
  const onlyAfter = newMessagesText(compared, limit)
  const isFirst = newComesFirst(compared)
  const cause = causeText(compared)
  return spoken([
    isFirst && onlyAfter,
    cause !== undefined &&
      spoken([`${cause}.`, phaseShareText(compared), decoyText(compared)]).join(' '),
    warningLines(warnings).join('\n'),
    `${inputText(compared)}${skippedText(compared, inFlags)}`,
    [...performanceSentences(compared), ...phaseLines(compared, width)].join('\n'),
    variablesText(compared, { limit, isWhole, width }),
    !isFirst && onlyAfter,
    ...(isWhole ? tellingGraphs(compared).map((graph) => graphText(graph, compared)) : []),
    fewText(compared),
  ]).join('\n\n')
}

/** Says which lines were skipped, unless a warning does. */
function skippedText(compared: LogComparison, inFlags: TextOptions['inFlags']): string {
  const { skipped, skippedLines, lines } = compared.logs.report
  const [first] = skipped
  const isSaid = compared.warnings().some(({ code }) => code === 'lines-skipped')
  if (first === undefined || isSaid) return ''
  const advice = skipAdvice(first.reason)
  const said = ` ${counted(skippedLines, 'line')} of ${grouped(lines)} skipped: ${skipText(first)}.`
  return advice === '' ? said : inFlags(`${said} ${advice}.`, optionsIn(advice))
}

/** Findings are three lines each: more are no screen. */
const MAX_FINDINGS = 4

type ListOptions = Pick<LogResults, 'limit'> & Required<Pick<TextOptions, 'isWhole' | 'width'>>

function variablesText(compared: LogComparison, { limit, isWhole, width }: ListOptions): string {
  const found = differences(compared)
  const { told } = found
  const most = isWhole ? limit : Math.min(limit, MAX_FINDINGS)
  const shown = told.slice(0, most)
  const left = told.length - shown.length
  return spoken([
    differencesText(compared, told.length),
    shown.length > 0 &&
      (isWhole ? differencesTable(shown, compared, width) : findingsText(shown, compared)),
    ...(isWhole
      ? leftOutLines(left)
      : [left > 0 && `${grouped(left)} more differ${left === 1 ? 's' : ''}: see --details.`]),
    ...leftOutSentences(found, compared),
  ]).join('\n')
}

function differencesTable(
  told: readonly VariableDivergence[],
  compared: LogComparison,
  width: number,
): string {
  const rows = told.map((variable) => ({ ...variable, ...differenceOf(variable, compared) }))
  return tableOf(
    rows,
    {
      variable: ({ name }) => shortText(name, MAX_VARIABLE_LENGTH),
      kind: ({ kind }) => kind,
      score: ({ score }) => tText(score),
      'what differs most': ({ what }) => what,
      t: ({ t }) => t,
    },
    { width },
  )
}

/** Returns each finding as three lines: the difference, its relation to performance, and its certainty. */
function findingsText(told: readonly VariableDivergence[], compared: LogComparison): string {
  const { counts } = compared.logs
  const findings = told.map((variable, i) => {
    const { what, t } = differenceOf(variable, compared)
    const { before, after } = variable.presence
    const { q = Number.NaN } = strongestDifference(variable) ?? {}
    const having = `in ${grouped(before)} of ${counted(counts.before, 'instance')} before, ${grouped(after)} of ${grouped(counts.after)} after`
    return [
      `#${i + 1}`.padEnd(INDENT.length) +
        `${shortText(variable.name, MAX_VARIABLE_LENGTH)}: ${what}`,
      `${INDENT}${relationText(variable, compared)}`,
      `${INDENT}t = ${t} · ${pValue(q)} · ${having}`,
    ].join('\n')
  })
  return `\n${findings.join('\n\n')}\n`
}

/** Lists events logged only after, the gravest first: with few instances no test finds them, but a reader does. */
function newMessagesText(compared: LogComparison, limit: number): string {
  const found = newEvents(compared.divergence)
  if (found.length === 0) return ''
  const rows = found.slice(0, limit).map((one) => {
    return { counts: newnessText(one, compared), name: shortText(one.name, MAX_MESSAGE_LENGTH) }
  })
  const width = Math.max(...rows.map(({ counts }) => counts.length))
  return [
    `Logged only after, the gravest first (${counted(found.length, 'event')}):`,
    ...rows.map((row) => `${row.counts.padEnd(width)}  ${row.name}`),
    ...leftOutLines(found.length - limit),
  ].join('\n')
}

function graphText(graph: AttentionGraph, compared: LogComparison): string {
  const { variablesLeftOut = 0 } = graph
  const lines = graphLines(graph, compared)
  const left = lines.length - NODES
  return spoken([
    `Look first at ${graphTitle(graph, compared)}`,
    ...lines.slice(0, NODES),
    left > 0 && `   and ${grouped(left)} more`,
    variablesLeftOut > 0 &&
      `Learned from the most telling variables; ${grouped(variablesLeftOut)} more are left out (raise --most-variables).`,
  ]).join('\n')
}

/** Returns a mean run from message to message, before and after, on one scale; no lines where it may be chance. */
function phaseLines(compared: LogComparison, width: number): string[] {
  const { phases, options, changedPhase } = compared
  if (changedPhase === undefined) return []
  const parts = phases.map((phase) => {
    const { to, beforeUs, afterUs, p } = phase
    const isChance = phase !== changedPhase && !(p < options.alpha / phases.length)
    const name = to === null ? 'until its end' : `until ${titleName({ name: to })}`
    const grows = afterUs > beforeUs ? ('more' as const) : ('less' as const)
    return { name, beforeUs, afterUs, change: isChance ? ('little' as const) : grows }
  })
  const signed = (us: number) => `${us > 0 ? '+' : '−'}${formatDuration(Math.abs(us))}`
  return blockLines(parts, { width, amount: formatDuration, signed })
}
