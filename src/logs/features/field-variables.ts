import { sum } from 'd3-array'
import { getOrInsert } from '../../core/entries.ts'
import { readDuration } from '../../core/words.ts'
import {
  FEW_TELL,
  isNameLike,
  LEFT_OUT_WORDS,
  type LeftOutReason,
  namesFew,
  reasonOfName,
  reasonOfTexts,
} from '../../traces/attribute-names.ts'
import type { LogBuilder } from './log-builder.ts'
import type { FieldLeftOut } from './log-report.ts'
import { type FieldRun, identityOf, isOneValue, newFieldRun, takeValue } from './run-identity.ts'

/** A field of a message that is part of what it says. */
export type LogField = readonly [key: string, value: string | number | boolean]

/** A text of more values than this is no kind of anything. */
const MAX_VALUES = 20
const MAX_FIELDS = 200
const MAX_LENGTH = 80
const MANY = `has more than ${MAX_VALUES} values`
/** Numbers of these names are not more or less, but this or that. */
const IS_CODE = /(?:status|code|errno|signal|version|severity|priority|level)$/i

interface Column {
  readonly reason: LeftOutReason | null
  /** Messages that have it. */
  known: number
  stateCode: number
  /** Events of its values; `null` once there were too many. */
  values: Map<string, number> | null
  readonly codes: number[]
  readonly example: string
  /** Whether it had values that are no numbers. */
  isText: boolean
  /** Whether numbers had a unit of time. */
  isDuration: boolean
  /** Its values, in whatever event, an instance each. */
  readonly run: FieldRun
}

interface EventFields {
  messages: number
  readonly columns: Map<string, Column>
}

/**
 * Makes variables of the fields of messages. A number is a state `event.field`. A text of few values, or a
 * number that is a code, is a facet of its event: `event · field=value` is an event of its own. What is an id, a
 * time, an address or another text in each message is left out, and listed; so is what never varies, and what
 * names the instance or the class of a message.
 */
export class FieldVariables {
  readonly #builder: LogBuilder
  readonly #events = new Map<string, EventFields>()
  readonly #runs = new Map<string, FieldRun>()

  constructor(builder: LogBuilder) {
    this.#builder = builder
  }

  take(
    event: string,
    fields: readonly LogField[],
    { instance, timeUs }: { readonly instance: number; readonly timeUs: number },
  ): void {
    const own = this.#events.get(event) ?? { messages: 0, columns: new Map<string, Column>() }
    if (own.messages++ === 0) this.#events.set(event, own)
    for (const [key, value] of fields) {
      const column = own.columns.get(key) ?? this.#newColumn(key, value)
      if (column.known++ === 0) {
        if (own.columns.size === MAX_FIELDS) continue
        own.columns.set(key, column)
      }
      if (column.reason !== null && !FEW_TELL.has(column.reason)) continue
      takeValue(column.run, value, instance)
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
        column.isDuration ||= typeof value === 'string' && !IS_NUMBER.test(value)
        this.#builder.state(instance, column.stateCode, timeUs, number)
        continue
      }
      column.isText = true
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
    const identities = this.#identities(asked)
    for (const { messages, columns } of this.#events.values()) {
      for (const [field, column] of columns) {
        const { codes, stateCode, known, example } = column
        if (column.isDuration) this.#builder.noteDuration(stateCode)
        const identity = identities.get(field)
        const own = asked.includes(field) ? '' : reasonOf(column, messages)
        const reason = identity?.reason ?? own
        if (reason === null) continue
        this.#builder.dropEvents(codes)
        if (identity !== undefined) this.#builder.dropState(stateCode)
        if (reason === '' || (stateCode >= 0 && identity === undefined)) continue
        const key = `${field} ${reason}`
        const all = known + (leftOut.get(key)?.messages ?? 0)
        leftOut.set(key, { field, example, ...identity, reason, messages: all })
      }
    }
    const sorted = [...leftOut.values()].sort((a, b) => b.messages - a.messages)
    this.#builder.notes.fieldsLeftOut.push(...sorted)
  }

  /**
   * Fields that name the instance or the class of a message, and numbers that never vary. What only one event
   * says may be how it went, and a number that only some messages have an amount.
   */
  #identities(asked: readonly string[]): ReadonlyMap<string, Pick<FieldLeftOut, 'reason'>> {
    const found = new Map<string, Pick<FieldLeftOut, 'reason' | 'byClass'>>()
    const all = sum(this.#events.values(), ({ messages }) => messages)
    for (const [field, run] of this.#runs) {
      if (run.varies || asked.includes(field) || field === 'level') continue
      const columns = Array.from(this.#events.values(), (event) => event.columns.get(field) ?? [])
      const isContext = columns.flat().length > 1
      const isNumber = columns.flat().every(({ isText }) => !isText)
      if (isNumber && run.messages < all && !isNameLike(field)) continue
      if (isNumber && isOneValue(run)) found.set(field, { reason: '' })
      const identity = identityOf(run, (instance) => this.#builder.classOf(instance))
      if (identity === undefined) continue
      const { isUnique, byClass } = identity
      const isNamed = isNameLike(field) || (isUnique && run.values.length > 2)
      if (!isContext && !isNamed) continue
      found.set(field, { reason: 'names the run', ...(byClass && { byClass }) })
    }
    return found
  }

  #newColumn(key: string, value: LogField[1]): Column {
    const example = String(value).slice(0, MAX_LENGTH)
    const start = { known: 0, stateCode: -1, values: new Map<string, number>() }
    const is = { isText: false, isDuration: false }
    const run = getOrInsert(this.#runs, key, newFieldRun)
    return { ...start, ...is, reason: reasonOfName(key), codes: [], example, run }
  }
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
