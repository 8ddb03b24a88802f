// Runs once an attribute of a span: the loops index with `!`.
import {
  FEW_TELL,
  isNameLike,
  isNumberText,
  type LeftOutReason,
  NEARLY_UNIQUE,
  namesFew,
  reasonOfName,
  reasonOfTexts,
} from '../traces/attribute-names.ts'
import { type Attributes, type AttributeValue, TEXT, TRUTH } from '../traces/attributes.ts'
import type { Dictionary } from '../traces/dictionary.ts'

/** An attribute of all units, which are requests, calls or spans. A unit has at most one value. */
export interface AttributeColumn {
  readonly attribute: string
  /** One code a unit: index of its value in `values` plus 1, or 0 if none was recorded. */
  readonly codes: Uint32Array
  /** Different ones, in the order in which they came. */
  readonly values: readonly AttributeValue[]
  /** Number of units with a value. */
  readonly known: number
  /** Why it was no longer read: it has no codes then. */
  readonly dropped: LeftOutReason | null
}

/** Whether an attribute describes a process, its place or version, and so holds for all of its spans. */
export function isOfPlace(attribute: string): boolean {
  return attribute === 'host' || attribute === 'version' || attribute.startsWith('resource.')
}

/** Attributes of an owner to read: all, those of its place, or all others. */
type Part = 'all' | 'place' | 'own'

/** Whether a text is another one for each unit is decided after this many. */
const MIN_FOR_UNIQUE = 2_000

/** Reads attributes of spans, or of trace points, into columns: of a unit, the first value counts. */
export class AttributeReader {
  readonly #size: number
  readonly #dropsUseless: boolean
  readonly #columns = new Map<string, GrowingColumn>()
  /** By recording: columns by its own numbers of their names. */
  readonly #recordings = new Map<Attributes, RecordedKey[]>()
  #last: { readonly attributes: Attributes; readonly keys: RecordedKey[] } | undefined
  #unit = 0
  #part: Part = 'all'

  /** @param options.dropsUseless whether to drop columns as soon as they prove unable to distinguish units */
  constructor(size: number, { dropsUseless = false } = {}) {
    this.#size = size
    this.#dropsUseless = dropsUseless
  }

  /** Reads the attributes of an owner, a span or a trace point. */
  read(unit: number, attributes: Attributes, owner: number, part: Part = 'all'): void {
    if (this.#last?.attributes !== attributes) {
      const keys = this.#recordings.get(attributes) ?? []
      this.#recordings.set(attributes, keys)
      this.#last = { attributes, keys }
    }
    this.#unit = unit
    this.#part = part
    attributes.visit(owner, this.#visit)
  }

  /** Adds a value that is no attribute of a span. */
  add(unit: number, attribute: string, value: AttributeValue): void {
    this.#named(attribute).add(unit, value)
  }

  /** Adds a text by its code; none where it is empty. */
  addText(unit: number, attribute: string, code: number, texts: Dictionary): void {
    if (texts.value(code) !== '') this.#named(attribute).addText(unit, code, texts)
  }

  finish(): AttributeColumn[] {
    return [...this.#columns.values()]
  }

  readonly #visit = (key: number, value: number, type: number): void => {
    const { attributes, keys } = this.#last!
    keys[key] ??= this.#keyOf(attributes.keys.value(key))
    const known = keys[key]
    if (this.#part !== 'all' && known.isPlace !== (this.#part === 'place')) return
    if (type === TEXT) known.column.addText(this.#unit, value, attributes.columns.texts)
    else known.column.add(this.#unit, type === TRUTH ? value === 1 : value)
  }

  #keyOf(name: string): RecordedKey {
    return { column: this.#named(name), isPlace: isOfPlace(name) }
  }

  #named(attribute: string): GrowingColumn {
    const known = this.#columns.get(attribute)
    if (known !== undefined) return known
    const column = new GrowingColumn(attribute, this.#size, this.#dropsUseless)
    this.#columns.set(attribute, column)
    return column
  }
}

interface RecordedKey {
  readonly column: GrowingColumn
  readonly isPlace: boolean
}

class GrowingColumn implements AttributeColumn {
  readonly attribute: string
  readonly values: AttributeValue[] = []
  codes: Uint32Array
  known = 0
  dropped: LeftOutReason | null = null
  readonly #codeOf = new Map<AttributeValue, number>()
  /** Codes by recording: from its codes to codes here. */
  readonly #ofTexts = new Map<Dictionary, number[]>()
  #last: { readonly texts: Dictionary; readonly codes: number[] } | undefined
  #nextCheck: number

  constructor(attribute: string, size: number, dropsUseless: boolean) {
    this.attribute = attribute
    this.codes = new Uint32Array(size)
    this.#nextCheck = dropsUseless ? MIN_FOR_UNIQUE : Number.POSITIVE_INFINITY
    const named = dropsUseless ? reasonOfName(attribute) : null
    if (named !== null && !FEW_TELL.has(named)) this.#drop(named)
  }

  addText(unit: number, code: number, texts: Dictionary): void {
    if (this.dropped !== null || this.codes[unit] !== 0) return
    if (this.#last?.texts !== texts) {
      const codes = this.#ofTexts.get(texts) ?? []
      this.#ofTexts.set(texts, codes)
      this.#last = { texts, codes }
    }
    const { codes } = this.#last
    codes[code] ??= this.#code(texts.value(code))
    this.#set(unit, codes[code])
  }

  add(unit: number, value: AttributeValue): void {
    if (this.dropped === null && this.codes[unit] === 0) this.#set(unit, this.#code(value))
  }

  #set(unit: number, code: number): void {
    this.codes[unit] = code
    this.known++
    if (this.known < this.#nextCheck) return
    this.#nextCheck *= 2
    const { length } = this.values
    if (length <= NEARLY_UNIQUE * this.known || typeof this.values[length - 1] !== 'string') return
    if (numbersOf(this) === null) this.#drop(reasonOfName(this.attribute) ?? 'unique')
  }

  /** Returns 1 + the place of a value. */
  #code(value: AttributeValue): number {
    const known = this.#codeOf.get(value)
    if (known !== undefined) return known
    const code = this.values.push(value)
    this.#codeOf.set(value, code)
    return code
  }

  #drop(reason: LeftOutReason): void {
    this.dropped = reason
    this.codes = new Uint32Array(0)
    this.#codeOf.clear()
    this.#ofTexts.clear()
    this.#last = undefined
  }
}

/**
 * Returns the values of a column as numbers; `null` where some are none, or names: 1.1 and 1.10 are two versions, and
 * one number.
 */
export function numbersOf({
  attribute,
  values,
}: Pick<AttributeColumn, 'attribute' | 'values'>): Float64Array | null {
  if (values.length === 0 || isNameLike(attribute) || !values.every(isNumeric)) return null
  const numbers = Float64Array.from(values, Number)
  return new Set(numbers).size === numbers.length ? numbers : null
}

function isNumeric(value: AttributeValue): boolean {
  return typeof value === 'number'
    ? Number.isFinite(value)
    : typeof value === 'string' && isNumberText(value)
}

/** Returns why names tell no units apart; `null` where they may. */
export function reasonOfNames(
  attribute: string,
  texts: readonly string[],
  known: number,
): LeftOutReason | null {
  const [named, isFew] = [reasonOfName(attribute), namesFew(texts.length, known)]
  if (named !== null && !(isFew && FEW_TELL.has(named))) return named
  const found = reasonOfTexts(texts, known)
  return isFew && FEW_TELL.has(found) ? null : found
}

/**
 * Returns the number of the part that a number lies in, of those that ascending bounds divide: each begins with its
 * own.
 */
export function binOf(number: number, lows: ArrayLike<number>): number {
  let [first, end] = [0, lows.length]
  while (first < end) {
    const middle = (first + end) >>> 1
    if (lows[middle]! > number) end = middle
    else first = middle + 1
  }
  return first - 1
}

/** A number that rises, or falls, in this share of the steps from unit to unit counts them. */
const RISING = 0.95
const MIN_FOR_COUNTER = 20

/** Whether numbers go up, or down, from one unit to the next in each of some recordings. */
export function countsUnits(recordings: readonly ArrayLike<number>[]): boolean {
  const long = recordings.filter(({ length }) => length >= MIN_FOR_COUNTER)
  return long.length > 0 && long.every(isRising)
}

function isRising(values: ArrayLike<number>): boolean {
  let [up, down] = [0, 0]
  for (let i = 1; i < values.length; i++) {
    if (values[i]! > values[i - 1]!) up++
    else if (values[i]! < values[i - 1]!) down++
  }
  return Math.max(up, down) >= RISING * (values.length - 1)
}
