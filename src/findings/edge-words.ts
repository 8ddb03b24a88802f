import { calledPlace, type PooledEdge, place } from '../edges/edge-pool.ts'
import type { NodeLabel } from '../flows/node-labels.ts'

/** Where in a flow an edge is, in words that follow a duration: "after X, before Y". */
export function edgeWords(edge: PooledEdge): string {
  const { kind, fromNode, toNode } = edge
  if (fromNode.phase === 'point') return `between “${edge.from}” and “${edge.to}”`
  if (kind === 'network') {
    return fromNode.phase === 'reply' && toNode.phase === 'reply'
      ? `on the way back from ${stepName(fromNode)} to ${place(toNode)}`
      : `on the way from ${place(fromNode)} to ${stepName(toNode)}`
  }
  const [from, to] = [`“${fromNode.operation}”`, `“${toNode.operation}”`]
  const where = `in ${place(fromNode)}`
  if (fromNode.phase === 'call' && toNode.phase === 'call') {
    return `${where}, in ${from} before ${to} begins`
  }
  if (fromNode.phase === 'reply' && toNode.phase === 'reply') {
    return `${where}, in ${to} after ${from} has ended`
  }
  if (fromNode.phase === 'reply') return `${where}, between ${from} and ${to}`
  return from === to ? `${where}, in ${from} itself` : `${where}, between ${from} and ${to}`
}

/** A node as a person would say it: “operation” of service. */
export function stepName(node: NodeLabel): string {
  return node.phase === 'point' ? `“${node.operation}”` : `“${node.operation}” of ${place(node)}`
}

/** The services at an edge, the one that is called or works first. */
export function servicesOf(edge: PooledEdge): string[] {
  const ends = [calledPlace(edge), place(edge.fromNode), place(edge.toNode)]
  return [...new Set(ends)].filter((name) => name !== '')
}
