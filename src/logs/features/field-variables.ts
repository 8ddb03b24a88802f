import { sum } from 'd3-array'
import { getOrInsert } from '../../core/entries.ts'
import { fnv1a } from '../../core/fingerprint.ts'
import { readDuration } from '../../core/words.ts'
import {
  FEW_TELL,
  isNameLike,
  LEFT_OUT_WORDS,
  NEARLY_UNIQUE,
  namesFew,
  reasonOfName,
  reasonOfTexts,
} from '../../traces/attribute-names.ts'
import type { LogBuilder } from './log-builder.ts'
import type { FieldLeftOut, LogClass } from './log-set.ts'

export type LogField = readonly [key: string, value: string | number | boolean]

const MAX_VALUES = 20
const MAX_FIELDS = 200
const MAX_LENGTH = 80
const MANY = `has more than ${MAX_VALUES} values`
const IS_CODE = /(?:status|code|errno|signal|version|severity|priority|level)$/i

type Column = ReturnType<typeof newColumn>

function newColumn(event: string, [key, value]: LogField, run: FieldRun) {
  const reason = reasonOfName(key)
  return {
    event,
    key,
    reason,
    isLeftOut: reason !== null && !FEW_TELL.has(reason),
    isCode: reason !== null || IS_CODE.test(key),
    example: String(value).slice(0, MAX_LENGTH),
    run,
    known: 0,
    stateCode: -1,
    values: new Map() as Map<string, number> | null,
    codes: [] as number[],
    isText: false,
    isDuration: false,
  }
}

export interface EventFields {
  readonly event: string
  messages: number
  readonly columns: Map<string, Column>
}

export interface FieldMessage {
  readonly instance: number
  readonly timeUs: number
  readonly keys: readonly string[]
  readonly valueAt: (i: number) => LogField[1]
}

/** A column for each field of a message; none for fields beyond the 200 that an event may have. */
export type FieldColumns = readonly (Column | undefined)[]

/**
 * Makes variables of the fields of messages. A number is a state `event.field`. A text of few values, or a number that
 * is a code, is a facet of its event: `event · field=value` is an event of its own. Leaves out and lists ids, times,
 * addresses, other texts that differ in each message, constants, and names of the instance or the class of a message.
 */
export class FieldVariables {
  readonly #builder: LogBuilder
  readonly #events = new Map<string, EventFields>()
  readonly #runs = new Map<string, FieldRun>()

  constructor(builder: LogBuilder) {
    this.#builder = builder
  }

  of(event: string): EventFields {
    return getOrInsert(this.#events, event, () => ({ event, messages: 0, columns: new Map() }))
  }

  /** Returns the columns of fields of a message, in its order. */
  columnsOf({ event, columns }: EventFields, { keys, valueAt }: FieldMessage): FieldColumns {
    return keys.map((key, i) => {
      if (columns.size === MAX_FIELDS && !columns.has(key)) return undefined
      return getOrInsert(columns, key, () => {
        const run = getOrInsert(this.#runs, key, () => new FieldRun())
        return newColumn(event, [key, valueAt(i)], run)
      })
    })
  }

  take(own: EventFields, columns: FieldColumns, message: FieldMessage): void {
    own.messages++
    for (let i = 0; i < columns.length; i++) {
      const column = columns[i]
      if (column === undefined) continue
      column.known++
      if (column.isLeftOut) continue
      if (column.run.varies && column.values === null && column.stateCode < 0) column.run.messages++
      else this.#put(column, message.valueAt(i), message)
    }
  }

  #put(column: Column, value: LogField[1], moment: FieldMessage): void {
    const { instance, timeUs } = moment
    column.run.take(value, instance)
    const known = typeof value === 'string' ? column.values?.get(value) : undefined
    if (known !== undefined) {
      this.#builder.event(instance, known, timeUs)
      return
    }
    const number = typeof value === 'number' ? value : numberIn(value)
    if (column.isCode || Number.isNaN(number)) {
      column.isText = true
      this.#facet(column, String(value), moment)
      return
    }
    if (column.stateCode < 0)
      column.stateCode = this.#builder.stateCode(`${column.event}.${column.key}`)
    column.isDuration ||= typeof value === 'string' && !IS_NUMBER.test(value)
    this.#builder.state(instance, column.stateCode, timeUs, number)
  }

  #facet(column: Column, value: string, { instance, timeUs }: FieldMessage): void {
    const { values, codes, event, key } = column
    if (values === null) return
    if (!values.has(value) && (values.size === MAX_VALUES || value.length > MAX_LENGTH)) {
      column.values = null
      return
    }
    const code = getOrInsert(values, value, () => {
      codes.push(this.#builder.facetCode(`${event} · ${key}=${value}`))
      return codes.at(-1) as number
    })
    this.#builder.event(instance, code, timeUs)
  }

  finish(asked: readonly string[] = []): void {
    const leftOut = new Map<string, FieldLeftOut>()
    const identities = this.#identities(asked)
    for (const { messages, columns } of this.#events.values()) {
      for (const [field, column] of columns) {
        const { codes, stateCode, known, example } = column
        if (column.isDuration) this.#builder.durations.add(stateCode)
        const identity = identities.get(field)
        const own = asked.includes(field) ? '' : reasonOf(column, messages)
        const reason = identity?.reason ?? own
        if (reason === null) continue
        for (const code of codes) this.#builder.dropped.event.add(code)
        if (identity !== undefined) this.#builder.dropped.state.add(stateCode)
        if (reason === '' || (stateCode >= 0 && identity === undefined)) continue
        const key = `${field} ${reason}`
        const all = known + (leftOut.get(key)?.messages ?? 0)
        leftOut.set(key, { field, example, ...identity, reason, messages: all })
      }
    }
    const sorted = [...leftOut.values()].sort((a, b) => b.messages - a.messages)
    this.#builder.notes.fieldsLeftOut.push(...sorted)
  }

  #identities(asked: readonly string[]): ReadonlyMap<string, Pick<FieldLeftOut, 'reason'>> {
    const found = new Map<string, Pick<FieldLeftOut, 'reason' | 'byClass'>>()
    const all = sum(this.#events.values(), ({ messages }) => messages)
    for (const [field, run] of this.#runs) {
      if (run.varies || asked.includes(field) || field === 'level') continue
      const columns = Array.from(this.#events.values(), (event) => event.columns.get(field) ?? [])
      const isContext = columns.flat().length > 1
      const isNumber = columns.flat().every(({ isText }) => !isText)
      if (isNumber && run.messages < all && !isNameLike(field)) continue
      if (isNumber && run.isOneValue) found.set(field, { reason: '' })
      const identity = run.identity((instance) => this.#builder.classOf(instance))
      if (identity === undefined) continue
      const { isUnique, byClass } = identity
      const isNamed = isNameLike(field) || (isUnique && run.values.length > 2)
      if (!isContext && !isNamed) continue
      found.set(field, { reason: 'names the run', ...(byClass && { byClass }) })
    }
    return found
  }
}

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

/** Returns a number as text has it, also a duration, in milliseconds; NaN for any other text. */
export function numberIn(value: string | boolean): number {
  if (typeof value !== 'string' || value.trim() === '') return Number.NaN
  return IS_NUMBER.test(value) ? Number(value) : readDuration(value) / 1e3
}

/** Digits behind a leading zero are no number. */
const IS_NUMBER = /^[-+]?(?:0|[1-9]\d*|(?=\.))(?:\.\d+)?(?:[eE][-+]?\d+)?$/

const KEPT_TEXTS = 3

class FieldRun {
  varies = false
  messages = 0
  readonly values: number[] = []
  /** The first values and the last, which are of both classes. */
  readonly #texts = new Map<number, string>()
  #last: unknown
  #lastInstance = -1

  take(value: unknown, instance: number): void {
    this.messages++
    if (this.varies || (value === this.#last && instance === this.#lastInstance)) return
    this.#last = value
    this.#lastInstance = instance
    const text = String(value)
    const code = fnv1a(text)
    this.values[instance] ??= code
    this.varies = this.values[instance] !== code
    this.#texts.set(code, text)
    const [oldest] = [...this.#texts.keys()].slice(KEPT_TEXTS)
    if (this.#texts.size > 2 * KEPT_TEXTS) this.#texts.delete(Number(oldest))
  }

  /**
   * Returns whether it names the instance that logged it, or its class: each instance repeats one value, which no other
   * class or too few instances share. Undefined otherwise.
   */
  identity(classOf: (instance: number) => LogClass | undefined) {
    if (this.varies) return undefined
    const codes = { before: new Set<number>(), after: new Set<number>() }
    let instances = 0
    this.values.forEach((code, instance) => {
      const logClass = classOf(instance)
      if (logClass === undefined) return
      instances++
      codes[logClass].add(code)
    })
    const { before, after } = codes
    const all = new Set([...before, ...after]).size
    if (all < 2 || this.messages < 2 * instances) return undefined
    const isApart = before.size > 0 && after.size > 0 && all === before.size + after.size
    if (!isApart && namesFew(all, instances)) return undefined
    const textsOf = (own: ReadonlySet<number>) =>
      Array.from(this.#texts, ([code, text]) => (own.has(code) ? text : '')).filter(Boolean)
    const byClass = isApart ? { before: textsOf(before), after: textsOf(after) } : undefined
    return { isUnique: all > NEARLY_UNIQUE * instances, byClass }
  }

  get isOneValue(): boolean {
    const all = Object.values(this.values)
    return !this.varies && all.length > 1 && all.every((code) => code === all[0])
  }
}
