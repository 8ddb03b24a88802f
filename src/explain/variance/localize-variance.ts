import { type Categories, squaredVariation } from '../../compare/categories/categories.ts'
import type { Period } from '../../flows/flow-set.ts'
import { CategoryVariance, type EdgeVariance } from './category-variance.ts'
import { CoMoments } from './co-moments.ts'
import type { MarkedEdges } from './marked-edges.ts'
import { nameOfPeriod } from './period-name.ts'
import { requestEdges } from './request-edges.ts'

/**
 * Finds which edges on the critical path make the response times of a category vary, in one period,
 * in one pass over its requests.
 *
 * Response time is the sum of the edges on the critical path, so that their covariances with it add
 * up to its variance.
 *
 * Source: Sambasivan 2013, §5.4.2.
 */
export function localizeVariance(
  categories: Categories,
  category: number,
  { period, marked }: { readonly period: Period; readonly marked: MarkedEdges },
): CategoryVariance {
  const { edgeClasses } = categories.structure(category)
  const rest = edgeClasses.length
  /** Response time with what each class, and the rest, contributes to it. */
  const contributions = new CoMoments(rest + 1)
  /** Latencies where the class is on the critical path, with themselves. */
  const latencies = new CoMoments(rest)
  for (const { responseTimeUs, criticalUs, criticalCount, latencyUs } of requestEdges(
    ...([categories, category, period] as const),
  )) {
    let restUs = responseTimeUs
    for (let number = 0; number < rest; number++) {
      const contributionUs = criticalUs[number] as number
      restUs -= contributionUs
      contributions.add(number, responseTimeUs, contributionUs)
      if (criticalCount[number] === 0) continue
      latencies.add(number, latencyUs[number] as number, latencyUs[number] as number)
    }
    contributions.add(rest, responseTimeUs, restUs)
  }
  const responseTime = categories.responseTimeMoments(category, period)
  const { variance } = responseTime
  const shareOf = (number: number) =>
    variance > 0 ? contributions.covariance(number) / variance : Number.NaN
  const edges = edgeClasses.flatMap(
    ({ from, to, occurrence, fromRoundBefore }, edge): EdgeVariance[] => {
      const requests = latencies.count(edge)
      if (requests === 0) return []
      const meanUs = latencies.otherMean(edge)
      const varianceUs2 = latencies.otherVariance(edge)
      return [
        {
          ...{ edge, from, to, occurrence, requests, meanUs, varianceUs2 },
          ...(fromRoundBefore && { fromRoundBefore }),
          onCriticalPath: requests / responseTime.count,
          c2: squaredVariation({ ...responseTime, mean: meanUs, variance: varianceUs2 }),
          share: shareOf(edge),
          mark: marked.of({ from, to })?.kind ?? null,
        },
      ]
    },
  )
  return new CategoryVariance({
    ...{ categories, category, responseTime },
    period: nameOfPeriod(period),
    edges: edges.sort(
      (a, b) => descending(a.share, b.share) || descending(a.varianceUs2, b.varianceUs2),
    ),
    restShare: shareOf(rest),
    onePath: edges.every(({ requests }) => requests === responseTime.count),
  })
}

/** Largest first, what is not a number last. */
function descending(a: number, b: number): number {
  if (Number.isNaN(a) || Number.isNaN(b)) return Number(Number.isNaN(a)) - Number(Number.isNaN(b))
  return b - a
}
