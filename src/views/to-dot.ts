import { Comparison } from '../comparison/comparison.ts'
import { at } from '../core/entries.ts'
import { FlowdeltaError, OptionError, requireStage } from '../core/errors.ts'
import { formatAmount, fromToText, type Quantity } from '../core/quantity.ts'
import { compareFlowGraphs } from '../explain/flow-pair/compare-flow-graphs.ts'
import type { FlowComparison, UnionEdge, UnionNode } from '../explain/flow-pair/flow-comparison.ts'
import { chooseFlows, type FlowsToCompare } from '../explain/flow-pair/flow-form.ts'
import { rankName } from '../explain/listed-findings.ts'
import { FlowSet } from '../flows/flow-set.ts'
import { recordedFlows } from '../flows/fold/folded-flows.ts'
import { AFTER, BEFORE } from '../traces/period.ts'
import { PALETTE } from './page/palette.ts'

/**
 * Returns the flow of one request as DOT, in the form that Spectroscope reads: latencies of edges in µs
 * as their labels, and a first line with the response time and the arrival. `loadTraces` reads it back,
 * spans as trace points.
 *
 * @param flows of traces
 * @param request its row
 * @throws OptionError for a request that there is not
 *
 * Source: Sambasivan 2013, §2.3.
 *
 * @example
 * toDot(comparison.flows, 0).includes('digraph') // true
 */
export function toDot(flows: FlowSet, request: number): string
/**
 * Returns flows before and after as one DOT graph: of a category, of a structural mutation and its likeliest
 * precursor, or of any two categories.
 *
 * Edges are labelled with their mean time before → after. Steps and edges of one side only are dashed, in the color of
 * their period; edges that changed are bold. The attribute `change` says the same: `added`, `removed`, `slower` or
 * `faster`; other edges have none.
 *
 * @param comparison from `compare`
 * @param what a category, a mutation of the ranking, `{ category }` for a category with itself, a
 *   stream of `comparison.moves`, or
 *   `{ before: { category, period }, after }`
 * @throws OptionError for an unknown category
 *
 * @example
 * toDot(comparison, { category: 0 }).includes('digraph') // true
 */
export function toDot(comparison: Comparison, what: FlowsToCompare): string
export function toDot(source: FlowSet | Comparison, what: number | FlowsToCompare): string {
  if (source instanceof Comparison) {
    const flows = compareFlowGraphs(source.responseTime, chooseFlows(source, what))
    return comparedDot(flows, source.flows.quantity)
  }
  requireStage('toDot(flows, request)', source, FlowSet)
  return requestDot(recordedFlows(source), what)
}

/** How `dotCalled` calls flows. */
export const DOT_CHOICES =
  "1 or #1 for the mutation of that rank in --verbose; 'category 12' for a category in both periods, 'category 12 | 15' for one before and another after; 'trace ID' for the requests of a trace"

/** Returns flows as DOT: of a trace, of categories, or of a mutation, as {@link DOT_CHOICES} says. */
export function dotCalled(comparison: Comparison, which: string): string {
  const { flows, ranking } = comparison
  const [, id] = /^trace (.+)$/.exec(which) ?? []
  if (id !== undefined) {
    const requests = [...flows.ids.keys()].filter((request) => flows.ids[request] === id)
    if (requests.length === 0) throw new FlowdeltaError(`No request has the trace id ${id}.`)
    return requests.map((request) => toDot(flows, request)).join('')
  }
  const [, before, after = before] = /^category (\d+)(?: *\| *(\d+))?$/.exec(which) ?? []
  if (before !== undefined) {
    return toDot(comparison, {
      before: { category: Number(before), period: BEFORE },
      after: { category: Number(after), period: AFTER },
    })
  }
  const mutation = ranking.mutations.find(({ rank }) => rankName(which) === `#${rank}`)
  if (mutation !== undefined) return toDot(comparison, mutation)
  throw new FlowdeltaError(
    `'${which}' is no flow: there are ${ranking.mutations.length} mutations. Give ${DOT_CHOICES}.`,
  )
}

function requestDot(flows: FlowSet, request: number | FlowsToCompare): string {
  if (typeof request !== 'number' || flows.ids[request] === undefined) {
    throw new OptionError('request', request, `a row from 0 to ${flows.size - 1}`)
  }
  const { ids, shapes, shapeOf, labels, latencyUs, latencyOffsets, quantity } = flows
  const shape = at(shapeOf, request)
  const nodes = Array.from(shapes.labels(shape), (label, node) =>
    statement(`${node}`, { label: labels.text(label) }),
  )
  const [from, to] = [shapes.from(shape), shapes.to(shape)]
  const first = at(latencyOffsets, request)
  const [ofAll, unit] = quantity.unit === null ? ['usecs', 'us'] : [quantity.unit, quantity.unit]
  const edges = Array.from(from, (source, edge) =>
    statement(`${source} -> ${at(to, edge)}`, {
      label: `R: ${at(latencyUs, first + edge)} ${unit}`,
    }),
  )
  const id = at(ids, request).replace(/\s/g, '_')
  const header = `# ${id}  R: ${at(flows.responseTimeUs, request)} ${ofAll} RT: ${at(flows.startUs, request)} usecs`
  return digraph([...nodes, ...edges], header)
}

function comparedDot(flows: FlowComparison, quantity: Quantity): string {
  const { before, after } = flows
  const sides = [before, after].map(
    ({ category, period, requests, meanUs }) =>
      `category ${category} ${period}: ${requests} requests, mean ${meanUs === null ? '–' : formatAmount(meanUs, quantity)}`,
  )
  const title = statement('graph', { label: sides.join('\n'), labelloc: 't' })
  const nodes = flows.nodes.map((node) =>
    statement(`${node.id}`, { label: node.name, ...lookOf(node, null) }),
  )
  const edges = flows.edges.map((edge) => {
    const [was, is] = [edge.before, edge.after].map((side) => side?.meanUs ?? Number.NaN)
    const times = fromToText(was as number, is as number, quantity)
    return statement(`${edge.from} -> ${edge.to}`, { label: times, ...lookOf(edge, edge) })
  })
  return digraph([title, ...nodes, ...edges])
}

function lookOf(
  { inBefore, inAfter }: Pick<UnionNode, 'inBefore' | 'inAfter'>,
  edge: UnionEdge | null,
): Record<string, string> {
  if (!inBefore) return { change: 'added', color: PALETTE.after, style: 'dashed' }
  if (!inAfter) return { change: 'removed', color: PALETTE.before, style: 'dashed' }
  if (edge?.verdict !== 'changed' || edge.direction === null) return {}
  return { change: edge.direction, color: PALETTE.change, style: 'bold' }
}

function digraph(statements: readonly string[], header = ''): string {
  const lines = ['digraph flow {', 'node [shape=box]', ...statements].join('\n  ')
  return `${header}${header && '\n'}${lines}\n}\n`
}

function statement(what: string, attributes: Readonly<Record<string, string>>): string {
  const list = Object.entries(attributes).map(([name, value]) => `${name}=${quoted(value)}`)
  return `${what} [${list.join(', ')}]`
}

/** Returns a text from a trace as a string of DOT; control characters, which some readers refuse, are spaces. */
function quoted(text: string): string {
  const escaped = text.replace(/[\\"]/g, '\\$&').replace(/\n/g, '\\n')
  return `"${escaped.replace(/\p{Cc}/gu, ' ')}"`
}
