// Runs once a span, node or edge: the loops index with `!`.
import { Dictionary, KnownText } from './dictionary.ts'
import { entriesWithin, groupRows } from './group-rows.ts'
import { gather, gatherColumns, growingColumns } from './growing-columns.ts'
import { attributeProbability } from './sampling.ts'

/** The attribute of a resource, a process or a span that holds its service's version. */
export const VERSION_ATTRIBUTE = 'service.version'

/** Names columns of attributes beside own ones: one with the name of an own column becomes `attributes.NAME`. */
export function besideOwn<Column>(
  own: Readonly<Record<string, Column>>,
  attributes: Iterable<readonly [name: string, column: Column]>,
): Record<string, Column> {
  const named = Array.from(attributes, ([name, column]) => [
    name in own ? `attributes.${name}` : name,
    column,
  ])
  return { ...own, ...Object.fromEntries(named) }
}

/** Value of a low-level parameter. */
export type AttributeValue = number | string | boolean

export const NUMBER = 0
export const TEXT = 1
export const TRUTH = 2
/** Type of a value: `NUMBER`, `TEXT` or `TRUTH` (1 for true). */
export type AttributeType = typeof NUMBER | typeof TEXT | typeof TRUTH

export interface AttributeColumns {
  readonly offsets: Uint32Array
  readonly keys: Dictionary
  readonly texts: Dictionary
  readonly key: Uint32Array
  readonly type: Uint8Array
  readonly value: Float64Array
}

/** Low-level parameters of spans or trace points: those of owner `i` are entries `offsets[i]` to `offsets[i + 1]`. */
export class Attributes {
  readonly offsets: Uint32Array
  readonly keys: Dictionary
  readonly columns: AttributeColumns

  constructor(columns: AttributeColumns) {
    this.offsets = columns.offsets
    this.keys = columns.keys
    this.columns = columns
  }

  /** Returns the value of `key` for `owner`, or `undefined` where it has none. */
  get(owner: number, key: string): AttributeValue | undefined {
    const code = this.keys.find(key)
    if (code === undefined) return undefined
    const end = this.offsets[owner + 1] ?? 0
    for (let entry = this.offsets[owner] ?? 0; entry < end; entry++) {
      if (this.columns.key[entry] === code) return this.valueAt(entry)
    }
    return undefined
  }

  /** Reads what owners recorded by a name, as their own or else of their resource; `undefined` where none did. */
  reader(name: string): ((owner: number) => AttributeValue | undefined) | undefined {
    const keys = [name, `resource.${name}`].filter((key) => this.keys.find(key) !== undefined)
    const [key, ofResource] = keys
    if (key === undefined) return undefined
    if (ofResource === undefined) return (owner) => this.get(owner, key)
    return (owner) => this.get(owner, key) ?? this.get(owner, ofResource)
  }

  /** Returns the values of every key, owner by owner, as columns of a table that reads them when asked. */
  columnsByName(): readonly (readonly [string, ArrayLike<AttributeValue | undefined>])[] {
    return this.keys.values.map((key) => [key, new AttributeColumn(this, key)])
  }

  /** All parameters of `owner`, in the order they were recorded. */
  *entries(owner: number): Generator<[key: string, value: AttributeValue]> {
    const end = this.offsets[owner + 1] ?? 0
    for (let entry = this.offsets[owner] ?? 0; entry < end; entry++) {
      yield [this.keys.value(this.columns.key[entry]!), this.valueAt(entry)]
    }
  }

  /** Calls `visit` with each parameter of `owner`, key and text as codes, without making objects. */
  visit(owner: number, visit: (key: number, value: number, type: AttributeType) => void): void {
    const { key, type, value } = this.columns
    const end = this.offsets[owner + 1] ?? 0
    for (let entry = this.offsets[owner] ?? 0; entry < end; entry++) {
      visit(key[entry]!, value[entry]!, type[entry] as AttributeType)
    }
  }

  /** Returns the parameters of some owners, in their order. */
  pick(owners: Uint32Array): Attributes {
    const { columns } = this
    const { offsets, entries } = entriesWithin(this.offsets, owners)
    const [key, type] = [gather(columns.key, entries), gather(columns.type, entries)]
    const value = gather(columns.value, entries)
    return new Attributes({ ...columns, offsets, key, type, value })
  }

  /** Returns the text that a code stands for. */
  text(code: number): string {
    return this.columns.texts.value(code)
  }

  /** Returns the value of an entry of the columns. */
  valueAt(entry: number): AttributeValue {
    const value = this.columns.value[entry]!
    const type = this.columns.type[entry]
    return type === TEXT ? this.columns.texts.value(value) : type === TRUTH ? value === 1 : value
  }
}

/** Arquero reads columns by `at`, and copies of them by iteration. */
class AttributeColumn implements ArrayLike<AttributeValue | undefined> {
  readonly [row: number]: AttributeValue | undefined
  readonly length: number
  readonly #attributes: Attributes
  readonly #key: string

  constructor(attributes: Attributes, key: string) {
    this.length = Math.max(0, attributes.offsets.length - 1)
    this.#attributes = attributes
    this.#key = key
  }

  at(row: number): AttributeValue | undefined {
    return this.#attributes.get(row, this.#key)
  }

  *[Symbol.iterator](): Generator<AttributeValue | undefined> {
    for (let row = 0; row < this.length; row++) yield this.at(row)
  }
}

function typeOf(value: AttributeValue): AttributeType {
  return typeof value === 'number' ? NUMBER : typeof value === 'string' ? TEXT : TRUTH
}

/** A parameter that a reader hands over again and again, so that it is looked up once. */
export class KnownAttribute {
  readonly key: KnownText
  readonly value: AttributeValue
  readonly type: AttributeType
  /** Value of the attribute, if it is the version of a service. */
  readonly version: KnownText | undefined
  /** Probability with which its span was recorded, if the attribute gives it. */
  readonly probability: number | undefined
  /** Number of its value in the columns, once it was added to them. */
  number: number | undefined

  constructor(key: KnownText, value: AttributeValue) {
    this.key = key
    this.value = value
    this.type = typeOf(value)
    this.version = key.text === VERSION_ATTRIBUTE ? new KnownText(String(value)) : undefined
    this.probability = attributeProbability(key.text, value)
    this.number = undefined
  }
}

/** Collects parameters while a file is read; owners come in order. */
export class AttributesBuilder {
  readonly #keys = new Dictionary()
  readonly #texts = new Dictionary()
  readonly #columns = growingColumns({ owner: 'u32', key: 'u32', type: 'u8', value: 'f64' })

  add(owner: number, key: string, value: AttributeValue): void {
    this.#push(owner, this.#keys.code(key), typeOf(value), this.#numberOf(value))
  }

  addKnown(owner: number, known: KnownAttribute): void {
    const { key, value } = known
    const code = this.#keys.codeOf(key)
    if (known.number === undefined) known.number = this.#numberOf(value)
    this.#push(owner, code, known.type, known.number)
  }

  #numberOf(value: AttributeValue): number {
    return typeof value === 'string' ? this.#texts.code(value) : Number(value)
  }

  #push(owner: number, key: number, type: AttributeType, value: number): void {
    const columns = this.#columns
    columns.owner.push(owner)
    columns.key.push(key)
    columns.type.push(type)
    columns.value.push(value)
  }

  /** Returns the columns for `owners` owners, renumbered where `position` says so; −1 leaves one out. */
  finish(owners: number, position?: Int32Array): Attributes {
    const { owner, ...columns } = this.#columns
    const added = owner.values.subarray(0, owner.length)
    const places = position ? gather(position, added) : added
    const { offsets, rows } = groupRows(places, owners)
    const kept = gatherColumns(columns, rows)
    return new Attributes({ offsets, keys: this.#keys, texts: this.#texts, ...kept })
  }
}
