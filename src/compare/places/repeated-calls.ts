// Runs once a call: the loops index with `!`.
import { isOfPlace } from '../../calls/attribute-columns.ts'
import { memoized, remembered } from '../../core/remembered.ts'
import { DividingColumns } from '../segments/dividing-columns.ts'
import type { Measured } from '../segments/measured.ts'
import { searchStepSpans } from '../segments/measured-spans.ts'
import type { CodedRows } from '../segments/read-columns.ts'
import type { RequestColumns } from '../segments/request-columns.ts'
import type { Coded } from '../segments/segment-words.ts'
import { measureSides } from '../segments/test-segment.ts'
import { changeOfStep, type StepChanges } from '../steps/step-changes.ts'
import { type Step, stepKey } from '../steps/step-times.ts'

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
export interface AskedCalls {
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
