import type { Precursors } from '../../compare/precursors/precursors.ts'
import { FlowdeltaError } from '../../core/errors.ts'
import { AFTER, BEFORE, type Period } from '../../flows/flow-set.ts'

/** The requests of a category in one period. */
export interface FlowChoice {
  readonly category: number
  readonly period: Period
}

/**
 * Which two flows are compared: a category before and after; a structural mutation after and its
 * likeliest precursor before; or any two.
 */
export type FlowPair =
  | { readonly category: number }
  | { readonly mutation: number; readonly precursors: Precursors }
  | { readonly before: FlowChoice; readonly after: FlowChoice }

/** The two flows that are meant. */
export function resolvePair(pair: FlowPair): { before: FlowChoice; after: FlowChoice } {
  if ('before' in pair) return pair
  if ('category' in pair) {
    const { category } = pair
    return { before: { category, period: BEFORE }, after: { category, period: AFTER } }
  }
  const { mutation, precursors } = pair
  const [likeliest] = precursors.of(mutation)
  if (likeliest === undefined) {
    throw new FlowdeltaError(
      `Category ${mutation} has no precursor: it is no structural mutation, or no category of ` +
        'its type lost enough requests. Compare it with itself by { category }, or with a ' +
        'category of your choice by { before, after }.',
    )
  }
  const { category } = likeliest
  const { categories } = precursors.structural
  const period = categories.count(category, BEFORE) > 0 ? BEFORE : AFTER
  return { before: { category, period }, after: { category: mutation, period: AFTER } }
}
