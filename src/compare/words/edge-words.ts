import { formatDuration, listed, printable } from '../../core/words.ts'
import { operationName } from '../../flows/node-labels.ts'
import type { PooledEdge } from '../edges/edge-pool.ts'
import { servicesOf } from '../findings/edge-findings.ts'
import type { EdgesEvidence } from '../findings/evidence.ts'
import { placeName } from '../findings/names.ts'
import type { Words } from './words.ts'

/** Says which edges take longer, and where to look. */
export function edgesWords(evidence: EdgesEvidence, direction: string): Words {
  return { ...whatChanged(evidence, direction), look: whereToLook(evidence), notes: [] }
}

function whereToLook({ scope, edges }: EdgesEvidence): string {
  const isOfEdges = scope.of === 'edge' || scope.of === 'step'
  const services = isOfEdges ? [...new Set(edges.flatMap(servicesOf))] : [scope.service]
  if (services.length === 0) return 'the work between these two points'
  const network = edges.every(({ kind }) => kind === 'network') ? ' (network)' : ''
  const named = scope.of === 'step' ? services : services.slice(0, 1)
  return `${listed(named.map(printable), 3)}${network}`
}

function whatChanged({ scope, edges }: EdgesEvidence, direction: string) {
  const [first] = edges
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
