import { rollup } from 'd3-array'
import { isOfPlace } from '../../calls/attribute-columns.ts'
import { allVisits } from '../../calls/visits.ts'
import { at } from '../../core/entries.ts'
import { remembered } from '../../core/remembered.ts'
import type { FlowSet } from '../../flows/flow-set.ts'
import { FIRST_VALUE } from '../segments/read-columns.ts'
import type { RequestColumns } from '../segments/request-columns.ts'
import type { StepChanges } from '../steps/step-changes.ts'
import type { Step } from '../steps/step-times.ts'

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
