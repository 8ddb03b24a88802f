import type { Evaluation } from './evaluate-scenario.ts'

/** A cause beside others, the most likely first. */
export interface JointCause<T> {
  readonly cause: T
  /** What this cause and those before it come to when all of them are made at once. */
  readonly together: Evaluation
}

/** Causes that are put together at most. */
const MAX_CAUSES = 4
/** How many of the most likely causes are tried. */
const MAX_TRIED = 12
/** A further cause must explain at least this share of the difference. */
const MIN_GAIN = 0.1

/**
 * Puts causes together, the most likely first, as long as a further one explains clearly more. What lies
 * within another, or around it, is no cause beside it.
 *
 * Source: Ostrowski, Mann and Sandler 2011, §3.2, equation 4 (scenarios of scenarios); the greedy order is
 * a choice of ours.
 */
export function putTogether<T>(
  causes: readonly T[],
  {
    unchanged,
    evaluate,
    areRelated,
  }: {
    readonly unchanged: Evaluation
    readonly evaluate: (causes: readonly T[]) => Evaluation
    readonly areRelated: (one: T, other: T) => boolean
  },
): JointCause<T>[] {
  const chosen: JointCause<T>[] = []
  let nearest = unchanged
  for (const cause of causes.slice(0, MAX_TRIED)) {
    if (chosen.length === MAX_CAUSES) break
    if (chosen.some((one) => areRelated(one.cause, cause))) continue
    const together = evaluate([...chosen.map((one) => one.cause), cause])
    const isMore =
      nearest.divergence - together.divergence >= MIN_GAIN * unchanged.divergence &&
      together.distanceUs < nearest.distanceUs
    if (chosen.length > 0 && !isMore) continue
    chosen.push({ cause, together })
    nearest = together
  }
  return chosen
}
