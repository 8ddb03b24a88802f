import { OptionError } from '../../core/errors.ts'
import { shortText } from '../../core/shown-text.ts'

/** What is divided by some feature: requests, or calls. */
export interface Partition {
  /** Number of the part each belongs to, −1 where the feature says nothing. */
  readonly codes: Int32Array
  /** What the parts are called. */
  readonly names: readonly string[]
}

/** Divides `count` things by what they are called; `undefined` where nothing is known. */
export function partitionBy(count: number, nameOf: (row: number) => string | undefined): Partition {
  const known = new Map<string, number>()
  const codes = new Int32Array(count)
  for (let row = 0; row < count; row++) {
    const name = nameOf(row)
    if (name === undefined) {
      codes[row] = -1
      continue
    }
    let code = known.get(name)
    if (code === undefined) {
      code = known.size
      known.set(name, code)
    }
    codes[row] = code
  }
  return { codes, names: [...known.keys()] }
}

/** Weight in each part; 1 each where `weight` is left out. */
export function partSizes({ codes, names }: Partition, weight?: Float64Array): Float64Array {
  const sizes = new Float64Array(names.length)
  codes.forEach((code, row) => {
    if (code >= 0) sizes[code] = (sizes[code] as number) + (weight?.[row] ?? 1)
  })
  return sizes
}

/** Parts of at least `least` members, numbers of them. */
export function largeParts(partition: Partition, least: number): number[] {
  return [...partSizes(partition)].flatMap((size, part) => (size >= least ? [part] : []))
}

/** The part of that name, or an error that lists those there are. */
export function requirePart({ names }: Partition, name: string, option: string): number {
  const part = names.indexOf(name)
  if (part >= 0) return part
  const shown = names.slice(0, 12).map((each) => shortText(each, 80))
  const known = names.length > 12 ? [...shown, '…'] : shown
  throw new OptionError(
    option,
    name,
    known.length > 0 ? `one of ${known.join(', ')}` : 'a feature that some request has',
  )
}
