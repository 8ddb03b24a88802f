import { getOrInsert } from '../../core/entries.ts'
import { requireStage } from '../../core/errors.ts'
import { readOptions } from '../../core/options.ts'
import { FlowSet } from '../../flows/flow-set.ts'
import { machineOf } from '../../flows/node-labels.ts'
import { ascendingSample, equalRows } from '../../stats/weighted-sample.ts'
import type { SpanTraces } from '../../traces/span-traces.ts'
import {
  compareHosts,
  HOST_CLASS_OPTIONS,
  type HostClassOptions,
  type HostPairs,
  type OperationSamples,
} from './compare-hosts.ts'
import { HostClasses, nameClasses } from './host-classes.ts'

/**
 * Finds classes of hosts with similar performance, by comparing each with its peers. Using classes in place of hosts
 * gives few categories, as leaving hosts out does, and still distinguishes slow machines from others.
 *
 * For each operation, the times of every two hosts that run it are compared with the Kolmogorov- Smirnov test,
 * corrected over all pairs and operations (Benjamini-Hochberg); then hosts are grouped so that each is like at least
 * half of its class. Times are durations of the host's own spans, by its own clock, and in trace-point graphs the
 * latencies of edges within the host; periods are compared each by itself. Weighted requests count as they weigh, and
 * are worth fewer.
 *
 * Limits: durations include waiting, so a host that always calls a slow one is slow too. Spans of one request are not
 * independent. Hosts with too few spans (8 against 8) cannot be compared: they join the largest class that does the
 * same work, and `compared` says so. Takes the square of the number of hosts, for every operation.
 *
 * @param source a comparison, or a stage of `buildFlows`
 * @param given see {@link HOST_CLASS_OPTIONS}
 * @throws OptionError for a level outside 0 to 1 or a negative effect; FlowdeltaError for an unknown
 *   option
 *
 * Source: Sambasivan 2013, §3.5.3; how pairs become classes is flowdelta's own.
 *
 * @example
 * const hosts = findHostClasses(comparison)
 * hosts.classOf('frontend-0').hosts // [ 'frontend-0' ]
 * comparison.with({ label: hosts.label }).categories.size // 6
 */
export function findHostClasses(
  source: FlowSet | { readonly flows: FlowSet },
  given: Partial<HostClassOptions> = {},
): HostClasses {
  const options = readOptions(HOST_CLASS_OPTIONS, given)
  const flows = (
    'flows' in Object(source) ? (source as { flows: FlowSet }).flows : source
  ) as FlowSet
  requireStage('findHostClasses(flows)', flows, FlowSet)
  const samples = collectHostSamples(flows)
  const pairs = compareHosts(samples, options)
  const groups = groupHosts(pairs).map((group) => group.map((host) => pairs.hosts[host] as string))
  const classes = nameClasses(groups, samples)
  return new HostClasses({ options, classes }, pairs)
}

/**
 * Returns the times of each host's own work by operation, one mean a request and period, so that samples stay
 * independent; each by its host's own clock. Of trace points, latencies within the host.
 */
function collectHostSamples(flows: FlowSet): OperationSamples[] {
  const samples = new SampleCollector(flows)
  const { spanRows, spanOffsets } = flows
  if (spanRows === undefined || spanOffsets === undefined || flows.periods.length === 0) {
    collectEdges(flows, samples)
    return samples.finish()
  }
  const namers = flows.periods.map((traces) => spanNamer(traces as SpanTraces))
  for (let request = 0; request < flows.size; request++) {
    const period = flows.period[request] as number
    const index = flows.recordedIn[request] as number
    const nameOf = namers[index] as ReturnType<typeof spanNamer>
    const { durationUs } = (flows.periods[index] as SpanTraces).spans
    const end = spanOffsets[request + 1] as number
    for (let entry = spanOffsets[request] as number; entry < end; entry++) {
      const row = spanRows[entry] as number
      const { host, operation } = nameOf(row)
      if (host !== '') samples.add({ request, period }, operation, host, durationUs[row] as number)
    }
  }
  return samples.finish()
}

function spanNamer({ spans, services, operations, hosts }: SpanTraces) {
  return (row: number) => {
    const service = services.value(spans.service[row] as number)
    const operation = operations.value(spans.operation[row] as number)
    const host = hosts.value(spans.host[row] as number)
    return { operation: `${service} ${operation}`.trim(), host }
  }
}

function collectEdges(flows: FlowSet, samples: SampleCollector): void {
  const { shapes, labels } = flows
  const nodes = Array.from({ length: labels.size }, (_, code) => {
    const { service, operation, phase } = labels.get(code)
    const step = phase === 'point' ? operation : `${service} ${operation} ${phase}`
    return { host: machineOf(labels.get(code)), step }
  })
  for (let request = 0; request < flows.size; request++) {
    const shape = flows.shapeOf[request] as number
    const period = flows.period[request] as number
    const codes = shapes.labels(shape)
    const [from, to] = [shapes.from(shape), shapes.to(shape)]
    flows.latencies(request).forEach((latencyUs, edge) => {
      const source = nodes[codes[from[edge] as number] as number] as (typeof nodes)[number]
      const target = nodes[codes[to[edge] as number] as number] as (typeof nodes)[number]
      if (source.host === '' || source.host !== target.host) return
      const operation = `${source.step} → ${target.step}`
      samples.add({ request, period }, operation, source.host, latencyUs)
    })
  }
}

interface HostTimes {
  readonly means: number[]
  /** Weight of each request; empty where each counts once. */
  readonly weights: number[]
  request: number
  sum: number
  count: number
}

class SampleCollector {
  readonly #periods: Map<string, Map<string, HostTimes>>[] = [new Map(), new Map()]
  readonly #counted: FlowSet['counted']

  constructor({ counted }: FlowSet) {
    this.#counted = counted
  }

  add(
    { request, period }: { readonly request: number; readonly period: number },
    operation: string,
    host: string,
    timeUs: number,
  ): void {
    const operations = this.#periods[period] as Map<string, Map<string, HostTimes>>
    const byHost = getOrInsert(operations, operation, () => new Map())
    const times = getOrInsert(byHost, host, () => ({
      means: [],
      weights: [],
      request,
      sum: 0,
      count: 0,
    }))
    if (times.request !== request) {
      this.#endRequest(times)
      Object.assign(times, { request, sum: 0, count: 0 })
    }
    times.sum += timeUs
    times.count++
  }

  #endRequest({ means, weights, request, sum, count }: HostTimes): void {
    means.push(sum / count)
    if (this.#counted !== undefined) weights.push(this.#counted[request] as number)
  }

  /** Times ascending; where weights of requests differ, as many as they are worth (`equalRows`). */
  finish(): OperationSamples[] {
    const sorted = (times: HostTimes) => {
      this.#endRequest(times)
      const { values, weights } = ascendingSample(times.means, this.#counted && times.weights)
      return Float64Array.from(equalRows({ values, weights }), (row) => values[row] as number)
    }
    return this.#periods.flatMap((operations) =>
      Array.from(operations, ([operation, byHost]) => ({
        operation,
        byHost: new Map(Array.from(byHost, ([host, times]) => [host, sorted(times)])),
      })),
    )
  }
}

// Merging hundreds of hosts looks at every pair of groups again and again: the loops index with `!`.

/**
 * Groups hosts, the most similar first, while no more than half of the pairs across differ: neither one false alarm
 * splits a group nor one host in between joins two. Hosts with too few spans join the largest group of their work.
 * Source: Kasick et al. 2010, peer comparison (in Sambasivan 2013, §3.5.3); average linkage.
 */
export function groupHosts(pairs: HostPairs): number[][] {
  const isCompared = (host: number) =>
    pairs.hosts.some((_, other) => other !== host && pairs.pair(host, other).tests > 0)
  const [compared = [], others = []] = [true, false].map((wanted) =>
    [...pairs.hosts.keys()].filter((host) => isCompared(host) === wanted),
  )
  const groups = mergeAlike(compared, pairs)
  for (const host of others) {
    const [largest] = groups
      .filter((group) => group.some((other) => pairs.pair(host, other).peers))
      .sort((a, b) => b.length - a.length)
    if (largest === undefined) groups.push([host])
    else largest.push(host)
  }
  return groups.map((hosts) => hosts.sort((a, b) => a - b))
}

interface Across {
  tested: number
  different: number
  statistic: number
}

function mergeAlike(hosts: readonly number[], pairs: HostPairs): number[][] {
  const groups: (number[] | null)[] = hosts.map((host) => [host])
  const across: Across[][] = hosts.map((one, i) =>
    hosts.slice(0, i).map((other) => {
      const { tests, different, statistic } = pairs.pair(one, other)
      const tested = Number(tests > 0)
      return { tested, different: Number(different), statistic: tested === 0 ? 0 : statistic }
    }),
  )
  const between = (a: number, b: number) => (a > b ? across[a]![b]! : across[b]![a]!)
  for (;;) {
    const best = mostAlike(groups, across)
    if (best === null) return groups.filter((group) => group !== null)
    const [into, gone] = best
    groups[into] = [...groups[into]!, ...groups[gone]!]
    groups[gone] = null
    for (let other = 0; other < groups.length; other++) {
      if (groups[other] === null || other === into) continue
      const [sum, more] = [between(into, other), between(gone, other)]
      sum.tested += more.tested
      sum.different += more.different
      sum.statistic += more.statistic
    }
  }
}

/** Returns the two groups with the smallest share of different pairs, then the smallest mean statistic. */
function mostAlike(groups: (number[] | null)[], across: Across[][]): [number, number] | null {
  let best: [number, number] | null = null
  let leastShare = 0.5
  let leastStatistic = Number.POSITIVE_INFINITY
  for (let a = 1; a < groups.length; a++) {
    if (groups[a] === null) continue
    for (let b = 0; b < a; b++) {
      if (groups[b] === null) continue
      const { tested, different, statistic } = across[a]![b]!
      if (tested === 0) continue
      const share = different / tested
      if (share > leastShare) continue
      if (share === leastShare && statistic / tested >= leastStatistic) continue
      leastShare = share
      leastStatistic = statistic / tested
      best = [b, a]
    }
  }
  return best
}
