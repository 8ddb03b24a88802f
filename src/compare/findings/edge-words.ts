import { shortText } from '../../core/shown-text.ts'
import type { NodeLabel } from '../../flows/node-labels.ts'
import { calledPlace, type PooledEdge, place } from '../edges/edge-pool.ts'

/** Longer names from traces lose their middle. */
const LONGEST = 100

/**
 * Where in a flow an edge is, in words that follow a duration: "in X, between Y and Z". Of folded
 * flows, one that leads from one round to the next says so: "between Y of the round before and Z".
 *
 * @param places who does the work, where that is not only the service of this edge
 */
export function edgeWords(edge: PooledEdge, places = placeName(edge.fromNode)): string {
  const { kind, fromNode, toNode } = edge
  const before = edge.fromRoundBefore ? ' of the round before' : ''
  if (fromNode.phase === 'point') {
    return `between ${quoted(edge.from)}${before} and ${quoted(edge.to)}`
  }
  if (kind === 'network') {
    return fromNode.phase === 'reply' && toNode.phase === 'reply'
      ? `on the way back from ${stepName(fromNode)}${before} to ${placeName(toNode)}`
      : `on the way from ${placeName(fromNode)} to ${stepName(toNode)}${before && ' of the next round'}`
  }
  const [from, to] = [quoted(fromNode.operation), quoted(toNode.operation)]
  const where = `in ${places}`
  if (before !== '') return `${where}, between ${from}${before} and ${to}`
  if (fromNode.phase === 'call' && toNode.phase === 'call') {
    return `${where}, in ${from} before ${to} begins`
  }
  if (fromNode.phase === 'reply' && toNode.phase === 'reply') {
    return `${where}, in ${to} after ${from} has ended`
  }
  if (fromNode.phase === 'reply') return `${where}, between ${from} and ${to}`
  return from === to ? `${where}, in ${from} itself` : `${where}, between ${from} and ${to}`
}

/** `a`, `a and b`, `a, b and c`. */
export function enumerated(names: readonly string[]): string {
  const last = names.at(-1) ?? ''
  return names.length < 2 ? last : `${names.slice(0, -1).join(', ')} and ${last}`
}

/** A node as a person would say it: “operation” of service. */
export function stepName(node: NodeLabel): string {
  const name = quoted(node.operation)
  return node.phase === 'point' ? name : `${name} of ${placeName(node)}`
}

/** Kinds of request named one by one. */
const NAMED = 2

/** Requests by the roots of their flows. */
export function requestsFor(roots: readonly NodeLabel[]): string {
  const names = [...new Set(roots.map(stepName))]
  return names.length <= NAMED
    ? `Requests for ${names.join(' and ')}`
    : `${names.length} kinds of request`
}

/** A name from a trace as it can be printed. */
export function quoted(name: string): string {
  return `“${printable(name)}”`
}

/** The same without the quotation marks. */
export function printable(name: string): string {
  return shortText(name, LONGEST)
}

function placeName(node: NodeLabel): string {
  return printable(place(node)) || 'a service without a name'
}

/** The services at an edge, the one that is called or works first. */
export function servicesOf(edge: PooledEdge): string[] {
  const ends = [calledPlace(edge), place(edge.fromNode), place(edge.toNode)]
  return [...new Set(ends)].filter((name) => name !== '')
}
