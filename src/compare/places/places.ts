// Runs once a call: the loops index with `!`.

import { greatest, max, median, sum } from 'd3-array'
import { isOfPlace } from '../../calls/attribute-columns.ts'
import { allVisits } from '../../calls/visits.ts'
import { at, countBy, getOrInsert } from '../../core/entries.ts'
import { memoized, remembered } from '../../core/remembered.ts'
import { AFTER, BEFORE, type FlowSet, type Period } from '../../flows/flow-set.ts'
import { twoSidedTP } from '../../stats/distributions.ts'
import { logOf } from '../../stats/moderated-shifts.ts'
import { DividingColumns } from '../segments/dividing-columns.ts'
import { searchStepSpans } from '../segments/measured-spans.ts'
import { type CodedRows, FIRST_VALUE, type RequestColumns } from '../segments/request-columns.ts'
import type { Coded } from '../segments/segment-words.ts'
import { measureSides } from '../segments/test-segment.ts'
import { changeOfStep, type StepChanges } from '../steps/step-changes.ts'
import { isOfOneStep, type Step, type StepTimes, stepKey } from '../steps/step-times.ts'
import { type PartOfAfter, testPartsOfAfter, timeBlocks } from '../steps/time-blocks.ts'
import { CLEAR, LEAST_SPREAD, MAX_SPREADS, MIN_ALIKE, MIN_KNOWN, MOST } from '../thresholds.ts'

/** Place where spans run, from their resource attributes: one host, zone or version. */
export interface PlaceName {
  readonly attribute: string
  readonly value: string
}

export interface Place extends PlaceName {
  /**
   * End of calls at the place: called there, calling from there, or both ways with elsewhere. For work, the working
   * service's.
   */
  readonly end: 'service' | 'caller' | 'between'
}

/** End of a step at a changed place: work, or a call. */
export interface PlaceEnd extends Place {
  readonly kind: 'work' | 'call'
}

export interface PlaceSources {
  readonly steps: StepChanges
  readonly columns: RequestColumns
}

interface PlaceColumn {
  readonly attribute: string
  /** `undefined` where all have the only value. */
  readonly codes?: Uint16Array
  readonly values: readonly string[]
}

/**
 * Returns the resource attributes of a service in each request; for the service where requests begin, those of roots.
 */
export function placeColumns(service: string | null, read: RequestColumns): PlaceColumn[] {
  if (service === null) return []
  const own = read.of(service)
  const { columns, leftOut } = read.isOfRoots(service) ? read.of(null) : own
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
export function thereOf(
  step: Step,
  { attribute, value, end }: Place,
  { steps, columns }: PlaceSources,
) {
  const { flows } = steps
  const runsThere = (service: string | null) => {
    const column = placeColumns(service, columns).find((one) => one.attribute === attribute)
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

/** Returns the number of visits of each service in requests of a shape. */
export const visitsOf = remembered(
  (flows: FlowSet): ReadonlyMap<number, ReadonlyMap<string | null, number>> =>
    new Map(
      Array.from(allVisits(flows), ([shape, { visits }]) => [
        shape,
        countBy<{ readonly service: string }, string | null>(visits, ({ service }) => service),
      ]),
    ),
)

interface Sources {
  readonly steps: StepChanges
  readonly columns: RequestColumns
}

/**
 * Returns the calls of a step (by its key) to a service that requests ask several times; none if these calls do not
 * record their place.
 */
const callsOneByOne = remembered(({ steps, columns }: Sources) => {
  const dividing = new DividingColumns(steps, columns)
  return memoized((key: string) => {
    const change = steps.steps.find((one) => stepKey(one) === key)
    if (change === undefined || !dividing.isRepeated(change.service)) return []
    const of = { flows: steps.flows, steps: [change], errors: [] }
    return searchStepSpans(of, dividing, (measured, { coded }) => {
      const { within, strata } = measured
      const isEntry = within === '' || strata.some(({ operation }) => operation === within)
      return change.kind === 'work' && !isEntry ? [] : [{ measured, coded, found: [], p: 1 }]
    })
  })
})

/** Place of the calls to compare, with a test of which calls count as inside. */
interface AskedCalls {
  readonly attribute: string
  readonly value: string
  /** Whether a request's calls count where they are in the place, and elsewhere; `null` if not known. */
  readonly isInside: (request: number, isThere: boolean) => boolean | null
}

/** Returns the place of the called service in each row, as its own spans recorded it. */
function placesOfRows(coded: readonly Coded[], { service }: Step): readonly CodedRows[] {
  return coded
    .flatMap((one) => [one, ...one.equal])
    .filter(({ column }) => column.service === service && isOfPlace(column.attribute))
}

/** Returns the changes of a step's calls in a place and elsewhere, in µs; `null` if single calls are unknown. */
export function changesOfCalls(sources: Sources, step: Step, asked: AskedCalls) {
  const found = callsOneByOne(sources)(stepKey(step)).flatMap(({ measured, coded }) => {
    const own = placesOfRows(coded, step).find(({ column }) => column.attribute === asked.attribute)
    if (own === undefined) return []
    const { codes, column } = own
    const sides = Array.from(measured.requests, (request, row) =>
      asked.isInside(request, column.values[codes[row]!] === asked.value),
    )
    const isInside = Uint8Array.from(sides, (is) => Number(is === true))
    const isOut = Uint8Array.from(sides, (is) => Number(is === null))
    const kind = new Uint32Array(isInside.length)
    const { inside, outside } = measureSides(measured, isInside, { stratum: null, isOut, kind })
    const requests = measured.requests.filter((_, row) => isInside[row] === 1)
    return [{ inside, outside, requests }]
  })
  const { designEffect = 1 } = changeOfStep(sources.steps, step) ?? {}
  if (found.length === 0) return null
  const total = (side: 'inside' | 'outside') => {
    const own = found.map((one) => one[side]).filter(({ after }) => after > 0)
    return {
      calls: own.reduce((sum, { after }) => sum + after, 0),
      us: own.reduce((sum, { after, change }) => sum + after * (change || 0), 0),
      errorUs:
        Math.sqrt(designEffect) * Math.hypot(...own.map((one) => one.after * (one.error || 0))),
    }
  }
  const requests = new Set(found.flatMap((one) => [...one.requests]))
  return { inside: total('inside'), outside: total('outside'), requests: [...requests] }
}

/** A place where what several services do takes another time, by one factor, and elsewhere does not. */
export interface PlaceChange {
  /** Ends of work and calls at the place, the surest first. */
  readonly places: readonly PlaceEnd[]
  /** Services that take part: all that run there, except those that surely changed by less. */
  readonly services: readonly string[]
  readonly steps: readonly Step[]
  /** Factor of those that changed. */
  readonly factor: number
  readonly p: number
  readonly q: number
}

/** The spread of a normal distribution in median absolute deviations. */
const SPREAD = 1.4826

/**
 * Finds the places (a host, a zone, a version) where the work of several services takes longer, or less long, by one
 * factor. Times of all steps there count together, as logs relative to the median before of their stratum. A shift is
 * tested by stretches of time, so a drift common to everything in a place is no change. The shift must hold within the
 * place, and relative to work elsewhere, and without any one of the services: a shift of a single service is its own.
 * Places are taken out one after the other, the surest first.
 */
export function findPlaceChanges(sources: PlaceSources, alpha: number): PlaceChange[] {
  const { times, ownTimes, tested } = sources.steps
  const work = ownTimes.filter(({ part }) => part === undefined)
  const ways = times.filter(({ kind, part }) => kind === 'call' && part === undefined)
  const rows = [...work, ...ways].flatMap((step) => rowsOf(step, sources))
  const found: PlaceChange[] = []
  for (;;) {
    const sums = sumsByPlace(rows, sources, found)
    const candidates = testsOf(sums, sources)
    const tests = tested + sums.length
    const isSure = ({ p }: Tested) => p * tests < alpha
    const best = greatest(
      candidates.filter(
        (one) =>
          isSure(one) &&
          mostChanged(one) &&
          !found.some(({ places }) => places.some((known) => isSame(known, one.place))),
      ),
      ({ t }) => Math.abs(t),
    )
    if (best === undefined) return found
    const alike = candidates.filter(
      (one) => isSame(one.place, best.place) && isSure(one) && one.log * best.log > 0,
    )
    const ofKind = (kind: PlaceEnd['kind']) =>
      greatest(
        alike.filter(({ place }) => place.kind === kind),
        ({ t }) => Math.abs(t),
      )
    const members = [ofKind('work'), ofKind('call')]
      .flatMap((one) => one ?? [])
      .sort((a, b) => a.p - b.p)
    const own = members.map((one) => ({ ...one, services: servicesOf(one) }))
    found.push({
      places: own.map(({ place }) => place),
      services: [...new Set(own.flatMap(({ services }) => services))],
      steps: own.flatMap(({ place, steps, services }) =>
        steps.filter((step) => servicesAt(step, place).some((one) => services.includes(one))),
      ),
      factor: Math.exp(commonLog(best)),
      p: best.p,
      q: Math.min(1, best.p * tests),
    })
  }
}

function isSame(a: PlaceName, b: PlaceName): boolean {
  return a.attribute === b.attribute && a.value === b.value
}

/** Times of a stratum as logs relative to the median before, for both periods. */
interface StepRows {
  readonly step: Step
  readonly weight: number
  readonly samples: readonly Sample[]
  /** Place of the service that works, or is called, and place of its caller. */
  readonly to: ReadonlyMap<string, Where>
  readonly by: ReadonlyMap<string, Where>
}

/** Places of a service, by one attribute. */
interface Where {
  readonly values: readonly string[]
  /** The code in `values` of a row. */
  readonly codeOf: (period: Period, row: number, request: number) => number
}

/** Code of rows of which it is not known. */
const UNKNOWN = -1

interface Sample {
  readonly values: Float64Array
  readonly requests: Uint32Array
  readonly blocks: Uint8Array
}

/** Returns the times of a step: a value a request, or a call where requests ask the service several times. */
function rowsOf({ strata, ...times }: StepTimes, sources: PlaceSources): StepRows[] {
  const step = { kind: times.kind, service: times.service, caller: times.caller }
  const told = sources.steps.steps.find(
    (one) => isOfOneStep(one, step) && (one.part === undefined || one.part === 'itself'),
  )
  const calls = told === undefined ? [] : callsOneByOne(sources)(stepKey(told))
  const by = wheresOf(step.caller, sources)
  if (calls.length === 0) {
    const to = wheresOf(step.service, sources)
    return strata.flatMap(({ before, after }) =>
      logsOf([before, after]).map((logs) => ({ step, to, by, ...logs })),
    )
  }
  return calls.flatMap(({ measured: { offsets, values, requests, blocks, strata }, coded }) =>
    strata.flatMap((_, stratum) => {
      const start = (period: Period) => offsets[2 * stratum + period]!
      const samples = ([BEFORE, AFTER] as const).map((period) => {
        const range = [start(period), offsets[2 * stratum + period + 1]!] as const
        const own = [values, requests, blocks].map((one) => one.subarray(...range))
        const [us, request, block] = own as [Float64Array, Uint32Array, Uint8Array]
        return { values: us, requests: request, blocks: block }
      })
      const to = new Map(
        placesOfRows(coded, step).map(({ column: { attribute, values }, codes }) => [
          attribute,
          { values, codeOf: (period: Period, row: number) => codes[start(period) + row]! },
        ]),
      )
      return logsOf(samples).map((logs) => ({ step, to, by, ...logs }))
    }),
  )
}

/** Returns the place of a service in each request; unknown if it takes part several times, in several places. */
function wheresOf(service: string | null, { steps, columns }: PlaceSources): Map<string, Where> {
  const { shapeOf } = steps.flows
  const visits = visitsOf(steps.flows)
  const isRepeated = (request: number) => (visits.get(shapeOf[request]!)?.get(service) ?? 0) > 1
  return new Map(
    placeColumns(service, columns).map(({ attribute, values, codes }) => [
      attribute,
      {
        values,
        codeOf: (_period: Period, _row: number, request: number) =>
          codes === undefined ? FIRST_VALUE : isRepeated(request) ? UNKNOWN : codes[request]!,
      },
    ]),
  )
}

function logsOf(samples: readonly Sample[]): Pick<StepRows, 'weight' | 'samples'>[] {
  const [before, after] = samples as [Sample, Sample]
  if (before.values.length < MIN_KNOWN || after.values.length === 0) return []
  const then = before.values.map(logOf)
  const usual = median(then)!
  const apart = median(then, (log) => Math.abs(log - usual))!
  const spread = Math.max(LEAST_SPREAD, SPREAD * apart)
  const most = MAX_SPREADS * spread
  const logs = samples.map(({ values, requests, blocks }) => ({
    values: values.map((us) => Math.max(-most, Math.min(most, logOf(us) - usual))),
    requests,
    blocks,
  }))
  return [{ weight: spread ** -2, samples: logs }]
}

/** Weights of values, and weighted sums of them, by stretch of time of each period. */
class BlockSums {
  readonly weights: readonly [before: Float64Array, after: Float64Array]
  readonly sums: readonly [before: Float64Array, after: Float64Array]

  constructor(blocks: number) {
    const empty = () => new Float64Array(blocks)
    this.weights = [empty(), empty()]
    this.sums = [empty(), empty()]
  }

  add(period: Period, block: number, value: number, weight: number): void {
    this.weights[period][block]! += weight
    this.sums[period][block]! += weight * value
  }

  plus(other: BlockSums, sign: number): BlockSums {
    const { length } = this.weights[BEFORE]
    const all = new BlockSums(length)
    for (const period of [BEFORE, AFTER] as const) {
      for (let block = 0; block < length; block++) {
        all.weights[period][block] =
          this.weights[period][block]! + sign * other.weights[period][block]!
        all.sums[period][block] = this.sums[period][block]! + sign * other.sums[period][block]!
      }
    }
    return all
  }
}

interface Level {
  readonly mean: number
  readonly variance: number
  readonly blocks: number
}

/** Returns the mean of a period, or of a part of after, and its variance by how much stretches of time differ. */
function levelOf(
  { weights, sums }: BlockSums,
  period: Period,
  part: PartOfAfter | null = null,
): Level {
  const isLeft = (block: number) => part !== null && (block < part.from || block >= part.to)
  const own = weights[period].map((weight, block) => (isLeft(block) ? 0 : weight))
  const total = sum(own)
  // Subtraction from a sum leaves rounding errors.
  const least = 1e-9 * total
  let [mean, variance, blocks] = [0, 0, 0]
  for (let i = 0; i < own.length; i++) if (own[i]! > least) mean += sums[period][i]! / total
  for (let i = 0; i < own.length; i++) {
    if (!(own[i]! > least)) continue
    blocks++
    variance += ((sums[period][i]! - mean * own[i]!) / total) ** 2
  }
  return { mean, variance: (variance * blocks) / (blocks - 1), blocks }
}

interface Shift {
  readonly log: number
  readonly error: number
  readonly df: number
}

/** Returns the difference of levels in Welch's way; `null` if one has too few stretches. */
function shiftOf(plus: readonly Level[], minus: readonly Level[]): Shift | null {
  const all = [...plus, ...minus]
  if (all.some(({ blocks }) => blocks < MIN_ALIKE)) return null
  const variance = sum(all, (one) => one.variance)
  const df = variance ** 2 / sum(all, (one) => one.variance ** 2 / (one.blocks - 1))
  const log = sum(plus, ({ mean }) => mean) - sum(minus, ({ mean }) => mean)
  return { log, error: Math.sqrt(variance), df }
}

/** Sums of times in a place, by service, and those of the same services anywhere. */
interface PlaceSums {
  readonly place: PlaceEnd
  readonly steps: Map<string, Step>
  readonly inside: Map<string, BlockSums>
  readonly anywhere: ReadonlyMap<string, BlockSums>
}

const ENDS = { work: ['service'], call: ['service', 'caller', 'between'] } as const

/** Sums rows by all places that they have to do with, but for those of places that are found. */
function sumsByPlace(
  rows: readonly StepRows[],
  { steps: { flows } }: PlaceSources,
  found: readonly PlaceChange[],
): PlaceSums[] {
  const { perRun, runs } = timeBlocks(flows)
  const empty = () => new BlockSums(perRun * (runs + 1))
  const anywhere = new Map<string, Map<string, BlockSums>>()
  const sums = new Map<string, PlaceSums>()
  for (const own of rows) {
    const { step, weight, samples, to, by } = own
    const { kind } = step
    if (kind === 'request') continue
    const taken = found.flatMap(({ places }) =>
      places.flatMap((place) => (place.kind === kind ? [valuesOf(own, place)] : [])),
    )
    const isTaken = (period: Period, row: number, request: number) =>
      taken.some(({ values, value }) => {
        const there = values(period, row, request)
        return there === null || there.some((one) => one.value === value)
      })
    for (const attribute of new Set([...to.keys(), ...by.keys()])) {
      for (const end of ENDS[kind]) {
        const isAsked = end === 'service' ? to.has(attribute) : kind === 'call'
        const services = servicesAt(step, { end })
        if (services.length === 0 || !isAsked || (end === 'caller' && !by.has(attribute))) continue
        const ofEnd = getOrInsert(anywhere, JSON.stringify([kind, attribute, end]), () => new Map())
        const all = services.map((service) => getOrInsert(ofEnd, service, empty))
        const insides = new Map<There, BlockSums>()
        const insideOf = (there: There) =>
          getOrInsert(insides, there, () => {
            const { value, service } = there
            const place = { attribute, value, end, kind }
            const ofPlace = getOrInsert(sums, JSON.stringify(place), () => ({
              place,
              steps: new Map(),
              inside: new Map(),
              anywhere: ofEnd,
            }))
            ofPlace.steps.set(stepKey(step), step)
            return getOrInsert(ofPlace.inside, service, empty)
          })
        const { values: placesAt } = valuesOf(own, { attribute, value: '', end })
        for (const period of [BEFORE, AFTER] as const) {
          const { values, requests, blocks } = samples[period]!
          for (let row = 0; row < values.length; row++) {
            const request = requests[row]!
            const places = placesAt(period, row, request)
            if (places === null || isTaken(period, row, request)) continue
            for (const one of all) one.add(period, blocks[row]!, values[row]!, weight)
            for (const there of places)
              insideOf(there).add(period, blocks[row]!, values[row]!, weight)
          }
        }
      }
    }
  }
  return [...sums.values()]
}

/** Services whose place it is, or that call or are called from elsewhere. */
function servicesAt({ kind, service, caller }: Step, { end }: Pick<Place, 'end'>): string[] {
  const ends =
    kind === 'work'
      ? [service]
      : { service: [service], caller: [caller], between: [service, caller] }[end]
  return ends.filter((one) => one !== null)
}

/** A place, and the service there that a row has to do with. */
interface There {
  readonly value: string
  readonly service: string
}

const NOWHERE: readonly There[] = []

/** Returns the places that a row has to do with at an end of its calls; `null` where that is not known. */
function valuesOf({ step, to, by }: StepRows, { attribute, value, end }: Place) {
  const codesOf = (where: Where | undefined) => where?.codeOf ?? (() => 0)
  const [ofTo, ofBy] = [to.get(attribute), by.get(attribute)]
  const alone = (where: Where | undefined, service: string | null) =>
    where?.values.map((one, code) =>
      code < FIRST_VALUE || service === null ? NOWHERE : [{ value: one, service }],
    ) ?? [NOWHERE]
  const [atTo, atBy] = [alone(ofTo, step.service), alone(ofBy, step.caller)]
  const [toOf, byOf] = [codesOf(ofTo), codesOf(ofBy)]
  const values = (period: Period, row: number, request: number): readonly There[] | null => {
    const code = end === 'caller' ? byOf(period, row, request) : toOf(period, row, request)
    if (code === UNKNOWN) return null
    const first = (end === 'caller' ? atBy : atTo)[code]!
    if (end !== 'between') return first
    const other = byOf(period, row, request)
    if (other === UNKNOWN) return null
    const second = atBy[other]!
    return first[0]?.value === second[0]?.value ? NOWHERE : [...first, ...second]
  }
  return { value, values }
}

interface Tested {
  readonly place: PlaceEnd
  readonly steps: readonly Step[]
  readonly log: number
  readonly t: number
  readonly p: number
  readonly services: ReadonlyMap<string, Shift>
}

/** Tests places by all of after, and by parts of it. */
function testsOf(sums: readonly PlaceSums[], { steps: { flows } }: PlaceSources): Tested[] {
  const tested = sums.flatMap((own) => {
    const whole = testOf(own, null)
    return whole === null ? [] : { own, whole }
  })
  return testPartsOfAfter(timeBlocks(flows), (part) =>
    tested.map(({ own, whole }): Tested => {
      const test = part === null ? whole : testOf(own, part)
      return test ?? { ...whole, p: Number.NaN }
    }),
  )
}

/** Tests a place by all that runs there, and without any one service; nothing where one alone does. */
function testOf(
  { place, steps, inside, anywhere }: PlaceSums,
  part: PartOfAfter | null,
): Tested | null {
  if (inside.size < 2) return null
  const outside = new Map(
    Array.from(inside, ([service, own]) => [service, anywhere.get(service)!.plus(own, -1)]),
  )
  const [all, rest] = [inside, outside].map((side) =>
    [...side.values()].reduce((a, b) => a.plus(b, 1)),
  ) as [BlockSums, BlockSums]
  const elsewhere = levelsOf(rest, part)
  const test = (one: BlockSums) => testBeside(levelsOf(one, part), elsewhere)
  const whole = test(all)
  if (whole === null) return null
  const without = Array.from(inside.values(), (one) => test(all.plus(one, -1)))
  const sign = Math.sign(whole.t)
  const p = max(without, (one) => (one !== null && one.t * sign > 0 ? one.p : 1))!
  const services = new Map(
    Array.from(inside).flatMap(([service, own]) => {
      const shift = changeOf(own, outside.get(service)!)
      return shift === null ? [] : [[service, shift] as const]
    }),
  )
  return { place, steps: [...steps.values()], ...whole, p: Math.max(p, whole.p), services }
}

type Levels = readonly [before: Level, after: Level]

function levelsOf(sums: BlockSums, part: PartOfAfter | null = null): Levels {
  return [levelOf(sums, BEFORE), levelOf(sums, AFTER, part)]
}

/** Returns the change of a service in a place, compared with elsewhere if it also runs there. */
function changeOf(own: BlockSums, rest: BlockSums): Shift | null {
  const [inside, outside] = [levelsOf(own), levelsOf(rest)]
  return (
    shiftOf([inside[AFTER], outside[BEFORE]], [inside[BEFORE], outside[AFTER]]) ??
    shiftOf([inside[AFTER]], [inside[BEFORE]])
  )
}

/** Tests a place's change by itself and against the rest, and returns the less sure result. */
function testBeside([before, after]: Levels, elsewhere: Levels) {
  // The work may be new there.
  const usual = before.blocks < MIN_ALIKE ? elsewhere[BEFORE] : before
  const change = shiftOf([after], [usual])
  const beside = shiftOf([after, elsewhere[BEFORE]], [usual, elsewhere[AFTER]])
  if (change === null || beside === null || change.log * beside.log <= 0) return null
  const [least] = [change, beside]
    .map(({ log, error, df }) => ({ t: log / error, p: twoSidedTP(log / error, df) }))
    .sort((a, b) => b.p - a.p)
  return { ...least!, log: change.log }
}

/** Whether most services that run there changed, of those of which the change would have been seen. */
function mostChanged(one: Tested): boolean {
  const changed = changedOf(one).length
  const still = one.services.size - servicesOf(one).length
  return changed >= MOST * (changed + still)
}

/** Shifts of the services that surely changed as the place did. */
function changedOf({ services, log: whole }: Tested): Shift[] {
  return [...services.values()].filter(({ log, error }) => Math.sign(whole) * log > CLEAR * error)
}

/**
 * Returns the services that may have changed by the factor: those whose own factor is not surely less than half of it.
 */
function servicesOf(one: Tested): string[] {
  const common = commonLog(one)
  return Array.from(one.services).flatMap(([service, { log, error }]) =>
    Math.sign(common) * log + CLEAR * error < Math.abs(common) / 2 ? [] : [service],
  )
}

/** Returns the log of the factor of the services that surely changed; if none did alone, that of all. */
function commonLog(one: Tested): number {
  const changed = changedOf(one)
  if (changed.length === 0) return one.log
  const weight = ({ error }: Shift) => error ** -2
  return sum(changed, (own) => weight(own) * own.log) / sum(changed, weight)
}
