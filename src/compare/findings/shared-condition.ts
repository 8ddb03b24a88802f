import { rollup, sum } from 'd3-array'
import { at } from '../../core/entries.ts'
import { callerSide } from '../../core/quantity.ts'
import { counted, grouped, printable } from '../../core/words.ts'
import { AFTER, BEFORE, type FlowSet, type Period } from '../../flows/flow-set.ts'
import { proportionInterval } from '../../stats/proportion-interval.ts'
import { type Condition, condition, conditionsText } from '../../traces/selection/condition.ts'
import { isOfPlace } from '../segments/read-columns.ts'
import { subjectOf } from '../segments/segment-words.ts'
import type { Segment } from '../segments/segments.ts'
import { countByPeriod } from '../steps/compare-errors.ts'
import { rootTypes } from '../steps/root-types.ts'
import { failuresText } from './error-findings.ts'
import type { Draft, FindingPlace } from './finding.ts'
import { rateSize } from './finding-facts.ts'
import { listed, operationName } from './names.ts'
import { NEARLY_ALL, requestsAfter } from './segment-findings.ts'
import { ALL_OF_IT } from './segment-text.ts'
import {
  headOf,
  MAX_NAMED,
  MIN_SERVICES,
  MIN_SHARE,
  type Sources,
  thereOf,
  timesText,
  visitsOf,
} from './shared-place.ts'

/** A finding that is confined to some requests or calls. */
type Confined = Draft & { readonly segment: Segment }

/**
 * Puts one finding before those of several services that take longer, or fail, where the same holds
 * alone: for one tenant, with one flag, in one partition. Of one place (a host, a zone, a version), it
 * does so for failures, as `withSharedPlaces` does for times.
 */
export function withSharedConditions(drafts: readonly Draft[], sources: Sources): readonly Draft[] {
  const covered = new Set(drafts.flatMap(({ covers = [] }) => covers))
  const open = drafts.filter((draft): draft is Confined => isOfSome(draft, sources.steps.flows))
  const heads = open.flatMap((leader): Draft | [] => {
    const { kind, direction, segment } = leader
    const conditions = segment.conditions.map(anywhere)
    const text = conditionsText(conditions)
    const own = open.filter(
      (one) =>
        one.kind === kind &&
        one.direction === direction &&
        !covered.has(one.key) &&
        textsOf(one).includes(text),
    )
    const place = placeOf(conditions)
    const isPlace = conditions.some(({ attribute }) => isOfPlace(attribute))
    const isCause = !isPlace || (kind === 'errors' && place && mostFail(own, place, sources))
    const services = new Set(own.map(({ services: [service] }) => service))
    if (!own.includes(leader) || services.size < MIN_SERVICES || !isCause) return []
    for (const { key } of own) covered.add(key)
    const names = listed(
      [...services].map((name) => printable(name ?? '')),
      MAX_NAMED,
    )
    const told = {
      ...(kind === 'errors' ? failing(own, place, sources) : taking(own, sources)),
      categories: sources.categories,
      rows: own.flatMap((one) => one.segment.requests),
      where: text,
      key: JSON.stringify(['where', text, kind, direction]),
      look: place ? `what runs where ${text}` : names,
      ...(place && { place }),
    }
    return headOf(own, { ...told, notes: [names, ...told.notes] })
  })
  return [...heads, ...drafts]
}

/** Whether it changed in some requests alone, of a kind whose others did not: what tells kinds from others is no cause. */
function isOfSome({ kind, segment, steps, covers }: Draft, flows: FlowSet): boolean {
  const isOfServices = steps.every((step) => step.kind !== 'request' && step.part !== 'message')
  if (segment === undefined || covers !== undefined || !isOfServices) return false
  if (kind !== 'latency' && kind !== 'errors') return false
  if (segment.conditions.length === 0 || segment.conditions.some(({ op }) => /call/.test(op))) {
    return false
  }
  const { typeOf } = rootTypes(flows)
  const countsOf = (requests: Iterable<number>) =>
    rollup(
      requests,
      ({ length }) => length,
      (request) => at(typeOf, request),
    )
  const inside = countsOf(requestsAfter(segment, flows))
  const all = countsOf([...flows.period.keys()].filter((one) => flows.period[one] === AFTER))
  const ofWholeTypes = sum(inside, ([type, count]) =>
    count >= NEARLY_ALL * (all.get(type) ?? 0) ? count : 0,
  )
  return ofWholeTypes < sum(inside.values()) / 2
}

/** A condition whatever service says so. */
function anywhere({ attribute, op, values, orNotRecorded }: Condition): Condition {
  return condition(subjectOf({ service: null, attribute }), op, values, orNotRecorded)
}

/** The conditions of a segment, and each other that the same requests meet, whatever service says so. */
function textsOf({ segment: { conditions, equivalents } }: Confined): string[] {
  const text = conditionsText(conditions.map(anywhere))
  const [{ text: told } = { text }] = conditions
  const service = told.slice(0, told.length - text.length)
  return [
    text,
    ...equivalents.map((one) => (one.startsWith(service) ? one.slice(service.length) : one)),
  ]
}

function placeOf([first, ...others]: readonly Condition[]): FindingPlace | undefined {
  if (first === undefined || others.length > 0 || !isOfPlace(first.attribute)) return undefined
  const { attribute, op, values } = first
  const [value, ...more] = values
  return op === 'is' && value !== undefined && more.length === 0 ? { attribute, value } : undefined
}

/** `what 2 services do takes 7 ms longer`; of one operation, its name. */
function taking(own: readonly Confined[], { steps: { flows } }: Sources) {
  const { quantity } = flows
  const services = counted(new Set(own.map(({ services: [name] }) => name)).size, 'service')
  const isCall = own.some(({ steps: [step] }) => step?.kind === 'call')
  const isAll = own.every(({ segment }) => segment.shareOfChange >= ALL_OF_IT)
  const [name, ...names] = new Set(
    own.map(({ segment: { within, operation } }) => within ?? operation),
  )
  const isOne = name && names.length === 0
  const whose = isCall ? `calls to ${services}` : `what ${services} do`
  const time = timesText(
    own.map(({ segment }) => segment.inside.change),
    quantity,
  )
  const what =
    `${isOne ? operationName({ operation: name }) : whose} ${isCall && !isOne ? 'take' : 'takes'} ${time}` +
    (isCall ? callerSide(quantity) : '') +
    (isAll ? ', elsewhere as long as before' : '')
  return { what, notes: [] }
}

/** `calls to 2 services fail in 40 of 310 requests (0 of 280 before)`. */
function failing(
  own: readonly Confined[],
  place: FindingPlace | undefined,
  { steps: { errors, flows } }: Sources,
) {
  const services = [...new Set(own.map(({ services: [name] }) => name as string))]
  const rows = new Set(own.flatMap(({ segment }) => segment.requests))
  const changes = errors.filter(({ service }) => services.includes(service))
  const failed = [...rows].filter((row) => changes.some((change) => change.failing.has(row)))
  const [made, chances] = [countByPeriod(flows, failed), countByPeriod(flows, rows)]
  const ofPeriod = (period: Period) => `${grouped(made[period])} of ${grouped(chances[period])}`
  const failedRequests = sum(own, (one) => one.failedRequests ?? 0)
  return {
    what: `calls to ${counted(services.length, 'service')}${place ? ' there' : ''} fail in ${ofPeriod(AFTER)} requests (${ofPeriod(BEFORE)} before)`,
    notes: failedRequests === 0 ? [] : [failuresText(failedRequests)],
    failedRequests,
    weightUs: sum(own, (one) => one.weightUs ?? 0),
    size: rateSize({ made, chances, worth: chances }, 'request'),
  }
}

/** Whether calls to most services that run in a place fail there, of those of which it would have been seen. */
function mostFail(covered: readonly Draft[], place: FindingPlace, sources: Sources): boolean {
  const { errors, flows, steps } = sources.steps
  const failing = new Set(covered.map(({ services: [service] }) => service))
  const after = [...flows.period.keys()].filter((request) => flows.period[request] === AFTER)
  const counts = new Map(
    [...new Set(steps.map(({ service }) => service))].map((service) => {
      const step = { kind: 'work', service, caller: null } as const
      const there = after.filter(thereOf(step, { ...place, end: 'service' }, sources))
      const takesPart = visitsOf(flows)
      const own = there.filter((one) => takesPart.get(at(flows.shapeOf, one))?.has(service))
      const changes = errors.filter((one) => one.service === service)
      const failed = own.filter((one) => changes.some((change) => change.failing.has(one)))
      return [service, { failed: failed.length, all: own.length }] as const
    }),
  )
  const [still, changed] = [false, true].map((is) =>
    [...counts].flatMap(([service, count]) => (failing.has(service) === is ? [count] : [])),
  ) as [Count[], Count[]]
  const share = sum(changed, ({ failed }) => failed) / sum(changed, ({ all }) => all)
  const unchanged = still.filter(
    ({ failed, all }) => all > 0 && proportionInterval(failed, all)[1] < share / 2,
  )
  return failing.size >= MIN_SHARE * (failing.size + unchanged.length)
}

type Count = Readonly<Record<'failed' | 'all', number>>
