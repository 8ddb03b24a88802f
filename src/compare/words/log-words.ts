import { grouped, listed, MAX_NAMED, printable, shortNumber, shortText } from '../../core/words.ts'
import type { ServiceLogChange } from '../../flows/flow-logs.ts'
import { AFTER, BEFORE } from '../../flows/flow-set.ts'
import { operationName } from '../../flows/node-labels.ts'
import { GRAVE_LEVELS } from '../../traces/log-records.ts'
import type { LogsEvidence } from '../findings/evidence.ts'
import { isSame, isSameCall } from '../steps/call-order.ts'
import { ERRORS, type LogChange } from '../steps/compare-log-counts.ts'
import { callsText, ofChances, type Words } from './words.ts'

/** A message that stands within a sentence. */
const MAX_TEXT_LENGTH = 80

/** Says what a service logs otherwise. */
export function logsWords({ changes }: LogsEvidence): Words {
  const service = printable(changes[0].of.service)
  return { where: service, what: logText(changes), look: service, notes: [] }
}

function isNew({ messages: [before] }: ServiceLogChange): boolean {
  return before === 0
}

/** Says what a service logs otherwise in records of no request: errors and new statements first. */
export function serviceLogsText(changes: readonly ServiceLogChange[]): string {
  const sorted = changes.toSorted(
    (a, b) => +ERRORS.has(b.level) - +ERRORS.has(a.level) || +isNew(b) - +isNew(a),
  )
  return `its logs have ${listed(sorted.map(serviceLogText), MAX_NAMED)}`
}

function serviceLogText({ level, text, messages: [before, after], means }: ServiceLogChange) {
  const grave = GRAVE_LEVELS.has(level) ? `${level.toUpperCase()} ` : ''
  const name = `${grave}“${printable(shortText(text, MAX_TEXT_LENGTH))}”`
  if (before === 0) return `new ${name} (${grouped(after)} times)`
  if (after === 0) return `no ${name} any more (${grouped(before)} before)`
  const factor = means[1] / means[0]
  const often = factor > 1 ? factor : 1 / factor
  return `${name} ${shortNumber(Number(often.toPrecision(2)))} times ${factor > 1 ? 'as often' : 'less often'}`
}

/** Says what an operation logs otherwise: `findContacts no longer logs #34 (22 of 23 before)`. */
export function logText(changes: LogsEvidence['changes']): string {
  const [first] = changes
  const own = changes.filter(({ of }) => isSame(of, first.of))
  const nameOf = shortNames()
  const logged = own.filter(({ kind }) => kind === 'logs').sort((a, b) => a.place - b.place)
  const lost = logged.filter(({ difference }) => difference < 0)
  const more = logged.filter(({ difference }) => difference > 0)
  const told = lost[0] ?? more[0] ?? first
  const previous =
    told.previous ??
    own.find(
      ({ kind, call, difference }) =>
        kind === 'logs next' && isSameCall(call, told.call) && difference * told.difference > 0,
    )?.previous
  const after = previous == null ? '' : ` after ${nameOf(previous)}`
  const names = (some: readonly LogChange[]) => {
    const calls = some.map(({ call }) => nameOf(call))
    return listed(calls, MAX_NAMED)
  }
  const parts = [
    ...(lost.length === 0 ? [] : [lostWords(lost, names(lost))]),
    ...(more.length === 0 ? [] : [moreWords(more, names(more), lost.length > 0)]),
    ...(logged.length > 0
      ? []
      : [(first.difference > 0 ? moreWords : lostWords)([first], names([first]))]),
  ]
  return `${operationName(first.of)}${after} ${parts.join('; ')}`
}

function lostWords([first]: readonly LogChange[], names: string): string {
  const counts = first as LogChange
  return counts.made[AFTER] === 0
    ? `no longer logs ${names} (${ofChances(counts, BEFORE)} calls before)`
    : `logs ${names} only in ${callsText(counts)}`
}

function moreWords([first]: readonly LogChange[], names: string, isFurther = false): string {
  const counts = first as LogChange
  const [now, more] = isFurther ? ['new:', 'more often:'] : ['now logs', 'logs']
  return `${counts.made[BEFORE] === 0 ? now : more} ${names} in ${callsText(counts)}`
}

/** The level that a grave statement begins with; other words in capitals are part of the message. */
const GRAVE = new RegExp(`^((?:${[...GRAVE_LEVELS].join('|').toUpperCase()}) )?(.*)$`, 's')

/** Names statements; of lines of a class that was named already, only the line: `#34`. Texts are quoted. */
function shortNames(): (one: LogChange['call']) => string {
  const seen = new Set<string>()
  return (one) => {
    if (one === null) return 'nothing more'
    const [, level = '', name = ''] = GRAVE.exec(one.operation) ?? []
    const [, source, line] = /^([^\s#]+)(#\d+)$/.exec(name) ?? []
    if (source === undefined || line === undefined) return `${level}“${printable(name)}”`
    const isKnown = seen.has(source)
    seen.add(source)
    return printable(`${level}${isKnown ? '' : source}${line}`)
  }
}
