// Over all attributes of a period: the loops index with `!`.
import { greatest, rollup, sort, sum } from 'd3-array'
import { type AttributeColumn, AttributeReader, numbersOf } from '../../calls/attribute-columns.ts'
import { type CallForest, callWeights, requestStartsUs } from '../../calls/call-forest.ts'
import { countBy, getOrInsert } from '../../core/entries.ts'
import { OptionError } from '../../core/errors.ts'
import { remembered } from '../../core/remembered.ts'
import { growRegressionTree } from '../../stats/decision-tree/grow-regression-tree.ts'
import type { RegressionNode } from '../../stats/decision-tree/tree.ts'
import { SERIES } from '../../traces/attribute-names.ts'
import { type AttributeValue, TEXT } from '../../traces/attributes.ts'
import { rowsWhere } from '../../traces/group-rows.ts'
import { saysOutcome } from '../../traces/outcomes.ts'
import type { ExecutionModel, ExecutionModels } from '../models/execution-models.ts'
import type { RequestModel } from '../recompute/request-model.ts'

export const ATTRIBUTE = 'attribute:'
export const PRESENCE = 'has:'
export const EVENT = 'event:'

/** µs before a request within which others count as its load. */
const LOAD_WINDOW_US = 1e6

/**
 * Load of the system: requests that began in the second up to a request's start, including itself, in powers of two.
 * Unrecorded requests count through those that stand for them.
 */
const loadFeature: Feature = {
  name: 'load',
  ofRequests({ forest }) {
    const { weight } = forest
    const startUs = requestStartsUs(forest)
    const order = sort(startUs.keys(), (request) => startUs[request])
    const loads = new Float64Array(order.length)
    let [first, count] = [0, 0]
    for (const request of order) {
      count += weight[request]!
      while (startUs[request]! - startUs[order[first]!]! > LOAD_WINDOW_US) {
        count -= weight[order[first++]!]!
      }
      loads[request] = count
    }
    return partitionBy(loads.length, (request) => {
      // The power of two that a count of at least 1 belongs to, give or take rounding: `1`, `2-3`, `4-7`, ….
      const low = 2 ** Math.max(0, Math.floor(Math.log2(loads[request]! + 1e-6)))
      return low === 1 ? '1/s' : `${low}-${2 * low - 1}/s`
    })
  },
  ofCalls: null,
}

/** Host that served a request or a call; none if it was not recorded. */
const hostFeature = callFeature('host', ({ forest }) => {
  const { spans, hosts } = forest.traces
  return (call) => hosts.value(spans.host[forest.serverSpan[call]!]!) || undefined
})

/**
 * Calls of a request or a call, and their order: the flow of its execution model. A cache hit takes another flow than a
 * miss.
 */
const callsFeature = callFeature('calls', ({ models, period }) => {
  const flowOf = models.flowOf(period)
  const names = flowNames(models)
  return (call) => names.get(flowOf[call]!)
})

/** Names of flows by their calls; numbered if only the order distinguishes those of one operation. */
const flowNames = remembered((models: ExecutionModels) => {
  const flowsOf = new Map<string, Set<number>>()
  const keyOf = ({ name, nodes }: ExecutionModel) => `${name} ${flowText(nodes)}`
  for (const model of models.models) {
    const key = keyOf(model)
    getOrInsert(flowsOf, key, () => new Set()).add(model.flow)
  }
  return new Map(
    models.models.map((model) => {
      const isOnly = flowsOf.get(keyOf(model))?.size === 1
      return [model.flow, `${flowText(model.nodes)}${isOnly ? '' : ` (flow ${model.flow})`}`]
    }),
  )
})

/** `2 × cart GET, price GET`. */
function flowText(nodes: ExecutionModel['nodes']): string {
  const counts = countBy(nodes, ({ service, operation }) => `${service} ${operation}`)
  const steps = Array.from(counts, ([name, count]) => (count === 1 ? name : `${count} × ${name}`))
  return steps.length === 0 ? 'nothing' : steps.sort().join(', ')
}

/** Operation that a request asked for. */
const operationFeature: Feature = {
  name: 'operation',
  ofRequests: ({ models, forest }) =>
    partitionBy(forest.requestTrace.length, (request) =>
      models.paths.callText(forest.path[forest.requestOffsets[request]!]!),
    ),
  ofCalls: null,
}

/**
 * Feature that divides requests: `'host'` that served them; `'operation'` they asked for; `'calls'`, the calls that
 * they make; `'load'`, requests in the second before; `'attribute:KEY'`, the value of an attribute; `'has:KEY'`, whether
 * it has one; or `'event:NAME'`, whether such an event happened in it.
 */
export type FeatureChoice =
  | 'host'
  | 'operation'
  | 'calls'
  | 'load'
  | `attribute:${string}`
  | `has:${string}`
  | `event:${string}`

/** Features that all traces have; they are tried if none is chosen. */
export const BUILT_IN_FEATURES: readonly Feature[] = [
  hostFeature,
  operationFeature,
  callsFeature,
  loadFeature,
]

/** Prefixes of names of features, with the function that makes a feature of the rest of the name. */
const PREFIXES: readonly (readonly [prefix: string, featureOf: (name: string) => Feature])[] = [
  [ATTRIBUTE, (key) => attributeFeature(key)],
  [PRESENCE, presenceFeature],
  [EVENT, (name) => presenceFeature(EVENT + name)],
]

/** @throws OptionError for an invalid feature. */
export function chooseFeature(by: FeatureChoice, option = 'by'): Feature {
  const named = typeof by === 'string' ? by : ''
  const prefixed = PREFIXES.find(([prefix]) => named.startsWith(prefix) && named !== prefix)
  if (prefixed !== undefined) return prefixed[1](named.slice(prefixed[0].length))
  const builtIn = BUILT_IN_FEATURES.find(({ name }) => name === by)
  if (builtIn !== undefined) return builtIn
  throw new OptionError(
    option,
    by,
    `'host', 'operation', 'calls', 'load', 'attribute:KEY', 'has:KEY' or 'event:NAME'`,
  )
}

/** Whether requests bring it with them: it is not what became of them. */
export function isGiven({ name }: Feature): boolean {
  return name === 'operation' || (name.startsWith(ATTRIBUTE) && !isMonitored(name))
}

/** Whether slowness may change it by itself. */
export function mayFollow({ name }: Feature): boolean {
  return name === 'load' || isMonitored(name)
}

function isMonitored(name: string): boolean {
  return name.startsWith(ATTRIBUTE + SERIES)
}

/** Returns a feature's name in words: `what they call`, `cache.hit`. */
export function featureWords(feature: string): string {
  if (feature === 'calls') return 'what they call'
  if (feature.startsWith(PRESENCE)) return `presence of ${feature.slice(PRESENCE.length)}`
  if (feature.startsWith(EVENT)) return `presence of event ${feature.slice(EVENT.length)}`
  return feature.startsWith(ATTRIBUTE) ? feature.slice(ATTRIBUTE.length) : feature
}

/**
 * Returns what the requests of a part have in common, in words that follow the name of the whole: `on host web-0`,
 * `with cache.hit = true`, `calling cart GET, price GET`.
 */
export function partWords(feature: string, part: string): string {
  if (feature === 'host') return `on host ${part}`
  if (feature === 'calls') return `calling ${part}`
  if (feature === 'operation') return `of ${part}`
  if (feature === 'load') return `at a load of ${part}`
  if (feature.startsWith(PRESENCE) || feature.startsWith(EVENT)) {
    const what = featureWords(feature).replace('presence of ', '')
    return `${part === PRESENT ? 'with' : 'without'} ${what}`
  }
  const key = featureWords(feature)
  return BIN.test(part) ? `with ${key} ${part}` : `with ${key} = ${part}`
}

/** Something about requests and calls, other than how long they take, by which they can be divided. */
export interface Feature {
  /** `host`, `calls`, `load`, `attribute:cache.hit`. */
  readonly name: string
  /** Divides the requests of a period. */
  ofRequests(model: RequestModel): Partition
  /** Divides some calls (rows) of a period; null where the feature is one of requests only. */
  readonly ofCalls: ((model: RequestModel, calls: Uint32Array) => Partition) | null
}

/** Division of requests or calls by a feature. */
export interface Partition {
  /** Number of the part that each belongs to, −1 without a value. */
  readonly codes: Int32Array
  /** Names of the parts. */
  readonly names: readonly string[]
}

/** Divides `count` things by their names; `undefined` if nothing is known. */
export function partitionBy(count: number, nameOf: (row: number) => string | undefined): Partition {
  const known = new Map<string, number>()
  const codes = Int32Array.from({ length: count }, (_, row) => {
    const name = nameOf(row)
    if (name === undefined) return -1
    return getOrInsert(known, name, () => known.size)
  })
  return { codes, names: [...known.keys()] }
}

/** Returns the weight in each part; 1 each without `weight`. */
export function partSizes({ codes, names }: Partition, weight?: Float64Array): Float64Array {
  const sizes = new Float64Array(names.length)
  codes.forEach((code, row) => {
    if (code >= 0) sizes[code]! += weight?.[row] ?? 1
  })
  return sizes
}

/** Most parts of one feature that are tried singly. */
export const MAX_FEATURE_PARTS = 12

/** Parts of at least `least` members, numbers of them. */
export function largeParts(partition: Partition, least: number): number[] {
  return [...partSizes(partition)].flatMap((size, part) => (size >= least ? [part] : []))
}

/** Returns a feature of single calls, which requests have by their first one. */
function callFeature(
  name: string,
  namesOf: (model: RequestModel) => (call: number) => string | undefined,
): Feature {
  const ofCalls = (model: RequestModel, calls: Uint32Array) => {
    const nameOf = namesOf(model)
    return partitionBy(calls.length, (i) => nameOf(calls[i]!))
  }
  return {
    name,
    ofCalls,
    ofRequests: (model) => ofCalls(model, model.forest.requestOffsets.subarray(0, -1)),
  }
}

/** Parts of a feature of presence. */
const PRESENT = 'present'
const ABSENT = 'absent'

/** The attribute that holds names of the events of a span. */
const EVENT_KEY = 'event'

/** An attribute with more values than this is an id or a measurement, not a kind of request. */
const MAX_VALUES = 16
/** Features of values, and of presence, that are looked at. */
const MAX_KEYS = 24
/** Cuts one after the other at which a measurement is divided: into four parts at most. */
const MAX_CUTS_DEEP = 2

/** Values recorded by the calls of a period, by name; events as `event:NAME`. */
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
 * Finds features that divide requests: attributes with 2 to 16 values that at least `least` requests of a period have
 * each; numbers, cut where they separate slow calls from fast ones; and attributes that some calls of an operation have
 * and others lack. At most 24 by value and 24 by presence, those that most requests have.
 */
export function attributeFeatures(forests: readonly CallForest[], least: number): Feature[] {
  const values: KnownFeature[] = []
  const presences = new Map<string, KnownFeature>()
  const tallied = (paths: Iterable<number>) => countBy(paths, (path) => path)
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
    // Attributes of the same calls make one feature.
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
  /** Number of requests that have it. */
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

/** Returns, for each request that has an attribute, the code of its first call with it. */
function firstCodes(forest: CallForest, codes: Uint32Array): Uint32Array {
  return forest.requestTrace
    .map((_, request) => codes[firstCall(forest, codes, request)] ?? 0)
    .filter((code) => code > 0)
}

/** Returns the first call of a request that has an attribute; -1 where none has. */
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
  if (edges.length > 0) return attributeFeature(key, edges)
  return isKind && frequent.length > 1 ? attributeFeature(key) : null
}

/**
 * Returns the values at which a number separates slow calls from fast ones, as a regression tree cuts it: in the
 * period, and for the times (the calls' own, or their requests'), where it separates best. Returns none if it separates
 * nothing, or is an id: whole numbers, all different.
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

/** Logarithms of times of calls, relative to the mean of all calls along the same path. */
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
 * Returns the value of an attribute: of a call, on its own spans; of a request, on the first of its calls that has it.
 */
function attributeFeature(key: string, edges: readonly number[] = []): Feature {
  return recordedFeature(ATTRIBUTE + key, key, (value) => {
    if (value === undefined) return undefined
    return edges.length > 0 ? binName(Number(value), edges) : String(value)
  })
}

/** Whether a call, or any call of a request, has an attribute, or an event `event:NAME`. */
function presenceFeature(key: string): Feature {
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

/** Returns the bin of a value: `≤ 10`, `> 10 and ≤ 20`, `> 20`; undefined for NaN. */
function binName(value: number, edges: readonly number[]): string | undefined {
  if (Number.isNaN(value)) return undefined
  const at = edges.findIndex((edge) => value <= edge)
  const low = edges[at < 0 ? edges.length - 1 : at - 1]
  const ends = [low === undefined ? '' : `> ${low}`, at < 0 ? '' : `≤ ${edges[at]}`]
  return ends.filter((end) => end !== '').join(' and ')
}

/** Prefix of the names from `binName`. */
const BIN = /^[>≤] /
