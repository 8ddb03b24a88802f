import type { IdGenerator } from '@opentelemetry/sdk-trace-base'
import { seededRandom } from '../random.ts'

/** Trace and span ids that depend on nothing but `seed` and the order they are asked for in. */
export function seededIds(seed: string): IdGenerator {
  const random = seededRandom(seed)
  const hex = (digits: number) => {
    let id = ''
    while (id.length < digits) id += random.below(0x10000).toString(16).padStart(4, '0')
    return id
  }
  return { generateTraceId: () => hex(32), generateSpanId: () => hex(16) }
}
