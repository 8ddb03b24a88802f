import { extent, group, median, rollup, sort, sum } from 'd3-array'
import { callersOf } from '../../calls/unrecorded-callees.ts'
import { SEVERAL } from '../../calls/visits.ts'
import type {
  ConditionEvidence,
  FactorEvidence,
  PlaceEvidence,
  StepsEvidence,
} from '../../compare/findings/finding.ts'
import { isMessage, mainOperation } from '../../compare/findings/names.ts'
import { areAlike, eachOfSteps, requestsOf } from '../../compare/findings/step-findings.ts'
import type { PlaceEnd } from '../../compare/places/places.ts'
import { subjectOf } from '../../compare/segments/segment-words.ts'
import type { Segment } from '../../compare/segments/segments.ts'
import type { StepChange } from '../../compare/steps/step-changes.ts'
import { isInnerPart, namedPart, type WorkPart, workParts } from '../../compare/steps/work-parts.ts'
import { NOTABLE, SMALL } from '../../compare/thresholds.ts'
import { callerSide, formatAmount, moreText, type Quantity, TIME } from '../../core/quantity.ts'
import { counted, firstOf, grouped, listed, MAX_NAMED, printable } from '../../core/words.ts'
import { AFTER, BEFORE, type FlowSet, type Layer, type Period } from '../../flows/flow-set.ts'
import { operationAt, operationName } from '../../flows/node-labels.ts'
import { condition } from '../../traces/selection/condition.ts'
import {
  alsoChanged,
  EVERYWHERE,
  inFew,
  intervalText,
  slowNotes,
  type Words,
  wayNotes,
} from './finding-facts.ts'
import { failuresText, timeWords } from './segment-words.ts'

/**
 * Says how much longer steps take, and where to look.
 *
 * @param draft.changed services whose versions or hosts changed just before
 */
export function stepsWords(
  flows: FlowSet,
  evidence: StepsEvidence,
  { segment, changed }: { readonly segment?: Segment; readonly changed: readonly string[] },
): Words {
  const { steps, inSegment } = evidence
  const [first] = steps
  const { quantity } = flows
  const parts = first.kind === 'work' ? workParts(flows, first) : []
  const eachUs = eachOfSteps(flows, steps)
  const isOfSegment = inSegment === 'segment' && segment !== undefined
  const { where, what } = whatChanged(flows, evidence, parts)
  return {
    where,
    what: isOfSegment ? timeWords(segment, flows) : what,
    look: whereToLook(flows, evidence, changed),
    notes: [
      // A segment of spans within does not tell how long all calls of the step take.
      ...(isOfSegment ? [] : slowNotes(flows, first, parts)),
      ...partNotes(evidence, { parts, eachUs, quantity }),
      ...(isMessage(first)
        ? [
            `${moreText(first.shiftUs, quantity)} per message${intervalText(first.interval, quantity)}, outside response times`,
          ]
        : wayNotes(flows, steps, requestsOf(steps))),
      ...layerNotes(flows, steps),
      ...(eachUs === 0 && !isMessage(first) ? ['no request waits for it'] : []),
    ],
  }
}

function whatChanged(
  flows: FlowSet,
  { scope, steps, inSegment }: StepsEvidence,
  parts: readonly WorkPart[],
): Pick<Words, 'where' | 'what'> {
  const [first] = steps
  const time = (told: StepChange) => {
    const step = told === first && typeof inSegment === 'object' ? inSegment : told
    // With sequential calls, each takes its part.
    const part = told === first && step.kind === 'work' ? namedPart(step, parts) : undefined
    const times = part === undefined || part.isOfCalls ? 1 : part.callsEach / step.callsEach
    const isRepeated = times >= SEVERAL
    const more = moreText(step.shiftUs / (isRepeated ? times : 1), flows.quantity)
    if (isMessage(step)) return `${more}${inFew(step, 'them')}`
    const each = step.callsEach < SEVERAL && !isRepeated ? '' : ' per call'
    const way = step.caller === null ? '' : callerSide(flows.quantity)
    return more + each + inFew(step, 'the calls') + way
  }
  const service = printable('service' in scope ? scope.service : first.service)
  const operation = operationAt(first.service, mainOperation(first))
  const few = (names: readonly string[]) => listed(names.map(printable), MAX_NAMED)
  const called = few(steps.map((step) => step.service))
  const callers = few(steps.flatMap(({ caller }) => caller ?? []))
  const also = alsoChanged(first)
  const waits = isMessage(first) ? `messages for ${operation} wait` : `${operation} takes`
  const itself = `${workWords(first, operation, parts)} takes ${time(first)}${oftener(first, parts)}${also}`
  switch (scope.of) {
    case 'step':
      return {
        where: first.caller === null ? service : `${printable(first.caller)} → ${service}`,
        what: first.kind === 'work' ? itself : `${waits} ${time(first)}${also}`,
      }
    case 'operation':
      return { where: called, what: itself }
    case 'calls to':
      return {
        where: `calls to ${service}`,
        what: `${operation} takes ${time(first)}, from ${callers}`,
      }
    case 'calls by':
      return { where: service, what: `its calls to ${called} take ${time(first)}` }
    case 'service':
      return { where: service, what: serviceWords(scope.service, steps, time) }
  }
}

function workWords(step: StepChange, operation: string, parts: readonly WorkPart[]): string {
  if (step.kind !== 'work') return operation
  const part = namedPart(step, parts)
  if (part?.isOfCalls) return operation
  if (part !== undefined) return `${operationName(part)} within ${operation}`
  const isShared =
    step.part !== 'itself' &&
    parts.some((one) => isInnerPart(step, one) && one.shiftUs / step.shiftUs >= NOTABLE)
  return isShared ? `${operation}, internal spans included,` : `${operation} itself`
}

/** Names a call that is made more often, if that alone makes the work longer. */
function oftener(step: StepChange, parts: readonly WorkPart[]): string {
  const part = namedPart(step, parts)
  if (!part?.isOfCalls) return ''
  return `, because it calls ${operationName(part)} ${part.shiftUs > 0 ? 'more' : 'less'} often`
}

/**
 * Splits what each request takes more on average: `717 ms made up of 560 ms in PlaceOrder, 157 ms in ConvertCurrency`.
 */
function partNotes(
  { scope, steps: [step] }: StepsEvidence,
  { parts, eachUs, quantity }: { parts: readonly WorkPart[]; eachUs: number; quantity: Quantity },
): string[] {
  if (scope.of !== 'step' || step.kind !== 'work' || step.minority !== null) return []
  const sumUs = parts.reduce((sum, { meanUs }) => sum + meanUs, 0)
  const told = parts
    .filter(({ meanUs }) => meanUs / eachUs >= NOTABLE)
    .sort((a, b) => b.meanUs / eachUs - a.meanUs / eachUs)
    .slice(0, MAX_NAMED)
  if (told.length < 2 || !(Math.abs(sumUs / eachUs - 1) <= SMALL)) return []
  const texts = told.map(
    ({ operation, meanUs }) =>
      `${formatAmount(Math.abs(meanUs), quantity)} in ${operationName({ operation })}`,
  )
  return [`${formatAmount(Math.abs(eachUs), quantity)} made up of ${texts.join(', ')}`]
}

/** Lists the slower parts of a service, in the order of `steps`. */
function serviceWords(
  service: string,
  steps: StepsEvidence['steps'],
  time: (step: StepChange) => string,
): string {
  const called = steps.filter((step) => step.kind === 'call' && step.service !== service)
  const names = listed(
    called.map((step) => printable(step.service)),
    MAX_NAMED,
  )
  const partOf = (step: StepChange) => {
    if (step.kind === 'work') return 'its work takes'
    return step.service === service ? 'calls to it take' : `its calls to ${names} take`
  }
  const parts = rollup(steps, ([first]) => time(first!), partOf)
  return listed([...parts].map(([part, taken]) => `${part} ${taken}`))
}

/** Names the services, or both ends of a way, which either may make longer: first the one that changed. */
function whereToLook(
  flows: FlowSet,
  { scope, steps }: StepsEvidence,
  changed: readonly string[],
): string {
  const [{ kind, service, caller }] = steps
  if (kind === 'call' && caller === null) {
    const callers = listed(callersOf(flows, service).map(printable), MAX_NAMED)
    return `${printable(service)} (called by ${callers})`
  }
  const own = 'service' in scope ? [scope.service] : steps.map(({ service }) => service)
  const isWay = flows.quantity === TIME && steps.every(({ kind }) => kind === 'call')
  const areMessages = steps.some(isMessage)
  const callers =
    isWay && !areMessages && scope.of === 'step' ? steps.flatMap(({ caller }) => caller ?? []) : []
  const ends = sort(new Set([...own, ...callers]), (service) => Number(!changed.includes(service)))
  const named = listed(ends.map(printable), MAX_NAMED)
  const ways = areMessages
    ? 'lag of consumers, their number and their work'
    : 'network, queues, connections'
  return isWay ? `${named} (${ways})` : named
}

/** Says how long spans on the way of its calls take that are recorded in one period only. */
function layerNotes({ layers = [], quantity }: FlowSet, steps: readonly StepChange[]): string[] {
  const services = new Set(
    steps.map(({ kind, service, caller }) => (kind === 'call' ? caller : service)),
  )
  return Array.from(
    group(
      layers.filter(({ caller }) => services.has(caller)),
      ({ caller, operation, period }) => JSON.stringify([caller, operation, period]),
    ).values(),
    (own) => {
      const [{ caller, operation, period }] = own as [Layer]
      const time = formatAmount(
        sum(own, ({ eachUs }) => eachUs),
        quantity,
      )
      return `${printable(caller)} calls through ${operationName({ operation })}, recorded only ${period === AFTER ? 'after' : 'before'}: ${time} per call`
    },
  )
}

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
