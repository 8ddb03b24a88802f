import { randomSource } from '../../stats/random.ts'
import type { SpanTraces } from '../../traces/span-traces.ts'
import { selectTraces } from './select-traces.ts'

/** At most `size` traces of a period, each as likely as the others, in their order. */
export function sampleTraces(traces: SpanTraces, size: number, seed: number): SpanTraces {
  if (traces.size <= size) return traces
  const random = randomSource(seed)
  const chosen = new Uint32Array(size)
  let taken = 0
  for (let row = 0; taken < size; row++) {
    // Each further row is taken with the chance that is left.
    if (random.next() * (traces.size - row) < size - taken) chosen[taken++] = row
  }
  return selectTraces(traces, chosen)
}
