import { place } from '../../flows/node-labels.ts'
import { calledPlace, type PooledEdge } from '../edges/edge-times.ts'
import type { EdgeChange, EdgeChanges } from '../edges/find-edge-changes.ts'
import { type Draft, type EdgeScope, type EdgesEvidence, NO_EVIDENCE } from './finding.ts'
import { byRequestsAfter, requestsOf, surest } from './names.ts'
import { groupChanges } from './step-findings.ts'

export function edgeFindings(changes: EdgeChanges): Draft[] {
  if (changes.changes.length === 0) return []
  const { tested, categories } = changes
  return (['slower', 'faster'] as const).flatMap((direction) =>
    groupEdgeChanges(tested, direction).map((evidence): Draft => {
      const concerned = byRequestsAfter(
        categories,
        evidence.edges.flatMap((edge) => edge.categories),
      )
      const [, requests] = requestsOf(categories, concerned)
      const [first] = evidence.edges
      const sum = (value: (edge: EdgeChange) => number) =>
        evidence.edges.reduce((total, edge) => total + value(edge), 0)
      const calls = (edge: EdgeChange) => edge.contributionUs / edge.shiftUs / requests
      return {
        ...NO_EVIDENCE,
        kind: 'latency',
        direction,
        evidence,
        key: evidence.edges
          .map(
            ({ from, to, fromRoundBefore }) =>
              `${from}${fromRoundBefore ? ' of the round before' : ''} → ${to}`,
          )
          .sort()
          .join('\n'),
        categories: concerned,
        requests,
        concerned: requestsOf(categories, concerned),
        contributionUs: sum(({ contributionUs }) => contributionUs),
        eachInterval: [
          sum((edge) => edge.interval[0] * calls(edge)),
          sum((edge) => edge.interval[1] * calls(edge)),
        ],
        probabilitySlower: first.probabilitySlower,
        services:
          'service' in evidence.scope
            ? [evidence.scope.service]
            : [...new Set(evidence.edges.flatMap(servicesOf))],
        changedEdges: evidence.edges,
        ...surest(evidence.edges),
      }
    }),
  )
}

export function servicesOf(edge: PooledEdge): string[] {
  const ends = [calledPlace(edge), place(edge.fromNode), place(edge.toNode)]
  return [...new Set(ends)].filter((name) => name !== '')
}

/** Groups tested edges that changed in one direction by their common properties; see `groupChanges`. */
function groupEdgeChanges(
  edges: readonly EdgeChange[],
  direction: Draft['direction'],
): EdgesEvidence[] {
  return groupChanges(edges, {
    isWanted: ({ changed, shiftUs }) => changed && shiftUs > 0 === (direction === 'slower'),
    // Where hosts are left out of labels, trace points have no place.
    scopesOf: (edge) =>
      allScopesOf(edge).filter((scope) => !('service' in scope) || scope.service !== ''),
    isWithin,
    callOf,
    isCompared: ({ q }) => !Number.isNaN(q),
    alone: { of: 'edge' },
  }).map(({ scope, members }) => ({
    of: 'edges',
    scope,
    edges: members as unknown as EdgesEvidence['edges'],
  }))
}

function allScopesOf(edge: EdgeChange): EdgeScope[] {
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

function isWithin(edge: EdgeChange, scope: EdgeScope): boolean {
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
