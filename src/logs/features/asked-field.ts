import type { Dictionary } from '../../traces/dictionary.ts'
import { COLUMNS, type StateFeature } from './features.ts'
import { type InstanceFeatures, withStates } from './open-instance.ts'

/** The units in which a time or a size may stand once more. */
const SCALES = [1, 1e3, 1e-3, 1e6, 1e-6]
/** Smallest multiple of its rounding unit at which equal values are hardly chance. */
const MIN_UNITS = 10

/**
 * Merges the states of a field that divides instances, if several events have it, into one with the value each instance
 * was judged by; `variable` is its name. `left` are the merged states, and others of their events that repeat them.
 */
export function joinAsked(
  states: readonly InstanceFeatures[],
  dictionary: Dictionary,
  { field, feature }: { readonly field: string; readonly feature: StateFeature },
) {
  const [width, at] = [COLUMNS.state.length, COLUMNS.state.indexOf(feature)]
  const rows = states.map(
    ({ codes, values }) => new Map(Array.from(codes, (code, i) => [code, values[i * width + at]])),
  )
  const names = [...dictionary.values]
  const all = new Set(rows.flatMap((row) => [...row.keys()]))
  const found = [...all].filter((code) => names[code]?.endsWith(`.${field}`))
  const copies = found.flatMap((asked) => {
    const event = names[asked]?.slice(0, -field.length - 1)
    const isOfEvent = (code: number) =>
      [' #', '.'].some((sign) => names[code]?.startsWith(`${event}${sign}`))
    return [...all].filter((code) => {
      if (code === asked || !isOfEvent(code)) return false
      const having = rows.filter((row) => row.has(code) && row.has(asked))
      const pairs = having.map((row) => [Number(row.get(code)), Number(row.get(asked))] as const)
      return repeats(pairs)
    })
  })
  if (found.length < 2) return { states, variable: names[found[0] ?? -1], left: copies }
  const code = dictionary.code(field)
  const most = feature === 'minimum' ? Math.min : Math.max
  const joined = states.map((given, i) => {
    const own = found.flatMap((each) => rows[i]?.get(each) ?? [])
    return own.length === 0 ? given : withStates(given, [{ code, [feature]: most(...own) }])
  })
  return { states: joined, variable: field, left: [...found, ...copies] }
}

/** Whether two states of one event, an instance each, are one number, but for unit and rounding. */
export function repeats(pairs: readonly (readonly [number, number])[]): boolean {
  return SCALES.some((by) => isCopy(pairs, by))
}

function isCopy(pairs: readonly (readonly [number, number])[], by: number): boolean {
  const unitOf = (value: number) => 10 ** -(String(value).split('.')[1]?.length ?? 0)
  const isLarge = pairs.some(([value]) => value >= MIN_UNITS * unitOf(value))
  return isLarge && pairs.every(([value, of]) => Math.abs(value - by * of) <= unitOf(value))
}
