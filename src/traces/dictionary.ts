import { InternalError } from '../errors.ts'

/** The distinct strings of a column, numbered in order of first appearance. */
export class Dictionary {
  readonly values: string[] = []
  readonly #codes = new Map<string, number>()

  get size(): number {
    return this.values.length
  }

  /** The code of `value`, which is added if it is new. */
  code(value: string): number {
    const known = this.#codes.get(value)
    if (known !== undefined) return known
    const code = this.values.length
    this.values.push(value)
    this.#codes.set(value, code)
    return code
  }

  /** The code of `value`, or `undefined` if no row holds it. */
  find(value: string): number | undefined {
    return this.#codes.get(value)
  }

  value(code: number): string {
    const value = this.values[code]
    if (value === undefined) throw new InternalError(`no string has code ${code}`)
    return value
  }
}
