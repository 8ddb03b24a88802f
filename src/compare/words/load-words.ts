import { changeWords, type Quantity } from '../../core/quantity.ts'
import { formatDuration, grouped, percent } from '../../core/words.ts'
import { AFTER, BEFORE } from '../../flows/flow-set.ts'
import type { PausesEvidence, RateEvidence } from '../findings/evidence.ts'
import type { Words } from './words.ts'

const CLIENTS = { where: 'clients', look: 'who sends requests, and when' }

/** Says how many more, or fewer, requests arrive, and what of the change that explains. */
export function rateWords({ rate, verdict, share }: RateEvidence, quantity: Quantity): Words {
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
export function pausesWords({ change }: PausesEvidence, direction: string): Words {
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
