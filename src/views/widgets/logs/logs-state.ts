import { codeText, textLiteral } from '../../../core/code-literals.ts'
import type { AttentionGraph } from '../../../logs/attention/attention.ts'
import type { Feature, VariableKind } from '../../../logs/features/features.ts'
import type { LogsData } from './logs-data.ts'
import type { GraphState } from './restored-stages.ts'

/** What the explorer of logs is set to. */
export interface LogsState extends GraphState {
  readonly kind: VariableKind
  /** `null`: the best graph, whichever that is. */
  readonly featureType: Feature | null
}

/** What the explorer is set to in the beginning. */
export function initialState({ start, minSplit, attention }: LogsData): LogsState {
  const { kind, featureType } = start
  return { kind, featureType, minSplit, balance: attention.balance, class: attention.class }
}

/** The graphs of the chosen kind and the one of them that is shown. */
export function shownGraph(
  graphs: readonly AttentionGraph[],
  { kind, featureType }: Pick<LogsState, 'kind' | 'featureType'>,
): { readonly ofKind: readonly AttentionGraph[]; readonly shown: AttentionGraph | undefined } {
  const ofKind = graphs.filter((graph) => graph.kind === kind)
  const chosen = ofKind.find((graph) => graph.featureType === featureType)
  return { ofKind, shown: chosen ?? ofKind[0] }
}

/** The graph that is shown as code: `compared.with({ balance: 0.3 }).attention.best('event')`. */
export function graphCode(data: LogsData, state: LogsState): string {
  const { kind, featureType } = state
  const attention = `${comparisonCode(data, state)}.attention`
  if (featureType === null) return `${attention}.best('${kind}')`
  return `${attention}.of('${kind}').find((graph) => graph.featureType === '${featureType}')`
}

/** A variable that is open as code. */
export function variableCode(
  { name }: LogsData,
  variable: { readonly kind: VariableKind; readonly name: string },
): string {
  const given = textLiteral(variable.name)
  return `plotLogVariable(${name}.divergence, ${given}, { kind: '${variable.kind}', limit: 10 })`
}

function comparisonCode(data: LogsData, state: LogsState): string {
  const from = initialState(data)
  const changed = (['minSplit', 'balance', 'class'] as const)
    .filter((option) => state[option] !== from[option])
    .map((option) => `${option}: ${codeText(state[option])}`)
  return changed.length === 0 ? data.name : `${data.name}.with({ ${changed.join(', ')} })`
}
