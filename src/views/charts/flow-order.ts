import type { CategoryVariance, EdgeVariance } from '../../explain/variance/category-variance.ts'
import { drawnFlow } from './drawn-flow.ts'
import { flowDepths } from './flow-depths.ts'

/** Returns the edges with the largest shares of the variance, in the order of the flow. */
export function largestInFlowOrder(
  found: CategoryVariance,
  edges: readonly EdgeVariance[],
  limit: number,
): EdgeVariance[] {
  const depths = flowDepths(drawnFlow(found.categories.structure(found.category)))
  const depth = ({ edge }: EdgeVariance) => depths[edge] ?? 0
  return [...edges]
    .sort((a, b) => Math.abs(b.share) - Math.abs(a.share))
    .slice(0, limit)
    .sort((a, b) => depth(a) - depth(b) || a.edge - b.edge)
}
