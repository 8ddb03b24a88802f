import { compare } from '../../../src/comparison/comparison.ts'
import type { ComparisonOptions } from '../../../src/comparison/comparison-options.ts'
import {
  compareFlowGraphs,
  type FlowComparisonOptions,
} from '../../../src/explain/flow-pair/compare-flow-graphs.ts'
import type { FlowComparison, UnionEdge } from '../../../src/explain/flow-pair/flow-comparison.ts'
import { AFTER, BEFORE } from '../../../src/flows/flow-set.ts'
import { randomSource } from '../../../src/stats/random.ts'
import { type GraphSketch, makeGraphs } from '../../make-traces.ts'

/** A flow as `A>B B>C`; a node is called by what stands before a colon or a full stop, if any. */
export interface FlowText {
  readonly edges: string
  /** Latencies of edges, in µs, by what they are written as; 100 µs for all others. */
  readonly latencyUs?: Readonly<Record<string, number>>
  /** How far latencies spread around these, as a share. */
  readonly spread?: number
  readonly requests?: number
}

/** Requests of one flow. `B.1` and `B.2` are two nodes with the label `B`. */
export function flow(text: string | FlowText, { seed = 1 }: { seed?: number } = {}): GraphSketch[] {
  const {
    edges: written,
    latencyUs = {},
    spread = 0.1,
    requests = 40,
  } = typeof text === 'string' ? { edges: text } : text
  const names = written.split(' ')
  const nodes = [...new Set(names.flatMap((edge) => edge.split('>')))]
  const edges = names
    .filter((edge) => edge.includes('>'))
    .map((edge) => edge.split('>').map((node) => nodes.indexOf(node)) as [number, number])
  const random = randomSource(seed)
  return Array.from({ length: requests }, () => ({
    labels: nodes.map((node) => node.replace(/\.\d+$/, '')),
    edges,
    latencyUs: names
      .filter((edge) => edge.includes('>'))
      .map((edge) => (latencyUs[edge] ?? 100) * (1 - spread + 2 * spread * random.next())),
  }))
}

export interface FlowsOptions extends FlowComparisonOptions {
  readonly stages?: Partial<ComparisonOptions>
}

/** Compares the first request's category before with that of the first request after. */
export function compareFlows(
  before: readonly GraphSketch[],
  after: readonly GraphSketch[],
  { stages = {}, ...options }: FlowsOptions = {},
): FlowComparison {
  const { flows, categories, responseTime } = compare(
    makeGraphs(before, 'before'),
    makeGraphs(after, 'after'),
    stages,
  )
  const first = categories.categoryOf[0] as number
  const last = categories.categoryOf[flows.count(BEFORE)] as number
  return compareFlowGraphs(
    responseTime,
    { before: { category: first, period: BEFORE }, after: { category: last, period: AFTER } },
    options,
  )
}

export function compareTexts(
  before: string | FlowText,
  after: string | FlowText,
  options?: FlowsOptions,
): FlowComparison {
  return compareFlows(flow(before), flow(after, { seed: 2 }), options)
}

/** `A` for a node on both sides, `−A` and `+A` for one of a side. */
export function nodeSigns({ nodes }: Pick<FlowComparison, 'nodes'>): string[] {
  return nodes.map(({ label, inBefore, inAfter }) => sign(inBefore, inAfter) + label).sort()
}

/** `A>B`, `−A>B`, `+A>B`. */
export function edgeSigns({ nodes, edges }: FlowComparison): string[] {
  return edges
    .map(({ from, to, inBefore, inAfter }) => {
      return `${sign(inBefore, inAfter)}${nodes[from]?.label}>${nodes[to]?.label}`
    })
    .sort()
}

function sign(inBefore: boolean, inAfter: boolean): string {
  return inBefore ? (inAfter ? '' : '−') : '+'
}

/** The edge between two labels, which must be the only one. */
export function edgeOf({ nodes, edges }: FlowComparison, name: string): UnionEdge {
  const found = edges.filter(({ from, to }) => `${nodes[from]?.label}>${nodes[to]?.label}` === name)
  if (found.length !== 1) throw new Error(`${found.length} edges are ${name}`)
  return found[0] as UnionEdge
}
