import { formatAmount, moreText, type Quantity } from '../../core/quantity.ts'
import { counted, formatDuration, grouped, listed, printable } from '../../core/words.ts'
import { AFTER, type FlowSet } from '../../flows/flow-set.ts'
import { periodOverlap } from '../../flows/overlap.ts'
import {
  FAR,
  type FewSlow,
  SLOW,
  type SlowCounts,
  type SlowStretch,
} from '../findings/slow-stretch.ts'
import { burstsText, hasDays, timeText } from './finding-facts.ts'
import { deadlineText } from './rest-words.ts'
import { errorWords } from './segment-words.ts'

/** Most bursts whose times are listed. */
const MAX_LISTED = 6

/** Describes the stretch: its time, how slow its requests were, the place, and traces to look at. */
export function stretchText(stretch: SlowStretch, flows: FlowSet): string {
  const { quantity } = flows
  const { fromUs, untilUs, isTimeOfDay, inside, outside, before, where, affected } = stretch
  const [from, to] = [fromUs, untilUs].map((us) =>
    isTimeOfDay ? timeText(us, { days: hasDays(flows) }) : formatDuration(us),
  )
  const of = ({ slow, requests }: SlowCounts) => `${grouped(slow)} of ${grouped(requests)}`
  const counts = `(at other times ${of(outside)}, before ${of(before)})`
  const when = `from ${from} to ${to} ${isTimeOfDay ? 'UTC' : 'into the after period'}`
  const slowest = `one stretch may be chance. Slowest: ${stretch.examples.map(printable).join(', ')}.`
  // A slow call there need not make the request slow for its kind.
  const all = affected > inside.slow ? `, where ${grouped(affected)} requests were slow` : ''
  const told = { ...stretch, where: where && where + all }
  return (
    `Slow stretch: ${when}, ${of(inside)} requests took ` +
    `longer than ${100 * SLOW} % of their type before ${counts}, ` +
    `${slowText(told, inside.requests + outside.requests, quantity)}; ${slowest}`
  )
}

/** Describes the slow requests: their number, their excess, the place, and traces to look at. */
export function fewSlowText(few: FewSlow, flows: FlowSet): string {
  const { quantity } = flows
  const where = fewSlowWhere(few)
  const longest = few.of === 'calls' ? `the longest in ${where}` : 'the longest of their type'
  const told = { ...few, where: few.of === 'calls' ? null : where }
  const only = few.condition === null ? '' : `, nearly all where ${few.condition}`
  const when = fewSlowWhen(few, flows)
  return (
    `Few but slow: ${counted(few.requests, 'request')} took more than ${FAR} times ${longest} before, ` +
    `${slowText({ ...told, only }, flows.wholes(AFTER), quantity)}, but may be chance. ` +
    `${when === null ? '' : `They come ${when}. `}` +
    `Slowest: ${few.examples.map(printable).join(', ')}.`
  )
}

/** Says where a few requests are slow, or fail, and when they are given up. */
export function fewSlowWhere({ where, deadline, failing }: FewSlow): string {
  if (deadline !== null) return `${where}, ${deadlineText(deadline)}`
  return failing === null ? where : `${where}, where ${errorWords(failing)}`
}

/** `in 2 bursts, from 10:01:00 and 10:03:00 UTC`; of more than are listed, how long they are apart. */
export function fewSlowWhen({ bursts }: FewSlow, flows: FlowSet): string | null {
  if (bursts === null) return null
  const { count, beginUs } = bursts
  if (count > MAX_LISTED || periodOverlap(flows) === null) return `in ${burstsText(bursts)}`
  const days = hasDays(flows)
  return `in ${count} bursts, from ${listed(beginUs.map((us) => timeText(us, { days })))} UTC`
}

function slowText(
  {
    typicalUs,
    excessUs,
    where,
    only = '',
  }: Pick<SlowStretch, 'typicalUs' | 'excessUs' | 'where'> & { readonly only?: string },
  after: number,
  quantity: Quantity,
): string {
  return (
    `typically ${moreText(typicalUs, quantity)} than usual${where === null ? '' : `, mostly in ${where}`}${only}. ` +
    `This adds ${formatAmount(excessUs / after, quantity)} to the mean`
  )
}
