import { textLiteral } from '../../../core/code-literals.ts'
import type { Explanation } from '../../../explain/parameters/explanation.ts'

/** Something that was done to an explanation. */
export interface ExplanationStep {
  readonly verb: 'without' | 'including'
  readonly column: string
}

/** An explanation after some steps, and those steps. */
export interface ExplanationState {
  readonly explanation: Explanation
  readonly steps: readonly ExplanationStep[]
}

/** The state after one more step. */
export function withStep(
  { explanation, steps }: ExplanationState,
  step: ExplanationStep,
): ExplanationState {
  const { verb, column } = step
  return { explanation: explanation[verb](column), steps: [...steps, step] }
}

/** The state before the last step; the same without any. */
export function withoutLastStep(state: ExplanationState): ExplanationState {
  const { explanation, steps } = state
  if (steps.length === 0) return state
  return { explanation: explanation.undo(), steps: steps.slice(0, -1) }
}

/** The steps as code: `explanation.without('web READ · size')`. */
export function stepsCode(name: string, steps: readonly ExplanationStep[]): string {
  return name + steps.map(({ verb, column }) => `.${verb}(${textLiteral(column)})`).join('')
}
