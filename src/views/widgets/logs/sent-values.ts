import { tooltipText } from '../../../core/shown-text.ts'
import type { LogComparison } from '../../../logs/compare-logs.ts'
import type { VariableDivergence } from '../../../logs/divergence/divergence.ts'
import { LOG_CLASSES, type VariableFeatures } from '../../../logs/features/log-set.ts'
import { thinned } from '../../charts/log-strip.ts'

/** What a few variables were in a few instances. */
export interface SentValues {
  readonly instances: readonly string[]
  /** `BEFORE` or `AFTER`, an instance each. */
  readonly classOf: readonly number[]
  /** Performance, an instance each; `null` where there is none. */
  readonly metric: readonly (number | null)[]
  /**
   * A variable each; of it a row a feature, of it a number an instance. `null` for variables that
   * there is no room for.
   */
  readonly ofVariable: readonly (readonly (readonly (number | null)[])[] | null)[]
}

/** Instances of a class; strips are too small for more. */
const MOST_INSTANCES = 200
/** About 6 bytes each, before compression. */
const MOST_NUMBERS = 100_000
const DIGITS = 5

/** The values of the variables that differ most, in instances from the whole range of performance. */
export function sentValues(
  compared: LogComparison,
  variables: readonly VariableDivergence[],
): SentValues {
  const { logs, networks } = compared
  const { values } = networks.metric
  const chosen = instancesOf(compared)
  let room = MOST_NUMBERS
  const found = variables.map(({ kind, name, features: tests }) => {
    room -= tests.length * chosen.length
    if (room < 0) return null
    const features = (kind === 'event' ? logs.events : logs.states) as VariableFeatures
    const index = features.indexOf(name) as number
    return features.types.map((type) => {
      const column = features.of(index, type)
      return chosen.map((instance) => sentValue(column[instance] as number))
    })
  })
  return {
    instances: chosen.map((instance) => tooltipText(logs.instances[instance] as string)),
    classOf: chosen.map((instance) => logs.classOf[instance] as number),
    metric: chosen.map((instance) => sentValue(values[instance] as number)),
    ofVariable: found,
  }
}

function instancesOf({ logs, networks }: LogComparison): number[] {
  const { values } = networks.metric
  const rank = (instance: number) => {
    const value = values[instance] as number
    return Number.isNaN(value) ? Number.MAX_VALUE : value
  }
  return LOG_CLASSES.flatMap((_, code) =>
    thinned(
      Array.from(logs.instances.keys())
        .filter((instance) => logs.classOf[instance] === code)
        .sort((a, b) => rank(a) - rank(b) || a - b),
      MOST_INSTANCES,
    ),
  ).sort((a, b) => a - b)
}

function sentValue(value: number): number | null {
  return Number.isFinite(value) ? Number(value.toPrecision(DIGITS)) : null
}
