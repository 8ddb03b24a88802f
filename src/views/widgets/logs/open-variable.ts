import { grouped } from '../../../core/words.ts'
import type { FeatureTest, PerformanceTest } from '../../../logs/divergence/divergence.ts'
import { VARIABLE_KINDS, type VariableKind } from '../../../logs/features/features.ts'
import type { LogsData } from './logs-data.ts'
import { variableCode } from './logs-state.ts'
import type { RestoredStages } from './restored-stages.ts'

/** A variable that is looked at. */
export interface OpenVariable {
  readonly name: string
  /** Its number among those sent; `null` for performance that is no variable. */
  readonly number: number | null
  /** `null` for performance that is no variable. */
  readonly tests: readonly FeatureTest[] | null
  readonly performance: PerformanceTest
  /** What is to be known before; may be empty. */
  readonly note: string
  /** `null` where code cannot name it. */
  readonly code: string | null
}

/** Looks up what is known of a variable; performance may be of another kind than the graph. */
export function openVariable(
  data: LogsData,
  { divergence }: Pick<RestoredStages, 'divergence'>,
  { kind, name }: { readonly kind: VariableKind; readonly name: string },
): OpenVariable {
  const { performance } = divergence
  const kinds = [kind, ...VARIABLE_KINDS.filter((each) => each !== kind)]
  const own = name === data.metric.name ? kinds : [kind]
  const found = own.find((each) => divergence.variable(each, name) !== undefined)
  if (found === undefined) {
    const note = name === data.metric.name ? 'This is performance. ' : ''
    return { name, performance, number: null, tests: null, note, code: null }
  }
  const number = data.variables.findIndex((each) => each.kind === found && each.name === name)
  const { features = [], presence } = divergence.variable(found, name) ?? {}
  const isCut = data.variables[number]?.isCut === true
  return {
    ...{ name, performance, number, tests: features },
    note:
      presence === undefined || presence.onlyIn === null
        ? ''
        : `Only ${grouped(presence[presence.onlyIn])} of ${grouped(data.counts[presence.onlyIn])} ${presence.onlyIn} instances have it. `,
    code: isCut ? null : variableCode(data, { kind: found, name }),
  }
}
