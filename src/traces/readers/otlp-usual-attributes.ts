// Runs once a byte or attribute: the loops index with `!`.
import { KnownAttribute } from '../attributes.ts'
import { KnownText } from '../dictionary.ts'
import {
  BACKSLASH,
  CLOSE_ARRAY,
  CLOSE_OBJECT,
  COMMA,
  type JsonCursor,
  Keys,
  OPEN_ARRAY,
  OPEN_OBJECT,
  QUOTE,
  Remembered,
  textAt,
} from './json-cursor.ts'
import { type AttributeEntry, parsedJson, textOf } from './json-values.ts'
import { otlpAttributes } from './otlp-values.ts'

export function knownAttribute([key, value]: AttributeEntry): KnownAttribute {
  return new KnownAttribute(new KnownText(key), value)
}

const ATTRIBUTE = new Keys('key', 'value')
const [KEY, VALUE] = [0, 1]
const ANY_VALUE = new Keys('stringValue', 'intValue', 'doubleValue')
const STRING_VALUE = 0
const INT_VALUE = 1
/** Longer numbers may be more than a double holds. */
const MAX_SAFE_DIGITS = 15
/** Fewest values of a varying key, and how often they repeat at most. */
const MIN_VALUES = 64
const MAX_REPEATS = 4

/** The key of an attribute, and how often its values were new or known. */
class AttributeKey {
  readonly name: KnownText
  new = 0
  known = 0

  constructor(value: unknown) {
    this.name = new KnownText(textOf(value))
  }

  /** Whether remembering its values is not worth it. */
  get varies(): boolean {
    return this.new >= MIN_VALUES && this.known < MAX_REPEATS * this.new
  }
}

function attributeIn(value: unknown): { readonly attribute: KnownAttribute | undefined } {
  const [entry] = otlpAttributes([value])
  return { attribute: entry && knownAttribute(entry) }
}

/** Reads attributes of spans: values that repeat are remembered, values of keys that vary are read anew. */
export class UsualAttributes {
  readonly #attributes: Remembered<ReturnType<typeof attributeIn>>
  readonly #keys: Remembered<AttributeKey>

  /** `prepare` mends the text of a value before it is parsed. */
  constructor(prepare: (json: string) => string) {
    this.#attributes = new Remembered(prepare, attributeIn)
    this.#keys = new Remembered(prepare, (value) => new AttributeKey(value))
  }

  /** Reads the list of them that the cursor is at; whether it is one. */
  read(cursor: JsonCursor, into: KnownAttribute[]): boolean {
    if (cursor.bytes[cursor.at] !== OPEN_ARRAY) return false
    cursor.at++
    if (cursor.next() === CLOSE_ARRAY) {
      cursor.at++
      return true
    }
    for (;;) {
      const start = cursor.at
      const key = this.#readKey(cursor)
      const varied = key?.varies ? this.#readVaried(cursor, key.name) : undefined
      if (varied !== undefined) into.push(varied)
      else {
        cursor.at = start
        const { size } = this.#attributes
        const found = cursor.value(this.#attributes)
        if (found === undefined) return false
        if (found.attribute !== undefined) into.push(found.attribute)
        if (key !== undefined && this.#attributes.size > size) key.new++
        else if (key !== undefined) key.known++
      }
      const behind = cursor.next()
      cursor.at++
      if (behind !== COMMA) return behind === CLOSE_ARRAY
      cursor.next()
    }
  }

  /** Returns the key of the attribute here, if it comes first in it. */
  #readKey(cursor: JsonCursor): AttributeKey | undefined {
    if (cursor.bytes[cursor.at] !== OPEN_OBJECT) return undefined
    cursor.at++
    const isKey = cursor.key(ATTRIBUTE, -1) === KEY && cursor.bytes[cursor.at] === QUOTE
    return isKey ? cursor.value(this.#keys) : undefined
  }

  /** Goes from behind the key of an attribute to its end, if its value is a text or number. */
  #readVaried(cursor: JsonCursor, key: KnownText): KnownAttribute | undefined {
    if (cursor.next() !== COMMA) return undefined
    cursor.at++
    if (cursor.key(ATTRIBUTE, KEY) !== VALUE || cursor.bytes[cursor.at] !== OPEN_OBJECT)
      return undefined
    cursor.at++
    const type = cursor.key(ANY_VALUE, STRING_VALUE)
    const start = cursor.at
    if (type < 0 || !cursor.skip()) return undefined
    const value = plainValue(cursor, type, [start, cursor.at])
    if (value === undefined || cursor.next() !== CLOSE_OBJECT) return undefined
    cursor.at++
    if (cursor.next() !== CLOSE_OBJECT) return undefined
    cursor.at++
    return new KnownAttribute(key, value)
  }
}

/** Returns the value of bytes `start` to `end`; `undefined` where it takes another way to read. */
function plainValue(
  { bytes, view }: JsonCursor,
  type: number,
  [start, end]: readonly [number, number],
): string | number | undefined {
  if (type === INT_VALUE) {
    if (bytes[start] !== QUOTE || end - start < 3 || end - start - 2 > MAX_SAFE_DIGITS) {
      return undefined
    }
    let number = 0
    for (let at = start + 1; at < end - 1; at++) {
      const digit = bytes[at]! - 48
      if (digit < 0 || digit > 9) return undefined
      number = number * 10 + digit
    }
    return number
  }
  if (type === STRING_VALUE && bytes[start] === QUOTE) {
    let at = start + 1
    while (bytes[at]! >= 32 && bytes[at] !== BACKSLASH && bytes[at] !== QUOTE) at++
    if (at === end - 1) return textAt(view, start + 1, at)
  }
  const value = parsedJson(textAt(view, start, end))
  return typeof value === (type === STRING_VALUE ? 'string' : 'number')
    ? (value as string | number)
    : undefined
}
