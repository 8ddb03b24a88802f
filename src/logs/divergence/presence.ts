import { fisherExact } from '../../stats/fisher-exact.ts'
import type { VariableKind } from '../features/feature-types.ts'
import { BAD } from '../features/log-class.ts'
import type { LogSet } from '../features/log-set.ts'
import type { VariableFeatures } from '../features/variable-features.ts'

/** In which instances of each class a variable was logged at all. */
export interface Presence {
  /** How many instances have it. */
  readonly good: number
  readonly bad: number
  /** Messages of an event in all instances of the class; NaN of a state variable. */
  readonly goodMessages: number
  readonly badMessages: number
  /** Fisher's exact test of whether a class has it in more of its instances, two-sided; uncorrected. */
  readonly p: number
  /** The only class that has it; `null` where both do. */
  readonly onlyIn: 'good' | 'bad' | null
}

/** In which instances each variable of a kind occurs. */
export function presences(logs: LogSet, kind: VariableKind): (variable: number) => Presence {
  const { counts } = logs
  // Of many variables most are in one instance: few tests are different ones.
  const known = new Map<string, number>()
  const test = (good: number, bad: number) => {
    const key = `${good} ${bad}`
    const p = known.get(key) ?? fisherExact(good, counts.good, bad, counts.bad).p
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
  }: { readonly variable: number; readonly test: (good: number, bad: number) => number },
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
    const code = logs.classOf[instance] === BAD ? 1 : 0
    instances[code] = Number(instances[code]) + 1
    messages[code] = Number(messages[code]) + Number(numbers?.[entry])
  }
  const [good = 0, bad = 0] = instances
  const [goodMessages = Number.NaN, badMessages = Number.NaN] = messages
  return {
    ...{ good, bad, goodMessages, badMessages },
    p: test(good, bad),
    onlyIn: good === 0 && bad > 0 ? 'bad' : bad === 0 && good > 0 ? 'good' : null,
  }
}
