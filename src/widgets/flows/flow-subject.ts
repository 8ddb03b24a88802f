import type { Comparison } from '../../comparison.ts'
import { OptionError, show } from '../../errors.ts'
import { type FlowChoice, resolvePair } from '../../explanation/flow-pair.ts'
import { AFTER, BEFORE } from '../../flows/flow-set.ts'
import type { RankedMutation } from '../../ranking/ranking.ts'
import { codeText } from '../drawing/option-code.ts'

/** Which flows: a category, a mutation of the ranking, or any two categories with their periods. */
export type FlowsToCompare =
  | number
  | Pick<RankedMutation, 'category' | 'kind'>
  | { readonly category: number }
  | { readonly before: FlowChoice; readonly after: FlowChoice }

/** The two flows that are meant, and how code says so. */
export interface FlowSubject {
  readonly pair: { readonly before: FlowChoice; readonly after: FlowChoice }
  readonly code: string
}

/**
 * Finds the flows to compare: a structural mutation with its likeliest precursor, anything else with
 * itself.
 *
 * @throws OptionError for a category that is not there, or something that is none of these
 */
export function flowSubject(comparison: Comparison, what: FlowsToCompare): FlowSubject {
  const { precursors } = comparison
  const hasPrecursor = (category: number) => precursors.of(category).length > 0
  const own = (category: number): FlowSubject => ({
    pair: resolvePair({ category }),
    code: hasPrecursor(category) ? `{ category: ${category} }` : String(category),
  })
  const mutation = (category: number): FlowSubject => ({
    pair: hasPrecursor(category)
      ? resolvePair({ mutation: category, precursors })
      : resolvePair({ category }),
    code: String(category),
  })
  if (typeof what === 'number') return mutation(known(comparison, what))
  if (typeof what !== 'object' || what === null) throw wrong(what)
  if ('before' in what) {
    for (const choice of [what.before, what.after]) {
      known(comparison, choice?.category)
      if (choice.period !== BEFORE && choice.period !== AFTER) throw wrong(codeText(what))
    }
    const { before, after } = what
    return { pair: { before, after }, code: codeText({ before, after }) }
  }
  const category = known(comparison, what.category)
  return 'kind' in what && what.kind === 'structural' ? mutation(category) : own(category)
}

function known({ categories }: Comparison, category: number): number {
  if (Number.isInteger(category) && category >= 0 && category < categories.size) return category
  throw new OptionError('what', category, `a category from 0 to ${categories.size - 1}`)
}

function wrong(what: unknown): OptionError {
  return new OptionError(
    'what',
    show(what),
    'a category, a mutation of the ranking, { category }, or { before: { category, period }, after }',
  )
}
