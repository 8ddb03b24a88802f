import { fisherExact } from '../../stats/fisher-exact.ts'
import type { VariableKind } from '../features/feature-types.ts'
import { AFTER } from '../features/log-class.ts'
import type { LogSet } from '../features/log-set.ts'
import type { VariableFeatures } from '../features/variable-features.ts'

/** In which instances of each class a variable was logged at all. */
export interface Presence {
  /** How many instances have it. */
  readonly before: number
  readonly after: number
  /** Messages of an event in all instances of the class; NaN of a state variable. */
  readonly beforeMessages: number
  readonly afterMessages: number
  /** Fisher's exact test of whether a class has it in more of its instances, two-sided; uncorrected. */
  readonly p: number
  /** The only class that has it; `null` where both do. */
  readonly onlyIn: 'before' | 'after' | null
}

/** In which instances each variable of a kind occurs. */
export function presences(logs: LogSet, kind: VariableKind): (variable: number) => Presence {
  const { counts } = logs
  // Of many variables most are in one instance: few tests are different ones.
  const known = new Map<string, number>()
  const test = (before: number, after: number) => {
    const key = `${before} ${after}`
    const p = known.get(key) ?? fisherExact(before, counts.before, after, counts.after).p
    known.set(key, p)
    return p
  }
  return (variable) => presenceOf(logs, kind, { variable, test })
}

function presenceOf(
  logs: LogSet,
  kind: VariableKind,
  {
    variable,
    test,
  }: { readonly variable: number; readonly test: (before: number, after: number) => number },
): Presence {
  const features = (kind === 'event' ? logs.events : logs.states) as VariableFeatures
  const { instances: logged, values: valuesOf } = features.entries(variable)
  const columns = features.types.map((type) => ({ type, values: valuesOf(type) }))
  const numbers = columns.find(({ type }) => type === 'count')?.values
  const instances = [0, 0]
  const messages = numbers === undefined ? [Number.NaN, Number.NaN] : [0, 0]
  for (const [entry, instance] of logged.entries()) {
    const isThere = columns.some(({ type, values }) => {
      const value = Number(values[entry])
      return type === 'count' ? value > 0 : !Number.isNaN(value)
    })
    if (!isThere) continue
    const code = logs.classOf[instance] === AFTER ? 1 : 0
    instances[code] = Number(instances[code]) + 1
    messages[code] = Number(messages[code]) + Number(numbers?.[entry])
  }
  const [before = 0, after = 0] = instances
  const [beforeMessages = Number.NaN, afterMessages = Number.NaN] = messages
  return {
    ...{ before, after, beforeMessages, afterMessages },
    p: test(before, after),
    onlyIn: before === 0 && after > 0 ? 'after' : after === 0 && before > 0 ? 'before' : null,
  }
}
