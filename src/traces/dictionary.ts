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
    const own = ownCopy(value)
    this.values.push(own)
    this.#codes.set(own, code)
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

/** V8 keeps a slice's whole source alive, so a kept piece of a file's text would keep the text. */
function ownCopy(value: string): string {
  return ` ${value}`.slice(1)
}
