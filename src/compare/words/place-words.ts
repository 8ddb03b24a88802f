import { extent, median } from 'd3-array'
import { callerSide, formatAmount, moreText, type Quantity } from '../../core/quantity.ts'
import { counted, firstOf, grouped, listed, MAX_NAMED, printable } from '../../core/words.ts'
import { AFTER, BEFORE, type Period } from '../../flows/flow-set.ts'
import { operationName } from '../../flows/node-labels.ts'
import { condition } from '../../traces/selection/condition.ts'
import type { ConditionEvidence, FactorEvidence, PlaceEvidence } from '../findings/evidence.ts'
import { areAlike } from '../findings/step-findings.ts'
import type { PlaceEnd } from '../places/places.ts'
import { subjectOf } from '../segments/segment-words.ts'
import { failuresText } from './error-words.ts'
import { EVERYWHERE, type Words } from './words.ts'

/** Says what takes longer in a place: `calls to 7 services there take 6 ms longer in transit`. */
export function placeWords({ change, eachUs }: PlaceEvidence, quantity: Quantity): Words {
  const { places, services: names, factor } = change
  const [{ attribute, value }] = places as readonly [PlaceEnd, ...PlaceEnd[]]
  const { text } = condition(subjectOf({ service: null, attribute }), 'is', [value])
  const isWork = places.some(({ kind }) => kind === 'work')
  const way = places.find(({ kind }) => kind === 'call')
  const services = counted(names.length, 'service')
  const whose = isWork ? 'them' : `${services} there`
  const calls = {
    service: `calls to ${whose}`,
    caller: `calls by ${whose}`,
    between: `calls that enter or leave it, of ${services} there,`,
  }
  const of = [
    ...(isWork ? [`the work of ${services} there`] : []),
    ...(way === undefined ? [] : [calls[way.end]]),
  ]
  const time =
    isWork && !areAlike(eachUs)
      ? `about ${roundFactor(factor)} times as long`
      : `${timesText(eachUs, quantity)}${isWork ? '' : callerSide(quantity)}`
  const verb = way === undefined ? 'takes' : 'take'
  return {
    where: text,
    what: `${listed(of)} ${verb} ${time}; not elsewhere`,
    look: `everything with ${text}`,
    notes: [listed(names.map(printable), MAX_NAMED)],
  }
}

/** Says that the own work of services takes longer by one factor. */
export function factorWords({ factor, services, others, hosts }: FactorEvidence): Words {
  const [agreeing, all] = services
  return {
    where: `${others.length === 0 ? 'all' : `${agreeing} of`} ${counted(all, 'service')}`,
    what: `the own work of each takes about ${roundFactor(factor)} times as long`,
    look: EVERYWHERE,
    notes: [
      ...(hosts > 1 ? [`on all ${counted(hosts, 'host')}`] : []),
      ...(others.length > 0 ? [`other or unknown factor: ${firstOf(others.map(printable))}`] : []),
    ],
  }
}

/** Says what several services do under one condition: `the work of 2 services takes 7 ms longer`. */
export function conditionWords(
  { condition: where, isPlace, services, times, failures }: ConditionEvidence,
  quantity: Quantity,
): Words {
  const names = listed(services.map(printable), MAX_NAMED)
  const all = counted(services.length, 'service')
  const look = isPlace ? `everything with ${where}` : names
  if (failures !== null) {
    const { made, chances, requests } = failures
    const ofPeriod = (period: Period) => `${grouped(made[period])} of ${grouped(chances[period])}`
    return {
      where,
      what: `calls to ${all}${isPlace ? ' there' : ''} fail in ${ofPeriod(AFTER)} requests (${ofPeriod(BEFORE)} before)`,
      look,
      notes: [names, ...(requests === 0 ? [] : [failuresText(requests)])],
    }
  }
  const { operation, isCall, isAll, eachUs } = times!
  const whose = isCall ? `calls to ${all} take` : `the work of ${all} takes`
  const who = operation === null ? whose : `${operationName({ operation })} takes`
  const way = isCall ? callerSide(quantity) : ''
  return {
    where,
    what: `${who} ${timesText(eachUs, quantity)}${way}${isAll ? '; not elsewhere' : ''}`,
    look,
    notes: [names],
  }
}

/** Rounds a factor to two digits, or to three near 1. */
function roundFactor(factor: number): number {
  return Number(factor.toPrecision(Math.abs(Math.log(factor)) < 0.1 ? 3 : 2))
}

/** `2 ms to 5 ms longer`, or one time where they are much the same. */
function timesText(each: readonly number[], quantity: Quantity): string {
  const [low, high] = extent(each, Math.abs) as [number, number]
  if (areAlike(each)) return moreText(median(each) as number, quantity)
  return `${formatAmount(low, quantity)} to ${moreText(high * Math.sign(each[0] as number), quantity)}`
}
