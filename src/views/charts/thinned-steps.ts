import type { Ecdf } from '../../stats/ecdf.ts'

/** A corner of a step function: from `x` on, the share is `y`. */
export interface Step {
  readonly x: number
  readonly y: number
}

/**
 * The steps of a distribution function, at most about `limit` of them. The first and last are
 * kept, and of the rest every one that leads `1 / limit` further up, so that the drawn line is
 * nowhere further than that from the true one: less than a pixel, in a chart of up to `limit`
 * pixels.
 */
export function thinnedSteps({ x, y }: Ecdf, limit: number): Step[] {
  const steps: Step[] = []
  let shown = Number.NEGATIVE_INFINITY
  const last = x.length - 1
  for (let i = 0; i <= last; i++) {
    const share = y[i] as number
    const next = y[Math.min(i + 1, last)] as number
    const isNeeded = x.length <= limit || i === 0 || i === last || next - shown > 1 / limit
    if (!isNeeded) continue
    steps.push({ x: x[i] as number, y: share })
    shown = share
  }
  return steps
}

/** The share at or below `x`: 0 before the first step. */
export function shareAt({ x: values, y }: Ecdf, x: number): number {
  let low = 0
  let high = values.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((values[middle] as number) <= x) low = middle + 1
    else high = middle
  }
  return low === 0 ? 0 : (y[low - 1] as number)
}
