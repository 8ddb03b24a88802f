import { group, index, max, sum } from 'd3-array'
import { defineOptions, level, type OptionsOf, oneOf } from '../../core/options.ts'
import { columnarStage, own, rowTable, type StageTable } from '../../core/stage.ts'
import type { WelchResult } from '../../stats/welch.ts'
import { type Feature, isEventTime, type VariableKind } from '../features/features.ts'
import type { LogClass, LogSet } from '../features/log-set.ts'
import { WEIGHT_OPTIONS } from '../performance/instance-weights.ts'

/** Options of `findDivergence`. */
export const DIVERGENCE_OPTIONS = defineOptions({
  ...WEIGHT_OPTIONS,
  alpha: level({ default: 0.05, sentence: 'Significance level of the tests' }),
  correction: oneOf(['bonferroni', 'bh', 'none'], {
    default: 'bonferroni',
    sentence: "Correction for the number of tests; 'bh' is Benjamini-Hochberg",
    flag: 'correction <name>',
  }),
})
export type DivergenceOptions = OptionsOf<typeof DIVERGENCE_OPTIONS>

/** In which instances of each class a variable was logged at all. */
export interface Presence {
  readonly before: number
  readonly after: number
  /** Messages of an event in all instances of the class; NaN of a state variable. */
  readonly beforeMessages: number
  readonly afterMessages: number
  /** Fisher's exact test of whether a class has it in more of its instances, two-sided; uncorrected. */
  readonly p: number
  /** How well it tells the classes apart: the squared correlation of having it and being of a class. */
  readonly separation: number
  /** The only class that has it; `null` where both do. */
  readonly onlyIn: 'before' | 'after' | null
}

/** Whether one feature of one variable differs between the classes. */
export interface FeatureTest extends Pick<WelchResult, 'df' | 'p' | 'beforeMean' | 'afterMean'> {
  readonly feature: Feature
  /** Welch's t, after minus before; NaN when not tested, ±Infinity for two constants. */
  readonly t: number
  /** p corrected for the number of tests; significant below α. */
  readonly q: number
  readonly significant: boolean
  /** Whether two instances of each class have the feature. */
  readonly tested: boolean
  /** How many instances of the class have the feature. */
  readonly beforeCount: number
  readonly afterCount: number
}

/** Whether performance itself differs: a family of one test. */
export type PerformanceTest = Omit<FeatureTest, 'feature'>

/** How far one variable diverges. */
export interface VariableDivergence {
  readonly name: string
  readonly kind: VariableKind
  /** Sum of |t| over significant features; Infinity where two constants differ. */
  readonly score: number
  readonly presence: Presence
  /**
   * Why it can be no cause: a state that is constant in each class, or a timer, whose number of messages is the
   * run time divided by a period. Null for all others.
   */
  readonly idle: 'constant' | 'timer' | null
  /** How grave its messages are: 0 for what only tells, then warnings, errors, and what was thrown. */
  readonly gravity: number
  readonly features: readonly FeatureTest[]
}

interface DivergenceColumns {
  readonly logs: LogSet
  readonly options: DivergenceOptions
  /**
   * The most divergent first, events and states together, but before them events that most instances
   * of one class have and hardly any of the other; constants and timers after all others that differ. Of those without a significant difference
   * come first what was logged only after, then what was logged only before: events before states,
   * the gravest first, then those in more instances and more messages. Then what differs most.
   */
  readonly variables: readonly VariableDivergence[]
  /** Whether performance differs. */
  readonly performance: PerformanceTest
}

/** What differs between two sets of logs: what `findDivergence` finds. */
export class Divergence extends columnarStage<DivergenceColumns>() {
  readonly #byKind = group(this.variables, ({ kind }) => kind)
  readonly #byName = index(
    this.variables,
    ({ kind }) => kind,
    ({ name }) => name,
  )

  #ofKind(kind: VariableKind): readonly VariableDivergence[] {
    return this.#byKind.get(kind) ?? []
  }

  /** How many tests were performed of variables of a kind: the family they are corrected for. */
  tests(kind: VariableKind): number {
    return sum(this.#ofKind(kind), ({ features }) => features.filter(({ tested }) => tested).length)
  }

  /** One variable; undefined where there is none of that name. */
  variable(kind: VariableKind, name: string): VariableDivergence | undefined {
    return this.#byName.get(kind)?.get(name)
  }

  /** What only one class logged: new messages, or missing ones. Events come first, the gravest first, then those in more instances and messages. */
  onlyIn(logClass: LogClass): readonly VariableDivergence[] {
    return this.variables.filter(({ presence }) => presence.onlyIn === logClass).sort(byPresence)
  }

  /** The largest finite |t| of a kind, over all features; 0 where there is none. */
  largest(kind: VariableKind): number {
    return max(this.#ofKind(kind), largestFinite) ?? 0
  }

  /** One row a variable, the most divergent first, with the feature that differs most. */
  table(): StageTable {
    const rows = this.variables.map(({ features, presence, ...variable }) => {
      const strongest = largestT(features.filter(({ tested }) => tested))
      return {
        ...variable,
        variable: variable.name,
        significant: features.filter(({ significant }) => significant).length,
        feature: strongest?.feature ?? '',
        t: strongest?.t ?? Number.NaN,
        beforeMean: strongest?.beforeMean ?? Number.NaN,
        afterMean: strongest?.afterMean ?? Number.NaN,
        beforeInstances: presence.before,
        afterInstances: presence.after,
      }
    })
    return rowTable(rows, {
      ...own('variable kind score significant feature t'),
      ...own('beforeMean afterMean beforeInstances afterInstances'),
    })
  }

  /** One row a feature of a variable, in the order of `table`. */
  featureTable(): StageTable {
    const rows = this.variables.flatMap(({ name, kind, features }) =>
      features.map((test) => ({ ...test, variable: name, kind })),
    )
    return rowTable(rows, {
      ...own('variable kind feature t df p q significant'),
      ...own('beforeMean afterMean beforeCount afterCount'),
    })
  }
}

/** From here on an event accounts for most of what tells the classes apart. */
const SEPARATES = 0.5

/** Events that tell the classes apart by whether they came, the surest first, before all else. */
export function bySeparation(a: VariableDivergence, b: VariableDivergence): number {
  const [one = 0, other = 0] = [a, b].map(({ kind, score, presence: { separation } }) =>
    kind === 'event' && score > 0 && separation >= SEPARATES ? separation : 0,
  )
  return other - one
}

/** Events before states, which may be numbers in those; the gravest first, then in more instances and messages. */
export function byPresence(a: VariableDivergence, b: VariableDivergence): number {
  const [one, other] = [a.presence, b.presence]
  const messages = ({ beforeMessages, afterMessages }: Presence) =>
    beforeMessages + afterMessages || 0
  return (
    Number(a.kind === 'state') - Number(b.kind === 'state') ||
    b.gravity - a.gravity ||
    other.before + other.after - (one.before + one.after) ||
    messages(other) - messages(one) ||
    (a.name < b.name ? -1 : Number(a.name > b.name))
  )
}

/**
 * The significant feature of a variable with the largest |t|; undefined where none is. A time as a share of the
 * run also differs where the run alone does, and tells only where nothing else does.
 */
export function strongestDifference({ features }: VariableDivergence): FeatureTest | undefined {
  const differing = features.filter(({ significant }) => significant)
  const isShare = ({ feature }: FeatureTest) => isEventTime(feature) && feature.endsWith('Relative')
  return largestT(differing.filter((test) => !isShare(test))) ?? largestT(differing)
}

/** The largest finite |t| of a variable; 0 where there is none. */
export function largestFinite({ features }: VariableDivergence): number {
  return max(features, ({ t }) => (Number.isFinite(t) ? Math.abs(t) : 0)) ?? 0
}

/** Of equally large ones the mean, which is said most plainly, else the first. */
function largestT(tests: readonly FeatureTest[]): FeatureTest | undefined {
  return tests.reduce<FeatureTest | undefined>((best, each) => {
    const [known, size] = [best === undefined ? -1 : Math.abs(best.t), Math.abs(each.t)]
    return size > known || (size === known && each.feature === 'mean') ? each : best
  }, undefined)
}
