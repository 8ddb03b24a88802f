/** How good a ranked list of results is; percentages, `null` where there is nothing to divide by. */
export interface RankedQuality {
  readonly results: number
  /** Relevant results among the first ten. */
  readonly top10RelevantPct: number | null
  /** Irrelevant results among all. */
  readonly falsePositivesPct: number | null
  /** Affected after-period requests that relevant results hold. */
  readonly coveragePct: number | null
  /** Normalized discounted cumulative gain with gains 1 and 0. */
  readonly ndcg: number | null
  /** 1 for the first; `null` when no result is relevant. */
  readonly firstRelevantRank: number | null
}

const TOP = 10

/**
 * The thesis's measures of a ranked list.
 *
 * @param relevant whether each result is a right answer, in order of rank
 * @param affected how many affected requests there are, and how many of them relevant results
 *   hold; `null` where that is not defined
 *
 * Source: Sambasivan 2013, §3.3; Järvelin and Kekäläinen 2002 for nDCG, whose discount begins at
 * the second result here as in the thesis's own program.
 *
 * @example
 * rankedQuality([true, false], null).falsePositivesPct // 50
 */
export function rankedQuality(
  relevant: readonly boolean[],
  affected: { readonly requests: number; readonly covered: number } | null,
): RankedQuality {
  const results = relevant.length
  const right = relevant.filter(Boolean).length
  const top = relevant.slice(0, TOP)
  const ideal = discountedGain(relevant.toSorted((a, b) => Number(b) - Number(a)))
  const first = relevant.indexOf(true)
  return {
    results,
    top10RelevantPct: percent(top.filter(Boolean).length, top.length),
    falsePositivesPct: percent(results - right, results),
    coveragePct: affected === null ? null : percent(affected.covered, affected.requests),
    ndcg: ideal === 0 ? null : discountedGain(relevant) / ideal,
    firstRelevantRank: first < 0 ? null : first + 1,
  }
}

function discountedGain(relevant: readonly boolean[]): number {
  return relevant.reduce(
    (sum, isRelevant, i) => sum + (isRelevant ? 1 / Math.max(1, Math.log2(i + 1)) : 0),
    0,
  )
}

function percent(part: number, whole: number): number | null {
  return whole === 0 ? null : (100 * part) / whole
}
