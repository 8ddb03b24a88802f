import { FlowdeltaError, nearestName, show } from '../../core/errors.ts'
import { memoized } from '../../core/remembered.ts'
import {
  counted,
  firstOf,
  formatDuration,
  grouped,
  printable,
  readDuration,
} from '../../core/words.ts'
import type { AttributeValue } from '../attributes.ts'
import { isoTime, readMoment } from '../epoch-clock.ts'
import { ANY_SERVICE, builtIn, type Condition, condition, type Subject } from './condition.ts'

/** Returns the values of a subject for a trace's request: none, one, or those of several spans. */
export type Reader = (trace: number) => readonly AttributeValue[]

/** A moment: text as on the command line, a `Date`, or µs since 1970. */
export type Moment = string | Date | number

export interface Recorded {
  readonly name: string
  readonly size: number
  readonly epochNs: bigint
  /** Returns a reader for a condition's subject; `undefined` if nothing recorded has that name. */
  reader(subject: Subject): Reader | undefined
  /** Reads which requests call a service, or an operation; `undefined` where there is none such. */
  callers(called: Subject): ((trace: number) => boolean) | undefined
  names(): Readonly<Record<'attributes' | 'services' | 'operations', readonly string[]>>
}

const MAX_LISTED = 8

export function conditionTest(recorded: Recorded, asked: Condition) {
  const { op, values, orNotRecorded } = asked
  const always = () => true
  if (op === 'calls' || op === 'does not call') {
    const calls = recorded.callers(asked)
    const holds = (trace: number) => (calls?.(trace) ?? false) === (op === 'calls')
    return { holds, isKnown: calls !== undefined, isRecorded: always }
  }
  const reader = recorded.reader(asked)
  const read: Reader = reader ?? (() => [])
  const isKnown = reader !== undefined
  const isRecorded = (trace: number) => read(trace).length > 0
  if (op === 'recorded' || op === 'not recorded') {
    const holds = (trace: number) => isRecorded(trace) === (op === 'recorded')
    return { holds, isKnown, isRecorded: always }
  }
  if (!isKnown) return { holds: () => false, isKnown, isRecorded: always }
  const fits = op === 'is' || op === 'is not' ? isOneOf(values) : orderTest(recorded, asked)
  const isAny = (trace: number) => {
    const own = read(trace)
    return own.length === 0 ? orNotRecorded : own.some(fits)
  }
  const holds = op === 'is not' ? (trace: number) => !isAny(trace) : isAny
  return { holds, isKnown, isRecorded: orNotRecorded ? always : isRecorded }
}

/** Properties that are compared with a number, with the notation of their values. */
const ORDERED = {
  duration: { needs: "a number with a unit, as '500ms'", read: readDuration },
  time: { needs: "a time, as '2026-10-01T11:15Z'", read: () => Number.NaN },
  attribute: {
    needs: 'a number, in the unit in which it was recorded',
    read: (written: string) => Number(written || Number.NaN),
  },
}

function orderTest(recorded: Recorded, asked: Condition): (value: AttributeValue) => boolean {
  const [written = ''] = asked.values
  const name = builtIn(asked)
  const { needs, read } = ORDERED[name === 'duration' || name === 'time' ? name : 'attribute']
  const limit = name === 'time' ? (momentUs(recorded, written) ?? Number.NaN) : read(written)
  if (Number.isNaN(limit)) {
    throw new FlowdeltaError(
      `Condition ${asked.text} compares with ${show(written)}. Give ${needs}.`,
    )
  }
  return (value) => {
    const number = value === '' || typeof value === 'boolean' ? Number.NaN : Number(value)
    if (asked.op === 'from') return number >= limit
    if (asked.op === 'above') return number > limit
    return asked.op === 'below' ? number < limit : number <= limit
  }
}

/** Whether a value is one of some, as it was recorded or as it is printed; equal numbers are one. */
function isOneOf(texts: readonly string[]): (value: AttributeValue) => boolean {
  const wanted = new Set(texts)
  const numbers = new Set(texts.map((text) => Number(text || Number.NaN)))
  return memoized((value: AttributeValue) => {
    const text = String(value)
    const isNumber = typeof value === 'number' && numbers.has(value)
    return isNumber || wanted.has(text) || wanted.has(printable(text))
  })
}

/** Returns a moment in µs since 1970, a time of day from `notBeforeUs` on; throws if it is none. */
export function requireMoment(
  recorded: Recorded,
  moment: Moment,
  notBeforeUs: number | null = null,
): number {
  const us = momentUs(recorded, moment, notBeforeUs)
  if (us !== null) return us
  throw new FlowdeltaError(
    `${show(moment)} is no time. Give '2026-10-01T11:15Z', '11:15Z' on the day of the recording, or '5min' after it began.`,
  )
}

/** Works as `requireMoment`, but returns `null` for other values. */
export function momentUs(
  { epochNs }: Recorded,
  moment: unknown,
  notBeforeUs: number | null = null,
): number | null {
  if (typeof moment === 'string') {
    return readMoment(moment, { epochUs: Number(epochNs) / 1e3, notBeforeUs })
  }
  const us = moment instanceof Date ? moment.getTime() * 1e3 : moment
  return typeof us === 'number' && Number.isFinite(us) ? us : null
}

/** Returns the values of a condition's subject, and the number of traces with each, frequent ones first. */
export function valuesOf(recorded: Recorded, subject: Subject): [value: string, traces: number][] {
  const read = recorded.reader(subject)
  const counts = new Map<string, number>()
  for (let trace = 0; trace < recorded.size; trace++) {
    for (const value of new Set(read?.(trace))) {
      counts.set(String(value), (counts.get(String(value)) ?? 0) + 1)
    }
  }
  return [...counts].sort(([, a], [, b]) => b - a)
}

export function unknownName(recorded: Recorded, asked: Condition): FlowdeltaError {
  const { attributes, services, operations } = recorded.names()
  const isCall = asked.op === 'calls' || asked.op === 'does not call'
  const { service, attribute } = asked
  const isService = service !== null && service !== ANY_SERVICE && !services.includes(service)
  const [what, name, known] = isService
    ? (['service', service, services] as const)
    : !isCall
      ? (['attribute', attribute, attributes] as const)
      : service !== null
        ? (['operation', attribute, operations] as const)
        : (['service', attribute, services] as const)
  const meant = nearestName(name, known)
  const there =
    known.length === 0 ? `There are no ${what}s` : `It has ${firstOf(known, { most: MAX_LISTED })}`
  const isOperation = isCall && service === null && operations.includes(attribute)
  const next = isOperation
    ? `That is an operation: write ${calledText(attribute, ANY_SERVICE)}.`
    : meant === undefined
      ? `${there}.`
      : `Did you mean ${meant}?`
  const mayBeResource = meant === undefined && what === 'attribute'
  return new FlowdeltaError(
    `Condition ${asked.text}: ${recorded.name} has no ${what} ${printable(name)}. ${next}` +
      (mayBeResource ? ' Attributes of resources are loaded with `resourceAttributes`.' : ''),
    mayBeResource ? { resourceAttributes: true } : {},
  )
}

export function nothingSelected(
  recorded: Recorded,
  conditions: readonly Condition[],
  text: string,
): FlowdeltaError {
  const each = conditions.map((asked) => {
    const { holds } = conditionTest(recorded, asked)
    return { asked, count: Array.from({ length: recorded.size }, (_, i) => i).filter(holds).length }
  })
  const counts = each.map(({ asked, count }) => `${asked.text} holds for ${grouped(count)}`)
  const empty = each.filter(({ count }) => count === 0)
  const said = empty.map(({ asked }) => valuesText(recorded, asked))
  return new FlowdeltaError(
    [
      `None of the ${counted(recorded.size, 'trace')} of ${recorded.name} has ${text}.`,
      ...(conditions.length > 1 ? [`${counts.join(', ')}.`] : []),
      ...new Set(said),
    ].join(' '),
  )
}

function valuesText(recorded: Recorded, asked: Condition): string {
  if (asked.op === 'calls' || asked.op === 'does not call') return 'Give another one.'
  const name = condition(asked, 'recorded').text.replace(/ is recorded$/, '')
  const values = valuesOf(recorded, asked)
  const called = calledInstead(recorded, asked)
  const texts = values.map(([value]) => value)
  if (texts.length === 0) return `${name} is not recorded in any of them.`
  const numbers = Float64Array.from(texts, (text) => Number(text || Number.NaN)).sort()
  if (texts.length > MAX_LISTED && numbers.every(Number.isFinite)) {
    const kind = builtIn(asked)
    const epochUs = Number(recorded.epochNs) / 1e3
    const shown = (value = Number.NaN) =>
      kind === 'duration'
        ? formatDuration(value)
        : kind === 'time'
          ? isoTime(value, epochUs)
          : `${value}`
    return `${name} goes from ${shown(numbers[0])} to ${shown(numbers.at(-1))}.`
  }
  const meant = asked.values.flatMap((value) => nearestName(value, texts) ?? [])[0]
  const hint = meant === undefined ? '' : ` Did you mean ${printable(meant)}?`
  const textOf = (value: string) =>
    builtIn(asked) === 'duration' ? formatDuration(Number(value)) : printable(value) || '""'
  const all = values.map(([value, traces]) => `${textOf(value)} (${grouped(traces)})`)
  return `${name} is ${firstOf(all, { most: MAX_LISTED })}.${called ?? hint}`
}

/** Suggests the condition that was meant if no root but some call has that service or operation. */
function calledInstead(recorded: Recorded, asked: Condition): string | undefined {
  const name = builtIn(asked)
  if (asked.service !== null || (name !== 'service' && name !== 'operation')) return undefined
  const { services, operations } = recorded.names()
  const known = name === 'service' ? services : operations
  const inside = asked.values.find((value) => known.includes(value))
  if (inside === undefined) return undefined
  const meant = calledText(inside, name === 'service' ? null : ANY_SERVICE)
  return ` That matches only roots; write ${meant}.`
}

function calledText(attribute: string, service: string | null): string {
  return condition({ service, attribute, isAttribute: false }, 'calls').text
}
