import type { CandidateContext } from './candidate-context.ts'
import {
  type Feature,
  featureWords,
  largeParts,
  type Partition,
  partSizes,
  partWords,
} from './features.ts'
import type { Candidate } from './scenario.ts'

/** More parts than this of one feature are not each looked at. */
const MAX_PARTS = 12
const NOTHING_WITHIN = () => []
const NO_KINDS = new Float64Array(0)
/** Features that slowness changes by itself: requests that take longer are under way together. */
const MAY_FOLLOW: readonly string[] = ['load', 'concurrency']

/**
 * For each feature by which requests divide: what if they came in the target's proportions? Without
 * the other period's traces: what if those of one part came twice as often, or half as often?
 * (Ostrowski, Mann and Sandler 2011, §4.1, second type)
 */
export function reweightCandidates(context: CandidateContext): Candidate[] {
  const { base, target, features, minimumPartition } = context
  return features.flatMap((feature) => {
    const partition = feature.ofRequests(base)
    const parts = largeParts(partition, minimumPartition)
    if (parts.length === 0 || partition.names.length < 2) return []
    if (target !== null) {
      const after = feature.ofRequests(target)
      return [mixCandidate(feature, grouped(partition, after, minimumPartition))]
    }
    if (parts.length > MAX_PARTS) return []
    return parts.flatMap((part) =>
      ([0.5, 2] as const).map((factor) => frequencyCandidate(feature, partition, { part, factor })),
    )
  })
}

interface Mix {
  readonly before: Partition
  readonly after: Partition
}

/** Parts too small to weigh by themselves become one; both periods are divided alike. */
function grouped(before: Partition, after: Partition, least: number): Mix {
  const large = new Set(largeParts(before, least).map((part) => before.names[part] as string))
  const names = [...large, 'others']
  const of = (partition: Partition): Partition => {
    const renumbered = partition.names.map((name) =>
      large.has(name) ? names.indexOf(name) : names.length - 1,
    )
    return { names, codes: partition.codes.map((code) => (code < 0 ? -1 : renumbered[code]!)) }
  }
  return { before: of(before), after: of(after) }
}

function mixCandidate(feature: Feature, { before, after }: Mix): Candidate {
  return {
    ...{ kind: 'reweight', service: '', operation: '', path: null, within: NOTHING_WITHIN },
    key: `mix ${feature.name}`,
    title: `mix of requests by ${featureWords(feature.name)} as after`,
    apply(base, target) {
      const { weight } = base.forest
      const sizes = partSizes(before, weight)
      const wanted = partSizes(after, target?.forest.weight)
      // What only one period has cannot be weighed against the other.
      const both = Array.from(sizes, (size, part) => size > 0 && (wanted[part] as number) > 0)
      const sum = (of: Float64Array) =>
        of.reduce((all, size, part) => all + (both[part] ? size : 0), 0)
      const scale = sum(sizes) / sum(wanted)
      const factors = Array.from(sizes, (size, part) =>
        both[part] ? ((wanted[part] as number) * scale) / size : 1,
      )
      return {
        changes: [],
        weight: weight.map((own, i) => own * (factors[before.codes[i] as number] ?? 1)),
      }
    },
    evidence: () => ({
      measured: 'kinds',
      before: Float64Array.from(before.codes.filter((code) => code >= 0)),
      after: Float64Array.from(after.codes.filter((code) => code >= 0)),
      mayFollow: MAY_FOLLOW.includes(feature.name),
    }),
  }
}

function frequencyCandidate(
  feature: Feature,
  partition: Partition,
  { part, factor }: { readonly part: number; readonly factor: 0.5 | 2 },
): Candidate {
  const name = partition.names[part] as string
  return {
    ...{ kind: 'reweight', service: '', operation: '', path: null, within: NOTHING_WITHIN },
    key: `frequency ${feature.name}=${name} ${factor}`,
    title: `${factor < 1 ? 'half' : 'twice'} as many requests ${partWords(feature.name, name)}`,
    apply: (base) => ({
      changes: [],
      weight: base.forest.weight.map((own, i) =>
        partition.codes[i] === part ? own * factor : own,
      ),
    }),
    evidence: () => ({ measured: 'kinds', before: NO_KINDS, after: NO_KINDS }),
  }
}
