import { group } from 'd3-array'
import { grouped, listed, MAX_NAMED, printable, shortNumber, shortText } from '../../core/words.ts'
import type { ServiceLogChange } from '../../flows/flow-logs.ts'
import { AFTER, BEFORE } from '../../flows/flow-set.ts'
import { operationName } from '../../flows/node-labels.ts'
import { GRAVE_LEVELS } from '../../traces/log-records.ts'
import { usualMeanUs } from '../edges/edge-times.ts'
import type { EdgeChanges } from '../edges/find-edge-changes.ts'
import { isSame, isSameCall } from '../steps/call-order.ts'
import { ERRORS, type LogChange } from '../steps/compare-log-counts.ts'
import type { StepChanges } from '../steps/step-changes.ts'
import { findingCall } from './call-findings.ts'
import { changedCalls } from './concurrency-findings.ts'
import { type Draft, isStructural, NO_EVIDENCE } from './finding.ts'
import { formsOf, movedRequests, priceOf } from './form-prices.ts'
import { callsText, categoriesOf, ofChances, surest } from './names.ts'
import { firstExemplars } from './slow-examples.ts'

/** A message that stands within a sentence. */
const MAX_TEXT_LENGTH = 80
/** Weight of a request on another path, in requests that take twice as long: errors, others. */
const [ERROR_WEIGHT, OTHER_WEIGHT] = [1, 0.3]

/** Drafts a finding a service whose spans log otherwise: its code takes another path. */
export function logFindings({ flows, logs }: StepChanges, { categories }: EdgeChanges): Draft[] {
  const usualUs = usualMeanUs(flows)
  const changed = logs.filter((one) => one.changed)
  return [...group(changed, ({ of }) => of.service)].flatMap(([service, all]): Draft | [] => {
    const own = all.toSorted(
      (a, b) => changedCalls(b) - changedCalls(a) || +(a.kind !== 'logs') - +(b.kind !== 'logs'),
    )
    const [first] = own as [LogChange]
    const isMore = first.difference > 0
    const forms = formsOf(flows, (request) =>
      first.able.has(request) ? first.doing.has(request) === isMore : undefined,
    )
    const requests = Math.max(1, movedRequests(forms))
    const price = priceOf(flows, forms, requests)
    const isError = own.some(
      ({ difference, statement }) =>
        difference > 0 && ERRORS.has(flows.logs?.statements[statement]?.level ?? ''),
    )
    const weight = isError ? ERROR_WEIGHT : OTHER_WEIGHT
    const usual = forms.usual.filter((request) => flows.period[request] === BEFORE)
    return {
      ...NO_EVIDENCE,
      kind: 'structure',
      direction: price.contributionUs < 0 ? 'faster' : 'slower',
      where: printable(service),
      what: logWords(own),
      key: own.map(({ of, kind, call }) => JSON.stringify([of, kind, call])).join('\n'),
      categories: categoriesOf(categories, forms.now),
      requests,
      concerned: [forms.counts[BEFORE][0], forms.counts[AFTER][0]],
      contributionUs: price.contributionUs,
      weightUs: Math.max(Math.abs(price.contributionUs), requests * weight * usualUs),
      eachInterval: price.eachInterval,
      probabilitySlower: Number.NaN,
      look: printable(service),
      services: [service],
      calls: own.map(findingCall),
      depth: Math.max(...own.map(({ depth }) => depth)),
      exemplars: firstExemplars(flows, [...usual, ...forms.now]),
      ...surest(own),
    }
  })
}

/** Adds a service's changes of logs to the finding on its other changes, if there is one. */
export function withLogs(drafts: readonly Draft[], logs: readonly Draft[]): Draft[] {
  const hostOf = ({ services }: Draft) =>
    drafts.find(
      (draft) =>
        draft.services[0] === services[0] &&
        (isStructural(draft) || (draft.kind === 'errors' && draft.calls[0]?.kind === 'fails')),
    )
  const told = drafts.map((draft) => {
    const own = logs.find((log) => hostOf(log) === draft)
    if (own === undefined) return draft
    const { weightUs = Math.abs(draft.contributionUs) } = draft
    return {
      ...draft,
      notes: [...draft.notes, own.what],
      calls: [...draft.calls, ...own.calls],
      weightUs: Math.max(weightUs, own.weightUs ?? 0),
      ...(own.depth !== undefined && { depth: own.depth }),
    }
  })
  return [...told, ...logs.filter((log) => hostOf(log) === undefined)]
}

/**
 * Adds to findings the changes of their service's logs in records that name no request: errors and new statements
 * first.
 */
export function withServiceLogs(
  drafts: readonly Draft[],
  changes: readonly ServiceLogChange[],
): readonly Draft[] {
  return drafts.map((draft) => {
    const own = changes
      .filter(
        ({ service }) => printable(service) === draft.services[0] || service === draft.services[0],
      )
      .sort((a, b) => +ERRORS.has(b.level) - +ERRORS.has(a.level) || +isNew(b) - +isNew(a))
    if (own.length === 0) return draft
    const said = listed(own.map(serviceLogText), MAX_NAMED)
    return { ...draft, notes: [...draft.notes, `its logs have ${said}`] }
  })
}

function isNew({ messages: [before] }: ServiceLogChange): boolean {
  return before === 0
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
function logWords(changes: readonly LogChange[]): string {
  const [first] = changes as [LogChange]
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
