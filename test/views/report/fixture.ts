import { type Comparison, compare } from '../../../src/comparison/comparison.ts'
import { makeSpans, type SpanSketch } from '../../make-traces.ts'

/** Requests of `root` that call `callee`, with an id of their own each. */
export interface HostileNames {
  readonly root: string
  readonly callee: string
  readonly operation: string
  readonly traceId: (i: number, period: string) => string
}

/** Twenty such requests a period; the callee takes eight times as long after. */
export function compareNames({ root, callee, operation, traceId }: HostileNames): Comparison {
  const period = (name: string, us: number) =>
    makeSpans(
      Array.from({ length: 20 }, (_, i): SpanSketch[] => {
        const trace = traceId(i, name)
        const startUs = 10_000 * i
        const endUs = startUs + 20 + us + i
        return [
          { trace, id: 'a', service: root, operation, startUs, endUs: endUs + 20 },
          {
            trace,
            id: 'b',
            parent: 'a',
            service: callee,
            operation,
            startUs: startUs + 20,
            endUs,
          },
        ]
      }).flat(),
    )
  return compare(period('before', 100), period('after', 800))
}
