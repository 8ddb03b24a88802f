import { greatest, sum } from 'd3-array'
import { percent } from '../../core/words.ts'
import { type CandidateContext, candidate } from './candidate-context.ts'
import { type Feature, largeParts, type Partition, partSizes } from './feature.ts'
import { featureWords, isGiven, mayFollow, partWords } from './features.ts'
import { type Candidate, type EvidenceSample, NO_SAMPLE } from './scenario.ts'

/** More parts than this of one feature are not each looked at. */
const MAX_PARTS = 12
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
      const large = parts.map((part) => partition.names[part] as string)
      const [before, after] = [partition, feature.ofRequests(target)] as const
      return [mixCandidate(feature, onlyLarge(before, large), onlyLarge(after, large))]
    }
    if (parts.length > MAX_PARTS) return []
    return parts.flatMap((part) =>
      [0.5, 2].map((factor) => frequencyCandidate(feature, partition, { part, factor })),
    )
  })
}

/** Parts too small to weigh by themselves become one; both periods are divided alike. */
function onlyLarge({ names, codes }: Partition, large: readonly string[]): Partition {
  const others = large.length
  const numbers = names.map((name) => (large.includes(name) ? large.indexOf(name) : others))
  return { names: [...large, 'others'], codes: codes.map((code) => numbers[code] ?? -1) }
}

/** ` (mobile 70 % instead of 30 %)`: the part whose share changed most. */
function shiftWords(before: Partition, after: Partition): string {
  const [own, theirs] = [before, after].map((partition) => {
    const sizes = [...partSizes(partition)]
    const all = sum(sizes)
    return sizes.map((size) => (all > 0 ? size / all : 0))
  }) as [number[], number[]]
  const moved = (part: number) => Math.abs((theirs[part] ?? 0) - (own[part] ?? 0))
  const most = greatest([...before.names.keys()], (a, b) => moved(a) - moved(b)) ?? 0
  const [was, now] = [own[most] ?? 0, theirs[most] ?? 0].map((share) => percent(share))
  return was === now ? '' : ` (${before.names[most]} ${now} instead of ${was})`
}

function mixCandidate(feature: Feature, before: Partition, after: Partition): Candidate {
  return candidate({
    kind: 'reweight',
    key: `mix ${feature.name}`,
    title: `mix of requests by ${featureWords(feature.name)} as after${isGiven(feature) ? shiftWords(before, after) : ''}`,
    isGiven: isGiven(feature),
    weight({ forest: { weight } }, target) {
      const sizes = [...partSizes(before, weight)]
      const wanted = [...partSizes(after, target?.forest.weight)]
      // What only one period has cannot be weighed against the other.
      const both = sizes.map((size, part) => size > 0 && (wanted[part] as number) > 0)
      const sum = (of: readonly number[]) =>
        of.reduce((all, size, part) => all + (both[part] ? size : 0), 0)
      const scale = sum(sizes) / sum(wanted)
      const factors = sizes.map((size, part) =>
        both[part] ? ((wanted[part] as number) * scale) / size : 1,
      )
      return weight.map((own, i) => own * (factors[before.codes[i] as number] ?? 1))
    },
    evidence: () => ({
      measured: 'kinds',
      before: knownKinds(before),
      after: knownKinds(after),
      mayFollow: mayFollow(feature),
    }),
  })
}

function knownKinds({ codes }: Partition): EvidenceSample {
  const requests = Uint32Array.from(codes.keys()).filter((request) => (codes[request] ?? -1) >= 0)
  return { values: Float64Array.from(requests, (request) => codes[request] ?? -1), requests }
}

function frequencyCandidate(
  feature: Feature,
  { names, codes }: Partition,
  { part, factor }: { readonly part: number; readonly factor: number },
): Candidate {
  const name = names[part] as string
  return candidate({
    kind: 'reweight',
    key: `frequency ${feature.name}=${name} ${factor}`,
    title: `${factor < 1 ? 'half' : 'twice'} as many requests ${partWords(feature.name, name)}`,
    weight: ({ forest }) => forest.weight.map((own, i) => (codes[i] === part ? own * factor : own)),
    evidence: () => ({ measured: 'kinds', before: NO_SAMPLE, after: NO_SAMPLE }),
  })
}
