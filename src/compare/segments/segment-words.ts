// Runs once a request and column: the loops index with `!`.
import { printable } from '../findings/names.ts'
import type { Measured } from './measured.ts'
import { MISSING, RARE, type RequestColumn } from './request-columns.ts'
import type { Candidate, CodedRows, Condition } from './scan-conditions.ts'
import type { SegmentCondition } from './segments.ts'

/** A column, and others that divide the rows alike. */
export interface Coded extends CodedRows {
  readonly equal: CodedRows[]
}

/** Conditions that share as many of their requests are equivalent. */
const EQUIVALENT = 0.98
/** Single conditions that the same requests meet. */
export function equivalentsOf(
  candidate: Candidate,
  {
    columns,
    isInside,
    measured,
  }: { columns: readonly Coded[]; isInside: Uint8Array; measured: Measured },
): string[] {
  const { stratum, conditions } = candidate
  const { offsets, values } = measured
  const [from, to] =
    stratum === null ? [0, values.length] : [offsets[2 * stratum]!, offsets[2 * stratum + 2]!]
  const size = isInside.reduce((sum, is) => sum + is, 0)
  const own = new Set(conditions.map(({ column }) => column))
  const all = columns.flatMap((coded) => [coded, ...coded.equal])
  return all.flatMap(({ column, codes }) => {
    if (own.has(column)) return []
    const counts = new Map<number, [inside: number, all: number]>()
    for (let row = from; row < to; row++) {
      const code = codes[row]!
      const count = counts.get(code) ?? [0, 0]
      counts.set(code, count)
      count[0] += isInside[row]!
      count[1]++
    }
    const within = [...counts].filter(([, [some, every]]) => some > every / 2)
    const some = within.reduce((sum, [, [inside]]) => sum + inside, 0)
    const every = within.reduce((sum, [, [, any]]) => sum + any, 0)
    if (some < EQUIVALENT * size || some < EQUIVALENT * every || every === 0) return []
    return [conditionOf({ column, codes: new Set(within.map(([code]) => code)) }).text]
  })
}

function columnName({ attribute, service }: RequestColumn): string {
  return service === null ? printable(attribute) : `${printable(service)} ${printable(attribute)}`
}

/** Returns a condition in words. */
export function conditionOf({ column, codes }: Condition): SegmentCondition {
  const { attribute, service, kind, values } = column
  const name = columnName(column)
  const of = { attribute, service }
  const make = (op: SegmentCondition['op'], used: readonly string[], text: string) => ({
    ...of,
    op,
    values: used,
    text,
  })
  if (kind === 'called') {
    return codes.has(MISSING)
      ? make('does not call', [], `${name} is not called`)
      : make('calls', [], `${name} is called`)
  }
  const known = Array.from({ length: values.length - 2 }, (_, i) => i + 2)
  const used = known.filter((code) => codes.has(code))
  if (used.length === 0) return make('not recorded', [], `${name} is not recorded`)
  if (used.length === known.length && !codes.has(MISSING)) {
    return make('recorded', [], `${name} is recorded`)
  }
  if (kind === 'numbers') {
    const isBelow = codes.has(2)
    const limit = values[isBelow ? used.at(-1)! + 1 : used[0]!]!
    return isBelow
      ? make('below', [limit], `${name} < ${limit}`)
      : make('from', [limit], `${name} ≥ ${limit}`)
  }
  const isRest = codes.has(RARE) || used.length > known.length / 2
  const named = (isRest ? known.filter((code) => !codes.has(code)) : used).map(
    (code) => values[code]!,
  )
  const text = anyOf(named)
  if (isRest && named.length > 0 && known.length > 2)
    return make('is not', named, `${name} is not ${text}`)
  const all = used.map((code) => values[code]!)
  return make('is', all, `${name} = ${anyOf(all)}`)
}

/** `a`, `a or b`, `a, b or c`. */
function anyOf(values: readonly string[]): string {
  const names = values.map(printable)
  const last = names.pop() ?? ''
  return names.length === 0 ? last : `${names.join(', ')} or ${last}`
}
