import type { Categories } from '../../compare/categories/categories.ts'
import { isMadeWith } from '../../compare/findings/call-findings.ts'
import type {
  CallsEvidence,
  LogsEvidence,
  MovesEvidence,
  OrderEvidence,
  SameSteps,
  StructureChange,
  ToldCall,
} from '../../compare/findings/finding.ts'
import { calledName, rootsName, stepName } from '../../compare/findings/names.ts'
import { isSame, isSameCall, type Operation } from '../../compare/steps/call-order.ts'
import { ERRORS, type LogChange } from '../../compare/steps/compare-log-counts.ts'
import type { CallChange, RepeatChange, StepChanges } from '../../compare/steps/step-changes.ts'
import { MAX_TEXT } from '../../compare/thresholds.ts'
import { TIME } from '../../core/quantity.ts'
import { grouped, listed, MAX_NAMED, printable, shortNumber, shortText } from '../../core/words.ts'
import type { ServiceLogChange } from '../../flows/flow-logs.ts'
import { AFTER, BEFORE, type Period } from '../../flows/flow-set.ts'
import { callName, operationAt, operationName } from '../../flows/node-labels.ts'
import { messageReceivers } from '../../flows/span-tree.ts'
import { GRAVE_LEVELS } from '../../traces/log-records.ts'
import { alsoDone, callsText, ofChances, type Words } from './finding-facts.ts'

/** Says what a service does differently, and where to look. */
export function callsWords(evidence: CallsEvidence, steps: StepChanges): Words {
  const { changes, alike, previous } = evidence
  const service = printable(changes.service)
  const isElsewhere = previous !== null && previous.service !== changes.service
  const operations = new Set(alike.map(({ of }) => of.operation))
  return {
    where: service,
    what: whatCalls(evidence, steps) + alsoDone(operations.size - 1),
    look: `${service}${isElsewhere ? `, and the answer of ${calledName(previous, '')}` : ''}`,
    notes: [],
  }
}

/** Such as `GetAds returns without calling anything in 31 of 160 calls (0 of 182 before)`. */
function whatCalls({ changes, previous }: CallsEvidence, { flows, sites }: StepChanges): string {
  const { service, calls, repeats } = changes
  const isTime = flows.quantity === TIME
  const change = calls[0] && asOnlyCall(calls[0], sites)
  if (change === undefined) {
    const { of, call, beforeTimes, afterTimes } = repeats[0] as RepeatChange
    const times = `${rounded(afterTimes)} times instead of ${rounded(beforeTimes)}`
    return `${operationAt(service, of.operation)} calls ${calledName(call, service)} ${times}`
  }
  const { of, kind, call, difference, made } = change
  const name = operationAt(service, of.operation)
  const timesOf = ({ times }: ToldCall) => rounded(times?.[AFTER] || 1)
  const shareOf = (one: ToldCall, alike = [one]) => {
    const each = timesOf(one)
    const isOf = each !== '1' && alike.every((other) => timesOf(other) === each)
    return `in ${callsText(one)}${isOf ? `, ${each} times each` : ''}`
  }
  // Amounts know no order of calls.
  const after = previous === null || !isTime ? '' : `after ${calledName(previous, service)}`
  const nothing = previous === null ? 'without calling anything' : 'without further calls'
  const returns = after === '' ? nothing : `right ${after}`
  const replaced = calls.find((other) => isMadeWith(other, change, -1))
  if (call !== null && replaced !== undefined) {
    const [now, no] = difference > 0 ? [call, replaced.call] : [replaced.call, call]
    const isBetween = (outer: Operation | null, inner: Operation | null) =>
      sites?.sites.some(
        ({ of, callees }) => isSameCall(of, outer) && callees.some((one) => isSameCall(one, inner)),
      )
    const [one, other] = [now, no].map((operation) => calledName(operation, service))
    const often = shareOf(difference > 0 ? change : replaced)
    if (isBetween(now, no)) return `${one} now stands between ${name} and ${other}, ${often}`
    if (isBetween(no, now)) return `${other} no longer stands between ${name} and ${one}, ${often}`
    return `${name} calls ${one} instead of ${other}, ${often}`
  }
  if (call === null) {
    return `${name} returns ${returns} ${difference > 0 ? '' : 'only '}${shareOf(change)}`
  }
  const together =
    kind === 'calls' ? [change, ...calls.filter((other) => isMadeWith(other, change))] : [change]
  const names = together.map((other) => calledName(other.call, service))
  const shares = shareOf(change, together)
  const what = `${listed(names, MAX_NAMED)}${kind === 'next' && after !== '' ? ` ${after}` : ''}`
  const areReceived = together.every(
    (other) => other.call !== null && messageReceivers(flows).has(callName(other.call)),
  )
  // Whoever sends messages shows nothing of who receives them.
  if (areReceived && made[AFTER] === 0) {
    return `no ${what} follows ${name} (${ofChances(change, BEFORE)} before): not received, or not recorded`
  }
  if (areReceived && made[BEFORE] === 0) {
    return `${what} follows ${name} ${shares}: not received before, or not recorded`
  }
  if (difference > 0)
    return `${name} ${made[BEFORE] === 0 ? 'now calls' : 'calls'} ${what} ${shares}`
  return made[AFTER] === 0
    ? `${name} no longer calls ${what} (${ofChances(change, BEFORE)} calls before)`
    : `${name} calls ${what} only ${shares}`
}

/** Treats making no calls less often as making a call more often, if the operation has only that callee. */
function asOnlyCall(change: ToldCall, sites: StepChanges['sites']): ToldCall {
  const { of, call, previous, made, chances, difference } = change
  if (call !== null || previous !== null) return change
  const callees = (sites?.sites ?? []).flatMap((site) => (isSame(site.of, of) ? site.callees : []))
  const [only] = callees
  if (only === undefined || !callees.every((callee) => isSame(callee, only))) return change
  const others = [chances[BEFORE] - made[BEFORE], chances[AFTER] - made[AFTER]] as const
  return { ...change, kind: 'calls', call: only, made: others, difference: -difference }
}

function rounded(times: number): string {
  return Number(times.toPrecision(2)).toString()
}

/**
 * Says what operations do: `GET calls cart GET and ads LIST one after the other, no longer at the
 * same time, in 40 of 200 requests (0 of 200 before)`.
 */
export function orderWords({ changes: [first, ...others], counts }: OrderEvidence): Words {
  const service = printable(first.of.service)
  return { where: service, what: whatOrder([first, ...others], counts), look: service, notes: [] }
}

function whatOrder(
  [first, ...others]: OrderEvidence['changes'],
  counts: OrderEvidence['counts'],
): string {
  const [{ kind, difference }] = first.calls
  const isLess = (kind === 'again' || kind === 'hedges') && difference < 0
  const share = (period: Period) => {
    const [n, all] = counts[period]
    return `${grouped(isLess ? all - n : n)} of ${grouped(all)}`
  }
  const names = [first, ...others].map(({ of }) => operationName(of))
  const who = listed(names, MAX_NAMED)
  const does = wordsOf(first.calls)[names.length > 1 ? 'plural' : 'singular']
  if (isLess && counts[AFTER][0] === counts[AFTER][1]) {
    return `${who} no longer ${does} (${share(BEFORE)} requests before)`
  }
  return `${who} ${does} ${isLess ? 'only ' : ''}in ${share(AFTER)} requests (${share(BEFORE)} before)`
}

function wordsOf(changes: readonly [CallChange, ...CallChange[]]) {
  const [{ kind, of, difference }] = changes
  const isMore = difference > 0
  const named = (callsOf: (change: CallChange) => readonly (Operation | null)[]) =>
    names(of, changes.flatMap(callsOf))
  const previous = named((change) => [change.previous])
  const next = named((change) => [change.call])
  const verb = (singular: string, plural: string, rest: string) => ({
    singular: `${singular} ${rest}`,
    plural: `${plural} ${rest}`,
  })
  if (kind === 'again') return verb('retries', 'retry', `${next} after a failure`)
  if (kind === 'hedges') {
    return verb('calls', 'call', `${next} once more while a slow call runs (hedging)`)
  }
  if (kind === 'outlives') {
    return isMore
      ? verb('no longer waits', 'no longer wait', `for ${next}`)
      : verb('now waits', 'now wait', `for ${next}`)
  }
  const all = named((change) => [change.previous, change.call])
  if (kind === 'before') {
    const later = changes.flatMap((change) => change.call ?? [])
    const isClear = !changes.some((one) => later.some((other) => isSameCall(one.previous, other)))
    return verb('calls', 'call', isClear ? `${previous} before ${next}` : `${all} in another order`)
  }
  const [now, before] = isMore ? [TOGETHER, IN_TURN] : [IN_TURN, TOGETHER]
  return verb('calls', 'call', `${all} ${now}, no longer ${before},`)
}

const TOGETHER = 'at the same time'
const IN_TURN = 'one after the other'

function names(of: Operation, some: readonly (Operation | null)[]): string {
  const named = some.flatMap((one) => (one === null ? [] : [calledName(one, of.service)]))
  return listed([...new Set(named)].sort(), MAX_NAMED)
}

/** Says which other path requests take, or what they do otherwise with the same steps. */
export function movesWords(
  categories: Categories,
  evidence: MovesEvidence,
  direction: string,
): Words {
  const { otherwise, group } = evidence
  const { moves } = group
  const [{ from, to }] = moves as [(typeof moves)[number]]
  const paths = [BEFORE, AFTER].map((period) => grouped(categories.count(to, period as Period)))
  const isOneOfMore = new Set(moves.map((move) => move.to)).size > 1
  const path = `${isOneOfMore ? 'most common ' : ''}new path taken by ${paths.join(' → ')}`
  return {
    where: rootsName(moves.map((move) => categories.shownNode(move.to, 0))),
    what: otherwise === null ? pathText(categories, evidence) : sameStepsText(otherwise),
    look: whereToLook(evidence, direction),
    notes: from === to ? [] : [path],
  }
}

function whereToLook(
  { group: { changes }, services: { gained, lost } }: MovesEvidence,
  direction: string,
): string {
  const decides = whatDecides(changes)
  if (gained.length > 0) return `${decides}, and at ${listed(gained.map(printable), 3)}`
  return lost.length > 0 && direction === 'faster' ? `${decides}: do requests fail early?` : decides
}

function whatDecides(changes: readonly StructureChange[]): string {
  const change = changes.find(({ answered }) => answered !== null) ?? changes[0]
  if (change?.after == null) return 'who sends these requests'
  const { answered } = change
  if (answered === null) return `what follows ${stepName(change.after.node)}`
  const answer = `the answer of ${printable(answered.service)} ${operationName(answered)}`
  const { restsOn } = answered
  return restsOn.length === 0
    ? answer
    : `${answer} (which calls ${listed(restsOn.map(printable), MAX_NAMED)})`
}

/** Says what requests do otherwise with the same steps. */
function sameStepsText(otherwise: SameSteps): string {
  if (otherwise.how === 'another order') return 'requests do the same steps in another order'
  if (otherwise.how === 'repeated') {
    const [was, is] = otherwise.times
    const rounded = (times: number) => String(Number(times.toFixed(1)))
    const onAverage = otherwise.times.every(Number.isInteger) ? '' : ' on average'
    return `requests do ${stepName(otherwise.node)} ${rounded(is)} times instead of ${rounded(was)}${onAverage}`
  }
  const [one, other] = [otherwise.first, otherwise.second].map(stepName)
  const words: Record<typeof otherwise.how, string> = {
    'in turn': `now do ${one} and ${other} one after the other, no longer at the same time`,
    together: `now do ${one} and ${other} at the same time, no longer one after the other`,
    reordered: `now do ${one} before ${other}`,
    'not waited for': `no longer wait for ${other} before ${one}`,
    'waited for': `now wait for ${other} before ${one}`,
  }
  return `requests ${words[otherwise.how]}`
}

/** Says which path requests take now. */
function pathText(
  categories: Categories,
  { group: { moves, changes }, services: { gained, lost } }: MovesEvidence,
): string {
  const come = moves.filter(({ from, to }) => from === to)
  if (come.length === moves.length) {
    const times = (period: Period) =>
      grouped(come.reduce((sum, { to }) => sum + categories.count(to, period), 0))
    return `comes more often: ${times(BEFORE)} before, ${times(AFTER)} after`
  }
  const few = (names: readonly string[]) => listed(names.map(printable), MAX_NAMED)
  const steps = (wanted: StructureChange['change']) => {
    const names = changes
      .filter(({ change }) => change === wanted)
      .map(({ node }) => stepName(node))
    return listed([...new Set(names)], MAX_NAMED)
  }
  const [added, removed] = [steps('added'), steps('removed')]
  // Requests of several paths that take one now have nothing in common but its steps.
  if (added !== '' && removed === '' && new Set(moves.map(({ from }) => from)).size > 1) {
    return `requests now take ${added}`
  }
  if (gained.length > 0 && lost.length > 0) {
    return `requests now go to ${few(gained)} instead of ${few(lost)}`
  }
  if (gained.length > 0) return `requests now also go to ${few(gained)}`
  if (lost.length > 0) return `requests no longer go to ${few(lost)}`
  if (added === '' && removed === '')
    return 'requests repeat the same steps a different number of times'
  if (removed === '') return `requests now also do ${added}`
  return added === ''
    ? `requests no longer do ${removed}`
    : `requests now do ${added} instead of ${removed}`
}

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
  const name = `${grave}“${printable(shortText(text, MAX_TEXT))}”`
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
