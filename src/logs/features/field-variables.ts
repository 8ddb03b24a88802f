import { readDuration } from '../../core/words.ts'
import {
  LEFT_OUT_WORDS,
  type LeftOutReason,
  namesFew,
  reasonOfName,
  reasonOfTexts,
} from '../../traces/attribute-names.ts'
import type { LogBuilder } from './log-builder.ts'
import type { FieldLeftOut } from './log-report.ts'

/** A field of a message that is part of what it says. */
export type LogField = readonly [key: string, value: string | number | boolean]

/** A text of more values than this is no kind of anything. */
const MAX_VALUES = 20
const MAX_FIELDS = 200
const MAX_LENGTH = 80
const MANY = `has more than ${MAX_VALUES} values`
/** Ids and addresses of which there are few tell tenants, shards or upstreams apart. */
const FEW_TELL: ReadonlySet<LeftOutReason> = new Set(['identifier', 'address'])
/** Numbers of these names are not more or less, but this or that. */
const IS_CODE = /(?:status|code|errno|signal|version|severity|priority|level)$/i

export interface Column {
  readonly reason: LeftOutReason | null
  /** Messages that have it. */
  known: number
  stateCode: number
  /** Events of its values; `null` once there were too many. */
  values: Map<string, number> | null
  readonly codes: number[]
  readonly example: string
}

export interface EventFields {
  messages: number
  readonly columns: Map<string, Column>
}

/**
 * Makes variables of the fields of messages. A number is a state `event.field`. A text of few values, or a
 * number that is a code, is a facet of its event: `event · field=value` is an event of its own. What is an id, a
 * time, an address or another text in each message is left out, and listed; so is what never varies.
 */
export class FieldVariables {
  readonly #builder: LogBuilder
  /** What all messages so far come to, by event. */
  readonly events = new Map<string, EventFields>()

  constructor(builder: LogBuilder) {
    this.#builder = builder
  }

  /** Adds events of another, whose codes are these here. */
  add(others: FieldVariables['events'], { event, state }: ReturnType<LogBuilder['add']>): void {
    for (const [name, { messages, columns }] of others) {
      const own = this.events.get(name) ?? { messages: 0, columns: new Map<string, Column>() }
      own.messages += messages
      this.events.set(name, own)
      for (const [key, { known, stateCode, values, codes, ...column }] of columns) {
        const all = own.columns.get(key) ?? { ...newColumn(key, ''), ...column }
        own.columns.set(key, all)
        all.known += known
        all.stateCode = Math.max(all.stateCode, state[stateCode] ?? -1)
        all.codes.push(...codes.map((code) => event[code] as number))
        for (const [value, code] of values ?? []) all.values?.set(value, event[code] as number)
        if (values === null || (all.values?.size ?? 0) > MAX_VALUES) all.values = null
      }
    }
  }

  take(
    event: string,
    fields: readonly LogField[],
    { instance, timeUs }: { readonly instance: number; readonly timeUs: number },
  ): void {
    const own = this.events.get(event) ?? { messages: 0, columns: new Map<string, Column>() }
    if (own.messages++ === 0) this.events.set(event, own)
    for (const [key, value] of fields) {
      const column = own.columns.get(key) ?? newColumn(key, value)
      if (column.known++ === 0) {
        if (own.columns.size === MAX_FIELDS) continue
        own.columns.set(key, column)
      }
      if (column.reason !== null && !FEW_TELL.has(column.reason)) continue
      // What was a facet before is none of a number.
      const known = typeof value === 'string' ? column.values?.get(value) : undefined
      if (known !== undefined) {
        this.#builder.facet(instance, known, timeUs)
        continue
      }
      const number = typeof value === 'number' ? value : numberIn(value)
      const isNumber = !Number.isNaN(number)
      if (isNumber && column.reason === null && !IS_CODE.test(key)) {
        if (column.stateCode < 0) column.stateCode = this.#builder.stateCode(`${event}.${key}`)
        this.#builder.state(instance, column.stateCode, timeUs, number)
        continue
      }
      this.#facet(column, `${event} · ${key}=`, String(value), { instance, timeUs })
    }
  }

  #facet(
    column: Column,
    name: string,
    value: string,
    { instance, timeUs }: { readonly instance: number; readonly timeUs: number },
  ): void {
    const { values, codes } = column
    if (values === null) return
    let code = values.get(value)
    if (code === undefined) {
      if (values.size === MAX_VALUES || value.length > MAX_LENGTH) {
        column.values = null
        return
      }
      code = this.#builder.eventCode(name + value)
      values.set(value, code)
      codes.push(code)
    }
    this.#builder.facet(instance, code, timeUs)
  }

  /** All messages were taken: takes back what turned out to be no variable, and facets that were `asked` for. */
  finish(asked: readonly string[] = []): void {
    const leftOut = new Map<string, FieldLeftOut>()
    for (const { messages, columns } of this.events.values()) {
      for (const [field, column] of columns) {
        const reason = asked.includes(field) ? '' : reasonOf(column, messages)
        if (reason === null) continue
        this.#builder.dropEvents(column.codes)
        if (reason === '' || column.stateCode >= 0) continue
        const key = `${field} ${reason}`
        const known = leftOut.get(key)?.messages ?? 0
        leftOut.set(key, { field, reason, messages: known + column.known, example: column.example })
      }
    }
    this.#builder.noteLeftOut([...leftOut.values()].sort((a, b) => b.messages - a.messages))
  }
}

function newColumn(key: string, value: LogField[1]): Column {
  const example = String(value).slice(0, MAX_LENGTH)
  const start = { known: 0, stateCode: -1, values: new Map<string, number>() }
  return { ...start, reason: reasonOfName(key), codes: [], example }
}

/** Why a field has no facets: '' if that is nothing to tell; `null` if it has them. */
function reasonOf({ reason, values, known }: Column, messages: number): string | null {
  if (reason !== null && !FEW_TELL.has(reason)) return LEFT_OUT_WORDS[reason]
  const isFew = values !== null && namesFew(values.size, known)
  if (reason !== null) return isFew ? null : LEFT_OUT_WORDS[reason]
  if (values === null) return MANY
  const found = reasonOfTexts([...values.keys()], known)
  if (found === 'address' && isFew) return null
  if (found === 'constant') return known < messages ? null : ''
  return found === null ? null : LEFT_OUT_WORDS[found]
}

/** A number as text has it, also a duration, in milliseconds; NaN for any other text. */
export function numberIn(value: string | boolean): number {
  if (typeof value !== 'string' || value.trim() === '') return Number.NaN
  return IS_NUMBER.test(value) ? Number(value) : readDuration(value) / 1e3
}

/** Digits behind a leading zero are no number. */
const IS_NUMBER = /^[-+]?(?:0|[1-9]\d*|(?=\.))(?:\.\d+)?(?:[eE][-+]?\d+)?$/
