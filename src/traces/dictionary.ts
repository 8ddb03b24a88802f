import { InternalError } from '../core/errors.ts'

/** The distinct strings of a column, numbered in order of first appearance. */
export class Dictionary {
  readonly values: string[]
  readonly #codes: Map<string, number>
  // The same string often comes many times in a row, and comparing is cheaper than hashing.
  #lastValue: string | undefined
  #lastCode = 0

  /** @param values distinct strings by code, which it takes over */
  constructor(values: string[] = []) {
    this.values = values
    this.#codes = new Map(values.map((value, code) => [value, code]))
  }

  get size(): number {
    return this.values.length
  }

  /** Returns the code of `value`, which is added if it is new. */
  code(value: string): number {
    if (value !== this.#lastValue) {
      this.#lastCode = this.#codes.get(value) ?? this.#add(value)
      this.#lastValue = this.values[this.#lastCode]
    }
    return this.#lastCode
  }

  /** Returns the code of a text that may have been numbered before: of one dictionary alone. */
  codeOf(known: KnownText): number {
    if (known.code < 0) known.code = this.code(known.text)
    return known.code
  }

  /** Returns the code of `value`, or `undefined` if no row holds it. */
  find(value: string): number | undefined {
    return this.#codes.get(value)
  }

  value(code: number): string {
    const value = this.values[code]
    if (value === undefined) throw new InternalError(`no string has code ${code}`)
    return value
  }

  #add(value: string): number {
    // A copy: V8 keeps a slice's whole source alive, so a kept piece of a file's text would keep the text.
    const own = ` ${value}`.slice(1)
    this.#codes.set(own, this.values.length)
    return this.values.push(own) - 1
  }
}

/** A text that a reader hands over again and again, so that it is looked up once. */
export class KnownText {
  readonly text: string
  /** Code in the dictionary that it belongs to, -1 until it has one. */
  code = -1

  constructor(text: string) {
    this.text = text
  }
}
