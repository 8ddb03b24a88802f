// Over all attributes of a period: the loops index with `!`.
import { OptionError } from '../../core/errors.ts'
import { shortText } from '../../core/shown-text.ts'
import type { CallForest } from '../calls/index-calls.ts'
import type { ExecutionModel, ExecutionModels } from '../models/execution-models.ts'
import type { RequestModel } from '../recompute/request-model.ts'

/** Something about requests and calls, other than how long they take, by which they can be divided. */
export interface Feature {
  /** `host`, `calls`, `load`, `concurrency`, `attribute:cache.hit`. */
  readonly name: string
  /** Divides the requests of a period. */
  ofRequests(model: RequestModel): Partition
  /** Divides some calls (rows) of a period; null where the feature is one of requests only. */
  readonly ofCalls: ((model: RequestModel, calls: Uint32Array) => Partition) | null
}

/** What is divided by some feature: requests, or calls. */
export interface Partition {
  /** Number of the part each belongs to, −1 where the feature says nothing. */
  readonly codes: Int32Array
  /** What the parts are called. */
  readonly names: readonly string[]
}

/** Divides `count` things by what they are called; `undefined` where nothing is known. */
function partitionBy(count: number, nameOf: (row: number) => string | undefined): Partition {
  const known = new Map<string, number>()
  const codes = new Int32Array(count)
  for (let row = 0; row < count; row++) {
    const name = nameOf(row)
    if (name === undefined) {
      codes[row] = -1
      continue
    }
    let code = known.get(name)
    if (code === undefined) {
      code = known.size
      known.set(name, code)
    }
    codes[row] = code
  }
  return { codes, names: [...known.keys()] }
}

/** Weight in each part; 1 each where `weight` is left out. */
export function partSizes({ codes, names }: Partition, weight?: Float64Array): Float64Array {
  const sizes = new Float64Array(names.length)
  codes.forEach((code, row) => {
    if (code >= 0) sizes[code] = (sizes[code] as number) + (weight?.[row] ?? 1)
  })
  return sizes
}

/** Parts of at least `least` members, numbers of them. */
export function largeParts(partition: Partition, least: number): number[] {
  return [...partSizes(partition)].flatMap((size, part) => (size >= least ? [part] : []))
}

/** The part of that name, or an error that lists those there are. */
export function requirePart({ names }: Partition, name: string, option: string): number {
  const part = names.indexOf(name)
  if (part >= 0) return part
  const shown = names.slice(0, 12).map((each) => shortText(each, 80))
  const known = names.length > 12 ? [...shown, '…'] : shown
  throw new OptionError(
    option,
    name,
    known.length > 0 ? `one of ${known.join(', ')}` : 'a feature that some request has',
  )
}

/** An attribute with more values than this is an id or a measurement, not a kind of request. */
const MAX_VALUES = 16
/** Attributes that are looked at. */
const MAX_KEYS = 24

/**
 * The attributes by which the requests of a period can be divided: those with at least two and at
 * most 16 values that `least` requests or more have each. At most 24, those that most requests have.
 */
export function attributeFeatures(forest: CallForest, least: number): Feature[] {
  const counted = new Map<string, Map<string, number>>()
  const { requestOffsets } = forest
  for (let request = 0; request + 1 < requestOffsets.length; request++) {
    countValues(forest, request, counted)
  }
  return Array.from(counted, ([key, values]) => ({ key, sizes: [...values.values()] }))
    .filter(({ sizes }) => sizes.length <= MAX_VALUES)
    .filter(({ sizes }) => sizes.filter((size) => size >= least).length > 1)
    .map(({ key, sizes }) => ({ key, requests: sizes.reduce((sum, size) => sum + size, 0) }))
    .sort((a, b) => b.requests - a.requests || (a.key < b.key ? -1 : 1))
    .slice(0, MAX_KEYS)
    .map(({ key }) => attributeFeature(key))
}

function countValues(
  forest: CallForest,
  request: number,
  counted: Map<string, Map<string, number>>,
): void {
  const { requestOffsets, serverSpan, clientSpan, traces } = forest
  const seen = new Set<string>()
  const end = requestOffsets[request + 1]!
  for (let call = requestOffsets[request]!; call < end; call++) {
    for (const span of [serverSpan[call]!, clientSpan[call]!]) {
      if (span < 0) continue
      if (traces.attributes.offsets[span] === traces.attributes.offsets[span + 1]) continue
      for (const [key, value] of traces.attributes.entries(span)) {
        // The first of a request's calls that has it counts, as in the feature itself.
        if (seen.has(key)) continue
        seen.add(key)
        let values = counted.get(key)
        if (values === undefined) {
          values = new Map()
          counted.set(key, values)
        }
        if (values.size <= MAX_VALUES) {
          const text = String(value)
          values.set(text, (values.get(text) ?? 0) + 1)
        }
      }
    }
  }
}

const roots = ({ requestOffsets }: CallForest) => requestOffsets.subarray(0, -1)

/** Where a request, or a call, was served: its host. Nothing where none was recorded. */
const hostFeature: Feature = {
  name: 'host',
  ofRequests: (model) => hostsOf(model, roots(model.forest)),
  ofCalls: hostsOf,
}

function hostsOf({ forest }: RequestModel, calls: Uint32Array) {
  const { spans, hosts } = forest.traces
  return partitionBy(calls.length, (i) => {
    const host = hosts.value(spans.host[forest.serverSpan[calls[i]!]!]!)
    return host === '' ? undefined : host
  })
}

/**
 * What a request, or a call, calls and in which order: the flow its execution model belongs to. A
 * cache hit takes another flow than a miss.
 */
const callsFeature: Feature = {
  name: 'calls',
  ofRequests: (model) => flowsOf(model, roots(model.forest)),
  ofCalls: flowsOf,
}

function flowsOf({ models, period }: RequestModel, calls: Uint32Array) {
  const flowOf = models.flowOf(period)
  const names = flowNames(models)
  return partitionBy(calls.length, (i) => names.get(flowOf[calls[i]!]!))
}

const namesOfFlows = new WeakMap<ExecutionModels, Map<number, string>>()

/** Flows by what they call; numbered too where only the order tells those of one operation apart. */
function flowNames(models: ExecutionModels): Map<number, string> {
  let names = namesOfFlows.get(models)
  if (names === undefined) {
    const texts = new Map<number, string>()
    const alike = new Map<string, Set<number>>()
    for (const { flow, name, nodes } of models.models) {
      const text = flowText(nodes)
      texts.set(flow, text)
      const key = `${name} ${text}`
      const flows = alike.get(key)
      if (flows === undefined) alike.set(key, new Set([flow]))
      else flows.add(flow)
    }
    names = texts
    for (const flows of alike.values()) {
      if (flows.size < 2) continue
      for (const flow of flows) names.set(flow, `${texts.get(flow)} (flow ${flow})`)
    }
    namesOfFlows.set(models, names)
  }
  return names
}

/** `2 × cart GET, price GET`. */
function flowText(nodes: ExecutionModel['nodes']): string {
  const counts = new Map<string, number>()
  for (const { service, operation } of nodes) {
    const name = `${service} ${operation}`
    counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  const steps = Array.from(counts, ([name, count]) => (count === 1 ? name : `${count} × ${name}`))
  return steps.length === 0 ? 'nothing' : steps.sort().join(', ')
}

/**
 * The value of an attribute: of a call, on its own spans; of a request, on the first of its calls
 * that has it. With a pattern, whether the value (as text) fits it: `fits`, `fits not`, or
 * `absent`.
 */
function attributeFeature(key: string, pattern?: RegExp): Feature {
  if (pattern !== undefined && (pattern.global || pattern.sticky)) {
    throw new OptionError('pattern', pattern, 'a pattern without the flags g and y')
  }
  const named = (value: string | undefined) =>
    pattern === undefined
      ? value
      : value === undefined
        ? 'absent'
        : pattern.test(value)
          ? 'fits'
          : 'fits not'
  return {
    name: pattern === undefined ? `attribute:${key}` : `attribute:${key}~${pattern.source}`,
    ofRequests({ forest }) {
      const { requestOffsets } = forest
      return partitionBy(requestOffsets.length - 1, (request) => {
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

function attributeOf(forest: CallForest, call: number, key: string): string | undefined {
  const { attributes } = forest.traces
  const client = forest.clientSpan[call]!
  const value =
    attributes.get(forest.serverSpan[call]!, key) ??
    (client < 0 ? undefined : attributes.get(client, key))
  return value === undefined ? undefined : String(value)
}

/** µs before a request within which others count as its load. */
const LOAD_WINDOW_US = 1e6

/**
 * How busy the system was: requests that began in the second up to a request's start, itself
 * included, in powers of two. Only recorded requests are counted.
 */
const loadFeature: Feature = {
  name: 'load',
  ofRequests({ forest }) {
    const { order, startUs } = requestsByStart(forest)
    const load = new Uint32Array(order.length)
    let first = 0
    order.forEach((request, at) => {
      while (startUs[request]! - startUs[order[first]!]! > LOAD_WINDOW_US) first++
      load[request] = at - first + 1
    })
    return partitionBy(load.length, (request) => powerOfTwo(load[request]!, '/s'))
  },
  ofCalls: null,
}

/** How many recorded requests were under way when a request began, itself included, in powers of two. */
const concurrencyFeature: Feature = {
  name: 'concurrency',
  ofRequests({ forest }) {
    const { order, startUs } = requestsByStart(forest)
    const { requestOffsets, serverUs } = forest
    const endsUs = Float64Array.from(
      order,
      (request) => startUs[request]! + serverUs[requestOffsets[request]!]!,
    ).sort()
    const underWay = new Uint32Array(order.length)
    let ended = 0
    order.forEach((request, at) => {
      while (ended < at && endsUs[ended]! <= startUs[request]!) ended++
      underWay[request] = at - ended + 1
    })
    return partitionBy(underWay.length, (request) => powerOfTwo(underWay[request]!, ''))
  },
  ofCalls: null,
}

function requestsByStart(forest: CallForest) {
  const { requestOffsets, serverSpan, traces } = forest
  const startUs = Float64Array.from(
    { length: requestOffsets.length - 1 },
    (_, request) => traces.spans.startUs[serverSpan[requestOffsets[request]!]!]!,
  )
  const order = Uint32Array.from(startUs, (_, request) => request).sort(
    (a, b) => startUs[a]! - startUs[b]! || a - b,
  )
  return { order, startUs }
}

/** `1`, `2-3`, `4-7`, …: the power of two a count of at least 1 belongs to. */
function powerOfTwo(count: number, unit: string): string {
  const low = 2 ** Math.floor(Math.log2(count))
  return low === 1 ? `1${unit}` : `${low}-${2 * low - 1}${unit}`
}

/**
 * What requests are divided by: `'host'` that served them; `'calls'`, what they call in turn; `'load'`,
 * requests in the second before; `'concurrency'`, requests under way; `'attribute:KEY'`, the value of
 * an attribute; or `{ attribute, pattern }`, whether its value fits a pattern.
 */
export type FeatureChoice =
  | 'host'
  | 'calls'
  | 'load'
  | 'concurrency'
  | `attribute:${string}`
  | { readonly attribute: string; readonly pattern: RegExp }

/** Features that all traces have. */
export const BUILT_IN_FEATURES: readonly Feature[] = [
  hostFeature,
  callsFeature,
  loadFeature,
  concurrencyFeature,
]

const PREFIX = 'attribute:'

/** @throws OptionError for what is no feature. */
export function chooseFeature(by: FeatureChoice, option = 'by'): Feature {
  if (typeof by === 'object' && by !== null && by.pattern instanceof RegExp) {
    return attributeFeature(by.attribute, by.pattern)
  }
  if (typeof by === 'string') {
    if (by.startsWith(PREFIX) && by.length > PREFIX.length) {
      return attributeFeature(by.slice(PREFIX.length))
    }
    const builtIn = BUILT_IN_FEATURES.find(({ name }) => name === by)
    if (builtIn !== undefined) return builtIn
  }
  throw new OptionError(
    option,
    by,
    `'host', 'calls', 'load', 'concurrency', 'attribute:KEY' or { attribute, pattern }`,
  )
}

/** What something is divided by, in words: `what they call`, `cache.hit`. */
export function featureWords(feature: string): string {
  if (feature === 'calls') return 'what they call'
  if (feature === 'concurrency') return 'how many are under way'
  return feature.startsWith(PREFIX) ? feature.slice(PREFIX.length) : feature
}

/**
 * What one part has in common, in words that follow what it is a part of: `on host web-0`,
 * `with cache.hit = true`, `calling cart GET, price GET`.
 */
export function partWords(feature: string, part: string): string {
  switch (feature) {
    case 'host':
      return `on host ${part}`
    case 'calls':
      return `calling ${part}`
    case 'load':
      return `at a load of ${part}`
    case 'concurrency':
      return `with ${part} under way`
    default:
      return attributeWords(featureWords(feature), part)
  }
}

/** Of a pattern the feature is called `KEY~PATTERN`, and its parts are three. */
function attributeWords(key: string, part: string): string {
  const at = key.indexOf('~')
  const pattern = { name: key.slice(0, at), source: key.slice(at + 1) }
  if (at >= 0 && part === 'fits') return `whose ${pattern.name} fits /${pattern.source}/`
  if (at >= 0 && part === 'fits not')
    return `whose ${pattern.name} does not fit /${pattern.source}/`
  if (at >= 0 && part === 'absent') return `without ${pattern.name}`
  return `with ${key} = ${part}`
}
