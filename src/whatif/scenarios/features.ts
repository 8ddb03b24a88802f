// Over all attributes of a period: the loops index with `!`.
import { group } from 'd3-array'
import { type CallForest, callStartsUs, requestStartsUs } from '../../calls/call-forest.ts'
import { getOrInsert } from '../../core/entries.ts'
import { OptionError } from '../../core/errors.ts'
import { remembered } from '../../core/remembered.ts'
import { ascendingOrder } from '../../stats/ascending-order.ts'
import { SERIES } from '../../traces/attribute-names.ts'
import type { ExecutionModel, ExecutionModels } from '../models/execution-models.ts'
import type { RequestModel } from '../recompute/request-model.ts'
import {
  ABSENT,
  ATTRIBUTE,
  attributeFeature,
  BIN,
  EVENT,
  PRESENCE,
  PRESENT,
  presenceFeature,
} from './attribute-features.ts'
import { callCounter } from './change-parts.ts'
import { callFeature, type Feature, partitionBy } from './feature.ts'

/** A feature that counts other requests, each as often as it weighs, in powers of two. */
function countFeature(
  name: string,
  unit: string,
  countsOf: (forest: CallForest, order: Uint32Array, startUs: Float64Array) => Float64Array,
): Feature {
  return {
    name,
    ofRequests({ forest }) {
      const startUs = requestStartsUs(forest)
      const order = Uint32Array.from(startUs.keys()).sort(
        (a, b) => startUs[a]! - startUs[b]! || a - b,
      )
      const counts = new Float64Array(order.length)
      countsOf(forest, order, startUs).forEach((count, at) => {
        counts[order[at]!] = count
      })
      return partitionBy(counts.length, (request) => `${powerOfTwo(counts[request]!)}${unit}`)
    },
    ofCalls: null,
  }
}

/** µs before a request within which others count as its load. */
const LOAD_WINDOW_US = 1e6

/** How many began in the second up to each, itself included; `order` is by when they begin. */
function recent(
  order: Uint32Array,
  startUs: Float64Array,
  countOf: (row: number) => number,
): Float64Array {
  let [first, count] = [0, 0]
  return Float64Array.from(order, (row) => {
    count += countOf(row)
    while (startUs[row]! - startUs[order[first]!]! > LOAD_WINDOW_US) {
      count -= countOf(order[first++]!)
    }
    return count
  })
}

/**
 * How busy the system was: requests that began in the second up to a request's start, itself
 * included, in powers of two. Requests that were not recorded count as those that stand for them.
 */
const loadFeature = countFeature('load', '/s', ({ weight }, order, startUs) =>
  recent(order, startUs, (request) => weight[request]!),
)

/** Of each call, how many to the same service began in the second up to its start. */
const serviceLoads = remembered(({ forest, models: { paths } }: RequestModel) => {
  const loads = new Float64Array(forest.path.length)
  const startUs = callStartsUs(forest)
  const byService = group(forest.path.keys(), (call) => paths.service(forest.path[call]!))
  for (const calls of byService.values()) {
    const order = Uint32Array.from(calls).sort((a, b) => startUs[a]! - startUs[b]! || a - b)
    recent(order, startUs, callCounter(forest)).forEach((count, at) => {
      loads[order[at]!] = count
    })
  }
  return loads
})

/** How busy a service was: calls to it that began in the second up to a call's start. */
const serviceLoadFeature = callFeature('serviceLoad', (model) => {
  const loads = serviceLoads(model)
  return (call) => `${powerOfTwo(loads[call]!)}/s`
})

/** How many requests were under way when a request began, itself included, in powers of two. */
const concurrencyFeature = countFeature('concurrency', '', (forest, order, startUs) => {
  const { requestOffsets, serverUs, weight } = forest
  const endUs = startUs.map((us, request) => us + serverUs[requestOffsets[request]!]!)
  const byEnd = ascendingOrder(endUs)
  let [ended, count] = [0, 0]
  return Float64Array.from(order, (request, at) => {
    count += weight[request]!
    while (ended < at && endUs[byEnd[ended]!]! <= startUs[request]!) {
      count -= weight[byEnd[ended++]!]!
    }
    return count
  })
})

/** `1`, `2-3`, `4-7`, …: the power of two a count of at least 1 belongs to, give or take rounding. */
function powerOfTwo(count: number): string {
  const low = 2 ** Math.max(0, Math.floor(Math.log2(count + 1e-6)))
  return low === 1 ? '1' : `${low}-${2 * low - 1}`
}

/** Where a request, or a call, was served: its host. Nothing where none was recorded. */
const hostFeature = callFeature('host', ({ forest }) => {
  const { spans, hosts } = forest.traces
  return (call) => hosts.value(spans.host[forest.serverSpan[call]!]!) || undefined
})

/**
 * What a request, or a call, calls and in which order: the flow its execution model belongs to. A
 * cache hit takes another flow than a miss.
 */
const callsFeature = callFeature('calls', ({ models, period }) => {
  const flowOf = models.flowOf(period)
  const names = flowNames(models)
  return (call) => names.get(flowOf[call]!)
})

/** Flows by what they call; numbered too where only the order tells those of one operation apart. */
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
  const counts = new Map<string, number>()
  for (const { service, operation } of nodes) {
    const name = `${service} ${operation}`
    counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  const steps = Array.from(counts, ([name, count]) => (count === 1 ? name : `${count} × ${name}`))
  return steps.length === 0 ? 'nothing' : steps.sort().join(', ')
}

/** Which operation a request asked for. */
const operationFeature: Feature = {
  name: 'operation',
  ofRequests: ({ models, forest }) =>
    partitionBy(forest.requestTrace.length, (request) =>
      models.paths.callText(forest.path[forest.requestOffsets[request]!]!),
    ),
  ofCalls: null,
}

/**
 * What requests are divided by: `'host'` that served them; `'operation'` they asked for; `'calls'`, what they call in turn; `'load'`,
 * requests in the second before; `'serviceLoad'`, calls to the
 * same service in the second before; `'concurrency'`, requests under way; `'attribute:KEY'`, the value of
 * an attribute; `'has:KEY'`, whether it has one; `'event:NAME'`, whether such an event happened in it;
 * or `{ attribute, pattern }`, whether an attribute's value fits a pattern.
 */
export type FeatureChoice =
  | 'host'
  | 'operation'
  | 'calls'
  | 'load'
  | 'serviceLoad'
  | 'concurrency'
  | `attribute:${string}`
  | `has:${string}`
  | `event:${string}`
  | { readonly attribute: string; readonly pattern: RegExp }

/** Features that all traces have, and that are looked at where none is chosen. */
export const BUILT_IN_FEATURES: readonly Feature[] = [
  hostFeature,
  operationFeature,
  callsFeature,
  loadFeature,
  concurrencyFeature,
]

/** What names of features begin with, and what each makes of the rest. */
const PREFIXES: readonly (readonly [prefix: string, featureOf: (name: string) => Feature])[] = [
  [ATTRIBUTE, (key) => attributeFeature(key)],
  [PRESENCE, presenceFeature],
  [EVENT, (name) => presenceFeature(EVENT + name)],
]

/** @throws OptionError for what is no feature. */
export function chooseFeature(by: FeatureChoice, option = 'by'): Feature {
  if (typeof by === 'object' && by !== null && by.pattern instanceof RegExp) {
    return attributeFeature(by.attribute, { pattern: by.pattern })
  }
  const named = typeof by === 'string' ? by : ''
  const prefixed = PREFIXES.find(([prefix]) => named.startsWith(prefix) && named !== prefix)
  if (prefixed !== undefined) return prefixed[1](named.slice(prefixed[0].length))
  const builtIn = [...BUILT_IN_FEATURES, serviceLoadFeature].find(({ name }) => name === by)
  if (builtIn !== undefined) return builtIn
  throw new OptionError(
    option,
    by,
    `'host', 'operation', 'calls', 'load', 'serviceLoad', 'concurrency', 'attribute:KEY', 'has:KEY', 'event:NAME' or { attribute, pattern }`,
  )
}

/** Whether requests bring it with them: it is not what became of them. */
export function isGiven({ name }: Feature): boolean {
  return name === 'operation' || (name.startsWith(ATTRIBUTE) && !isMonitored(name))
}

/** Whether slowness may change it by itself: requests that take longer are under way together. */
export function mayFollow({ name }: Feature): boolean {
  return ['load', 'serviceLoad', 'concurrency'].includes(name) || isMonitored(name)
}

function isMonitored(name: string): boolean {
  return name.startsWith(ATTRIBUTE + SERIES)
}

/** What something is divided by, in words: `what they call`, `cache.hit`. */
export function featureWords(feature: string): string {
  if (feature === 'calls') return 'what they call'
  if (feature === 'concurrency') return 'how many are under way'
  if (feature === 'serviceLoad') return 'load of the service'
  if (feature.startsWith(PRESENCE)) return `presence of ${feature.slice(PRESENCE.length)}`
  if (feature.startsWith(EVENT)) return `presence of event ${feature.slice(EVENT.length)}`
  return feature.startsWith(ATTRIBUTE) ? feature.slice(ATTRIBUTE.length) : feature
}

/**
 * What one part has in common, in words that follow what it is a part of: `on host web-0`,
 * `with cache.hit = true`, `calling cart GET, price GET`.
 */
export function partWords(feature: string, part: string): string {
  if (feature === 'host') return `on host ${part}`
  if (feature === 'calls') return `calling ${part}`
  if (feature === 'operation') return `of ${part}`
  if (feature === 'load' || feature === 'serviceLoad') return `at a load of ${part}`
  if (feature === 'concurrency') return `with ${part} under way`
  if (feature.startsWith(PRESENCE) || feature.startsWith(EVENT)) {
    const what = featureWords(feature).replace('presence of ', '')
    return `${part === PRESENT ? 'with' : 'without'} ${what}`
  }
  const key = featureWords(feature)
  // Of a pattern the feature is called `KEY~PATTERN`, and its parts are three.
  const at = key.indexOf('~')
  const [name, source] = [key.slice(0, at), key.slice(at + 1)]
  if (at >= 0 && part === 'fits') return `whose ${name} fits /${source}/`
  if (at >= 0 && part === 'fits not') return `whose ${name} does not fit /${source}/`
  if (at >= 0 && part === ABSENT) return `without ${name}`
  return BIN.test(part) ? `with ${key} ${part}` : `with ${key} = ${part}`
}
