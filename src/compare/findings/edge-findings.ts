import { formatDuration, listed, printable } from '../../core/words.ts'
import { operationName, place } from '../../flows/node-labels.ts'
import { calledPlace, type PooledEdge } from '../edges/edge-pool.ts'
import type { EdgeChange, EdgeChanges } from '../edges/find-edge-changes.ts'
import { type Draft, NO_EVIDENCE } from './finding.ts'
import { groupChanges } from './group-changes.ts'
import { byRequestsAfter, placeName, requestsOf, surest } from './names.ts'

type Direction = Draft['direction']

export type Scope =
  | { readonly of: 'edge' }
  /** Work inside a service. */
  | { readonly of: 'work'; readonly service: string }
  /** The way to a service and back, whoever calls it. */
  | { readonly of: 'calls'; readonly service: string }
  /** A service's work, and the calls it makes and takes. */
  | { readonly of: 'service'; readonly service: string }
  /** The same work in several services, which run the same code. */
  | { readonly of: 'step'; readonly step: string }

export interface EdgeGroup {
  readonly scope: Scope
  readonly edges: readonly EdgeChange[]
}

export function edgeFindings(changes: EdgeChanges): Draft[] {
  if (changes.changes.length === 0) return []
  const { tested, categories } = changes
  return (['slower', 'faster'] as const).flatMap((direction) =>
    groupEdgeChanges(tested, direction).map((group): Draft => {
      const concerned = byRequestsAfter(
        categories,
        group.edges.flatMap((edge) => edge.categories),
      )
      const [, requests] = requestsOf(categories, concerned)
      const [first] = group.edges as [EdgeChange]
      const sum = (value: (edge: EdgeChange) => number) =>
        group.edges.reduce((total, edge) => total + value(edge), 0)
      const calls = (edge: EdgeChange) => edge.contributionUs / edge.shiftUs / requests
      return {
        ...NO_EVIDENCE,
        kind: 'latency',
        direction,
        ...edgeWords(group, direction),
        key: group.edges.map(edgeKey).sort().join('\n'),
        categories: concerned,
        requests,
        concerned: requestsOf(categories, concerned),
        contributionUs: sum(({ contributionUs }) => contributionUs),
        eachInterval: [
          sum((edge) => edge.interval[0] * calls(edge)),
          sum((edge) => edge.interval[1] * calls(edge)),
        ],
        probabilitySlower: first.probabilitySlower,
        ...whereToLook(group),
        changedEdges: group.edges,
        ...surest(group.edges),
      }
    }),
  )
}

function edgeKey({ from, to, fromRoundBefore }: EdgeChange): string {
  return `${from}${fromRoundBefore ? ' of the round before' : ''} → ${to}`
}

function whereToLook({ scope, edges }: EdgeGroup): Pick<Draft, 'look' | 'services'> {
  const services =
    scope.of === 'edge' || scope.of === 'step'
      ? [...new Set(edges.flatMap(servicesOf))]
      : [scope.service]
  if (services.length === 0) return { look: 'the work between these two points', services }
  const network = edges.every(({ kind }) => kind === 'network') ? ' (network)' : ''
  const named = scope.of === 'step' ? services : services.slice(0, 1)
  return { look: `${listed(named.map(printable), 3)}${network}`, services }
}

function servicesOf(edge: PooledEdge): string[] {
  const ends = [calledPlace(edge), place(edge.fromNode), place(edge.toNode)]
  return [...new Set(ends)].filter((name) => name !== '')
}

function edgeWords({ scope, edges }: EdgeGroup, direction: Direction) {
  const [first] = edges as [EdgeChange]
  const shift = `${formatDuration(Math.abs(first.shiftUs))} ${direction === 'slower' ? 'longer' : 'less'}`
  const what = stepWords(first, shift)
  if (scope.of === 'edge') return { where: placeOf(first), what }
  if (scope.of === 'step') {
    const services = [...new Set(edges.flatMap(servicesOf))].map(printable)
    return { where: listed(services, 3), what }
  }
  const others = `and ${edges.length - 1} other ${edges.length === 2 ? 'step' : 'steps'}`
  const service = printable(scope.service)
  if (scope.of === 'calls') return { where: `calls to ${service}`, what: `${what}, ${others}` }
  const at = first.kind === 'network' ? `${placeOf(first)}, ` : ''
  return { where: service, what: `${at}${what}, ${others}` }
}

function placeOf({ kind, fromNode, toNode, from, to, fromRoundBefore }: PooledEdge): string {
  if (fromNode.phase === 'point') {
    return `${printable(from)}${fromRoundBefore ? ' of the previous round' : ''} → ${printable(to)}`
  }
  return kind === 'self' ? placeName(fromNode) : `${placeName(fromNode)} → ${placeName(toNode)}`
}

function stepWords(edge: PooledEdge, shift: string): string {
  const { kind, fromNode, toNode, fromRoundBefore } = edge
  if (fromNode.phase === 'point') return `takes ${shift}`
  const [from, to] = [operationName(fromNode), operationName(toNode)]
  if (kind === 'network') {
    return fromNode.phase === 'reply' && toNode.phase === 'reply'
      ? `reply of ${from}${fromRoundBefore ? ' of the previous round' : ''} takes ${shift}`
      : `call of ${to}${fromRoundBefore ? ' of the next round' : ''} takes ${shift}`
  }
  if (fromRoundBefore) return `gap between ${from} of the previous round and ${to} takes ${shift}`
  if (fromNode.phase === 'call' && toNode.phase === 'call') {
    return `${from} takes ${shift} before it calls ${to}`
  }
  if (fromNode.phase === 'reply' && toNode.phase === 'reply') {
    return `${to} takes ${shift} after ${from} ends`
  }
  if (fromNode.phase === 'reply') return `gap between ${from} and ${to} takes ${shift}`
  return from === to ? `${from} itself takes ${shift}` : `${from} to ${to} takes ${shift}`
}

/** Groups tested edges that changed in one direction by their common properties; see `groupChanges`. */
function groupEdgeChanges(edges: readonly EdgeChange[], direction: Direction): EdgeGroup[] {
  return groupChanges(edges, {
    isWanted: ({ changed, shiftUs }) => changed && shiftUs > 0 === (direction === 'slower'),
    scopesOf,
    isWithin,
    callOf,
    isCompared: ({ q }) => !Number.isNaN(q),
    alone: { of: 'edge' },
  }).map(({ scope, members }) => ({ scope, edges: members }))
}

/** Scopes that have a name: where hosts are left out of labels, trace points have no place. */
function scopesOf(edge: EdgeChange): Scope[] {
  return allScopesOf(edge).filter((scope) => !('service' in scope) || scope.service !== '')
}

function allScopesOf(edge: EdgeChange): Scope[] {
  const from = place(edge.fromNode)
  if (edge.kind === 'self') {
    return [
      { of: 'work', service: from },
      { of: 'service', service: from },
      { of: 'step', step: stepOf(edge) },
    ]
  }
  return [
    { of: 'calls', service: calledPlace(edge) },
    { of: 'service', service: from },
    { of: 'service', service: place(edge.toNode) },
  ]
}

function isWithin(edge: EdgeChange, scope: Scope): boolean {
  if (scope.of === 'edge') return false
  if (scope.of === 'step') return edge.kind === 'self' && stepOf(edge) === scope.step
  const { service } = scope
  const from = place(edge.fromNode)
  if (scope.of === 'work') return edge.kind === 'self' && from === service
  if (scope.of === 'calls') return edge.kind === 'network' && calledPlace(edge) === service
  return from === service || place(edge.toNode) === service
}

function stepOf({ fromNode, toNode, fromRoundBefore }: EdgeChange): string {
  const ends = [fromNode, toNode].map(({ operation, phase }) => [operation, phase])
  return JSON.stringify([...ends, fromRoundBefore])
}

/** Returns a key of a call for both directions: the nodes at its ends, in any order. */
function callOf({ kind, from, to, fromNode, toNode, fromRoundBefore }: EdgeChange): string {
  if (kind === 'self') return JSON.stringify([from, to, fromRoundBefore])
  const ends = [fromNode, toNode].map((node) => `${place(node)} ${node.operation}`)
  return JSON.stringify(ends.sort())
}
