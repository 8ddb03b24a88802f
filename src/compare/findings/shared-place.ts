import { extent, greatest, median, rollup, sum } from 'd3-array'
import { isOfPlace } from '../../calls/attribute-columns.ts'
import { allVisits } from '../../calls/visits.ts'
import { at } from '../../core/entries.ts'
import { callerSide, formatAmount, moreText, type Quantity } from '../../core/quantity.ts'
import { remembered } from '../../core/remembered.ts'
import { counted, listed, MAX_NAMED, printable } from '../../core/words.ts'
import { AFTER, type FlowSet } from '../../flows/flow-set.ts'
import { condition } from '../../traces/selection/condition.ts'
import type { Categories } from '../categories/categories.ts'
import { SLOWEST } from '../edges/edge-times.ts'
import { FIRST_VALUE, MIN_REQUESTS } from '../segments/read-columns.ts'
import type { RequestColumns } from '../segments/request-columns.ts'
import { subjectOf } from '../segments/segment-words.ts'
import { countByPeriod } from '../steps/compare-errors.ts'
import { excessOf } from '../steps/describe-step.ts'
import { changeOfStep, type StepChanges } from '../steps/step-changes.ts'
import { partOfStratum } from '../steps/step-strata.ts'
import { type Step, strataOfStep } from '../steps/step-times.ts'
import { type Draft, type FindingPlace, NO_EVIDENCE } from './finding.ts'
import { categoriesOf, surest } from './names.ts'
import { changesOfCalls } from './repeated-calls.ts'
import { NEARLY_ALL, requestsAfter } from './segment-findings.ts'
import { ALL_OF_IT } from './segment-text.ts'
import { spansOf } from './since-start.ts'
import { areAlike } from './step-findings.ts'

interface Place extends FindingPlace {
  /** Which calls have to do with it: to it, by it, or to and by it from elsewhere; of work, that of who works. */
  readonly end: 'service' | 'caller' | 'between'
}

/** By how much calls of steps changed in all, in µs, and its standard error. */
interface Change {
  readonly calls: number
  readonly us: number
  readonly errorUs: number
}

export interface Sources {
  readonly categories: Categories
  readonly steps: StepChanges
  readonly columns: RequestColumns
}

/** Fewer services that change in a place are changes of their own. */
export const MIN_SERVICES = 2
/** Where nothing tells which value it is, all are tried of so many. */
const MAX_VALUES = 10
/** This share of the services that run there must have changed, of those of which it is known. */
export const MIN_SHARE = 0.5
/** Beyond so many standard errors, something changed. */
const SURE = 2

/**
 * Puts one finding before those of several services that changed in one place alone: on a host, in a
 * zone, with a version. It covers those of which nearly all of the change is there, where most
 * services that run there changed.
 */
export function withSharedPlaces(drafts: readonly Draft[], sources: Sources): readonly Draft[] {
  const heads = (['slower', 'faster'] as const).flatMap((direction) =>
    sharedPlaces(
      drafts.filter((draft) => draft.direction === direction && isOfServices(draft)),
      sources,
    ),
  )
  return [...heads, ...drafts]
}

/** Whether a draft is of what services do, and the ways between them; messages wait between places. */
function isOfServices({ kind, steps, covers }: Draft): boolean {
  const isTimed = steps.every((step) => step.kind !== 'request' && step.part !== 'message')
  return kind === 'latency' && covers === undefined && isTimed
}

function sharedPlaces(drafts: readonly Draft[], sources: Sources): Draft[] {
  const measured = placesOf(drafts, sources).map((place) => {
    const covered = drafts.filter((draft) => isAllThere(draft, place, sources))
    return { place, covered, us: Math.abs(sum(covered, (one) => one.contributionUs)) }
  })
  const [best] = measured
    .filter(
      ({ place, covered }) =>
        servicesOf(covered, place).size >= MIN_SERVICES && mostChanged(covered, place, sources),
    )
    .sort((a, b) => b.us - a.us)
  if (best === undefined) return []
  const others = drafts.filter((draft) => !best.covered.includes(draft))
  return [placeDraft(best.covered, best.place, sources), ...sharedPlaces(others, sources)]
}

/** Places that calls which changed may have to do with, by where some of them run. */
function placesOf(drafts: readonly Draft[], { steps, columns }: Sources): Place[] {
  const found = drafts.flatMap(({ segment, steps: own }) => {
    const inside = segment && requestsAfter(segment, steps.flows)
    const asked = segment ? [segment.step] : own.filter(({ share }) => share !== undefined)
    return (['service', 'caller'] as const).flatMap((end) =>
      asked.flatMap((step) =>
        columnsOf(step?.[end] ?? null, columns).flatMap((column) =>
          valuesOf(column, inside).map((value) => ({ attribute: column.attribute, value, end })),
        ),
      ),
    )
  })
  const places = new Map(found.map((place) => [JSON.stringify(place), place]))
  return [...places.values()].flatMap((place) => [place, { ...place, end: 'between' }])
}

/** Values that some requests all have, or else all, if few. */
function valuesOf({ codes, values }: PlaceColumn, inside: readonly number[] | undefined): string[] {
  if (codes === undefined) return []
  const known = values.slice(FIRST_VALUE)
  if (inside === undefined) return known.length > MAX_VALUES ? [] : known
  const counts = rollup(
    inside,
    ({ length }) => length,
    (request) => values[codes[request] as number] as string,
  )
  return known.filter((value) => (counts.get(value) ?? 0) >= NEARLY_ALL * inside.length)
}

interface PlaceColumn {
  readonly attribute: string
  /** `undefined` where all have the only value. */
  readonly codes?: Uint16Array
  readonly values: readonly string[]
}

/** What resources of a service say in each request; of the service that requests begin with, those of roots. */
export function columnsOf(service: string | null, read: RequestColumns): PlaceColumn[] {
  if (service === null) return []
  const own = read.of(service)
  const isKnown = own.columns.length + own.leftOut.length > 0
  const { columns, leftOut } = isKnown ? own : read.of(null)
  const constant = leftOut.flatMap(({ attribute, value }) =>
    value === undefined ? [] : [{ attribute, values: ['', '', value] }],
  )
  const known = columns.filter(({ kind }) => kind === 'values')
  return [...known, ...constant].filter(({ attribute }) => isOfPlace(attribute))
}

/**
 * Whether requests have to do with a place where they take a step; `null` where that is not known of
 * all: columns tell where the first of several visits of a service ran.
 */
export function thereOf(step: Step, { attribute, value, end }: Place, { steps, columns }: Sources) {
  const { flows } = steps
  const runsThere = (service: string | null) => {
    const column = columnsOf(service, columns).find((one) => one.attribute === attribute)
    const code = column?.values.indexOf(value, FIRST_VALUE) ?? -1
    return (request: number) => {
      const isFirst = code >= 0 && (column?.codes?.[request] ?? code) === code
      const visits = visitsOf(flows).get(at(flows.shapeOf, request))
      const isRepeated = (visits?.get(service) ?? 0) > 1
      return isRepeated && !(isFirst && column?.codes === undefined) ? null : isFirst
    }
  }
  const [by, to] = [runsThere(step.caller), runsThere(step.service)]
  return (request: number, isTo = to(request)) => {
    if (step.kind === 'work' || end === 'service') return isTo
    const isBy = by(request)
    if (end === 'caller') return isBy
    return isBy === null || isTo === null ? null : isBy !== isTo
  }
}

/** How often each service takes part in requests of a shape. */
export const visitsOf = remembered(
  (flows: FlowSet): ReadonlyMap<number, ReadonlyMap<string | null, number>> =>
    new Map(
      Array.from(allVisits(flows), ([shape, { visits }]) => [
        shape,
        rollup(
          visits,
          ({ length }) => length,
          ({ service }) => service,
        ),
      ]),
    ),
)

function isAllThere(draft: Draft, place: Place, sources: Sources): boolean {
  const [inside, outside] = [true, false].map((isInside) =>
    changeOf(draft.steps, { place, isInside }, sources),
  ) as [Change, Change]
  const sign = draft.direction === 'slower' ? 1 : -1
  const us = ({ us, errorUs }: Change) => (sign * us > SURE * errorUs ? sign * us : 0)
  return us(inside) > 0 && us(inside) >= ALL_OF_IT * (us(inside) + us(outside))
}

interface Asked {
  readonly place: Place
  readonly isInside: boolean
  readonly isThen?: (request: number) => boolean
}

/** By how much calls of steps changed in a place, or elsewhere, in some requests. */
function changeOf(
  some: readonly Step[],
  { place, isInside, isThen = () => true }: Asked,
  sources: Sources,
): Change {
  const { steps } = sources
  const parts = some.map(({ kind, service, caller, part }) => {
    const step: Step = { kind, service, caller, ...(part && { part }) }
    const isThere = thereOf(step, place, sources)
    const calls = changesOfCalls(sources, step, {
      ...place,
      isInside: (request, isTo) => (isThen(request) ? isThere(request, isTo) : null),
    })
    if (calls !== null) return isInside ? calls.inside : calls.outside
    const strata = strataOfStep(steps.times, step).map((stratum) => {
      const part = partOfStratum(stratum, (one) => isThen(one) && isThere(one) === isInside)
      // What runs there may be new.
      const isKnown = part.before.values.length >= MIN_REQUESTS
      return isKnown ? part : { ...part, before: stratum.before }
    })
    const compared = strata.filter(({ before }) => before.values.length > 0)
    const { us, error } = excessOf(compared, ({ after }) => after.values.length, SLOWEST)
    const { designEffect = 1 } = changeOfStep(steps, step) ?? {}
    return {
      calls: sum(compared, ({ after }) => after.values.length),
      us,
      errorUs: Math.sqrt(designEffect) * error,
    }
  })
  return {
    calls: sum(parts, ({ calls }) => calls),
    us: sum(parts, ({ us }) => us),
    errorUs: Math.hypot(...parts.map(({ errorUs }) => errorUs)),
  }
}

/** The service whose place it is, or that is called from elsewhere. */
function serviceOf({ kind, service, caller }: Step, { end }: Place): string | null {
  return kind === 'work' || end !== 'caller' ? service : caller
}

function servicesOf(covered: readonly Draft[], place: Place): ReadonlySet<string | null> {
  return new Set(covered.flatMap(({ steps }) => steps.map((step) => serviceOf(step, place))))
}

/** Whether most services that run there changed, of those of which the change would have been seen. */
function mostChanged(covered: readonly Draft[], place: Place, sources: Sources): boolean {
  const steps = covered.flatMap((draft) => draft.steps)
  const changed = servicesOf(covered, place)
  const kinds = new Set(steps.map(({ kind }) => kind))
  const all = changeOf(steps, { place, isInside: true }, sources)
  const others = sources.steps.steps.filter(
    (step) =>
      kinds.has(step.kind) && step.part !== 'message' && !changed.has(serviceOf(step, place)),
  )
  const unchanged = others.filter((step) => {
    const { calls, us, errorUs } = changeOf([step], { place, isInside: true }, sources)
    const most = Math.sign(all.us) * us + SURE * errorUs
    return calls >= MIN_REQUESTS && most < (calls * Math.abs(all.us)) / all.calls / 2
  })
  const still = new Set(unchanged.map((step) => serviceOf(step, place)))
  return changed.size >= MIN_SERVICES && changed.size >= MIN_SHARE * (changed.size + still.size)
}

function placeDraft(covered: readonly Draft[], place: Place, sources: Sources): Draft {
  const { flows } = sources.steps
  const [isThen = () => true] = spansOf(flows, largestOf(covered).inTime?.began ?? null)
  const rows = covered.flatMap((draft) =>
    draft.steps.flatMap((step) => {
      const isThere = thereOf(step, place, sources)
      const calls = changesOfCalls(sources, step, { ...place, isInside: isThere })
      const taking = changeOfStep(sources.steps, step)?.requests ?? []
      return (calls?.requests ?? taking.filter((one) => isThere(one))).filter((one) => isThen(one))
    }),
  )
  const { attribute, value } = place
  const { text } = condition(subjectOf({ service: null, attribute }), 'is', [value])
  return headOf(covered, {
    categories: sources.categories,
    rows,
    where: text,
    ...placeWords(covered, { place, isInside: true, isThen }, sources),
    key: JSON.stringify(['place', place, covered[0]?.direction]),
    look: `what runs where ${text}`,
    place: { attribute, value },
  })
}

/** The one of several that adds most. */
function largestOf(covered: readonly Draft[]): Draft {
  return greatest(covered, (one) => Math.abs(one.contributionUs)) as Draft
}

/** One finding in place of several, of requests (`rows`) of both periods. */
export function headOf(
  covered: readonly Draft[],
  {
    categories,
    rows,
    ...told
  }: Pick<Draft, 'where' | 'what' | 'key' | 'look' | 'notes'> &
    Pick<Draft, 'place' | 'failedRequests' | 'weightUs' | 'size'> & {
      readonly categories: Categories
      readonly rows: readonly number[]
    },
): Draft {
  const { flows } = categories
  const { kind, direction, inTime } = largestOf(covered)
  const concerned = countByPeriod(flows, new Set(rows))
  const contributionUs = sum(covered, (one) => one.contributionUs)
  const widths = covered.map(({ eachInterval: [low, high], requests }) => requests * (high - low))
  const eachUs = contributionUs / concerned[AFTER]
  const widthUs = Math.hypot(...widths) / 2 / concerned[AFTER]
  return {
    ...NO_EVIDENCE,
    ...told,
    kind,
    direction,
    categories: categoriesOf(
      categories,
      rows.filter((request) => flows.period[request] === AFTER),
    ),
    requests: concerned[AFTER],
    concerned,
    contributionUs,
    eachInterval: [eachUs - widthUs, eachUs + widthUs],
    probabilitySlower: Number.NaN,
    services: [...new Set(covered.flatMap(({ services }) => services))],
    steps: covered.flatMap((draft) => draft.steps),
    calls: covered.flatMap((draft) => draft.calls),
    covers: covered.map(({ key }) => key),
    ...(inTime && { inTime }),
    ...surest(covered),
  }
}

/** `2 ms to 5 ms longer`, or one time where they are much the same. */
export function timesText(each: readonly number[], quantity: Quantity): string {
  const [low, high] = extent(each, Math.abs) as [number, number]
  if (areAlike(each)) return moreText(median(each) as number, quantity)
  return `${formatAmount(low, quantity)} to ${moreText(high * Math.sign(each[0] as number), quantity)}`
}

/** `calls to 7 services there take 6 ms longer in transit`, and which services. */
function placeWords(
  covered: readonly Draft[],
  asked: Asked,
  sources: Sources,
): Pick<Draft, 'what' | 'notes'> {
  const { place } = asked
  const { quantity } = sources.categories.flows
  const steps = covered.flatMap((draft) => draft.steps)
  const isWork = steps.some(({ kind }) => kind === 'work')
  const isCall = steps.some(({ kind }) => kind === 'call')
  const names = new Set(steps.map((step) => serviceOf(step, place)))
  const each = steps
    .map((step) => changeOf([step], asked, sources))
    .filter(({ us, errorUs }) => Math.abs(us) > SURE * errorUs)
    .map(({ us, calls }) => us / calls)
  const time = timesText(each, quantity)
  const services = counted(names.size, 'service')
  const whose = isWork ? 'them' : `${services} there`
  const calls = {
    service: `calls to ${whose}`,
    caller: `calls by ${whose}`,
    between: `calls that enter or leave it, to ${services},`,
  }
  const of = [
    ...(isWork ? [`what ${services} do there`] : []),
    ...(isCall ? [calls[place.end]] : []),
  ]
  return {
    what: `${listed(of)} ${isCall ? 'take' : 'takes'} ${time}${isWork ? '' : callerSide(quantity)}, elsewhere as long as before`,
    notes: [
      listed(
        [...names].map((name) => printable(name ?? '')),
        MAX_NAMED,
      ),
    ],
  }
}
