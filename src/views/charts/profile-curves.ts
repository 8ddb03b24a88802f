import type { LatencyProfile } from '../../whatif/recompute/latency-profile.ts'
import { type Step, thinnedSteps } from './thinned-steps.ts'

/** Latencies that a logarithmic axis can show, µs. */
export interface PositiveRange {
  readonly lowUs: number
  readonly highUs: number
}

/** What all profiles span, latencies of 0 and less left out; 1 µs to 10 µs where there is nothing else. */
export function positiveRange(profiles: readonly LatencyProfile[]): PositiveRange {
  let lowUs = Number.POSITIVE_INFINITY
  let highUs = 0
  for (const { latencyUs } of profiles) {
    // Ascending.
    const least = latencyUs.find((us) => us > 0)
    if (least !== undefined) lowUs = Math.min(lowUs, least)
    highUs = Math.max(highUs, latencyUs.at(-1) ?? 0)
  }
  if (highUs <= 0) return { lowUs: 1, highUs: 10 }
  return { lowUs, highUs: Math.max(highUs, lowUs * 1.01) }
}

/** The share of requests of 0 µs or less, which a logarithmic axis has no place for. */
export function shareAtZero({ latencyUs, weight, requests }: LatencyProfile): number {
  let sum = 0
  latencyUs.forEach((us, i) => {
    if (us <= 0) sum += weight[i] as number
  })
  return sum / requests
}

/**
 * The share of requests that took no longer, as at most about `limit` steps; see `thinnedSteps`.
 */
export function profileSteps(
  { latencyUs, weight, requests }: LatencyProfile,
  limit: number,
): Step[] {
  const x = new Float64Array(latencyUs.length)
  const y = new Float64Array(latencyUs.length)
  let distinct = 0
  let below = 0
  latencyUs.forEach((us, i) => {
    below += weight[i] as number
    if (latencyUs[i + 1] === us) return
    x[distinct] = us
    y[distinct] = Math.min(1, below / requests)
    distinct++
  })
  return thinnedSteps(
    { x: x.subarray(0, distinct), y: y.subarray(0, distinct), count: distinct, dropped: 0 },
    limit,
  )
}
