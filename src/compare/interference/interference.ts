// Runs once a call: the loops index with `!`.

import { group, max, min } from 'd3-array'
import { isOfPlace } from '../../calls/attribute-columns.ts'
import { spanTimes } from '../../calls/span-times.ts'
import { allVisits } from '../../calls/visits.ts'
import { getOrInsert } from '../../core/entries.ts'
import { defineOptions, flag } from '../../core/options.ts'
import { memoized } from '../../core/remembered.ts'
import { columnarStage, own, rowTable, type StageTable } from '../../core/stage.ts'
import { printable } from '../../core/words.ts'
import { AFTER, BEFORE, type FlowSet } from '../../flows/flow-set.ts'
import { operationName } from '../../flows/node-labels.ts'
import { NS } from '../../flows/span-tree.ts'
import { ascendingOrder } from '../../stats/ascending-order.ts'
import { quantile } from '../../stats/quantile.ts'
import { isNameLike, isNumberText } from '../../traces/attribute-names.ts'
import { Dictionary } from '../../traces/dictionary.ts'
import { groupRows, rowsWhere } from '../../traces/group-rows.ts'
import { finishColumns, growingColumns } from '../../traces/growing-columns.ts'
import type { RequestColumn, RequestColumns, ResourceUses } from '../segments/request-columns.ts'
import type { StepChanges } from '../steps/step-changes.ts'
import type { StepStratum } from '../steps/step-strata.ts'
import { type Step, stepKey } from '../steps/step-times.ts'
import { BLOCKS, MAX_CODES, MAX_KEPT, MIN_KNOWN, MIN_SEEN, SMALL } from '../thresholds.ts'

export const INTERFERENCE_OPTIONS = defineOptions({
  interference: flag({
    default: true,
    sentence: 'Find other requests that delay the ones in findings',
  }),
})

/** A step, and the operation that a finding tells. */
export interface ToldStep extends Step {
  readonly operation: string
}

/** Other requests that were under way at the places of slow calls. */
export interface Others {
  /** Operation of these requests; `null` for any. */
  readonly operation: string | null
  /** Attribute they have in common, `host` too; `null` for none. */
  readonly attribute: string | null
  /** Value of the attribute. */
  readonly value: string | null
  /** Name in words: `NFS3 READDIRPLUS of tenant.id = batch-co`. */
  readonly text: string
  /** Resource that they share with the calls. */
  readonly shared: Shared
  /** Share of the time of slow calls, and of usual ones, in which any of them was under way. */
  readonly slow: number
  readonly usual: number
  /** The same for all calls before. */
  readonly before: number
  /** Part of the change that calls took longer by, the more of them were under way. */
  readonly explained: number
  readonly p: number
  /** p corrected for all that was compared. */
  readonly q: number
}

interface InterferenceColumns {
  /** Step that is slower; `null` where the finding has none. */
  readonly step: ToldStep | null
  /** Slow calls after that were compared, and usual ones. */
  readonly slowCalls: number
  readonly usualCalls: number
  /** Requests that hold up the slow calls, the surest first. */
  readonly interferers: readonly Others[]
  /** All compared groups, those that overlap more with slow calls than with usual ones first. */
  readonly compared: readonly Others[]
}

/** Requests that interfere with a step, and the other compared groups: the result of {@link findInterference}. */
export class Interference extends columnarStage<InterferenceColumns>() {
  /** Returns one row per group of other requests that was compared. */
  table(): StageTable {
    const named = new Set(this.interferers)
    return rowTable(this.compared, {
      requests: 'text',
      shared: 'shared',
      interferes: (one) => named.has(one),
      ...own('slow usual before explained p q'),
    })
  }
}

export const NO_INTERFERENCE = new Interference({
  step: null,
  slowCalls: 0,
  usualCalls: 0,
  interferers: [],
  compared: [],
})

export function strataOf(
  { times }: StepChanges,
  told: readonly ToldStep[],
): readonly StepStratum[] {
  const key = stepKey(told[0]!)
  const operations = new Set(told.filter((one) => stepKey(one) === key).map((one) => one.operation))
  const strata = times.find((one) => stepKey(one) === key)?.strata ?? []
  return strata.filter(
    ({ operation, before }) => operations.has(operation) && before.values.length >= MIN_KNOWN,
  )
}

/** Whether a request's calls are compared, or it may only be under way meanwhile, or neither. */
const [CALLS, MEANWHILE] = [2, 1]

export interface TimeWindow {
  readonly recording: number
  readonly fromUs: number
  readonly toUs: number
}

export interface Chosen {
  readonly chosen: Uint8Array
  readonly windows: readonly TimeWindow[]
}

export function chooseRequests(flows: FlowSet, strata: readonly StepStratum[]): Chosen {
  const { recordedIn, startUs, responseTimeUs, size } = flows
  const chosen = new Uint8Array(size)
  const windows: TimeWindow[] = []
  for (const period of ['before', 'after'] as const) {
    const all = new Set<number>()
    for (const stratum of strata) {
      for (const request of stratum[period].recorded.requests) all.add(request)
    }
    const inOrder = ascendingOrder(startUs, Uint32Array.from(all))
    const { rows } = groupRows(
      inOrder.map((request) => recordedIn[request]!),
      flows.epochsUs.length,
    )
    const requests = rows.map((at) => inOrder[at]!)
    const stretches = requests.length > MAX_CODES ? BLOCKS : 1
    for (let stretch = 0; stretch < stretches; stretch++) {
      const first = Math.floor((stretch * requests.length) / stretches)
      const own = requests.slice(first, first + Math.ceil(MAX_CODES / stretches))
      for (const [recording, some] of group(own, (request) => recordedIn[request]!)) {
        const fromUs = min(some, (request) => startUs[request]!)!
        const toUs = max(some, (request) => startUs[request]! + responseTimeUs[request]!)!
        windows.push({ recording, fromUs, toUs })
        for (const request of some) chosen[request] = CALLS
      }
    }
  }
  for (const { recording, fromUs, toUs } of windows) {
    for (let request = 0; request < size; request++) {
      const isMeanwhile =
        recordedIn[request] === recording &&
        startUs[request]! < toUs &&
        startUs[request]! + responseTimeUs[request]! > fromUs
      if (isMeanwhile && chosen[request] === 0) chosen[request] = MEANWHILE
    }
  }
  return { chosen, windows }
}

/** Time of a call in µs, the slowest cut, and how much longer that is than usual: 0 unless it is slow. */
type Timed = readonly [us: number, excessUs: number]

export type Times = ReadonlyMap<number, ReadonlyMap<number, Timed>>

export function timesOf(
  strata: readonly StepStratum[],
  { step, chosen, kinds }: { step: ToldStep; chosen: Uint8Array; kinds: Dictionary },
): Times {
  const timed = new Map<number, Map<number, Timed>>()
  for (const { operation, callingOperation, before, after } of strata) {
    const [usualUs, limitUs] = [quantile(before.values, 0.5), quantile(before.values, 1 - SMALL)]
    const slowest = after.values.filter((us) => us > limitUs)
    const most = slowest.length === 0 ? limitUs : quantile(slowest, 1 - SMALL)
    const kind = kinds.code(kindOf(step.service, operation, callingOperation))
    const own = getOrInsert(timed, kind, () => new Map<number, Timed>())
    for (const { recorded } of [before, after]) {
      const { requests, values } = recorded
      requests.forEach((request, i) => {
        const us = Math.min(values[i]!, most)
        if (chosen[request] === CALLS) own.set(request, [us, us > limitUs ? us - usualUs : 0])
      })
    }
  }
  return timed
}

export interface StepCalls extends Stretches {
  readonly request: Uint32Array
  readonly kind: Uint32Array
  readonly timeUs: Float64Array
  readonly excessUs: Float64Array
}

/** Calls of a step at places of one kind, before and after, in the order of their starts; `null` for too few slow ones. */
export function callsOf(
  { period }: FlowSet,
  { activity, step, times }: { activity: Activity; step: ToldStep; times: Times },
): { readonly before: StepCalls; readonly after: StepCalls } | null {
  const { request, place, kind } = activity
  const isCall = step.kind === 'call'
  const [from, to] = isCall
    ? [activity.askedUs, activity.answeredUs]
    : [activity.startUs, activity.endUs]
  const timed = (row: number) => times.get(kind[row]!)?.get(request[row]!)
  const of = (wanted: number): StepCalls => {
    const isCall = (row: number) =>
      period[request[row]!] === wanted && to[row]! > from[row]! && timed(row) !== undefined
    const rows = ascendingOrder(from, rowsWhere(to.length, isCall))
    const us = (of: (row: number) => number) => Float64Array.from(rows, of)
    return {
      request: rows.map((row) => request[row]!),
      place: rows.map((row) => place[row]!),
      kind: rows.map((row) => kind[row]!),
      startUs: us((row) => from[row]!),
      endUs: us((row) => to[row]!),
      timeUs: us((row) => timed(row)![0]),
      excessUs: us((row) => timed(row)![1]),
    }
  }
  const [before, after] = [of(BEFORE), of(AFTER)]
  const slow = after.excessUs.filter((us) => us > 0).length
  return slow < MIN_KNOWN ? null : { before, after }
}

export type Division = ReturnType<typeof groupsOf>[number]

export interface Group {
  operation: string | null
  attribute: string | null
  value: string | null
  /** Whether others are of the same operation. */
  readonly isPart: boolean
}

/** Divides all requests by operation, by names in attributes of roots and of a service, and by both. */
export function groupsOf(
  flows: FlowSet,
  { columns, chosen, service }: { columns: RequestColumns; chosen: Uint8Array; service: string },
) {
  const { shapes, shapeOf, labels, period, size } = flows
  const requests = Array.from(rowsWhere(size, (request) => chosen[request]! > 0))
  const names = new Dictionary()
  const operations = requests.map((request) =>
    names.code(labels.get(shapes.labels(shapeOf[request]!)[0]!).operation),
  )
  const roots = columns.of(null).columns
  const isNew = ({ attribute, codes, values }: RequestColumn) => {
    const root = roots.find((one) => one.attribute === attribute)
    return requests.some(
      (one) => codes[one]! > 0 && values[codes[one]!] !== root?.values[root.codes[one]!],
    )
  }
  const byName = [...roots, ...columns.of(service).columns.filter(isNew)].filter(isNamed)
  const known = new Map<string, Group>()
  const byOperation = divide(operations, names.size, (code) => ({
    operation: names.value(code),
    attribute: null,
    value: null,
    isPart: false,
  }))
  const named = ({ attribute, values, service: of }: RequestColumn, code: number) =>
    values[code] === ''
      ? null
      : { attribute: of === null ? attribute : `${of} ${attribute}`, value: values[code]! }
  const single = byName.map((column) =>
    divide(codesOf(column), column.values.length, (code) => {
      const name = named(column, code)
      return name && { operation: null, isPart: true, ...name }
    }),
  )
  const both = byName.map((column) => {
    const pairs = codesOf(column).map((code, i) => code * names.size + operations[i]!)
    return divide(pairs, column.values.length * names.size, (pair) => {
      const name = named(column, Math.floor(pair / names.size))
      return name && { operation: names.value(pair % names.size), isPart: true, ...name }
    })
  })
  let room = MAX_KEPT
  return [byOperation, ...single, ...(names.size > 1 ? both : [])].filter(({ groups }) => {
    const fits = groups.length <= room
    if (fits) room -= groups.length
    return fits
  })

  function codesOf({ codes }: RequestColumn): number[] {
    return requests.map((request) => codes[request]!)
  }

  function divide(codes: readonly number[], count: number, nameOf: (code: number) => Group | null) {
    const counts = new Uint32Array(count)
    codes.forEach((code, i) => {
      if (period[requests[i]!] === AFTER) counts[code]!++
    })
    const hashes = new Uint32Array(count)
    codes.forEach((code, i) => {
      hashes[code] = Math.imul(hashes[code]!, 31) + requests[i]!
    })
    const groups: Group[] = []
    const numberOf = Array.from(counts, (some, code) => {
      const name = some < MIN_SEEN ? null : nameOf(code)
      if (name === null) return -1
      // The same requests are one group, named by all that they have in common.
      const key = `${some} ${hashes[code]}`
      const same = known.get(key)
      if (same === undefined) {
        known.set(key, name)
        return groups.push(name) - 1
      }
      same.operation ??= name.operation
      if (same.attribute === null)
        Object.assign(same, { attribute: name.attribute, value: name.value })
      return -1
    })
    const groupOf = new Int32Array(size).fill(-1)
    codes.forEach((code, i) => {
      groupOf[requests[i]!] = numberOf[code]!
    })
    return { groupOf, groups }
  }
}

/** Whether the values of a column are names, which tell whom requests are from and not where they begin. */
function isNamed({ kind, attribute, values }: RequestColumn): boolean {
  const known = values.filter((value) => value !== '')
  if (kind !== 'values' || isOfPlace(attribute)) return false
  return isNameLike(attribute) || !known.every(isNumberText)
}

export function textOf({ operation, attribute, value }: Omit<Group, 'isPart'>): string {
  const which = attribute === null ? '' : `${printable(attribute)} = ${printable(value ?? '')}`
  if (operation === null) return `requests of ${which}`
  const name = operationName({ operation })
  return which === '' ? name : `${name} of ${which}`
}

/** Something that requests may share: `'service'`, `'host'`, or an attribute such as `lock.name`. */
export type Shared = string

/** Stretches of time at places. */
export interface Stretches {
  /** Service, host or resource, with its recording. */
  readonly place: Uint32Array
  readonly startUs: Float64Array
  readonly endUs: Float64Array
}

/** Where requests were, and when: one row a visit. */
export interface Activity extends Stretches {
  readonly request: Uint32Array
  readonly kind: Uint32Array
  /** When the visit was asked for and answered, as its caller saw it. */
  readonly askedUs: Float64Array
  readonly answeredUs: Float64Array
}

/** Names a kind of visit: equal for the same operation of a service, called by the same one. */
export function kindOf(service: string, operation: string, callingOperation: string): string {
  return JSON.stringify([service, operation, callingOperation])
}

/** A visit of a shape; `host` is empty where none is recorded. */
interface Stay {
  readonly kind: number
  readonly span: number
  readonly atCaller: number
  readonly service: string
  readonly host: string
}

/**
 * Reads where the chosen requests were, and when: at services, on hosts, and with shared things that attributes name,
 * from the first span of the visit that names it to the last (a lock, for example). For services and hosts, reads only
 * kinds of visits that occur where calls of `called` kinds are.
 */
export function activitiesOf(
  flows: FlowSet,
  {
    resources,
    chosen,
    kinds,
    called,
  }: {
    readonly resources: ResourceUses
    readonly chosen: Uint8Array
    readonly kinds: Dictionary
    readonly called: ReadonlySet<number>
  },
): ReadonlyMap<Shared, Activity> {
  const spans = spanTimes(flows)
  const visits = allVisits(flows)
  const stays = staysByShape(flows, kinds)
  const isNear = nearKinds(stays, called)
  const places = new Dictionary()
  const columnsOf = memoized((_: Shared) =>
    growingColumns({
      ...({ request: 'u32', place: 'u32', kind: 'u32' } as const),
      ...({ startUs: 'f64', endUs: 'f64', askedUs: 'f64', answeredUs: 'f64' } as const),
    }),
  )
  const found = new Set<Shared>(['service', 'host'])
  let use = 0
  for (let request = 0; request < flows.size; request++) {
    const times = spans.of(request)
    // A snapshot may carry the latencies of some requests only.
    if (chosen[request] === 0 || times.length === 0) continue
    const shape = flows.shapeOf[request]!
    const own = stays.get(shape)!
    const at = (ns: number) => flows.startUs[request]! + ns / NS
    const add = (shared: Shared, name: string, kind: number, us: readonly number[]) => {
      const place = places.code(`${shared} ${name}`)
      const columns = columnsOf(shared)
      columns.request.push(request)
      columns.place.push(place * flows.epochsUs.length + flows.recordedIn[request]!)
      columns.kind.push(kind)
      columns.startUs.push(at(us[0]!))
      columns.endUs.push(at(us[1]!))
      columns.askedUs.push(at(us[2]!))
      columns.answeredUs.push(at(us[3]!))
    }
    for (const { kind, span, atCaller, service, host } of own) {
      if (!isNear.has(kind)) continue
      const us = [span, atCaller].flatMap((one) => [times[2 * one]!, times[2 * one + 1]!])
      add('service', service, kind, us)
      if (host !== '') add('host', host, kind, us)
    }
    while (use < resources.request.length && resources.request[use]! < request) use++
    const used = new Map<string, { shared: string; name: string; kind: number; spans: number[] }>()
    for (; resources.request[use] === request; use++) {
      const span = resources.span[use]!
      const { visits: list, visitOf } = visits.get(shape)!
      const number = list.indexOf(visitOf[span]!)
      const shared = resources.names[resources.attribute[use]!]!
      const name = resources.names[resources.value[use]!]!
      const key = JSON.stringify([number, shared, name])
      const { kind } = own[number]!
      getOrInsert(used, key, () => ({ shared, name, kind, spans: [] })).spans.push(span)
    }
    for (const { shared, name, kind, spans } of used.values()) {
      const first = Math.min(...spans.map((one) => times[2 * one]!))
      const last = Math.max(...spans.map((one) => times[2 * one + 1]!))
      found.add(shared)
      add(shared, name, kind, [first, last, first, last])
    }
  }
  return new Map(Array.from(found, (shared) => [shared, finishColumns(columnsOf(shared))]))
}

/** Returns the visits of each shape in their order, then the calls of callees that record no spans. */
function staysByShape(flows: FlowSet, kinds: Dictionary): ReadonlyMap<number, readonly Stay[]> {
  const { labels, shapes } = flows
  const kind = (...names: Parameters<typeof kindOf>) => kinds.code(kindOf(...names))
  return new Map(
    Array.from(allVisits(flows), ([shape, { visits }]) => {
      const codes = shapes.labels(shape)
      const recorded = visits.map(
        ({ service, operation, callingOperation, entry, atCaller }): Stay => ({
          kind: kind(service, operation, callingOperation),
          span: entry,
          atCaller,
          service,
          host: labels.get(codes[2 * entry]!).host,
        }),
      )
      const unrecorded = visits.flatMap(({ operation: calling, calls }) =>
        calls
          .filter(({ called }) => called.length === 0)
          .map(({ span, service, operation }): Stay => {
            const own = kind(service, operation, calling)
            return { kind: own, span, atCaller: span, service, host: '' }
          }),
      )
      return [shape, [...recorded, ...unrecorded]] as const
    }),
  )
}

/** Returns the kinds of visits that occur at services, or on hosts, of calls of `called` kinds. */
function nearKinds(
  shapes: ReadonlyMap<number, readonly Stay[]>,
  called: ReadonlySet<number>,
): ReadonlySet<number> {
  const stays = [...shapes.values()].flat()
  const calls = stays.filter(({ kind }) => called.has(kind))
  const services = new Set(calls.map(({ service }) => service))
  const hosts = new Set(calls.map(({ host }) => host).filter((host) => host !== ''))
  const near = stays.filter(({ service, host }) => services.has(service) || hosts.has(host))
  return new Set(near.map(({ kind }) => kind))
}

/** How long requests of each group were under way during stretches: group by group, a number each stretch. */
interface UnderWay {
  /** Each visit by itself, up to its usual end. */
  readonly eachUs: Float64Array
  /** Any of the group: visits at the same time count once. */
  readonly anyUs: Float64Array
}

/** Shorter overlaps are none: they come from rounding. */
const MIN_US = 1

/**
 * Returns, for each division of requests into groups, how long others of each group were under way at the place of
 * each stretch during it; a stretch's own request does not count.
 *
 * @param divisions the group of each request, and their number; -1 for none
 */
export function groupsUnderWay(
  activity: Stretches & Pick<Activity, 'request'>,
  stretches: Stretches & { readonly request?: Uint32Array },
  {
    usualEndUs,
    divisions,
  }: {
    usualEndUs: Float64Array
    divisions: readonly { readonly groupOf: ArrayLike<number>; readonly size: number }[]
  },
): UnderWay[] {
  const { length } = stretches.startUs
  const under = divisions.map(({ groupOf, size }) => ({
    groupOf,
    eachUs: new Float64Array(size * length),
    anyUs: new Float64Array(size * length),
    // Until when the group is known to be under way in the stretch that was met last.
    untilUs: new Float64Array(size),
    last: new Int32Array(size).fill(-1),
  }))
  eachMeeting(activity, stretches, (stretch, row) => {
    const request = activity.request[row]!
    if (request === stretches.request?.[stretch]) return
    const fromUs = Math.max(activity.startUs[row]!, stretches.startUs[stretch]!)
    const toUs = Math.min(activity.endUs[row]!, stretches.endUs[stretch]!)
    if (toUs - fromUs < MIN_US) return
    const usualUs = Math.min(usualEndUs[row]!, toUs) - fromUs
    for (const { groupOf, eachUs, anyUs, untilUs, last } of under) {
      const group = groupOf[request]!
      if (group < 0) continue
      const at = group * length + stretch
      if (usualUs >= MIN_US) eachUs[at]! += usualUs
      if (last[group] !== stretch) untilUs[group] = fromUs
      last[group] = stretch
      if (toUs <= untilUs[group]!) continue
      anyUs[at]! += toUs - Math.max(fromUs, untilUs[group]!)
      untilUs[group] = toUs
    }
  })
  return under
}

/** Calls `meet` for each stretch with each row of activity that overlaps it at its place, in the order of both starts. */
function eachMeeting(
  activity: Stretches,
  stretches: Stretches,
  meet: (stretch: number, row: number) => void,
): void {
  const [rowsAt, stretchesAt] = [inOrderAt(activity), inOrderAt(stretches)]
  for (const [place, own] of stretchesAt) {
    const rows = rowsAt.get(place) ?? new Uint32Array()
    const active: number[] = []
    let next = 0
    for (const stretch of own) {
      const [startUs, endUs] = [stretches.startUs[stretch]!, stretches.endUs[stretch]!]
      while (next < rows.length && activity.startUs[rows[next]!]! <= startUs) {
        active.push(rows[next++]!)
      }
      let left = 0
      for (let i = 0; i < active.length; i++) {
        const row = active[i]!
        if (activity.endUs[row]! <= startUs) continue
        active[left++] = row
        meet(stretch, row)
      }
      active.length = left
      for (let ahead = next; activity.startUs[rows[ahead]!]! < endUs; ahead++) {
        meet(stretch, rows[ahead]!)
      }
    }
  }
}

/** Returns the rows of each place in the order of their starts. */
function inOrderAt({ place, startUs }: Stretches): ReadonlyMap<number, Uint32Array> {
  const order = ascendingOrder(startUs)
  const places = order.map((row) => place[row]!)
  const { offsets, rows } = groupRows(places, (max(places) ?? 0) + 1)
  return new Map(
    Array.from(new Set(places), (one) => [
      one,
      rows.subarray(offsets[one], offsets[one + 1]).map((at) => order[at]!),
    ]),
  )
}
