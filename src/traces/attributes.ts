// Runs once a span, node or edge: the loops index with `!`.
import { type Dictionary, Dictionary as StringDictionary } from './dictionary.ts'
import {
  type GrowingFloat64,
  type GrowingUint8,
  type GrowingUint32,
  growingFloat64,
  growingUint8,
  growingUint32,
} from './growing-columns.ts'

/** What a low-level parameter can be. */
export type AttributeValue = number | string | boolean

const NUMBER = 0
const TEXT = 1
const TRUTH = 2

/**
 * The low-level parameters of spans (or trace points), owner by owner in compressed rows: those
 * of owner `i` are entries `offsets[i]` to `offsets[i + 1]`.
 */
export class Attributes {
  readonly offsets: Uint32Array
  readonly keys: Dictionary
  readonly #texts: Dictionary
  readonly #key: Uint32Array
  readonly #type: Uint8Array
  readonly #value: Float64Array

  constructor(columns: {
    offsets: Uint32Array
    keys: Dictionary
    texts: Dictionary
    key: Uint32Array
    type: Uint8Array
    value: Float64Array
  }) {
    this.offsets = columns.offsets
    this.keys = columns.keys
    this.#texts = columns.texts
    this.#key = columns.key
    this.#type = columns.type
    this.#value = columns.value
  }

  /** The value of `key` for `owner`, or `undefined` where it has none. */
  get(owner: number, key: string): AttributeValue | undefined {
    const code = this.keys.find(key)
    if (code === undefined) return undefined
    const end = this.offsets[owner + 1] ?? 0
    for (let entry = this.offsets[owner] ?? 0; entry < end; entry++) {
      if (this.#key[entry] === code) return this.#decode(entry)
    }
    return undefined
  }

  /** All parameters of `owner`, in the order they were recorded. */
  *entries(owner: number): Generator<[key: string, value: AttributeValue]> {
    const end = this.offsets[owner + 1] ?? 0
    for (let entry = this.offsets[owner] ?? 0; entry < end; entry++) {
      yield [this.keys.value(this.#key[entry]!), this.#decode(entry)]
    }
  }

  #decode(entry: number): AttributeValue {
    const value = this.#value[entry]!
    const type = this.#type[entry]
    return type === TEXT ? this.#texts.value(value) : type === TRUTH ? value === 1 : value
  }
}

/** Collects parameters while a file is read; owners come in order. */
export class AttributesBuilder {
  readonly #keys = new StringDictionary()
  readonly #texts = new StringDictionary()
  readonly #owner: GrowingUint32 = growingUint32()
  readonly #key: GrowingUint32 = growingUint32()
  readonly #type: GrowingUint8 = growingUint8()
  readonly #value: GrowingFloat64 = growingFloat64()

  add(owner: number, key: string, value: AttributeValue): void {
    this.#owner.push(owner)
    this.#key.push(this.#keys.code(key))
    this.#type.push(typeof value === 'number' ? NUMBER : typeof value === 'string' ? TEXT : TRUTH)
    this.#value.push(typeof value === 'string' ? this.#texts.code(value) : Number(value))
  }

  /**
   * The finished columns for `owners` owners, renumbered: `position[i]` is where the owner that
   * was added as `i` ended up, or -1 if it was left out.
   */
  finish(owners: number, position: Int32Array): Attributes {
    const entries = this.#owner.length
    const offsets = new Uint32Array(owners + 1)
    const placed = new Int32Array(entries)
    for (let entry = 0; entry < entries; entry++) {
      const at = position[this.#owner.values[entry]!] ?? -1
      placed[entry] = at
      if (at >= 0) offsets[at + 1] = offsets[at + 1]! + 1
    }
    for (let owner = 0; owner < owners; owner++) {
      offsets[owner + 1]! += offsets[owner]!
    }
    const kept = offsets[owners]!
    const next = offsets.slice()
    const key = new Uint32Array(kept)
    const type = new Uint8Array(kept)
    const value = new Float64Array(kept)
    for (let entry = 0; entry < entries; entry++) {
      const at = placed[entry]!
      if (at < 0) continue
      const to = next[at]!
      next[at] = to + 1
      key[to] = this.#key.values[entry]!
      type[to] = this.#type.values[entry]!
      value[to] = this.#value.values[entry]!
    }
    return new Attributes({ offsets, keys: this.#keys, texts: this.#texts, key, type, value })
  }
}
