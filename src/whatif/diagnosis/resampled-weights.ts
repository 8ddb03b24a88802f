// Some hundred weights for every request: the loops index with `!`.
import { randomSource } from '../../stats/random.ts'

/**
 * Bootstrap resamples of requests: how often each is drawn, in each of `rounds` rounds. All
 * scenarios are measured on the same resamples, so that what they have in common cancels.
 */
export function resampledCounts(requests: number, rounds: number, seed: number): Uint8Array[] {
  const random = randomSource(seed)
  return Array.from({ length: rounds }, () => {
    const counts = new Uint8Array(requests)
    for (let i = 0; i < requests; i++) counts[random.integer(requests)]!++
    return counts
  })
}

/** `weight` times counts, into `into`. */
export function weighted(counts: Uint8Array, weight: Float64Array, into: Float64Array): void {
  for (let i = 0; i < counts.length; i++) into[i] = counts[i]! * weight[i]!
}
