// Over all calls of a period: the loops index with `!`.
import { OptionError } from '../../core/errors.ts'
import type { CallForest } from '../calls/call-forest.ts'
import type { ExecutionModel } from '../models/execution-model.ts'
import type { ExecutionModels } from '../models/execution-models.ts'
import type { RequestModel } from '../recompute/request-model.ts'
import type { Feature } from './feature.ts'
import { partitionBy } from './request-partition.ts'

const roots = ({ requestOffsets }: CallForest) => requestOffsets.subarray(0, -1)

/** Where a request, or a call, was served: its host. Nothing where none was recorded. */
export const hostFeature: Feature = {
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
export const callsFeature: Feature = {
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
export function attributeFeature(key: string, pattern?: RegExp): Feature {
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
