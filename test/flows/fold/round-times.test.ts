import { expect, test } from 'vitest'
import { buildFlows } from '../../../src/flows/build-flows.ts'
import { foldFlows } from '../../../src/flows/fold/fold-flows.ts'
import { randomSource } from '../../../src/stats/random.ts'
import { makeGraphs } from '../../make-traces.ts'

const ROUNDS = 4

/** 30 requests that do X and Y four times; the first Y takes `firstUs`, others about 100 µs. */
function loops(firstUs: number, seed = 1) {
  const random = randomSource(seed)
  const about = (us: number) => us * random.logNormal(0, 0.3)
  const graphs = Array.from({ length: 30 }, () => ({
    labels: ['ROOT', ...Array(ROUNDS).fill(['X', 'Y']).flat()] as string[],
    edges: Array.from({ length: 2 * ROUNDS }, (_, from) => [from, from + 1] as const),
    latencyUs: Array.from({ length: 2 * ROUNDS }, (_, at) =>
      about(at === 1 ? firstUs : at % 2 === 0 ? 10 : 100),
    ),
  }))
  return buildFlows(makeGraphs(graphs))
}

const nodes = (flows: ReturnType<typeof loops>, similar?: number) => {
  const { shapes } = foldFlows(flows, similar === undefined ? {} : { similar })
  return shapes.nodeCount(0)
}

test('rounds of similar times are folded, those of which one is slow are not', () => {
  expect([nodes(loops(100)), nodes(loops(100), 0.14)]).toEqual([3, 3])
  expect([nodes(loops(2000)), nodes(loops(2000), 0.14)]).toEqual([3, 1 + 2 * ROUNDS])
})

test('chance keeps hardly any flow unfolded', () => {
  const kept = Array.from({ length: 40 }, (_, seed) => nodes(loops(100, seed), 0.14))
  expect(kept.filter((count) => count > 3)).toHaveLength(0)
})

test('one request alone says nothing of rounds, and is folded', () => {
  const [only] = Array.from({ length: 1 }, () => ({
    labels: ['ROOT', 'X', 'Y', 'X', 'Y'],
    edges: Array.from({ length: 4 }, (_, from) => [from, from + 1] as const),
    latencyUs: [1, 10, 1, 5000],
  }))
  expect(nodes(buildFlows(makeGraphs(only === undefined ? [] : [only])), 0)).toBe(3)
})

test('a share above 1 is refused', () => {
  expect(() => nodes(loops(100), 2)).toThrow('Option similar is 2. Give')
})
