import type { Dictionary } from '../../traces/dictionary.ts'
import { COLUMNS, type Feature, STATE_FEATURES, type VariableKind } from './features.ts'
import type { ClosedInstance } from './open-instance.ts'

/**
 * States by name, and how each is computed: from features of variables, by default a
 * state's mean and an event's number; NaN for what an instance has not, but for `'count'`.
 */
export type DerivedStates = Readonly<
  Record<string, (of: (variable: string, feature?: Feature) => number) => number>
>

/** Adds states that are computed from the features of an instance. */
export function withDerived(
  closed: ClosedInstance,
  derived: DerivedStates,
  names: Readonly<Record<VariableKind, Dictionary>>,
): ClosedInstance {
  const { codes, values } = closed.states
  const added = Object.entries(derived).flatMap(([name, compute]) => {
    const value = compute((variable, feature) => featureOf(closed, names, { variable, feature }))
    return Number.isFinite(value) ? [{ code: names.state.code(name), value }] : []
  })
  if (added.length === 0) return closed
  const features = added.flatMap(({ value }) =>
    COLUMNS.state.map((column) => {
      if (column === 'records') return 1
      return column === 'mean' ? value : Number.NaN
    }),
  )
  const states = {
    codes: Int32Array.from([...codes, ...added.map(({ code }) => code)]),
    values: Float64Array.from([...values, ...features]),
  }
  return { ...closed, states }
}

function featureOf(
  { events, states }: ClosedInstance,
  names: Readonly<Record<VariableKind, Dictionary>>,
  asked: { readonly variable: string; readonly feature: Feature | undefined },
): number {
  const { variable, feature: given } = asked
  const state = names.state.code(variable)
  const isState =
    given === undefined
      ? states.codes.includes(state)
      : (STATE_FEATURES as readonly Feature[]).includes(given)
  const { codes, values } = isState ? states : events
  const types: readonly string[] = isState ? COLUMNS.state : COLUMNS.event
  const at = codes.indexOf(isState ? state : names.event.code(variable))
  if (at < 0) return given === 'count' ? 0 : Number.NaN
  const feature = given ?? (isState ? 'mean' : 'count')
  return Number(values[at * types.length + types.indexOf(feature)])
}
