import type { LogClock } from './log-clock.ts'
import type { ReadSettings } from './log-read-options.ts'
import { type LogSink, SKIPPED } from './log-sink.ts'

export const TIME = 0
export const NAME = 1
export const VALUE = 2
export const INSTANCE = 3
export const NUMBER = 4

/** The rank of a role that no field has had; a small integer, as all ranks are. */
export const NONE = 1 << 20

export interface FieldRole {
  readonly role: number
  /** Of several fields of one role the first counts: smaller is earlier. */
  readonly rank: number
  /** Of a name: whether it is free text. */
  readonly isText: boolean
}

/** What the fields of records are for, by their names. */
export function fieldRoles(settings: ReadSettings): ReadonlyMap<string, FieldRole> {
  const { time, name, value, numbers, instance, isText } = settings
  const roles = new Map<string, FieldRole>()
  const add = (role: number, fields: readonly (string | undefined)[]) => {
    for (const [rank, field] of fields.entries()) {
      if (field === undefined || roles.has(field)) continue
      roles.set(field, { role, rank, isText: isText(field) })
    }
  }
  add(INSTANCE, [instance])
  add(TIME, time)
  add(NAME, name)
  add(VALUE, [value])
  add(NUMBER, numbers)
  return roles
}

/** Makes a message of fields that come one by one: of JSON, of logfmt, of CSV. */
export class FieldMessage {
  readonly roles: ReadonlyMap<string, FieldRole>
  readonly #clock: LogClock
  readonly #sink: LogSink
  /** Of the first field of each role. */
  readonly #ranks = [NONE, NONE, NONE, NONE]
  readonly #values: unknown[] = [undefined, undefined, undefined, undefined]
  #isText = false
  #numbers: [key: string, value: number][] = []

  constructor(settings: ReadSettings, clock: LogClock, sink: LogSink) {
    this.roles = fieldRoles(settings)
    this.#clock = clock
    this.#sink = sink
  }

  field(key: string, value: unknown): void {
    const known = this.roles.get(key)
    if (known === undefined || value === undefined || value === null || value === '') return
    const { role, rank, isText } = known
    if (role === NUMBER) {
      const number = numberOf(value)
      if (!Number.isNaN(number)) this.#numbers.push([key, number])
      return
    }
    if (rank >= Number(this.#ranks[role])) return
    this.#ranks[role] = rank
    this.#values[role] = value
    if (role === NAME) this.#isText = isText
  }

  /** The message is complete; `text` is what it was read from. */
  finish(line: number, text: string): void {
    const time = this.#take(TIME)
    const name = this.#take(NAME)
    const value = this.#take(VALUE)
    const instance = this.#take(INSTANCE)
    const numbers = this.#numbers
    if (numbers.length > 0) this.#numbers = []
    const number = value === undefined ? undefined : numberOf(value)
    if (time === undefined) this.#sink.skip(SKIPPED.noTime, line, text)
    else if (name === undefined || typeof name === 'object') {
      this.#sink.skip(SKIPPED.noName, line, text)
    } else if (Number.isNaN(number)) this.#sink.skip(SKIPPED.noNumber, line, text)
    else {
      this.#sink.record({
        line,
        timeUs:
          typeof time === 'number' ? this.#clock.number(time) : this.#clock.text(String(time)),
        instance: instance === undefined ? undefined : String(instance),
        name: String(name),
        isText: this.#isText,
        component: '',
        value: number,
        numbers,
      })
    }
  }

  #take(role: number): unknown {
    if (this.#ranks[role] === NONE) return undefined
    const value = this.#values[role]
    this.#ranks[role] = NONE
    this.#values[role] = undefined
    return value
  }
}

function numberOf(value: unknown): number {
  if (typeof value === 'number') return value
  return typeof value === 'string' && value.trim() !== '' ? Number(value) : Number.NaN
}
