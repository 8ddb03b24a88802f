import { quantileMap } from '../../stats/quantile-map.ts'
import type { RequestModel } from '../recompute/request-model.ts'
import type { CallGroup } from './call-group.ts'
import { callRows } from './call-rows.ts'
import type { CandidateContext } from './candidate-context.ts'
import type { Feature } from './feature.ts'
import { featureWords, partWords } from './feature-words.ts'
import { groupTitle } from './group-title.ts'
import { onePerRequest } from './one-per-request.ts'
import { largeParts, type Partition, partSizes } from './request-partition.ts'
import type { Candidate } from './scenario.ts'

/** More parts than this of one feature are not each looked at. */
const MOST_PARTS = 12
const NOTHING_WITHIN = () => []
const NO_KINDS = new Float64Array(0)

/**
 * For each feature by which the calls of a group divide: what if the calls of one part were served
 * as fast as the others are? (Ostrowski, Mann and Sandler 2011, §4.1, first type)
 */
export function partitionCandidates(context: CandidateContext, group: CallGroup): Candidate[] {
  const { base, features, minimumPartition } = context
  const calls = callRows(base.forest, group.paths)
  return features.flatMap((feature) => {
    if (feature.ofCalls === null) return []
    const partition = feature.ofCalls(base, calls)
    const parts = largeParts(partition, minimumPartition)
    if (parts.length < 2 || parts.length > MOST_PARTS) return []
    return parts.map((part) =>
      partitionCandidate(context, { group, feature, name: partition.names[part] as string }),
    )
  })
}

interface OnePart {
  readonly group: CallGroup
  readonly feature: Feature
  readonly name: string
}

function partitionCandidate(context: CandidateContext, one: OnePart): Candidate {
  const { group, feature, name } = one
  const where = groupTitle(context.paths, group)
  return {
    kind: 'partition',
    key: `partition ${feature.name}=${name} ${group.paths}`,
    title: `${where} ${partWords(feature.name, name)}, as fast as the others`,
    service: group.service,
    operation: group.operation,
    path: group.paths.length === 1 ? (group.paths[0] as number) : null,
    within: NOTHING_WITHIN,
    apply(base) {
      const { serverUs } = base.forest
      const { inside, outside } = dividedCalls(base, one)
      const timesOf = (calls: Uint32Array) =>
        Float64Array.from(calls, (call) => serverUs[call] as number)
      const own = timesOf(inside)
      const map = quantileMap(own, timesOf(outside))
      return { changes: [{ calls: inside, serverUs: own.map((us) => map(us)) }], weight: null }
    },
    evidence(base, target) {
      const [own, others] = timesOfParts(base, one)
      const [ownAfter, othersAfter] = timesOfParts(target, one)
      if (others.length === 0 || othersAfter.length === 0) {
        return { measured: 'times', before: new Float64Array(0), after: new Float64Array(0) }
      }
      // What changed about all calls alike is not about this part.
      const without = quantileMap(othersAfter, others)
      return { measured: 'times', before: own, after: ownAfter.map((us) => without(us)) }
    },
  }
}

/** Server times of one call of each request, within a part and outside of it. */
function timesOfParts(
  model: RequestModel,
  one: OnePart,
): [own: Float64Array, others: Float64Array] {
  const { forest } = model
  const { inside, outside } = dividedCalls(model, one)
  const timesOf = (calls: Uint32Array) =>
    Float64Array.from(onePerRequest(forest, calls), (call) => forest.serverUs[call] as number)
  return [timesOf(inside), timesOf(outside)]
}

/** The calls of one part, and those of all other parts: the mixture of these has their own sizes. */
function dividedCalls(model: RequestModel, { group, feature, name }: OnePart) {
  const calls = callRows(model.forest, group.paths)
  const partition = feature.ofCalls?.(model, calls) ?? { codes: new Int32Array(0), names: [] }
  const part = partition.names.indexOf(name)
  return {
    inside: calls.filter((_, i) => part >= 0 && partition.codes[i] === part),
    outside: calls.filter((_, i) => partition.codes[i] !== part && partition.codes[i] !== -1),
  }
}

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
    if (parts.length > MOST_PARTS) return []
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
