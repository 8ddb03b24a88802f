// Runs once a request and column: the loops index with `!`.

import { sum } from 'd3-array'
import { allVisits, requestsOfShapes, SEVERAL } from '../../calls/visits.ts'
import { addTo, countBy, getOrInsert } from '../../core/entries.ts'
import { remembered } from '../../core/remembered.ts'
import { AFTER, BEFORE, type FlowSet } from '../../flows/flow-set.ts'
import { twoProportionsTest } from '../../stats/two-proportions.ts'
import { saysOutcome } from '../../traces/outcomes.ts'
import { lostSome } from '../steps/lost-spans.ts'
import { rootName } from '../steps/root-types.ts'
import type { StepChanges } from '../steps/step-changes.ts'
import { ALIKE_LEVEL, MAX_FOLLOWED, MIN_KNOWN } from '../thresholds.ts'
import { dividesStrata, type Measured } from './measured.ts'
import { tellsFailures } from './mistaken-conditions.ts'
import {
  FIRST_VALUE,
  type LeftOutAttribute,
  MISSING,
  RARE,
  type RequestColumn,
  type RequestColumns,
  type SpanList,
} from './request-columns.ts'
import type { Coded } from './segment-words.ts'

export interface Divided {
  readonly coded: readonly Coded[]
  /** Number of codes read. */
  readonly size: number
}

/** Columns that divide the requests of a comparison, for any measure. */
export class DividingColumns {
  readonly leftOut: LeftOutAttribute[] = []
  readonly #read: RequestColumns
  /** Attribute that is measured, which divides nothing. */
  readonly #measure: string
  readonly #called: readonly RequestColumn[]
  /** Number of visits of each service, by calling service. */
  readonly #callers = new Map<string, Map<string, number>>()
  /** Number of visits of each service, and number of requests that visit it. */
  readonly #visits = new Map<string, [visits: number, requests: number]>()

  constructor({ flows, calls }: StepChanges, read: RequestColumns) {
    // A newly called service is a finding already; it does not locate another one. Nor does one that other requests
    // call than before, or that records other calls.
    const changed = servicesOfOthers(flows)
    for (const one of calls) if (one.changed && one.call !== null) changed.add(one.call.service)
    this.#read = read
    this.#measure = flows.quantity.name
    this.#called = calledColumns(flows).filter(({ attribute }) => !changed.has(attribute))
    for (const [shape, { visits }] of allVisits(flows)) {
      const requests = sum(requestsOfShapes(flows).get(shape) ?? [])
      const calledBy = (service: string, caller: string) => {
        const known = getOrInsert(this.#callers, service, () => new Map<string, number>())
        addTo(known, caller, requests)
      }
      for (const { service, caller, calls } of visits) {
        if (caller !== null) calledBy(service, caller.service)
        for (const call of calls) if (call.called.length === 0) calledBy(call.service, service)
      }
      for (const [service, own] of countBy(visits, (one) => one.service)) {
        const counts = getOrInsert(this.#visits, service, (): [number, number] => [0, 0])
        counts[0] += own * requests
        counts[1] += requests
      }
    }
  }

  /** Returns columns that divide the measured rows, each in a different way. */
  of(measured: Measured): Divided {
    const { step, call, measure } = measured
    const root = this.#ofService(null)
    const service = step?.service ?? (call?.of.service as string)
    // Attributes that differ between the visits of a request divide the visits: see `searchStepSpans`.
    const isOfSpans = measure === 'time' && this.isRepeated(service)
    const own = step?.kind === 'request' || isOfSpans ? [] : this.#ofService(service)
    // A request that fails or calls otherwise makes other calls afterwards: these are its outcome.
    const called = measure === 'time' ? this.#called : []
    const others = [...called, ...this.#ofCallers(service)]
    return this.#coded(measured, [...root, ...others, ...own], new Set(others))
  }

  /** Whether requests visit a service several times, and may be in several places then. */
  isRepeated(service: string): boolean {
    const [visits, requests] = this.#visits.get(service) ?? [0, 0]
    return visits > SEVERAL * requests
  }

  /** Whether spans recorded anything. */
  dividesSpans(spans: SpanList): boolean {
    return this.#read.ofSpans(spans).columns.length > 0
  }

  /** Returns columns that divide spans by their own attributes. */
  ofSpans(measured: Measured, spans: SpanList): Divided {
    const columns = this.#read.ofSpans(spans).columns.map(withoutMissing)
    return this.#coded(measured, columns, new Set(columns))
  }

  #coded(
    measured: Measured,
    columns: readonly RequestColumn[],
    others: ReadonlySet<RequestColumn>,
  ): Divided {
    const all = columns.filter(({ attribute }) => attribute !== this.#measure)
    return codedOf(measured, all, others)
  }

  /** Returns the columns of the services that call this one most. */
  #ofCallers(service: string): RequestColumn[] {
    return [...(this.#callers.get(service) ?? [])]
      .sort(([, a], [, b]) => b - a)
      .slice(0, MAX_FOLLOWED)
      .flatMap(([caller]) => this.#ofService(caller))
      .map(withoutMissing)
  }

  #ofService(service: string | null): readonly RequestColumn[] {
    const { columns, leftOut } = this.#read.of(service)
    const isKnown = this.leftOut.some((one) => one.service === service)
    if (!isKnown) this.leftOut.push(...leftOut)
    return columns
  }
}

/** @param others columns that must divide operations */
function codedOf(
  measured: Measured,
  columns: readonly RequestColumn[],
  others: ReadonlySet<RequestColumn>,
): Divided {
  const { units, measure } = measured
  const known = new Map<string, Coded>()
  let size = 0
  for (const column of columns) {
    // The way a call ended is an outcome, not a condition.
    if (saysOutcome(column.attribute)) continue
    if (others.has(column) && !dividesStrata(column, measured)) continue
    const codes = new Uint16Array(units.length)
    for (let row = 0; row < codes.length; row++) codes[row] = column.codes[units[row]!]!
    size += codes.length
    if (measure === 'errors' && tellsFailures(codes, measured)) continue
    const key = partitionKey(codes, column.values.length)
    if (key === null) continue
    const same = known.get(key)
    if (same === undefined) known.set(key, { column, codes, equal: [] })
    else same.equal.push({ column, codes })
  }
  return { coded: [...known.values()], size }
}

/** Merges missing with rare values: for a called service, missing only tells that it was not called. */
const withoutMissing = remembered((column: RequestColumn): RequestColumn => {
  const codes = column.codes.map((code) => (code === MISSING ? RARE : code))
  return { ...column, codes, hasRare: column.hasRare || column.hasMissing, hasMissing: false }
})

/** Returns a key that is equal for columns that divide rows the same way; `null` for those that do not divide them. */
function partitionKey(codes: Uint16Array, size: number): string | null {
  const places = new Uint16Array(size)
  let [one, two, count] = [0, 0, 0]
  for (let row = 0; row < codes.length; row++) {
    const code = codes[row]!
    if (places[code] === 0) places[code] = ++count
    const place = places[code]!
    one = (Math.imul(one, 31) + place) | 0
    two = (Math.imul(two, 1_000_003) ^ place) | 0
  }
  return count < 2 ? null : `${count} ${one} ${two}`
}

/** Returns services that another share of the requests of some root call than before. */
function servicesOfOthers(flows: FlowSet): Set<string> {
  const shapes = requestsOfShapes(flows)
  const add = (counts: [number, number], [before, after]: readonly [number, number]) => {
    counts[BEFORE] += before
    counts[AFTER] += after
  }
  const none = (): [number, number] => [0, 0]
  const ofRoots = new Map<string, [number, number]>()
  const calling = new Map<string, Map<string, [number, number]>>()
  for (const [shape, { visits }] of allVisits(flows)) {
    const [root, counts] = [rootName(flows, shape), shapes.get(shape) ?? none()]
    add(getOrInsert(ofRoots, root, none), counts)
    for (const service of new Set(visits.slice(1).map((visit) => visit.service))) {
      const roots = getOrInsert(calling, service, () => new Map<string, [number, number]>())
      add(getOrInsert(roots, root, none), counts)
    }
  }
  const isOther = (roots: ReadonlyMap<string, readonly [number, number]>) =>
    [...roots].some(([root, [before, after]]) => {
      const [ofBefore, ofAfter] = ofRoots.get(root)!
      return twoProportionsTest(before, ofBefore, after, ofAfter).p * roots.size < ALIKE_LEVEL
    })
  return new Set([...calling].flatMap(([service, roots]) => (isOther(roots) ? service : [])))
}

/**
 * Returns columns that tell which requests call a service, for services that some but not all requests call, in both
 * periods. If a request lost spans, the calls that it does not make are unknown.
 */
function calledColumns(flows: FlowSet, most = 40): RequestColumn[] {
  const isCut = lostSome(flows)
  const counts = requestsOfShapes(flows)
  const calls = new Map<string, Set<number>>()
  const requests = new Map<string, number>()
  for (const [shape, { visits }] of allVisits(flows)) {
    for (const service of new Set(visits.slice(1).map((visit) => visit.service))) {
      getOrInsert(calls, service, () => new Set()).add(shape)
      addTo(requests, service, sum(counts.get(shape) ?? []))
    }
  }
  return [...requests]
    .filter(([, count]) => Math.min(count, flows.size - count) >= MIN_KNOWN)
    .filter(([service]) => {
      const shapes = [...calls.get(service)!]
      return [BEFORE, AFTER].every((period) => shapes.some((one) => counts.get(one)?.[period]))
    })
    .sort(([, a], [, b]) => b - a)
    .slice(0, most)
    .map(([service]) => {
      const ofShape = new Uint16Array(flows.shapes.size).fill(MISSING)
      for (const shape of calls.get(service)!) ofShape[shape] = FIRST_VALUE
      const codes = new Uint16Array(flows.size)
      for (let one = 0; one < codes.length; one++) {
        const code = ofShape[flows.shapeOf[one]!]!
        codes[one] = code === MISSING && isCut(one) ? RARE : code
      }
      return {
        attribute: service,
        kind: 'called',
        service: null,
        values: ['', '', 'called'],
        hasMissing: true,
        hasRare: codes.includes(RARE),
        codes,
      }
    })
}
