import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { CriticalPathFinder } from '../../../src/calls/critical-path.ts'
import { categorize } from '../../../src/compare/categories/categorize.ts'
import { buildFlows } from '../../../src/flows/build-flows.ts'
import { foldFlows } from '../../../src/flows/fold/fold-flows.ts'
import { randomSource } from '../../../src/stats/random.ts'
import { type GraphSketch, makeGraphs } from '../../make-traces.ts'
import { recordedSamples } from './fold-fixture.ts'
import { randomFlow, shuffled, tampered } from './random-flows.ts'

const flowsOf = (sketches: readonly GraphSketch[]) => buildFlows(makeGraphs(sketches))
const seeds = fc.integer({ min: 0, max: 2 ** 31 - 1 })

/** Flows that are alike in many ways: other orders, and small differences. */
function family(seed: number): GraphSketch[] {
  const random = randomSource(seed)
  const flow = randomFlow(random)
  return [
    flow,
    shuffled(flow, random),
    tampered(flow, random),
    tampered(flow, random),
    shuffled(tampered(flow, random), random),
  ]
}

const partition = (numbers: Uint32Array) => {
  const first = new Map<number, number>()
  return Array.from(numbers, (number, i) => {
    const known = first.get(number) ?? i
    first.set(number, known)
    return known
  })
}

/** Declares the properties of folding, each over `runs` random families of flows. */
function describeFoldProperties(runs: number): void {
  describe('for flows of loops, branches and pipelines within each other', () => {
    test.each([{ omitHosts: false }, { omitHosts: true }])(
      'categories are those of the recorded structures, %o',
      (options) => {
        fc.assert(
          fc.property(seeds, (seed) => {
            const flows = flowsOf([...family(seed), ...family(seed + 1)])
            const recorded = categorize(flows, options)
            const folded = categorize(foldFlows(flows, options))
            expect(partition(folded.categoryOf)).toEqual(partition(recorded.categoryOf))
          }),
          { numRuns: runs, seed: 1 },
        )
      },
    )

    test('the order of nodes and edges does not matter', () => {
      fc.assert(
        fc.property(seeds, (seed) => {
          const random = randomSource(seed)
          const flow = randomFlow(random)
          const orders = Array.from({ length: 5 }, () => shuffled(flow, random))
          const folded = foldFlows(flowsOf([flow, ...orders]))
          const nodes = Array.from(folded.shapeOf, (shape) => folded.shapes.nodeCount(shape))
          expect(new Set(nodes).size).toBe(1)
          expect(categorize(folded).size).toBe(1)
        }),
        { numRuns: runs, seed: 1 },
      )
    })

    test('latencies on the critical path add up to the response time', () => {
      fc.assert(
        fc.property(seeds, (seed) => {
          const sketches = family(seed)
          const folded = foldFlows(flowsOf(sketches))
          const finder = new CriticalPathFinder(folded)
          for (let request = 0; request < folded.size; request++) {
            const latencies = folded.latencies(request)
            const onPath = finder
              .edges(request)
              .reduce((sum, edge) => sum + Number(latencies[edge]), 0)
            expect(latencies.every((us) => us >= 0)).toBe(true)
            expect(onPath).toBeCloseTo(folded.responseTimeUs[request] as number, 3)
          }
        }),
        { numRuns: runs, seed: 1 },
      )
    })

    test('every recorded latency is a sample of one logical edge', () => {
      fc.assert(
        fc.property(seeds, (seed) => {
          const flows = flowsOf([randomFlow(randomSource(seed))])
          const folded = foldFlows(flows)
          const edges = folded.folded(0)?.from ?? flows.latencies(0)
          const samples = Array.from(edges).flatMap((_, edge) => [
            ...recordedSamples(folded, 0, edge),
          ])
          expect(samples.sort()).toEqual([...flows.latencies(0)].sort())
        }),
        { numRuns: runs, seed: 1 },
      )
    })
  })
}

describe('six families of flows', () => describeFoldProperties(6))

describe('150 families of flows', { tags: 'full' }, () => describeFoldProperties(150))
