import { max } from 'd3-array'
import type { Dictionary } from '../../traces/dictionary.ts'
import { STATE_FEATURES, type StateFeature } from './features.ts'
import type { InstanceFeatures } from './open-instance.ts'

/** The units in which a time or a size may stand once more. */
const SCALES = [1, 1e3, 1e-3, 1e6, 1e-6]
/** What is hardly more than its own rounding may be equal by chance. */
const MIN_UNITS = 10

/**
 * Makes the states of a field that divides instances one, where several events have it, so that each
 * instance has what it was judged by. `copies` are states that only repeat the field, as a template of a
 * text that says it, too: they explain nothing.
 *
 * @returns the states of all instances, the name of that state, if any, and what to leave out
 */
export function joinAsked(
  states: readonly InstanceFeatures[],
  dictionary: Dictionary,
  { field, feature }: { readonly field: string; readonly feature: StateFeature },
) {
  const names = dictionary.values
  const asked = new Set([...names.keys()].filter((code) => names[code]?.endsWith(`.${field}`)))
  const found = new Set(states.flatMap(({ codes }) => [...codes].filter((code) => asked.has(code))))
  const copies = [...found].flatMap((code) => copiesOf(code, states, { names, feature }))
  if (found.size < 2) return { states, variable: names[[...found][0] ?? -1], left: copies }
  const [code, width, at] = [
    dictionary.code(field),
    STATE_FEATURES.length,
    STATE_FEATURES.indexOf(feature),
  ]
  const most = feature === 'minimum' ? Math.min : Math.max
  const joined = states.map(({ codes, values }) => {
    const own = [...codes.keys()].filter((i) => found.has(Number(codes[i])))
    if (own.length === 0) return { codes, values }
    const all = new Array<number>(width).fill(Number.NaN)
    all[at] = most(...own.map((i) => Number(values[i * width + at])))
    return {
      codes: Int32Array.from([...codes, code]),
      values: Float64Array.from([...values, ...all]),
    }
  })
  return { states: joined, variable: field, left: [...found, ...copies] }
}

/** Other states of the same event that are the same number in all instances, but for unit and rounding. */
function copiesOf(
  asked: number,
  states: readonly InstanceFeatures[],
  { names, feature }: { readonly names: readonly string[]; readonly feature: StateFeature },
): number[] {
  const at = STATE_FEATURES.indexOf(feature)
  const name = String(names[asked])
  const event = name.slice(0, name.lastIndexOf('.'))
  const pairs = new Map<number, [value: number, of: number][]>()
  for (const { codes, values } of states) {
    const valueAt = (i: number) => Number(values[i * STATE_FEATURES.length + at])
    const own = codes.indexOf(asked)
    for (const [i, code] of codes.entries()) {
      const other = String(names[code])
      const isOfEvent = other.startsWith(`${event} #`) || other.startsWith(`${event}.`)
      if (own < 0 || code === asked || !isOfEvent) continue
      const known = pairs.get(code) ?? []
      known.push([valueAt(i), valueAt(own)])
      pairs.set(code, known)
    }
  }
  return [...pairs].flatMap(([code, each]) => (SCALES.some((by) => isCopy(each, by)) ? [code] : []))
}

function isCopy(pairs: readonly (readonly [number, number])[], by: number): boolean {
  const units = pairs.map(([value]) => 10 ** -(String(value).split('.')[1]?.length ?? 0))
  const isLarge = Number(max(pairs, ([value], i) => value / Number(units[i]))) >= MIN_UNITS
  return isLarge && pairs.every(([value, of], i) => Math.abs(value - by * of) <= Number(units[i]))
}
