import { getOrInsert } from '../../core/entries.ts'
import { TraceFormatError } from '../../core/errors.ts'
import { listed } from '../../core/words.ts'
import { isJsonObject, type JsonObject, parsedJson } from './json-values.ts'
import {
  type Enclosed,
  kindNamed,
  MAPS,
  NAMES,
  type Role,
  SPAN_FORMATS,
  type SpanFormat,
} from './span-formats.ts'
import {
  inMicros,
  isDate,
  isPlausible,
  isTimeUnit,
  microsOf,
  momentOf,
  plainName,
  type TimeUnit,
  unitBySize,
} from './span-times.ts'

type Path = readonly string[]

/** Place of a role: at a path, or at several whose texts are joined. */
export interface Field {
  readonly name: string
  readonly paths: readonly Path[]
  readonly unit: TimeUnit
  /** Source of the unit, in words. */
  readonly how: string
}

/** Roles that people can name. */
export const ROLES = Object.keys(NAMES) as Role[]

/** Roles that a record can inherit from those around it. */
const INHERITED: ReadonlySet<Role> = new Set(['trace', 'service', 'resource', 'host', 'version'])
/** Roles with a second field, which is read if the first is empty. */
const HAVE_SECONDS: ReadonlySet<Role> = new Set([
  'trace',
  'span',
  'service',
  'operation',
  'start',
  'duration',
])
/** Names of a parent that may be seen late in a file. */
const LATE_PARENTS = ['parentId', 'parent_id', 'parentSpanId', 'parent_span_id', 'ParentSpanId']

/** Returns a value as it is; the only one of a list. */
export function plainValue(value: unknown): unknown {
  return Array.isArray(value) && value.length === 1 && typeof value[0] !== 'object'
    ? value[0]
    : value
}

/** Returns the value at a path, `undefined` if there is none. */
export function valueAt(record: JsonObject, path: Path): unknown {
  if (path.length === 1) return plainValue(record[path[0] as string])
  let value: unknown = record
  for (const key of path) {
    if (typeof value !== 'object' || value === null) return undefined
    value = (value as JsonObject)[key]
  }
  return plainValue(value)
}

const isEmpty = (value: unknown) => value === undefined || value === null || value === ''
const isScalar = (value: unknown) => ['string', 'number', 'boolean'].includes(typeof value)
const isNumeric = (value: unknown) =>
  typeof value === 'number' || (typeof value === 'string' && /^\s*\d+(\.\d*)?\s*$/.test(value))
const isPair = (value: unknown) =>
  Array.isArray(value) && value.length === 2 && value.every(isNumeric)
const isList = (value: unknown) =>
  Array.isArray(value) || (typeof value === 'string' && /^\s*\[/.test(value))
const isMap = (value: unknown) =>
  isJsonObject(value) || isList(value) || (typeof value === 'string' && /^\s*\{/.test(value))

const ACCEPTS: { readonly [role in Role]?: (value: unknown) => boolean } = {
  start: (value) => isNumeric(value) || isDate(value) || isPair(value),
  end: (value) => isNumeric(value) || isDate(value) || isPair(value),
  duration: (value) => !Number.isNaN(microsOf(value, 'us')),
  resource: isMap,
  references: isList,
  links: isList,
}

/** Returns the paths of a record with their values, including fields within fields, but not lists. */
function fieldsOf(record: JsonObject, prefix: Path = []): [path: Path, value: unknown][] {
  return Object.entries(record).flatMap(([key, value]) => {
    const path = [...prefix, key]
    const own: [Path, unknown][] = [[path, plainValue(value)]]
    return isJsonObject(value) && path.length < 5 ? [...own, ...fieldsOf(value, path)] : own
  })
}

/** A record with its fields, by their names. */
interface Sample {
  readonly enclosed: Enclosed
  readonly own: ReadonlyMap<string, readonly [path: Path, value: unknown]>
}

function namedFields(record: JsonObject): Sample['own'] {
  return new Map(fieldsOf(record).map((field) => [field[0].join('.'), field]))
}

/** Finds the format of records, or the roles of their fields. */
export class LayoutLearner {
  readonly #formats: readonly SpanFormat[]
  readonly #isOnly: boolean
  readonly #fitting = new Map<SpanFormat, Sample[]>()
  readonly #others: Sample[] = []
  #nearest:
    | { readonly format: SpanFormat; readonly lacking: readonly string[]; readonly share: number }
    | undefined

  /** @param named formats that are looked for first, and alone if `isOnly` */
  constructor(named: readonly SpanFormat[], isOnly: boolean) {
    this.#isOnly = isOnly
    this.#formats = isOnly ? named : [...named, ...SPAN_FORMATS]
  }

  /** Takes a record; returns whether it looks like a span, so that objects within it are no further records. */
  take(enclosed: Enclosed): boolean {
    const sample = { enclosed, own: namedFields(enclosed.record) }
    const around = new Set<string>()
    for (let outer = enclosed.around; outer !== null; outer = outer.around) {
      for (const key of Object.keys(outer.record)) around.add(key)
    }
    const isThere = (name: string) => sample.own.has(name) || around.has(name)
    for (const format of this.#formats) {
      const lacking = format.has.filter((name) => !isThere(name))
      const isOwn = format.has.some((name) => sample.own.has(name))
      if (
        lacking.length === 0 &&
        isOwn &&
        !(format.lacks !== undefined && sample.own.has(format.lacks))
      ) {
        getOrInsert(this.#fitting, format, () => []).push(sample)
        return true
      }
      const share = 1 - lacking.length / format.has.length
      if (share > (this.#nearest?.share ?? 0)) this.#nearest = { format, lacking, share }
    }
    const isSpan = ['span', 'start'].every((role) =>
      guesses(role as Role, [sample]).some(([key = '']) => !MAPS.has(plainName(key).plain)),
    )
    this.#others.push(sample)
    return isSpan
  }

  /** Whether there was no record, only lists without content. */
  get isEmpty(): boolean {
    const isList = ({ own }: Sample) =>
      [...own.values()].some(
        ([, value]) => value === null || (Array.isArray(value) && value.length === 0),
      )
    return this.#fitting.size === 0 && this.#others.every(isList)
  }

  /** Returns the layout of the records, once enough are seen. */
  learn(file: string): SpanLayout {
    const format = this.#formats.find((one) => this.#fitting.has(one))
    if (format !== undefined) {
      return new SpanLayout(format, this.#fitting.get(format) ?? [], false)
    }
    const [only] = this.#isOnly ? this.#formats : []
    const isSpan = (sample: Sample) => guesses('span', [sample]).length > 0
    const spans = only ? this.#others : this.#others.filter(isSpan)
    const guessed = { name: 'spans', by: '', has: [] }
    const layout = new SpanLayout(only ?? guessed, spans, only === undefined)
    const isFound = spans.some(({ enclosed }) => !only || layout.isSpan(enclosed.record))
    const lacking = layout.lacking()
    if (isFound && lacking.length === 0) return layout
    throw this.#noSpans(file, lacking)
  }

  #noSpans(file: string, lacking: readonly string[]): TraceFormatError {
    const largest = this.#others.toSorted((a, b) => b.own.size - a.own.size)[0]
    const names = [...(largest?.own.keys() ?? [])].slice(0, 20).join(', ')
    const seen = names === '' ? 'It has no records' : `Records have the fields ${names}`
    const missing = lacking.length === 0 ? '' : `; none stands for ${listed(lacking)}`
    const { format, lacking: absent = [] } = this.#nearest ?? {}
    const nearest =
      format === undefined ? '' : `. Nearest is ${format.name}, which also has ${absent.join(', ')}`
    return new TraceFormatError(
      `No spans were found. ${seen}${missing}${nearest}`,
      { file },
      COLUMNS_HINT,
      {
        format: null,
        columns: null,
      },
    )
  }
}

export const COLUMNS_HINT =
  'Say which fields stand for what: --columns trace=…,span=…,parent=…,service=…,operation=…,start=…:ms,duration=…:ms (in code, option `columns`)'

/** Fields that a role may have by their names, the best first. */
function guesses(role: Role, samples: readonly Sample[]): Path[] {
  const accepts = ACCEPTS[role] ?? isScalar
  const found = new Map<string, { path: Path; rank: readonly number[] }>()
  const refused = new Set<string>()
  for (const { own } of samples) {
    for (const [name, [path, value]] of own) {
      if (isEmpty(value) || refused.has(name)) continue
      if (role !== 'kind' && !accepts(value)) {
        refused.add(name)
        found.delete(name)
        continue
      }
      if (found.has(name) || (role === 'kind' && kindNamed(value) === undefined)) continue
      const inMap = path.findIndex((key) => !MAPS.has(plainName(key).plain))
      const { plain, unit } = plainName(path.slice(Math.max(inMap, 0)).join('.'))
      const at = NAMES[role].indexOf(plain)
      if (at < 0 || (inMap > 0 && !INHERITED.has(role) && !NAMES_IN_MAPS.has(role))) continue
      const fineness = unit === undefined ? 2 : ['ns', 'us', '', 'ms', 's'].indexOf(unit)
      found.set(name, { path, rank: [Math.max(inMap, 0), at, fineness] })
    }
  }
  return [...found.values()]
    .sort((a, b) => {
      const at = a.rank.findIndex((part, i) => part !== b.rank[i])
      return at < 0 ? 0 : (a.rank[at] ?? 0) - (b.rank[at] ?? 0)
    })
    .map(({ path }) => path)
}

/** Roles that maps of attributes may tell, too. */
const NAMES_IN_MAPS: ReadonlySet<Role> = new Set([
  'span',
  'parent',
  'operation',
  'start',
  'duration',
  'kind',
])

const TIMES = ['start', 'end', 'duration'] as const
/** A record of a known format has at least two of these roles. */
const TELLING = ['span', 'operation', ...TIMES] as const

function hasAny(record: JsonObject, fields: readonly Field[]): boolean {
  for (const { paths } of fields) {
    for (const path of paths) if (valueAt(record, path) !== undefined) return true
  }
  return false
}

/** Roles of the fields in a file's records. */
export class SpanLayout {
  readonly format: SpanFormat
  readonly isGuess: boolean
  readonly fields: { readonly [role in Role]: readonly Field[] }
  /** Unlikely properties of the layout. */
  readonly doubts: readonly string[]

  constructor(format: SpanFormat, samples: readonly Sample[], isGuess: boolean) {
    this.format = format
    this.isGuess = isGuess
    const records = samples.flatMap(({ enclosed: { record, around } }) =>
      (format.rewrite?.(record, around) ?? [record]).map((one) => ({ record: one, around })),
    )
    const rewritten = records.map((enclosed) => ({ enclosed, own: namedFields(enclosed.record) }))
    const fields = Object.fromEntries(
      ROLES.map((role) => [role, this.#fieldsFor(role, rewritten)]),
    ) as { [role in Role]: Field[] }
    this.fields = fields
    this.doubts = withUnits(fields, records)
  }

  #fieldsFor(role: Role, samples: readonly Sample[]): Field[] {
    const columns = this.format.columns?.[role]
    if (columns !== undefined)
      return [columns].flat().flatMap((column) => this.#namedField(column, samples))
    const names: string[] = []
    let open = samples
    for (const path of guesses(role, samples)) {
      const left = open.filter(({ enclosed }) => isEmpty(valueAt(enclosed.record, path)))
      if (left.length === open.length) continue
      names.push(path.join('.'))
      open = left
      if (open.length === 0 || !HAVE_SECONDS.has(role)) break
    }
    if (names.length === 0 && INHERITED.has(role)) names.push(...outerGuess(role, samples))
    if (names.length === 0 && role === 'parent') names.push(...LATE_PARENTS)
    return names.flatMap((name) => this.#namedField(name, samples))
  }

  #namedField(column: string, samples: readonly Sample[]): Field[] {
    const [, path = column, unit] = /^(.*):(ns|us|ms|s)$/.exec(column) ?? []
    const given = unit !== undefined && isTimeUnit(unit) ? unit : undefined
    const how = given === undefined ? '' : 'as given'
    const resolved = path.split('+').map((name) => {
      const known = samples.find(({ own }) => own.has(name))?.own.get(name)?.[0]
      return known ?? outerPath(name, samples)
    })
    const variants: readonly (readonly Path[])[] = resolved.every((one) => one !== undefined)
      ? [resolved]
      : [path.split('+').map((name) => name.split('.')), ...(path.includes('.') ? [[[path]]] : [])]
    return variants.map((paths) => ({ name: path, paths, unit: given ?? 'us', how }))
  }

  /** Roles that spans cannot do without, and none of the fields stands for. */
  lacking(): string[] {
    const { trace, span, start, end, duration } = this.fields
    const needed = { trace, span, start, 'end or the duration': [...end, ...duration] }
    return Object.entries(needed).flatMap(([role, of]) => (of.length === 0 ? `the ${role}` : []))
  }

  /** Whether a record, by itself, is a span. */
  isSpan(record: JsonObject): boolean {
    const { fields } = this
    if (this.isGuess) {
      const isSaid = ({ paths }: Field) => paths.every((path) => !isEmpty(valueAt(record, path)))
      return fields.span.some(isSaid) && TIMES.some((role) => hasAny(record, fields[role]))
    }
    let there = 0
    for (const role of TELLING) if (hasAny(record, fields[role]) && ++there > 1) return true
    return false
  }

  /** Describes the roles of fields in words. */
  describe(): string {
    return ROLES.flatMap((role) => {
      const [field] = this.fields[role]
      if (field === undefined || (role === 'parent' && field.name === LATE_PARENTS[0])) return []
      const unit = ['start', 'end', 'duration'].includes(role) ? ` (${field.how})` : ''
      return [`${role} = ${field.name}${unit}`]
    }).join(', ')
  }
}

function outerPath(name: string, samples: readonly Sample[]): Path | undefined {
  for (const { enclosed } of samples) {
    for (let outer = enclosed.around; outer !== null; outer = outer.around) {
      if (name in outer.record) return [name]
    }
  }
  return undefined
}

/** Guesses the field of an enclosing record that a record inherits. */
function outerGuess(role: Role, samples: readonly Sample[]): string[] {
  const [first] = samples
  for (let outer = first?.enclosed.around ?? null; outer !== null; outer = outer.around) {
    const sample = { enclosed: outer, own: namedFields(outer.record) }
    const [path] = guesses(role, [sample])
    if (path !== undefined) return [path.join('.')]
  }
  return []
}

export function inheritedValue(role: Role, { record, around }: Enclosed, path: Path): unknown {
  const own = valueAt(record, path)
  if (!isEmpty(own) || !INHERITED.has(role)) return own
  for (let outer = around; outer !== null; outer = outer.around) {
    const value = valueAt(outer.record, path)
    if (!isEmpty(value)) return value
  }
  return undefined
}

/** Finds the units of times, and returns unlikely properties. */
function withUnits(fields: { [role in Role]: Field[] }, records: readonly Enclosed[]): string[] {
  const doubts: string[] = []
  const valuesOf = (role: Role, { paths }: Field) =>
    records.map((enclosed) => inheritedValue(role, enclosed, paths[0] ?? []))
  for (const role of ['start', 'end'] as const) {
    fields[role] = fields[role].map((field) => {
      const value = valuesOf(role, field).find((one) => !isEmpty(one))
      if (!isNumeric(value)) return { ...field, how: 'a date' }
      const time = Number(value)
      const isGiven = field.how !== ''
      const told = isGiven ? field.unit : plainName(field.name).unit
      const bySize = unitBySize(time)
      const isOdd = told !== undefined && !isPlausible(time, told) && isPlausible(time, bySize)
      if (isOdd) {
        doubts.push(
          isGiven
            ? `${field.name} is read in ${told}, as given, but ${time} looks like a time in ${bySize}`
            : `${field.name} is named for ${told}, but ${time} is a time in ${bySize}: read so`,
        )
      }
      const isBySize = told === undefined || (isOdd && !isGiven)
      const unit = isBySize ? bySize : told
      const how = isBySize ? 'by its size' : isGiven ? field.how : 'by its name'
      return { ...field, unit, how: `in ${unit}, ${how}` }
    })
  }
  fields.duration = fields.duration.map((field) => {
    if (field.how !== '') return { ...field, how: `in ${field.unit}, ${field.how}` }
    const named = plainName(field.name).unit
    if (named !== undefined) return { ...field, unit: named, how: `in ${named}, by its name` }
    if (!valuesOf('duration', field).some(isNumeric)) return { ...field, how: 'with its unit' }
    const byValues = durationUnit(fields, field, records)
    if (byValues !== undefined) return { ...field, unit: byValues.unit, how: byValues.how }
    const [start] = fields.start
    const unit = start === undefined || start.how === 'a date' ? 'ms' : start.unit
    return {
      ...field,
      unit,
      how: `in ${unit}, ${start?.how === 'a date' ? 'a guess' : 'as starts are'}`,
    }
  })
  return doubts
}

/** Returns a moment in µs, as exact as it takes to compare. */
function roughMicros(value: unknown, { unit }: Field): number {
  if (isNumeric(value)) return Number(value) * inMicros(unit)
  const [seconds = Number.NaN, nanos = 0] = momentOf(String(value)) ?? []
  return seconds * 1e6 + nanos / 1e3
}

const MIN_PAIRS = 3
/** Share of children that begin while their parents last, in the unit that is right. */
const MIN_WITHIN = 0.95

/** Returns the unit of durations that their values say, against starts and ends. */
function durationUnit(
  {
    start: [start],
    end: [end],
    span: [span],
    parent: [parent],
  }: { readonly [role in Role]: readonly Field[] },
  duration: Field,
  records: readonly Enclosed[],
): { readonly unit: TimeUnit; readonly how: string } | undefined {
  if (start === undefined) return undefined
  const value = (field: Field, enclosed: Enclosed) => valueAt(enclosed.record, field.paths[0] ?? [])
  const rows = records.map((enclosed) => ({
    id: span && String(value(span, enclosed)),
    parent: parent && String(value(parent, enclosed)),
    start: roughMicros(value(start, enclosed), start),
    end: end === undefined ? Number.NaN : roughMicros(value(end, enclosed), end),
    length: Number(value(duration, enclosed)),
  }))
  const ratios = rows
    .map((row) => (row.end - row.start) / row.length)
    .filter((ratio) => ratio > 0 && Number.isFinite(ratio))
    .sort((a, b) => a - b)
  const units: readonly TimeUnit[] = ['ns', 'us', 'ms', 's']
  const middle = ratios[ratios.length >> 1]
  if (middle !== undefined) {
    const unit = units.toSorted((a, b) => distance(middle, a) - distance(middle, b))[0] ?? 'us'
    return { unit, how: `in ${unit}, by its values against start and end` }
  }
  const byId = new Map(rows.map((row) => [row.id, row]))
  const pairs = rows.flatMap((row) => {
    const above = byId.get(row.parent)
    const offset = above === undefined ? 0 : row.start - above.start
    return above !== undefined && above !== row && offset > 0
      ? [{ offset, length: above.length }]
      : []
  })
  if (pairs.length < MIN_PAIRS) return undefined
  const unit = units.find((one) => {
    const within = pairs.filter(({ offset, length }) => offset <= length * inMicros(one))
    return within.length >= MIN_WITHIN * pairs.length
  })
  return unit && { unit, how: `in ${unit}, by its values against starts` }
}

function distance(ratio: number, unit: TimeUnit): number {
  return Math.abs(Math.log(ratio / inMicros(unit)))
}

/** Reads JSON within a text, as tables have it. */
export function innerJson(value: unknown): unknown {
  return typeof value === 'string' && /^\s*[[{]/.test(value) ? (parsedJson(value) ?? value) : value
}
