import { bisectRight, cumsum, range } from 'd3-array'
import type { Ecdf } from '../../stats/ecdf.ts'
import type { LatencyProfile } from '../../whatif/recompute/latency-profile.ts'

const MAX_STEPS = 500

export type Point = readonly [x: number, share: number]

/** Returns about `MAX_STEPS` steps of a curve within an axis, nowhere further than 1 / `MAX_STEPS` from it. */
export function stepsBetween(curve: Ecdf, [low, high]: readonly [number, number]): Point[] {
  if (curve.count === 0) return []
  const steps = thinnedSteps(curve, MAX_STEPS).map(([x, share]): Point => [Math.max(x, low), share])
  return [[low, 0], ...steps, [high, 1]]
}

export function thinnedSteps({ x, y }: Pick<Ecdf, 'x' | 'y'>, limit: number): Point[] {
  const steps: Point[] = []
  let shown = Number.NEGATIVE_INFINITY
  const last = x.length - 1
  x.forEach((at, i) => {
    const share = y[i] ?? 0
    const next = y[Math.min(i + 1, last)] ?? 0
    const isNeeded = x.length <= limit || i === 0 || i === last || next - shown > 1 / limit
    if (!isNeeded) return
    steps.push([at, share])
    shown = share
  })
  return steps
}

/** Returns the share at or below `x`: 0 before the first step. */
export function shareAt({ x: values, y }: Ecdf, x: number): number {
  return y[bisectRight(values, x) - 1] ?? 0
}

export function profileSteps(
  { latencyUs, weight, requests }: LatencyProfile,
  limit: number,
): Point[] {
  const below = cumsum(weight)
  const ends = range(latencyUs.length).filter((i) => latencyUs[i + 1] !== latencyUs[i])
  const x = Float64Array.from(ends, (i) => latencyUs[i] as number)
  const y = Float64Array.from(ends, (i) => Math.min(1, (below[i] as number) / requests))
  return thinnedSteps({ x, y }, limit)
}

/** Returns at most `limit` of ascending values, evenly spaced, with both ends. */
export function thinned<T>(ascending: readonly T[], limit: number): readonly T[] {
  if (ascending.length <= limit) return ascending
  const step = (ascending.length - 1) / (limit - 1)
  return Array.from({ length: limit }, (_, i) => ascending[Math.round(i * step)] as T)
}
