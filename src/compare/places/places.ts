// Runs once a call: the loops index with `!`.
import { rollup } from 'd3-array'
import { isOfPlace } from '../../calls/attribute-columns.ts'
import { allVisits } from '../../calls/visits.ts'
import { at } from '../../core/entries.ts'
import { memoized, remembered } from '../../core/remembered.ts'
import type { FlowSet } from '../../flows/flow-set.ts'
import { DividingColumns } from '../segments/dividing-columns.ts'
import type { Measured } from '../segments/measured.ts'
import { searchStepSpans } from '../segments/measured-spans.ts'
import { type CodedRows, FIRST_VALUE, type RequestColumns } from '../segments/request-columns.ts'
import type { Coded } from '../segments/segment-words.ts'
import { measureSides } from '../segments/test-segment.ts'
import { changeOfStep, type StepChanges } from '../steps/step-changes.ts'
import { type Step, stepKey } from '../steps/step-times.ts'

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
        rollup(
          visits,
          ({ length }) => length,
          ({ service }) => service,
        ),
      ]),
    ),
)

interface Sources {
  readonly steps: StepChanges
  readonly columns: RequestColumns
}

/** Single calls of a step of one operation, with the attributes of their own spans. */
interface Calls {
  readonly measured: Measured
  readonly coded: readonly Coded[]
}

/**
 * Returns the calls of a step (by its key) to a service that requests ask several times; none if these calls do not
 * record their place.
 */
export const callsOneByOne = remembered(({ steps, columns }: Sources) => {
  const dividing = new DividingColumns(steps, columns)
  return memoized((key: string): readonly Calls[] => {
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
export function placesOfRows(coded: readonly Coded[], { service }: Step): readonly CodedRows[] {
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
