// Over all attributes of a period: the loops index with `!`.
import { greatest, rollup, sum } from 'd3-array'
import { type AttributeColumn, AttributeReader, numbersOf } from '../../calls/attribute-columns.ts'
import { type CallForest, callWeights } from '../../calls/call-forest.ts'
import { getOrInsert } from '../../core/entries.ts'
import { OptionError } from '../../core/errors.ts'
import { remembered } from '../../core/remembered.ts'
import { growRegressionTree } from '../../stats/decision-tree/grow-regression-tree.ts'
import type { RegressionNode } from '../../stats/decision-tree/tree.ts'
import { type AttributeValue, TEXT } from '../../traces/attributes.ts'
import { rowsWhere } from '../../traces/group-rows.ts'
import { saysOutcome } from '../../traces/outcomes.ts'
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

/** What the calls of a period recorded, by name; events as `event:NAME`. */
const recordedIn = remembered((forest: CallForest): ReadonlyMap<string, AttributeColumn> => {
  const { serverSpan, clientSpan, traces } = forest
  const { attributes } = traces
  const reader = new AttributeReader(serverSpan.length)
  const eventKey = attributes.keys.find(EVENT_KEY)
  serverSpan.forEach((server, call) => {
    for (const span of [server, clientSpan[call]!]) {
      if (span < 0) continue
      reader.read(call, attributes, span)
      if (eventKey === undefined) continue
      attributes.visit(span, (key, value, type) => {
        const name = type === TEXT ? attributes.text(value) : String(value)
        if (key === eventKey) reader.add(call, EVENT + name, true)
      })
    }
  })
  return new Map(reader.finish().map((column) => [column.attribute, column]))
})

/**
 * Finds what divides requests: attributes of at least two and at most 16 values that `least` requests of
 * a period have each; numbers, cut where they tell slow calls from fast ones; and what some calls of an
 * operation have and others lack. At most 24 by value and 24 by presence, those that most requests have.
 */
export function attributeFeatures(forests: readonly CallForest[], least: number): Feature[] {
  const values: KnownFeature[] = []
  const presences = new Map<string, KnownFeature>()
  const callsOf = forests.map(({ path }) => tallied(path))
  for (const key of new Set(forests.flatMap((forest) => [...recordedIn(forest).keys()]))) {
    if (key === EVENT_KEY) continue
    const isEvent = key.startsWith(EVENT)
    const own = columnsOf(forests, key)
    const requests = sum(own, ({ codes }, period) => firstCodes(forests[period]!, codes).length)
    const feature = isEvent ? null : valueFeature(forests, key, least)
    if (feature !== null) values.push({ feature, requests })
    const having = own.map(({ codes }, period) =>
      tallied(forests[period]!.path.filter((_, call) => codes[call]! > 0)),
    )
    const lacks = (path: number) =>
      callsOf.some(
        (calls, period) => (calls.get(path) ?? 0) - (having[period]!.get(path) ?? 0) >= least,
      )
    if (!having.some((paths) => [...paths].some(([path, has]) => has >= least && lacks(path))))
      continue
    // What the same calls have is one feature.
    const mark = own
      .map(({ codes, known }) =>
        codes.reduce(
          (hash, code, call) => (code > 0 ? (Math.imul(hash, 31) + call) | 0 : hash),
          known,
        ),
      )
      .join()
    getOrInsert(presences, mark, () => ({ requests, feature: presenceFeature(key) }))
  }
  return [...mostRecorded(values), ...mostRecorded([...presences.values()])]
}

interface KnownFeature {
  readonly feature: Feature
  /** How many requests have it. */
  readonly requests: number
}

function mostRecorded(found: KnownFeature[]): Feature[] {
  return found
    .sort((a, b) => b.requests - a.requests || (a.feature.name < b.feature.name ? -1 : 1))
    .slice(0, MAX_KEYS)
    .map(({ feature }) => feature)
}

function columnsOf(forests: readonly CallForest[], key: string): AttributeColumn[] {
  return forests.map((forest) => columnOf(forest, key))
}

function columnOf(forest: CallForest, key: string): AttributeColumn {
  const none = () => ({ codes: new Uint32Array(forest.path.length), values: [], known: 0 })
  return recordedIn(forest).get(key) ?? { attribute: key, dropped: null, ...none() }
}

function tallied(of: Iterable<number>): Map<number, number> {
  return rollup(
    of,
    ({ length }) => length,
    (one) => one,
  )
}

/** Of each request that has an attribute: the code of its first call that has it. */
function firstCodes(forest: CallForest, codes: Uint32Array): Uint32Array {
  return forest.requestTrace
    .map((_, request) => codes[firstCall(forest, codes, request)] ?? 0)
    .filter((code) => code > 0)
}

/** The first call of a request that has an attribute; -1 where none has. */
function firstCall({ requestOffsets }: CallForest, codes: Uint32Array, request: number): number {
  const end = requestOffsets[request + 1]!
  for (let call = requestOffsets[request]!; call < end; call++) if (codes[call]! > 0) return call
  return -1
}

/**
 * Divides by the values of an attribute: by each where several are frequent and few are rare; numbers else
 * where they tell slow calls from fast ones. `null` where neither divides.
 */
export function valueFeature(
  forests: readonly CallForest[],
  key: string,
  least: number,
): Feature | null {
  const columns = columnsOf(forests, key)
  const counts = columns.map(({ codes, values }, period) =>
    rollup(
      firstCodes(forests[period]!, codes),
      ({ length }) => length,
      (code) => values[code - 1]!,
    ),
  )
  const all = new Set(counts.flatMap((own) => [...own.keys()]))
  const isFrequent = (value: AttributeValue) => (own: (typeof counts)[number]) =>
    (own.get(value) ?? 0) >= least
  const frequent = [...all].filter((value) => counts.some(isFrequent(value)))
  const rare = [...all].filter((value) => !counts.every(isFrequent(value)))
  const isKind = counts.every(({ size }) => size <= MAX_VALUES)
  // Several rare numbers would become one kind, whatever their order; outcomes have none.
  const isCut = !isKind || (rare.length > 1 && !saysOutcome(key))
  const edges = isCut ? cutsOf(forests, columns, least) : []
  if (edges.length > 0) return attributeFeature(key, { edges })
  return isKind && frequent.length > 1 ? attributeFeature(key) : null
}

/**
 * Where a number tells slow calls from fast ones, as a regression tree cuts it: in the period, and of the
 * times (the calls' own, and their requests') of which it tells most. Nowhere where it tells none, or is an
 * id: whole numbers, each another.
 */
function cutsOf(
  forests: readonly CallForest[],
  columns: readonly AttributeColumn[],
  least: number,
): number[] {
  const trees = columns.flatMap((column, period) => {
    const forest = forests[period]!
    const { codes, known } = column
    const numbers = numbersOf(column)
    const isId = numbers?.length === known && numbers.every(Number.isInteger)
    if (numbers === null || isId || known < 2 * least) return []
    const { latencyUs, serverUs, requestOffsets, request } = forest
    const calls = rowsWhere(codes.length, (call) => codes[call]! > 0)
    const values = Float64Array.from(calls, (call) => numbers[codes[call]! - 1]!)
    const weights = callWeights(forest, calls)
    const times = [
      (call: number) => serverUs[call]!,
      (call: number) => latencyUs[requestOffsets[request[call]!]!]!,
    ]
    return times.map((timeOf) => {
      const target = timesByPath(forest, calls, timeOf)
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
    const half = (last + next) / 2
    const middle = Number((sorted.every(Number.isInteger) ? Math.floor(half) : half).toPrecision(2))
    return middle >= last && middle < next ? middle : last
  })
  return [...new Set(edges)].sort((a, b) => a - b)
}

/** Logarithms of times of calls, beside the mean of all calls along the same path. */
function timesByPath(
  { path }: CallForest,
  calls: Uint32Array,
  timeOf: (call: number) => number,
): Float64Array {
  const logs = Float64Array.from(calls, (call) => Math.log(Math.max(1, timeOf(call))))
  const means = rollup(
    calls.keys(),
    (own) => sum(own, (i) => logs[i]!) / own.length,
    (i) => path[calls[i]!]!,
  )
  return logs.map((log, i) => log - means.get(path[calls[i]!]!)!)
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
  const name = pattern === undefined ? ATTRIBUTE + key : `${ATTRIBUTE}${key}~${pattern.source}`
  return recordedFeature(name, key, (value) => {
    if (pattern !== undefined && value === undefined) return ABSENT
    if (value === undefined) return undefined
    if (edges !== undefined) return binName(Number(value), edges)
    return pattern === undefined ? String(value) : pattern.test(String(value)) ? 'fits' : 'fits not'
  })
}

/** Whether a call, or any call of a request, has an attribute, or an event `event:NAME`. */
export function presenceFeature(key: string): Feature {
  const name = key.startsWith(EVENT) ? key : PRESENCE + key
  return recordedFeature(name, key, (value) => (value === undefined ? ABSENT : PRESENT))
}

function recordedFeature(
  name: string,
  key: string,
  nameOf: (value: AttributeValue | undefined) => string | undefined,
): Feature {
  const partOf = (forest: CallForest) => {
    const { codes, values } = columnOf(forest, key)
    const names = [nameOf(undefined), ...values.map(nameOf)]
    return { codes, of: (call: number) => names[codes[call] ?? 0] }
  }
  return {
    name,
    ofRequests({ forest }) {
      const { codes, of } = partOf(forest)
      return partitionBy(forest.requestTrace.length, (request) =>
        of(firstCall(forest, codes, request)),
      )
    },
    ofCalls({ forest }, calls) {
      const { of } = partOf(forest)
      return partitionBy(calls.length, (i) => of(calls[i]!))
    },
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
