import { buildFlows } from '../../src/flows/build-flows.ts'
import { randomSource } from '../../src/stats/random.ts'
import { makeGraphs } from '../make-traces.ts'

const random = randomSource(5)
/** 400 requests of four kinds, all with two edges of log-normal latencies. */
export const flows = buildFlows(
  makeGraphs(
    Array.from({ length: 400 }, (_, i) => {
      const latencyUs = [random.logNormal(5, 1), random.logNormal(4, 1)]
      return {
        labels: [`root ${i % 4}`, 'middle', 'end'],
        edges: [
          [0, 1],
          [1, 2],
        ] as const,
        latencyUs,
        responseTimeUs: (latencyUs[0] as number) + (latencyUs[1] as number),
      }
    }),
  ),
)
