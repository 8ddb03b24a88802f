import { formatDuration } from '../../core/units.ts'
import type { EdgeChange, EdgeChanges } from '../edges/edge-changes.ts'
import { byRequestsAfter, requestsAfter } from './concerned.ts'
import { edgeWords, enumerated, printable, servicesOf } from './edge-words.ts'
import type { Draft } from './finding.ts'
import { type EdgeGroup, groupEdgeChanges } from './group-edge-changes.ts'

/** One draft a group of changed edges, in either direction. */
export function edgeDrafts({ edges, categories }: EdgeChanges): Draft[] {
  return (['slower', 'faster'] as const).flatMap((direction) =>
    groupEdgeChanges(edges, direction).map((group): Draft => {
      const concerned = byRequestsAfter(
        categories,
        group.edges.flatMap((edge) => edge.categories),
      )
      const names = group.edges.map(edgeKey)
      return {
        ...{ kind: 'edges', direction, categories: concerned, changedStructure: [], moves: [] },
        title: edgeTitle(group, direction),
        key: names.sort().join('\n'),
        requests: requestsAfter(categories, concerned),
        contributionUs: group.edges.reduce((sum, edge) => sum + edge.contributionUs, 0),
        changedEdges: group.edges,
        services: whereToLook(group),
        q: Math.min(...group.edges.map(({ q }) => q)),
      }
    }),
  )
}

function whereToLook({ scope, edges }: EdgeGroup): string[] {
  if (scope.of === 'edge' || scope.of === 'step') return [...new Set(edges.flatMap(servicesOf))]
  return [scope.service]
}

function edgeTitle({ scope, edges }: EdgeGroup, direction: 'slower' | 'faster'): string {
  const [first] = edges as [EdgeChange]
  const shift = formatDuration(Math.abs(first.shiftUs))
  const more = direction === 'slower' ? 'more' : 'less'
  const longer = direction === 'slower' ? 'longer' : 'shorter'
  switch (scope.of) {
    case 'edge':
      return `${shift} ${more} ${edgeWords(first)}`
    case 'step': {
      const services = [...new Set(edges.flatMap(servicesOf))].map(printable)
      return `${shift} ${more} ${edgeWords(first, enumerated(services))}`
    }
    case 'work':
      return `Work in ${printable(scope.service)} takes ${longer}: ${shift} ${edgeWords(first)}, and ${others(edges)}`
    case 'calls':
      return `Calls to ${printable(scope.service)} take ${longer}: ${shift} ${edgeWords(first)}, and ${others(edges)}`
    case 'service':
      return `Whatever ${printable(scope.service)} does takes ${longer}: ${shift} ${edgeWords(first)}, and ${others(edges)}`
  }
}

function others(edges: readonly EdgeChange[]): string {
  return edges.length === 2 ? '1 other step' : `${edges.length - 1} other steps`
}

function edgeKey({ from, to, fromRoundBefore }: EdgeChange): string {
  return `${from}${fromRoundBefore ? ' of the round before' : ''} → ${to}`
}
