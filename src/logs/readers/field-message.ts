import type { LogClock } from './log-clock.ts'
import type { ReadSettings } from './log-read-options.ts'
import { type LogSink, SKIPPED } from './log-sink.ts'

/** The rank of a role that no field has had; a small integer, as all ranks are. */
const NONE = 1 << 20

/** The first field of one role. */
class FoundField {
  rank = NONE
  value: unknown = undefined
  isText = false
}

/** Makes a message of fields that come one by one: of JSON, of logfmt, of CSV. */
export class FieldMessage {
  readonly #roles: ReadonlyMap<string, FieldRole>
  readonly #clock: LogClock
  readonly #sink: LogSink
  readonly #found = [
    new FoundField(),
    new FoundField(),
    new FoundField(),
    new FoundField(),
  ] as const
  #numbers: [key: string, value: number][] = []

  constructor(settings: ReadSettings, clock: LogClock, sink: LogSink) {
    this.#roles = fieldRoles(settings)
    this.#clock = clock
    this.#sink = sink
  }

  /** Names of fields that matter. */
  get fields(): Iterable<string> {
    return this.#roles.keys()
  }

  /** A field of the message to come. */
  field(key: string, value: unknown): void {
    const role = this.#roles.get(key)
    if (role === undefined || value === undefined || value === null || value === '') return
    if (role.role === NUMBER) {
      const number = numberOf(value)
      if (!Number.isNaN(number)) this.#numbers.push([key, number])
      return
    }
    const found = this.#found[role.role as 0 | 1 | 2 | 3]
    if (role.rank >= found.rank) return
    found.rank = role.rank
    found.value = value
    found.isText = role.isText
  }

  /** The message is complete; `text` is what it was read from. */
  finish(line: number, text: string): void {
    const time = this.#take(TIME)
    const name = this.#take(NAME)
    const value = this.#take(VALUE)
    const instance = this.#take(INSTANCE)
    const numbers = this.#numbers
    if (numbers.length > 0) this.#numbers = []
    if (time === undefined) {
      this.#sink.skip(SKIPPED.noTime, line, text)
      return
    }
    if (name === undefined || typeof name === 'object') {
      this.#sink.skip(SKIPPED.noName, line, text)
      return
    }
    const number = value === undefined ? undefined : numberOf(value)
    if (Number.isNaN(number)) {
      this.#sink.skip(SKIPPED.noNumber, line, text)
      return
    }
    this.#sink.record({
      line,
      timeUs: typeof time === 'number' ? this.#clock.number(time) : this.#clock.text(String(time)),
      instance: instance === undefined ? undefined : String(instance),
      name: String(name),
      isText: this.#found[NAME].isText,
      component: '',
      value: number,
      numbers,
    })
  }

  #take(role: 0 | 1 | 2 | 3): unknown {
    const found = this.#found[role]
    if (found.rank === NONE) return undefined
    const { value } = found
    found.rank = NONE
    found.value = undefined
    return value
  }
}

function numberOf(value: unknown): number {
  if (typeof value === 'number') return value
  return typeof value === 'string' && value.trim() !== '' ? Number(value) : Number.NaN
}

export const TIME = 0
export const NAME = 1
export const VALUE = 2
export const INSTANCE = 3
export const NUMBER = 4

/** What a field is for. */
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
  const add = (role: number, fields: readonly string[]) => {
    for (const [rank, field] of fields.entries()) {
      if (!roles.has(field)) roles.set(field, { role, rank, isText: isText(field) })
    }
  }
  add(INSTANCE, instance === undefined ? [] : [instance])
  add(TIME, time)
  add(NAME, name)
  add(VALUE, value === undefined ? [] : [value])
  add(NUMBER, numbers)
  return roles
}
