import fc from 'fast-check'
import { type RandomSource, randomSource } from '../../src/stats/index.ts'
import { type GraphSketch, makeGraphs } from '../make-traces.ts'

/** A form that requests take: labels, and edges that lead from lower to higher nodes. */
interface Form {
  readonly labels: readonly string[]
  readonly edges: readonly (readonly [number, number])[]
}

/** Two periods of requests of a few random forms. */
export interface RandomPeriods {
  readonly before: readonly GraphSketch[]
  readonly after: readonly GraphSketch[]
  readonly smPThreshold: number
}

const POINTS = ['e1__t__GET', 'e1__t__PUT', 'e2__t__READ', 'e2__t__SYNC', 'e3__t__READ']

const form: fc.Arbitrary<Form> = fc
  .array(fc.tuple(fc.nat(4), fc.array(fc.nat(), { minLength: 1, maxLength: 3 })), {
    minLength: 1,
    maxLength: 6,
  })
  .map((nodes) => ({
    labels: ['e1__t__CALL', ...nodes.map(([point]) => POINTS[point] as string)],
    edges: nodes.flatMap(([, parents], i) =>
      [...new Set(parents.map((parent) => parent % (i + 1)))].map((from) => [from, i + 1] as const),
    ),
  }))

/** Times are drawn at random so that no two paths take equally long. */
function requests(
  { labels, edges }: Form,
  { count, meanUs, random }: { count: number; meanUs: number; random: RandomSource },
): GraphSketch[] {
  return Array.from({ length: count }, () => ({
    labels,
    edges,
    latencyUs: edges.map(() => meanUs * (0.5 + random.next())),
  }))
}

export const randomPeriods: fc.Arbitrary<RandomPeriods> = fc
  .record({
    groups: fc.array(
      fc.record({
        form,
        before: fc.nat(25),
        after: fc.nat(25),
        slowdown: fc.constantFrom(1, 1, 2),
      }),
      { minLength: 1, maxLength: 5 },
    ),
    smPThreshold: fc.nat(10),
    seed: fc.nat(),
  })
  .map(({ groups, smPThreshold, seed }) => {
    const random = randomSource(seed)
    return {
      before: groups.flatMap(({ form, before }) =>
        requests(form, { count: before, meanUs: 100, random }),
      ),
      after: groups.flatMap(({ form, after, slowdown }) =>
        requests(form, { count: after, meanUs: 100 * slowdown, random }),
      ),
      smPThreshold,
    }
  })

export function shuffledRequests({ before, after, ...rest }: RandomPeriods, seed: number) {
  const random = randomSource(seed)
  return { before: random.shuffle(before), after: random.shuffle(after), ...rest }
}

/** The same requests, each with its nodes and edges recorded in another order. */
export function shuffledParts({ before, after, ...rest }: RandomPeriods, seed: number) {
  const random = randomSource(seed)
  const shuffleOne = (graph: GraphSketch): GraphSketch => {
    const nodes = random.shuffle(graph.labels.map((_, node) => node))
    const edges = random.shuffle(graph.edges.map((_, edge) => edge))
    const latencyUs = graph.latencyUs ?? []
    return {
      labels: nodes.map((node) => graph.labels[node] as string),
      edges: edges.map((edge) => {
        const [from, to] = graph.edges[edge] as readonly [number, number]
        return [nodes.indexOf(from), nodes.indexOf(to)] as const
      }),
      latencyUs: edges.map((edge) => latencyUs[edge] as number),
    }
  }
  return { before: before.map(shuffleOne), after: after.map(shuffleOne), ...rest }
}

/** The same requests with other names, or other latencies. */
export function changed(
  { before, after, ...rest }: RandomPeriods,
  change: (graph: GraphSketch) => GraphSketch,
): RandomPeriods {
  return { before: before.map(change), after: after.map(change), ...rest }
}

export function load({ before, after }: RandomPeriods) {
  return { before: makeGraphs(before, 'before'), after: makeGraphs(after, 'after') }
}
