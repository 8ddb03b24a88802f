// Hundreds of hosts are half a million pairs: the loops index with `!`.
import { sum } from 'd3-array'
import { defineOptions, level, number, type OptionsOf } from '../../core/options.ts'
import { benjaminiHochberg } from '../../stats/benjamini-hochberg.ts'
import { ksTwoSample } from '../../stats/ks-two-sample.ts'
import { wassersteinDistance } from '../../stats/wasserstein.ts'

/** Options of `findHostClasses`. */
export const HOST_CLASS_OPTIONS = defineOptions({
  alpha: level({ default: 0.05, sentence: 'Two hosts differ when q is below this' }),
  minimumEffect: number({
    default: 0.1,
    min: 0,
    sentence:
      'Smallest distance between their times, as a share of their mean (Wasserstein), for two hosts to differ: with enough spans, any two differ a little',
  }),
})
export type HostClassOptions = OptionsOf<typeof HOST_CLASS_OPTIONS>

export interface OperationSamples {
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

export class HostPairs {
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
