import { memoized, remembered } from '../../core/remembered.ts'
import { isJsonObject } from '../../traces/readers/json-values.ts'
import { otlpAttributes, otlpValue } from '../../traces/readers/otlp-values.ts'
import type { LogField } from '../features/field-variables.ts'
import type { Level } from '../features/log-set.ts'
import { levelOf, type Role, roleOf } from './field-roles.ts'
import type { ReadSettings } from './log-read-options.ts'
import { type Pair, parsedObject } from './logfmt.ts'

/** Context that tells streams of lines in one file apart. */
const STREAMS: ReadonlySet<string> = new Set(['service', 'pod', 'container', 'stream'])

type Slot = Role | 'given' | 'instance'
/** Several numbers, as nginx lists those of a request that was tried again; none is `-`. */
const NUMBERS = /^(?:-|\d+(?:\.\d+)?)(?:(?:, ?| : )(?:-|\d+(?:\.\d+)?))+$/
/** Roles that name a message, unless a field is given that does. */
const NAMING: ReadonlySet<Slot | undefined> = new Set(['event', 'message', 'line', 'name'])
const MAX_DEPTH = 6
const MAX_NESTED = 1 << 16

const rolesOf = remembered(({ time, name, value, instance }: ReadSettings) =>
  memoized((path: string) => {
    const found = roleOf(path)
    const isGiven = (given: string | null | undefined) =>
      given?.toLowerCase() === path.toLowerCase()
    const rankOf = (given: string | null | undefined) => Number(given !== path)
    let { role, rank }: { role: Slot | undefined; rank: number } = found
    if (isGiven(name)) [role, rank] = ['given', rankOf(name)]
    else if (isGiven(time)) [role, rank] = ['time', rankOf(time)]
    else if (isGiven(value)) [role, rank] = ['value', rankOf(value)]
    else if (role === 'time' && time !== null) role = 'context'
    else if (role === 'value' || (name !== null && NAMING.has(role))) role = undefined
    const isInstance =
      isGiven(instance) || found.key === instance || path === `resource.${instance}`
    return { role: role ?? ('field' as const), rank, key: found.key, isInstance }
  }),
)

export interface LogRecord {
  readonly line: number
  readonly timeUs: number
  /** `undefined` where the path is the instance. */
  readonly instance: string | undefined
  readonly origin: string
  readonly name: string
  /** Whether `name` is free text, of which a template is the name. */
  readonly isText: boolean
  /** Writer of the text, which precedes the template; `''` if unknown. */
  readonly component: string
  readonly value: number | undefined
  readonly level: Level | undefined
  readonly fields: readonly LogField[]
  /** Fields of the message that reported an exception. */
  readonly of?: readonly LogField[]
}

/** Content of one line, from all its layers; inner ones have priority, but for a time of day before a date. */
export class LogDraft {
  time: unknown
  /** Time of an outer layer, if that of the inner one cannot be read. */
  outerTime: unknown
  level: Level | undefined
  logger: string | undefined
  instance: string | undefined
  name: string | undefined
  isText = false
  value: unknown
  readonly fields: LogField[] = []
  said: string | undefined
  thrown: string | undefined
  thrownType: string | undefined
  thrownMessage: string | undefined
  /** Whether the part read last has no time of its own. */
  isTimeless = false
  isHalf = false
  inner: { readonly text: string; readonly stream: string } | undefined
  stream = ''
  isPartial = false
  /** Whether the last layer holds a carried line and no message of its own. */
  isCarried = false

  readonly #settings: ReadSettings
  readonly #roleOf: ReturnType<typeof rolesOf>
  readonly #slots = new Map<Slot, { rank: number; value: unknown; key: string }>()

  constructor(settings: ReadSettings) {
    this.#settings = settings
    this.#roleOf = rolesOf(settings)
  }

  object(object: object, prefix = '', depth = 0): void {
    for (const [key, value] of Object.entries(object)) {
      const path = prefix + key
      if (Array.isArray(value)) this.#list(path, value, depth)
      else if (!isJsonObject(value)) this.field(path, value)
      else if (typeof value['epochSecond'] === 'number') {
        this.field(path, value['epochSecond'] + Number(value['nanoOfSecond'] ?? 0) / 1e9)
      } else {
        const plain = otlpValue(value) ?? value
        if (!isJsonObject(plain)) this.field(path, plain)
        else if (depth < MAX_DEPTH) this.object(plain, `${path}.`, depth + 1)
      }
    }
  }

  /** Takes a list: OTLP's attributes, journald's bytes, structlog's exceptions; of other lists their sum and length. */
  #list(path: string, list: readonly unknown[], depth: number): void {
    const { role } = this.#roleOf(path)
    const attributes = [...otlpAttributes(list)]
    for (const [key, value] of attributes) {
      const isOfResource = path.startsWith('resource.') && key !== 'service.name'
      this.field(isOfResource ? `resource.${key}` : key, value)
    }
    if (role === 'message' && list.every((one) => typeof one === 'number')) {
      this.field(path, new TextDecoder().decode(Uint8Array.from(list)))
    } else if (role === 'thrown' && isJsonObject(list[0])) {
      this.object(list[0], `${path}.`, depth + 1)
    } else if (role === 'field' && attributes.length === 0) {
      if (list.every((one) => typeof one === 'number')) this.#numbers(path, list as number[])
      else this.#plain(`${path}.count`, list.length)
    }
  }

  /** Takes the times of something repeated, such as a retried request: their sum and their number. */
  #numbers(path: string, list: readonly number[]): void {
    if (list.length === 0) return
    this.#plain(path, Number(list.reduce((sum, one) => sum + one, 0).toPrecision(12)))
    this.#plain(`${path}.count`, list.length)
  }

  pairs(pairs: readonly Pair[]): void {
    for (const [key, value] of pairs) this.field(key, value)
  }

  field(path: string, value: unknown): void {
    if (value === null || value === undefined || value === '' || value === '-') return
    const { role, rank, key, isInstance } = this.#roleOf(path)
    if (isInstance) this.#take('instance', Number(path !== this.#settings.instance), value, key)
    if (role === 'field') {
      if (!isInstance) this.#plain(key, value)
    } else if (role === 'level' && levelOf(value, path) === undefined) this.#plain(key, value)
    else if (role === 'level') this.#take(role, rank, levelOf(value, path), key)
    else if (role === 'time' && Number(value) === 0 && /nano$/i.test(path)) return
    else if (role === 'thrown' && typeof value !== 'string') return
    else if (role !== 'context') this.#take(role, rank, value, key)
    else if (STREAMS.has(key)) this.stream += `${value}\n`
  }

  #take(slot: Slot, rank: number, value: unknown, key: string): void {
    const known = this.#slots.get(slot)
    if (known === undefined || rank < known.rank) this.#slots.set(slot, { rank, value, key })
  }

  #plain(key: string, value: unknown): void {
    const text = typeof value === 'string' ? value : ''
    const nested = text.startsWith('{') && text.length < MAX_NESTED ? parsedObject(text) : undefined
    if (nested !== undefined) this.object(nested, `${key}.`, 1)
    else if (NUMBERS.test(text)) {
      const numbers = text.split(/[,:]/).map((one) => one.trim())
      this.#numbers(key, numbers.filter((one) => one !== '-').map(Number))
    } else if (['string', 'number', 'boolean'].includes(typeof value)) {
      this.fields.push([key, value as LogField[1]])
    }
  }

  /** Completes a layer, whose content then counts. Returns the line within it that is to be read by itself. */
  endLayer(): string | undefined {
    const slots = this.#slots
    const text = (slot: Slot) => {
      const found = slots.get(slot)
      return found === undefined ? undefined : String(found.value)
    }
    const time = slots.get('time')?.value
    const isDate = typeof time === 'number' || HAS_DATE.test(String(time))
    if (time !== undefined && (this.time === undefined || isDate)) {
      this.outerTime = this.time
      this.time = time
    }
    this.level = (text('level') as Level | undefined) ?? this.level
    this.value = slots.get('value')?.value ?? this.value
    for (const slot of ['instance', 'thrown', 'thrownType', 'thrownMessage'] as const) {
      this[slot] = text(slot) ?? this[slot]
    }
    this.isPartial = text('partial') === 'P'
    this.isCarried = !slots.has('message')
    const line = text('message') ?? text('line')
    const named = text('given') ?? text('event') ?? (line === undefined ? text('name') : undefined)
    this.said = named === undefined ? undefined : line
    const said = line ?? (named === undefined ? requestOf(text('verb'), text('path')) : undefined)
    this.logger = text('logger') ?? (said === undefined ? undefined : text('name')) ?? this.logger
    if (named !== undefined || line !== undefined) {
      for (const slot of ['verb', 'path'] as const) {
        const { key, value } = slots.get(slot) ?? {}
        if (key !== undefined) this.#plain(key, value)
      }
    }
    if (named !== undefined || said !== undefined) {
      this.name = named ?? said
      this.isText =
        named === undefined ||
        (slots.has('given') && this.#settings.isText(this.#settings.name ?? ''))
    }
    slots.clear()
    return named === undefined ? line : undefined
  }

  /** Completes the message, and returns it by the first line of its text. */
  record(line: number, timeUs: number): LogRecord {
    if (this.value !== undefined && this.isText && this.#settings.value === 'value') {
      this.fields.push(['value', String(this.value)])
      this.value = undefined
    }
    const { instance, isText, name: text = '', level, logger = '', stream, fields, value } = this
    const component = classOf(logger)
    const end = isText ? text.indexOf('\n') : -1
    const name = end < 0 ? text : text.slice(0, end).trimEnd()
    const number =
      typeof value === 'string' && value.trim() !== '' ? Number(value) : (value ?? undefined)
    return {
      line,
      timeUs,
      instance,
      origin: stream + component,
      name,
      isText,
      component,
      value: number === undefined || typeof number === 'number' ? number : Number.NaN,
      level,
      fields: level === undefined ? fields : [...fields, ['level', level]],
    }
  }
}

/** A year, or seconds since 1970; behind a point digits are a fraction. */
const HAS_DATE = /^[^.,]*\d{4}|^\w+, \d|^\d{6} /

function requestOf(verb: string | undefined, path: string | undefined): string | undefined {
  if (path === undefined) return undefined
  const route = path.replace(/ HTTP\/[\d.]+$/, '').replace(/[?#].*/s, '')
  return verb === undefined ? route : `${verb} ${route}`
}

/** `org.apache.hadoop.hdfs.DFSClient` is `DFSClient`; names that are not Java's stay whole. */
export function classOf(logger: string): string {
  const last = logger.slice(logger.lastIndexOf('.') + 1)
  return /^[A-Z]/.test(last) ? last : logger
}
