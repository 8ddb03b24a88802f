import { changeWords, type Quantity } from '../../core/quantity.ts'
import { formatDuration, grouped, listed, percent, printable } from '../../core/words.ts'
import { AFTER, BEFORE } from '../../flows/flow-set.ts'
import { operationName } from '../../flows/node-labels.ts'
import type { PooledEdge } from '../edges/edge-times.ts'
import { servicesOf } from '../findings/edge-findings.ts'
import type { EdgesEvidence, PausesEvidence, RateEvidence } from '../findings/evidence.ts'
import type { Compared, Draft } from '../findings/finding.ts'
import { placeName } from '../findings/names.ts'
import {
  callsWords,
  logsWords,
  logText,
  movesWords,
  orderWords,
  serviceLogsText,
} from './call-words.ts'
import { requestsWords, restWords } from './rest-words.ts'
import { failuresWords, lookFor, segmentNotes, segmentWords } from './segment-words.ts'
import { conditionWords, factorWords, placeWords, stepsWords } from './step-words.ts'
import type { Words } from './words.ts'

/**
 * Writes the sentences of a finding: those of its evidence, its segment, and its logs.
 *
 * @param changed services whose versions or hosts changed just before
 */
export function wordsOf(draft: Draft, compared: Compared, changed: readonly string[]): Words {
  const { evidence, segment, because, meanwhile, logs, serviceLogs } = draft
  const own = ownWords(draft, compared, changed)
  const { quantity } = compared.categories.flows
  const isOfSegment = segment === undefined || evidence.of === 'segment'
  return {
    where: own.where,
    what: because ? `${own.what}, because ${because.text}` : own.what,
    look: isOfSegment ? own.look : lookFor(segment, own.look),
    notes: [
      ...own.notes,
      ...(logs ? [logText(logs)] : []),
      ...(serviceLogs ? [serviceLogsText(serviceLogs)] : []),
      ...(isOfSegment ? [] : segmentNotes(segment, draft, quantity)),
      ...(meanwhile ? [`at the same time, ${meanwhile.text}`] : []),
    ],
  }
}

function ownWords(
  { evidence, segment, direction }: Draft,
  { categories, steps }: Compared,
  changed: readonly string[],
): Words {
  const { flows } = categories
  switch (evidence.of) {
    case 'steps':
      return stepsWords(steps.flows, evidence, { ...(segment && { segment }), changed })
    case 'segment':
      return segmentWords(flows, evidence, segment!)
    case 'calls':
      return callsWords(evidence, steps)
    case 'order':
      return orderWords(evidence)
    case 'failures':
      return failuresWords(evidence)
    case 'logs':
      return logsWords(evidence)
    case 'place':
      return placeWords(evidence, flows.quantity)
    case 'factor':
      return factorWords(evidence)
    case 'condition':
      return conditionWords(evidence, flows.quantity)
    case 'rate':
      return rateWords(evidence, flows.quantity)
    case 'pauses':
      return pausesWords(evidence, direction)
    case 'edges':
      return edgesWords(evidence, direction)
    case 'moves':
      return movesWords(categories, evidence, direction)
    case 'requests':
      return requestsWords(evidence, flows.quantity)
    case 'rest':
      return restWords(steps.flows, evidence)
  }
}

const CLIENTS = { where: 'clients', look: 'who sends requests, and when' }

/** Says how many more, or fewer, requests arrive, and what of the change that explains. */
function rateWords({ rate, verdict, share }: RateEvidence, quantity: Quantity): Words {
  const { ratio, perSecond } = rate
  const isMore = ratio > 1
  const { change } = changeWords(quantity, isMore)
  const times = (isMore ? ratio : 1 / ratio).toPrecision(2)
  const rates = `${perSecond[AFTER].toPrecision(3)} a second, ${perSecond[BEFORE].toPrecision(3)} before`
  const load = verdict === 'unseen' ? 'never had this load' : 'had this load only for moments'
  return {
    ...CLIENTS,
    what: `send ${times} times ${isMore ? 'the' : 'fewer'} requests: ${rates}`,
    notes: [
      share !== null
        ? `the load explains ${percent(Math.min(1, share))} of the ${change}`
        : verdict === 'few'
          ? `too few requests to say how much of the ${change} this explains`
          : `the before period ${load}, so its share of the ${change} is unknown`,
    ],
  }
}

/** Says that clients leave more, or fewer, gaps between requests. */
function pausesWords({ change }: PausesEvidence, direction: string): Words {
  const { pauses, requests, typicalUs } = change
  const more = direction === 'slower' ? 'more' : 'fewer'
  return {
    ...CLIENTS,
    what:
      `leave ${more} gaps of about ${formatDuration(typicalUs)} between requests: ` +
      `${grouped(pauses[AFTER])} among ${grouped(requests[AFTER])} ` +
      `(before: ${grouped(pauses[BEFORE])} among ${grouped(requests[BEFORE])})`,
    notes: ['not part of response times'],
  }
}

/** Says which edges take longer, and where to look. */
function edgesWords(evidence: EdgesEvidence, direction: string): Words {
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
