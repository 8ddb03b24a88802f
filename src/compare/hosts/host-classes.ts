// Hundreds of hosts are half a million pairs: the loops index with `!`.
import { ascending, group, sum } from 'd3-array'
import { divided, getOrInsert } from '../../core/entries.ts'
import { FlowdeltaError, requireStage, show } from '../../core/errors.ts'
import { defineOptions, level, number, type OptionsOf, readOptions } from '../../core/options.ts'
import { columnarStage, own, rowTable, type StageTable } from '../../core/stage.ts'
import { FlowSet } from '../../flows/flow-set.ts'
import { onMachine } from '../../flows/label-parts.ts'
import { labelText, machineOf, type NodeLabel } from '../../flows/node-labels.ts'
import { benjaminiHochberg } from '../../stats/benjamini-hochberg.ts'
import { ksTwoSample } from '../../stats/ks-two-sample.ts'
import { quantile } from '../../stats/quantile.ts'
import { wassersteinDistance } from '../../stats/wasserstein.ts'
import { ascendingSample, equalRows } from '../../stats/weighted-sample.ts'
import type { SpanTraces } from '../../traces/span-traces.ts'

/** Hosts that do the same work in about the same time. */
export interface HostClass {
  /** Name of the class. Begins with the common part of its hosts' names: `datanode*`; numbered if there are several. */
  readonly name: string
  readonly hosts: readonly string[]
  /**
   * Typical time over that of all hosts that do the same, the medians of each operation compared and
   * the median of these ratios taken: 1.5 is half as long again. NaN where nothing was timed.
   */
  readonly slowness: number
}

interface HostClassColumns {
  readonly options: HostClassOptions
  /** Classes that share a name's beginning, the fastest first. */
  readonly classes: readonly HostClass[]
}

/** Hosts in classes of like performance: what `findHostClasses` finds. */
export class HostClasses extends columnarStage<HostClassColumns>() {
  readonly #pairs: HostPairs
  readonly #classOf: ReadonlyMap<string, HostClass>

  constructor(columns: HostClassColumns, pairs: HostPairs) {
    super(columns)
    this.#pairs = pairs
    this.#classOf = new Map(
      columns.classes.flatMap((each) => each.hosts.map((host) => [host, each])),
    )
  }

  get size(): number {
    return this.classes.length
  }

  /** @throws FlowdeltaError for a host that no request was on */
  classOf(host: string): HostClass {
    const found = this.#classOf.get(host)
    if (found !== undefined) return found
    const known = [...this.#classOf.keys()].slice(0, 5).join(', ')
    throw new FlowdeltaError(
      `There is no class of host ${show(host)}. Give one of the column host of .table(): ${known}, …`,
    )
  }

  /** Returns the node with its class in place of its host; hosts that are not known stay as they are. */
  inClass(node: NodeLabel): NodeLabel {
    const machine = machineOf(node)
    return onMachine(node, this.#classOf.get(machine)?.name ?? machine)
  }

  /** A rule for labels with classes in place of hosts, for `categorize` and `compare`. */
  readonly label = (node: NodeLabel): string => labelText(this.inClass(node))

  /** Returns one row per host, class by class: how many peers it could be compared with, and differs from. */
  table(): StageTable {
    const { hosts } = this.#pairs
    const rows = this.#hosts().map((at) => {
      const host = hosts[at] as string
      const pairs = hosts.flatMap((_, other) => (other === at ? [] : this.#pairs.pair(at, other)))
      const peers = pairs.filter(({ tests }) => tests > 0).length
      const different = pairs.filter((pair) => pair.different).length
      return { host, class: this.classOf(host).name, peers, different, compared: peers > 0 }
    })
    return rowTable(rows, own('host class peers different compared'))
  }

  classTable(): StageTable {
    return rowTable(this.classes, {
      class: 'name',
      hosts: ({ hosts }) => hosts.length,
      slowness: 'slowness',
      names: ({ hosts }) => hosts.join(' '),
    })
  }

  /**
   * Returns the comparison of every two hosts that could be compared, in both orders so that it fills a square: hosts
   * in the order of `table()`, each with the operation in which they differ most surely.
   */
  matrix(): StageTable {
    const order = this.#hosts()
    const nameOf = (number: number) => this.#pairs.hosts[number] as string
    const cells = order.flatMap((one) =>
      order.flatMap((two) => {
        if (one === two || this.#pairs.pair(one, two).tests === 0) return []
        const [host, other] = [nameOf(one), nameOf(two)]
        const sameClass = this.classOf(host) === this.classOf(other)
        return [{ ...this.#pairs.pair(one, two), host, other, sameClass }]
      }),
    )
    return rowTable(cells, own('host other operation statistic q effect different sameClass'))
  }

  override displayText(): string {
    return this.classTable().displayText()
  }

  #hosts(): number[] {
    const numbers = new Map(this.#pairs.hosts.map((host, i) => [host, i]))
    return this.classes.flatMap(({ hosts }) => hosts.map((host) => numbers.get(host) as number))
  }
}

/** Names groups by how hosts' names begin: `datanode*`; equal ones are numbered, fastest first. */
function nameClasses(
  groups: readonly (readonly string[])[],
  samples: readonly OperationSamples[],
): HostClass[] {
  const drafts = groups
    .map((hosts) => ({ hosts, beginning: beginning(hosts), slowness: slowness(hosts, samples) }))
    .sort(
      (a, b) =>
        ascending(a.beginning, b.beginning) ||
        (a.slowness || 0) - (b.slowness || 0) ||
        ascending(a.hosts[0], b.hosts[0]),
    )
  return Array.from(group(drafts, (draft) => draft.beginning)).flatMap(([beginning, alike]) =>
    alike.map(({ hosts, slowness }, i) => {
      const name = alike.length > 1 ? `${beginning} ${i + 1}` : beginning
      return { name, hosts, slowness }
    }),
  )
}

function beginning(hosts: readonly string[]): string {
  const [first = '', ...others] = hosts
  if (others.length === 0) return first
  let length = first.length
  for (const host of others) {
    while (!host.startsWith(first.slice(0, length))) length--
  }
  return `${first.slice(0, length).replace(/[-_.:/0-9]+$/, '')}*`
}

function slowness(hosts: readonly string[], samples: readonly OperationSamples[]): number {
  const ratios = samples.flatMap(({ byHost }) => {
    const own = medianOver(hosts, byHost)
    const all = medianOver([...byHost.keys()], byHost)
    return own > 0 && all > 0 ? [own / all] : []
  })
  return quantile(Float64Array.from(ratios).sort(), 0.5)
}

function medianOver(hosts: readonly string[], byHost: ReadonlyMap<string, Float64Array>): number {
  const medians = hosts.flatMap((host) => {
    const times = byHost.get(host)
    return times === undefined ? [] : [quantile(times, 0.5)]
  })
  return quantile(Float64Array.from(medians).sort(), 0.5)
}

/** Options of `findHostClasses`. */
const HOST_CLASS_OPTIONS = defineOptions({
  alpha: level({ default: 0.05, sentence: 'Two hosts differ when q is below this' }),
  minimumEffect: number({
    default: 0.1,
    min: 0,
    sentence:
      'Smallest distance between their times, as a share of their mean (Wasserstein), for two hosts to differ: with enough spans, any two differ a little',
  }),
})
export type HostClassOptions = OptionsOf<typeof HOST_CLASS_OPTIONS>

interface OperationSamples {
  readonly operation: string
  readonly byHost: ReadonlyMap<string, Float64Array>
}

/** Two hosts, by the operation in which they differ most surely. */
interface HostPair {
  /** Operations, and periods, in which both have enough spans to be compared. */
  tests: number
  /** The operation with the smallest p; the empty string for none. */
  operation: string
  /** KS statistic there, 0 to 1; NaN where nothing was compared. */
  statistic: number
  /** p there corrected over all pairs and operations; NaN where nothing was compared. */
  q: number
  /** Wasserstein distance of the times there over their common mean; NaN where not compared. */
  effect: number
  /** Significantly, and by enough to matter, in one operation at least. */
  different: boolean
  /** Whether there is an operation that both have any spans of. */
  peers: boolean
}

interface Test {
  readonly pair: HostPair
  readonly operation: string
  readonly statistic: number
  readonly p: number
  readonly samples: readonly [Float64Array, Float64Array]
}

class HostPairs {
  readonly hosts: readonly string[]
  readonly #pairs: HostPair[] = []

  constructor(hosts: readonly string[]) {
    this.hosts = hosts
    for (let i = 0; i < (hosts.length * (hosts.length - 1)) / 2; i++) {
      this.#pairs.push({
        tests: 0,
        operation: '',
        statistic: Number.NaN,
        q: Number.NaN,
        effect: Number.NaN,
        different: false,
        peers: false,
      })
    }
  }

  /** Returns the pair of two hosts by their numbers, which differ; in either order. */
  pair(one: number, other: number): HostPair {
    const [low, high] = one < other ? [one, other] : [other, one]
    return this.#pairs[(high * (high - 1)) / 2 + low]!
  }
}

/**
 * Compares every two hosts by the times of the operations of both: two-sample Kolmogorov-Smirnov, corrected over all
 * (Benjamini-Hochberg). They differ when q is below alpha and times by `minimumEffect` of their mean.
 */
export function compareHosts(
  samples: readonly OperationSamples[],
  { alpha, minimumEffect }: HostClassOptions,
): HostPairs {
  const hosts = [...new Set(samples.flatMap(({ byHost }) => [...byHost.keys()]))].sort()
  const numbers = new Map(hosts.map((host, i) => [host, i]))
  const pairs = new HostPairs(hosts)
  const tests: Test[] = []
  for (const { operation, byHost } of samples) {
    const present = Array.from(byHost, ([host, times]) => ({ at: numbers.get(host)!, times }))
    for (let j = 1; j < present.length; j++) {
      for (let i = 0; i < j; i++) {
        const pair = pairs.pair(present[i]!.at, present[j]!.at)
        const { times: one } = present[i]!
        const { times: other } = present[j]!
        pair.peers = true
        const { statistic, p, testable } = ksTwoSample(one, other, { sorted: true })
        if (testable) tests.push({ pair, operation, statistic, p, samples: [one, other] })
      }
    }
  }
  const q = benjaminiHochberg(tests.map(({ p }) => p))
  tests.forEach(({ pair, operation, statistic, samples }, i) => {
    const own = q[i]!
    pair.tests++
    const surest = !(own > pair.q) && !(own === pair.q && statistic <= pair.statistic)
    // Distances are worked out only where they decide or are shown.
    if (!surest && (own >= alpha || pair.different)) return
    const effect = relativeDistance(...samples)
    if (own < alpha && effect >= minimumEffect) pair.different = true
    if (surest) Object.assign(pair, { operation, statistic, q: own, effect })
  })
  return pairs
}

function relativeDistance(one: Float64Array, other: Float64Array): number {
  const { distance } = wassersteinDistance(one, other, { sorted: true })
  if (distance === 0) return 0
  return distance / Math.abs((sum(one) + sum(other)) / (one.length + other.length))
}

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
  const [compared, others] = divided(pairs.hosts.keys(), isCompared)
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
