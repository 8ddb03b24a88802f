import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { editTokens } from '../../../src/compare/precursors/match-precursors.ts'
import { compare } from '../../../src/comparison/comparison.ts'
import { compareFlowGraphs } from '../../../src/explain/flow-pair/compare-flow-graphs.ts'
import type {
  FlowComparison,
  FlowSide,
  UnionEdge,
} from '../../../src/explain/flow-pair/flow-comparison.ts'
import { coalesceFlow } from '../../../src/explain/flow-pair/flow-groups.ts'
import { AFTER, BEFORE } from '../../../src/flows/flow-set.ts'
import { editDistance } from '../../../src/stats/edit-distance.ts'
import { randomSource } from '../../../src/stats/random.ts'
import { type GraphSketch, makeGraphs } from '../../make-traces.ts'

interface Form {
  readonly labels: readonly string[]
  readonly edges: readonly (readonly [number, number])[]
}

/** Graphs of few labels, so that they recur; edges lead from lower to higher nodes. */
const form: fc.Arbitrary<Form> = fc
  .array(
    fc.tuple(fc.constantFrom(...'ABCDE'), fc.array(fc.nat(), { minLength: 1, maxLength: 3 })),
    {
      maxLength: 14,
    },
  )
  .map((nodes) => ({
    labels: ['root', ...nodes.map(([label]) => label)],
    edges: nodes.flatMap(([, parents], i) =>
      [...new Set(parents.map((parent) => parent % (i + 1)))].map((from) => [from, i + 1] as const),
    ),
  }))

/** Two forms, the second often the first with nodes exchanged: unions of these may have cycles. */
const forms: fc.Arbitrary<readonly [Form, Form]> = fc.oneof(
  fc.tuple(form, form),
  fc.tuple(form, fc.nat()).map(([{ labels, edges }, seed]) => {
    const [root, ...others] = labels
    const exchanged = [root as string, ...randomSource(seed).shuffle(others)]
    return [
      { labels, edges },
      { labels: exchanged, edges },
    ] as const
  }),
)

function requests({ labels, edges }: Form, seed: number, count = 12): GraphSketch[] {
  const random = randomSource(seed)
  return Array.from({ length: count }, () => ({
    labels,
    edges,
    latencyUs: edges.map(() => 100 * (0.5 + random.next())),
  }))
}

function stagesOf([before, after]: readonly [Form, Form]) {
  const comparison = compare(makeGraphs(requests(before, 1)), makeGraphs(requests(after, 2)))
  const { categories, flows, responseTime } = comparison
  const one = { category: categories.categoryOf[0] as number, period: BEFORE }
  const count = flows.count(BEFORE)
  const other = { category: categories.categoryOf[count] as number, period: AFTER }
  return { categories, responseTime, one, other }
}

function compareForms(pair: readonly [Form, Form]) {
  const { categories, responseTime, one, other } = stagesOf(pair)
  const flows = compareFlowGraphs(responseTime, { before: one, after: other })
  const swapped = compareFlowGraphs(responseTime, { before: other, after: one })
  return { categories, one, other, flows, swapped }
}

function edgeNames(edges: readonly { readonly from: number; readonly to: number }[]): string[] {
  return edges.map(({ from, to }) => `${from} ${to}`).sort()
}

/** The union's nodes and edges of one side, in the numbers of that side. */
function restricted({ nodes, edges }: FlowComparison, side: 'before' | 'after') {
  const isIn = ({ inBefore, inAfter }: { inBefore: boolean; inAfter: boolean }) =>
    side === 'before' ? inBefore : inAfter
  const number = (id: number) => nodes[id]?.[side] as number
  return {
    nodes: nodes
      .filter(isIn)
      .map((node) => [node[side], node.label])
      .sort(([a], [b]) => (a as number) - (b as number)),
    edges: edgeNames(
      edges.filter(isIn).map(({ from, to }) => ({ from: number(from), to: number(to) })),
    ),
    latencies: edges.filter(isIn).map((edge) => edge[side] !== null),
  }
}

function graphOf({ nodes, edges }: FlowSide) {
  return {
    nodes: nodes.map(({ label }, at) => [at, label]),
    edges: edgeNames(edges),
    latencies: edges.map(() => true),
  }
}

const isForward = ({ from, to }: { from: number; to: number }) => from < to
const isCalm = ({ inBefore, inAfter, verdict }: UnionEdge) =>
  inBefore && inAfter && verdict !== 'changed'

describe('for any two flows', () => {
  const check = (name: string, holds: (result: ReturnType<typeof compareForms>) => void) =>
    test(name, () => {
      fc.assert(
        fc.property(forms, (pair) => holds(compareForms(pair))),
        { numRuns: 200 },
      )
    })

  check('a node is matched with at most one other, of the same label', ({ flows }) => {
    const { matches, before, after } = flows
    expect(new Set(matches.map((match) => match.before)).size).toBe(matches.length)
    expect(new Set(matches.map((match) => match.after)).size).toBe(matches.length)
    for (const match of matches) {
      expect(before.nodes[match.before]?.label).toBe(after.nodes[match.after]?.label)
    }
  })

  check('edges of the union lead forward: there is no cycle', ({ flows }) => {
    expect(flows.edges.every(isForward)).toBe(true)
  })

  check('the union without what is only on one side is the other side', ({ flows }) => {
    expect(restricted(flows, 'before')).toEqual(graphOf(flows.before))
    expect(restricted(flows, 'after')).toEqual(graphOf(flows.after))
  })

  check('the script is as long as the edit distance', ({ flows, categories, one, other }) => {
    const tokens = [one, other].map(({ category }) =>
      editTokens(categories.outline(category), 'preorder'),
    ) as [Uint32Array, Uint32Array]
    expect(flows.distance).toBe(editDistance(...tokens))
    const longest = Math.max(...tokens.map(({ length }) => length))
    expect(flows.confidence).toBeCloseTo(1 - flows.distance / longest, 12)
  })

  check('exchanging them exchanges everything', ({ flows, swapped }) => {
    const pairs = ({ matches }: FlowComparison, first: 'before' | 'after') =>
      matches
        .map((match) => {
          const second = first === 'before' ? 'after' : 'before'
          return [match[first], match[second], match.certainty]
        })
        .sort(([a], [b]) => (a as number) - (b as number))
    expect(pairs(swapped, 'after')).toEqual(pairs(flows, 'before'))
    expect(swapped.confidence).toBe(flows.confidence)
    expect(swapped.droppedMatches).toBe(flows.droppedMatches)
    const verdicts = ({ edges }: FlowComparison) => edges.map(({ verdict }) => verdict).sort()
    expect(verdicts(swapped)).toEqual(verdicts(flows))
    const moved = ({ nodes, orderChanges }: FlowComparison) =>
      orderChanges.map(({ first, second }) => [nodes[first]?.label, nodes[second]?.label].sort())
    expect(moved(swapped).sort()).toEqual(moved(flows).sort())
    const sizes = ({ regions }: FlowComparison) => regions.map(({ nodes }) => nodes.length).sort()
    expect(sizes(swapped)).toEqual(sizes(flows))
  })

  check('it is plain data', ({ flows }) => {
    // A stage, with a table of its own.
    const ranked = { ...flows.ranked }
    expect(JSON.parse(JSON.stringify(flows))).toEqual({ ...flows, ranked })
  })

  check('regions are disjoint, connected, and hold nothing that differs', ({ flows }) => {
    const all = flows.regions.flatMap(({ nodes }) => nodes)
    expect(new Set(all).size).toBe(all.length)
    for (const region of flows.regions) {
      expect(region).toMatchObject({ identical: true, changedEdges: 0 })
      const within = new Set(region.nodes)
      const inside = flows.edges.filter(({ from, to }) => within.has(from) && within.has(to))
      expect(inside.every(isCalm)).toBe(true)
      expect(inside.map(({ id }) => id)).toEqual(region.edges)
      const reached = new Set([region.nodes[0] as number])
      for (const node of reached) {
        for (const { from, to } of inside) {
          if (from === node) reached.add(to)
          if (to === node) reached.add(from)
        }
      }
      expect(reached.size).toBe(within.size)
    }
  })

  check('no two regions, nor a region and a node beside it, could be one', ({ flows }) => {
    const drawn = coalesceFlow(flows)
    // What changed places with another call is shown by itself.
    const moved = new Set(flows.orderChanges.flatMap(({ first, second }) => [first, second]))
    const isPlain = (id: number) => {
      const edge = flows.edges[id] as UnionEdge
      return isCalm(edge) && !moved.has(edge.from) && !moved.has(edge.to)
    }
    for (const edge of drawn.edges) {
      if (!edge.edges.every(isPlain)) continue
      const reached = new Set(
        drawn.edges
          .filter(({ from, to }) => from === edge.from && to !== edge.to)
          .map(({ to }) => to),
      )
      for (const node of reached) {
        for (const { from, to } of drawn.edges) if (from === node) reached.add(to)
      }
      expect(reached.has(edge.to)).toBe(true)
    }
  })

  test('whichever groups are open, coalescing keeps every node and edge and closes no cycle', () => {
    fc.assert(
      fc.property(forms, fc.array(fc.nat(), { maxLength: 4 }), (pair, picks) => {
        const { flows } = compareForms(pair)
        const groups = [...flows.regions, ...flows.differences]
        const opened = groups.length === 0 ? [] : picks.map((n) => n % groups.length)
        const drawn = coalesceFlow(flows, { groups, opened })
        expect(drawn.edges.every(isForward)).toBe(true)
        const nodes = drawn.nodes.flatMap((node) => node.nodes)
        expect(nodes.sort((a, b) => a - b)).toEqual(flows.nodes.map(({ id }) => id))
        const hidden = groups.filter(({ id }) => !opened.includes(id))
        const edges = [...drawn.edges, ...hidden].flatMap((edge) => edge.edges)
        expect(edges.sort((a, b) => a - b)).toEqual(flows.edges.map(({ id }) => id))
      }),
    )
  })
})

test('a flow and itself: all is matched with itself, surely', () => {
  fc.assert(
    fc.property(form, (one) => {
      const { responseTime } = stagesOf([one, one])
      const flows = compareFlowGraphs(responseTime, { category: 0 })
      expect(flows.confidence).toBe(1)
      expect(flows.distance).toBe(0)
      expect(flows.matches.map(({ before, after }) => before === after)).not.toContain(false)
      expect(flows.matches).toHaveLength(one.labels.length)
      expect(flows.matches.every(({ certainty }) => certainty === 'sure')).toBe(true)
      expect(flows.nodes).toHaveLength(one.labels.length)
    }),
  )
})

test('how requests were recorded does not matter: nodes and edges in another order', () => {
  const mirrored = ({ labels, edges }: Form): Form => {
    const turn = (node: number) => labels.length - 1 - node
    return {
      labels: [...labels].reverse(),
      edges: edges.map(([from, to]) => [turn(from), turn(to)] as const).reverse(),
    }
  }
  const outline = ({ nodes, edges, confidence }: FlowComparison) => ({
    confidence,
    nodes: nodes.map(({ label, before, after }) => [label, before, after]),
    edges: edges.map(({ from, to, inBefore, inAfter }) => [from, to, inBefore, inAfter]),
  })
  fc.assert(
    fc.property(forms, ([before, after]) => {
      const { flows } = compareForms([before, after])
      const { flows: other } = compareForms([mirrored(before), mirrored(after)])
      expect(outline(other)).toEqual(outline(flows))
    }),
  )
})
