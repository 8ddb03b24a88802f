import type { Compared, Draft } from '../findings/finding.ts'
import { callsWords } from './call-words.ts'
import { edgesWords } from './edge-words.ts'
import { failureWords } from './error-words.ts'
import { pausesWords, rateWords } from './load-words.ts'
import { logsWords, logText, serviceLogsText } from './log-words.ts'
import { orderWords } from './order-words.ts'
import { conditionWords, factorWords, placeWords } from './place-words.ts'
import { requestsWords, restWords } from './rest-words.ts'
import { lookFor, segmentNotes, segmentWords } from './segment-words.ts'
import { stepsWords } from './step-words.ts'
import { movesWords } from './structure-words.ts'
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
      return failureWords(evidence)
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
