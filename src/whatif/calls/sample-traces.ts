import { randomSource } from '../../stats/random.ts'
import type { SpanTraces } from '../../traces/span-traces.ts'

/** At most `size` traces of a period, each as likely as the others, in their order. */
export function sampleTraces(traces: SpanTraces, size: number, seed: number): SpanTraces {
  if (traces.size <= size) return traces
  const random = randomSource(seed)
  const chosen: number[] = []
  for (let row = 0; chosen.length < size; row++) {
    // Each further row is taken with the chance that is left.
    if (random.next() * (traces.size - row) < size - chosen.length) chosen.push(row)
  }
  return traces.pick(chosen)
}
