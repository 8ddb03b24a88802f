import { randomSource } from '../../../src/stats/random.ts'
import type { AttributeValue } from '../../../src/traces/attributes.ts'
import type { GraphTraces } from '../../../src/traces/graph-traces.ts'
import { loadTraces } from '../../../src/traces/load-traces.ts'
import { type GraphSketch, makeGraphs } from '../../make-traces.ts'
import { sharedFile } from '../../shared.ts'

/** Steps one after the other, with the mean latency of each but the first. */
export type Steps = readonly (readonly [label: string, meanUs: number])[]

export interface Request {
  readonly steps: Steps
  readonly attributes?: Readonly<Record<string, AttributeValue>>
}

/** Traces of requests whose steps vary by a tenth either way. */
export function period(requests: readonly Request[], seed: number): GraphTraces {
  const random = randomSource(seed)
  const sketches = requests.map(({ steps, attributes = {} }, i): GraphSketch => {
    const [, ...later] = steps
    return {
      id: `r${i}`,
      startUs: 1_000 * i,
      labels: steps.map(([label]) => label),
      edges: later.map((_, at) => [at, at + 1] as const),
      latencyUs: later.map(([, meanUs]) => meanUs * (0.9 + 0.2 * random.next())),
      attributes,
    }
  })
  return makeGraphs(sketches)
}

export function some<T>(count: number, of: (i: number) => T): T[] {
  return Array.from({ length: count }, (_, i) => of(i))
}

/** Both periods of a case of the papers. */
export async function paperCase(name: string): Promise<[before: GraphTraces, after: GraphTraces]> {
  const load = (file: string) =>
    loadTraces(`${sharedFile(`cases/papers/${name}`)}/${file}.dot.gz`) as Promise<GraphTraces>
  return Promise.all([load('before'), load('after')])
}
