// Over all attributes of a period: the loops index with `!`.
import { greatest, sum } from 'd3-array'
import { getOrInsert } from '../../core/entries.ts'
import { OptionError } from '../../core/errors.ts'
import { growRegressionTree } from '../../stats/decision-tree/grow-regression-tree.ts'
import type { RegressionNode } from '../../stats/decision-tree/tree.ts'
import { type CallForest, callWeights } from '../calls/index-calls.ts'
import { type Feature, partitionBy } from './feature.ts'

/** What names of features of attributes, of their presence, and of events begin with. */
export const ATTRIBUTE = 'attribute:'
export const PRESENCE = 'has:'
export const EVENT = 'event:'

/** Parts of a feature of presence. */
export const PRESENT = 'present'
export const ABSENT = 'absent'

/** The attribute that holds names of the events of a span. */
const EVENT_KEY = 'event'

/** An attribute with more values than this is an id or a measurement, not a kind of request. */
const MAX_VALUES = 16
/** Features of values, and of presence, that are looked at. */
const MAX_KEYS = 24
/** Cuts one after the other at which a measurement is divided: into four parts at most. */
const MAX_CUTS_DEEP = 2

/**
 * The attributes and events by which requests can be divided: those with at least two and at most 16
 * values that `least` requests or more of a period have each; numbers, cut where they tell slow calls
 * from fast ones; and what some calls of an operation have and others lack. At most 24 by value and 24
 * by presence, those that most requests have.
 */
export function attributeFeatures(forests: readonly CallForest[], least: number): Feature[] {
  const { values, presences } = knownAttributes(forests, least)
  const most = (found: readonly KnownFeature[]) =>
    [...found]
      .sort((a, b) => b.requests - a.requests || (a.feature.name < b.feature.name ? -1 : 1))
      .slice(0, MAX_KEYS)
      .map(({ feature }) => feature)
  return [...most(values), ...most(presences)]
}

/** The numbers among the attributes, divided where they tell slow calls from fast ones; by name. */
export function numberFeatures(
  forests: readonly CallForest[],
  least: number,
): ReadonlyMap<string, Feature> {
  const { values } = knownAttributes(forests, least)
  return new Map(values.filter(({ isCut }) => isCut).map(({ feature }) => [feature.name, feature]))
}

interface KnownFeature {
  readonly feature: Feature
  /** How many requests have it. */
  readonly requests: number
  readonly isCut?: boolean
}

/** An attribute, or an event, of one period. */
interface Recorded {
  /** How many requests have each value first. */
  readonly values: Map<string, number>
  /** Of each call that has it as a number: the call, and that. */
  readonly calls: number[]
  readonly numbers: number[]
  /** How many calls along each path have it. */
  readonly ofPath: Map<number, number>
  /** The same for what the same calls have. */
  mark: number
  requests: number
}

function knownAttributes(forests: readonly CallForest[], least: number) {
  const periods = forests.map(recordedIn)
  const callsOf = forests.map(({ path }) => tallied(path))
  const values: KnownFeature[] = []
  const presences = new Map<string, KnownFeature>()
  for (const key of new Set(periods.flatMap((period) => [...period.keys()]))) {
    const own = periods.map((period) => period.get(key))
    const requests = sum(own, (one) => one?.requests ?? 0)
    const isEvent = key.startsWith(EVENT)
    const large = new Set<string>()
    for (const one of own) {
      for (const [value, size] of one?.values ?? []) if (size >= least) large.add(value)
    }
    const isKind = own.every((one) => (one?.values.size ?? 0) <= MAX_VALUES)
    const edges = isKind ? undefined : cutsOf(forests, own, least)
    if (!isEvent && (isKind ? large.size > 1 : edges!.length > 0)) {
      values.push({
        requests,
        feature: attributeFeature(key, edges && { edges }),
        isCut: edges !== undefined,
      })
    }
    const isPart = own.some((one, period) =>
      Array.from(one?.ofPath ?? []).some(([path, has]) => {
        const all = forests.map((_, other) => callsOf[other]!.get(path) ?? 0)
        const having = own.map((each) => each?.ofPath.get(path) ?? 0)
        const lacks = all.some((count, other) => count - having[other]! >= least)
        return has >= least && lacks && callsOf[period]!.has(path)
      }),
    )
    // What the same calls have is one feature.
    const mark = own.map((one) => `${one?.requests} ${one?.mark}`).join()
    if (isPart && !presences.has(mark)) {
      const feature = isEvent ? eventFeature(key.slice(EVENT.length)) : presenceFeature(key)
      presences.set(mark, { requests, feature })
    }
  }
  return { values, presences: [...presences.values()] }
}

function tallied(of: Iterable<number>): Map<number, number> {
  const counts = new Map<number, number>()
  for (const one of of) counts.set(one, (counts.get(one) ?? 0) + 1)
  return counts
}

/** What the calls of a period have: attributes by key, and events as `event:NAME`. */
function recordedIn(forest: CallForest): Map<string, Recorded> {
  const { requestTrace, requestOffsets, serverSpan, clientSpan, path, traces } = forest
  const recorded = new Map<string, Recorded>()
  requestTrace.forEach((_, request) => {
    const seen = new Set<string>()
    for (let call = requestOffsets[request]!; call < requestOffsets[request + 1]!; call++) {
      const ofCall = new Set<string>()
      for (const span of [serverSpan[call]!, clientSpan[call]!]) {
        if (span < 0) continue
        for (const [own, value] of traces.attributes.entries(span)) {
          const key = own === EVENT_KEY ? `${EVENT}${value}` : own
          if (ofCall.has(key)) continue
          ofCall.add(key)
          const one = getOrInsert(recorded, key, newlyRecorded)
          one.ofPath.set(path[call]!, (one.ofPath.get(path[call]!) ?? 0) + 1)
          one.mark = (Math.imul(one.mark, 31) + call + 1) | 0
          if (typeof value === 'number') {
            one.calls.push(call)
            one.numbers.push(value)
          }
          // The first of a request's calls that has it counts, as in the feature itself.
          if (seen.has(key)) continue
          seen.add(key)
          one.requests++
          const text = String(value)
          if (one.values.size > MAX_VALUES && !one.values.has(text)) continue
          one.values.set(text, (one.values.get(text) ?? 0) + 1)
        }
      }
    }
  })
  return recorded
}

function newlyRecorded(): Recorded {
  return { values: new Map(), calls: [], numbers: [], ofPath: new Map(), mark: 0, requests: 0 }
}

/**
 * Where a number tells slow calls from fast ones, as a regression tree cuts it: in the period, and of the
 * times (the calls' own, and their requests') of which it tells most. Nowhere where it tells none, or is an
 * id: whole numbers, each another.
 */
function cutsOf(
  forests: readonly CallForest[],
  own: readonly (Recorded | undefined)[],
  least: number,
): number[] {
  const trees = own.flatMap((one, period) => {
    const forest = forests[period]!
    if (one === undefined || isId(one.numbers) || one.numbers.length < 2 * least) return []
    const { latencyUs, serverUs, requestOffsets, request } = forest
    const values = Float64Array.from(one.numbers)
    const weights = callWeights(forest, one.calls)
    const times = [
      (call: number) => serverUs[call]!,
      (call: number) => latencyUs[requestOffsets[request[call]!]!]!,
    ]
    return times.map((timeOf) => {
      const target = timesByPath(forest, one.calls, timeOf)
      const { root } = growRegressionTree([{ name: '', kind: 'numeric', values }], target, {
        minLeaf: least,
        maxDepth: MAX_CUTS_DEEP,
        ...(weights && { weights }),
      })
      return { root, values, told: root.kind === 'split' ? root.gain / root.sd ** 2 : 0 }
    })
  })
  const best = greatest(trees, (tree) => tree.told)
  if (best === undefined) return []
  const sorted = best.values.toSorted()
  const edges = thresholds(best.root).map((last) => {
    const next = sorted.find((value) => value > last) ?? last
    const middle = Number(((last + next) / 2).toPrecision(2))
    return middle >= last && middle < next ? middle : last
  })
  return [...new Set(edges)].sort((a, b) => a - b)
}

function isId(numbers: readonly number[]): boolean {
  return new Set(numbers).size === numbers.length && numbers.every(Number.isInteger)
}

/** Logarithms of times of calls, beside the mean of all calls along the same path. */
function timesByPath(
  { path }: CallForest,
  calls: readonly number[],
  timeOf: (call: number) => number,
): Float64Array {
  const logs = calls.map((call) => Math.log(Math.max(1, timeOf(call))))
  const ofPath = new Map<number, { sum: number; count: number }>()
  calls.forEach((call, i) => {
    const all = getOrInsert(ofPath, path[call]!, () => ({ sum: 0, count: 0 }))
    all.sum += logs[i]!
    all.count++
  })
  return Float64Array.from(calls, (call, i) => {
    const all = ofPath.get(path[call]!)!
    return logs[i]! - all.sum / all.count
  })
}

function thresholds(node: RegressionNode): number[] {
  if (node.kind === 'leaf') return []
  const own = node.test.kind === 'threshold' ? [node.test.value] : []
  return [...own, ...node.children.flatMap(thresholds)]
}

/**
 * The value of an attribute: of a call, on its own spans; of a request, on the first of its calls
 * that has it. With a pattern, whether the value (as text) fits it: `fits`, `fits not`, or
 * `absent`.
 */
export function attributeFeature(
  key: string,
  { pattern, edges }: { readonly pattern?: RegExp; readonly edges?: readonly number[] } = {},
): Feature {
  if (pattern?.global || pattern?.sticky) {
    throw new OptionError('pattern', pattern, 'a pattern without the flags g and y')
  }
  const named = (value: string | undefined) => {
    if (edges !== undefined) return value === undefined ? undefined : binName(Number(value), edges)
    if (pattern === undefined) return value
    if (value === undefined) return ABSENT
    return pattern.test(value) ? 'fits' : 'fits not'
  }
  return {
    name: pattern === undefined ? ATTRIBUTE + key : `${ATTRIBUTE}${key}~${pattern.source}`,
    ofRequests({ forest }) {
      const { requestTrace, requestOffsets } = forest
      return partitionBy(requestTrace.length, (request) => {
        const end = requestOffsets[request + 1]!
        for (let call = requestOffsets[request]!; call < end; call++) {
          const value = attributeOf(forest, call, key)
          if (value !== undefined) return named(value)
        }
        return named(undefined)
      })
    },
    ofCalls: ({ forest }, calls) =>
      partitionBy(calls.length, (i) => named(attributeOf(forest, calls[i]!, key))),
  }
}

/** Whether a call, or any call of a request, has an attribute. */
export function presenceFeature(key: string): Feature {
  return featureOfPresence(
    PRESENCE + key,
    (forest, call) => attributeOf(forest, call, key) !== undefined,
  )
}

/** Whether an event happened in a call, or in any call of a request. */
export function eventFeature(name: string): Feature {
  return featureOfPresence(EVENT + name, (forest, call) =>
    [forest.serverSpan[call]!, forest.clientSpan[call]!].some((span) => {
      if (span < 0) return false
      for (const [key, value] of forest.traces.attributes.entries(span)) {
        if (key === EVENT_KEY && value === name) return true
      }
      return false
    }),
  )
}

function featureOfPresence(
  name: string,
  has: (forest: CallForest, call: number) => boolean,
): Feature {
  const part = (isPresent: boolean) => (isPresent ? PRESENT : ABSENT)
  return {
    name,
    ofRequests: ({ forest }) =>
      partitionBy(forest.requestTrace.length, (request) => {
        const [first, end] = [forest.requestOffsets[request]!, forest.requestOffsets[request + 1]!]
        for (let call = first; call < end; call++) if (has(forest, call)) return PRESENT
        return ABSENT
      }),
    ofCalls: ({ forest }, calls) => partitionBy(calls.length, (i) => part(has(forest, calls[i]!))),
  }
}

/** `≤ 10`, `> 10 and ≤ 20`, `> 20`; undefined for what is no number. */
function binName(value: number, edges: readonly number[]): string | undefined {
  if (Number.isNaN(value)) return undefined
  const at = edges.findIndex((edge) => value <= edge)
  const low = edges[at < 0 ? edges.length - 1 : at - 1]
  const ends = [low === undefined ? '' : `> ${low}`, at < 0 ? '' : `≤ ${edges[at]}`]
  return ends.filter((end) => end !== '').join(' and ')
}

/** What `binName` begins with. */
export const BIN = /^[>≤] /

function attributeOf(forest: CallForest, call: number, key: string): string | undefined {
  const { attributes } = forest.traces
  const client = forest.clientSpan[call]!
  const value =
    attributes.get(forest.serverSpan[call]!, key) ??
    (client < 0 ? undefined : attributes.get(client, key))
  return value === undefined ? undefined : String(value)
}
