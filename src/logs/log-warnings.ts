import { greatest, sum } from 'd3-array'
import type { OptionAdvice } from '../core/errors.ts'
import { counted, grouped } from '../core/words.ts'
import { LOG_CLASSES, type LogSet } from './features/log-set.ts'
import { isLost, skipAdvice, skipText } from './readers/log-sink.ts'

/** Something that a comparison of logs should be read with. */
export interface LogWarning {
  readonly code:
    | 'lines-skipped'
    | 'same-files'
    | 'one-instance'
    | 'empty-instances'
    | 'unread-files'
  readonly message: string
  /** Options that the message names. */
  readonly advice: OptionAdvice
}

/** From this share of skipped lines on, what is compared may not be what was logged. */
const MAX_SKIPPED_SHARE = 0.05
const SHOWN = 3

/** What was not read of two sets of logs, or cannot be told from them, the gravest first. */
export function logWarnings(logs: LogSet): readonly LogWarning[] {
  return [
    ...linesSkipped(logs),
    ...sameFiles(logs),
    ...oneInstance(logs),
    ...emptyInstances(logs),
    ...unreadFiles(logs),
  ]
}

function linesSkipped({ report }: LogSet): LogWarning[] {
  const lost = report.skipped.filter(({ reason }) => isLost(reason))
  const lines = sum(lost, ({ count }) => count)
  const most = greatest(lost, ({ count }) => count)
  if (most === undefined || lines < MAX_SKIPPED_SHARE * report.lines) return []
  const { text, options } = skipAdvice(most.reason)
  const message = `${counted(lines, 'line')} of ${grouped(report.lines)} gave no message: ${skipText(most)}.`
  const advised = text === '' ? message : `${message} ${text}.`
  return warning('lines-skipped', advised, options)
}

function warning(code: LogWarning['code'], message: string, advice: OptionAdvice = {}) {
  return [{ code, message, advice }]
}

function sameFiles({ report: { inBothClasses } }: LogSet): LogWarning[] {
  if (inBothClasses.length === 0) return []
  const message = `${listed(inBothClasses)} ${isAre(inBothClasses)} given as before and as after, and cannot differ from ${inBothClasses.length === 1 ? 'itself' : 'themselves'}. Name each file once.`
  return warning('same-files', message)
}

function oneInstance({ counts }: LogSet): LogWarning[] {
  const alone = LOG_CLASSES.filter((logClass) => counts[logClass] === 1)
  if (alone.length === 0) return []
  const message = `Only ${alone.map((logClass) => `1 instance ${logClass}`).join(' and ')}: a test needs two in each period. A file is an instance, and so is a directory with all that is in it. Name the files (dir/*), or name the field that holds the instance of a line with \`instance\`.`
  return warning('one-instance', message, { instance: null })
}

function emptyInstances({ report: { emptyInstances: empty } }: LogSet): LogWarning[] {
  if (empty.length === 0) return []
  const message = `${listed(empty)} ${empty.length === 1 ? 'has' : 'have'} no message, and count${empty.length === 1 ? 's' : ''} as ${counted(empty.length, 'instance')} in which nothing happened. Leave out what should not count.`
  return warning('empty-instances', message)
}

function unreadFiles({ report: { unreadFiles: unread } }: LogSet): LogWarning[] {
  if (unread.length === 0) return []
  const message = `${listed(unread)} ${isAre(unread)} in no known log format and ${unread.length === 1 ? 'was' : 'were'} ignored. Name the format with \`format\` if this should be read.`
  return warning('unread-files', message, { format: null })
}

function isAre({ length }: readonly string[]): string {
  return length === 1 ? 'is' : 'are'
}

function listed(names: readonly string[]): string {
  const left = names.length - SHOWN
  const shown = names.slice(0, SHOWN).join(', ')
  return left > 0 ? `${shown} and ${grouped(left)} more` : shown
}
