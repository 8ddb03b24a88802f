// Over every call of a group: the loops index with `!`.
import { ksTwoSample } from '../../stats/ks-two-sample.ts'
import { quantile } from '../../stats/quantile.ts'
import { quantileMap } from '../../stats/quantile-map.ts'
import type { LatencyChange } from '../recompute/latency-change.ts'
import type { RequestModel } from '../recompute/request-model.ts'
import { type CallGroup, groupName, groupTitle } from './call-group.ts'
import type { CandidateContext } from './candidate-context.ts'
import { callRows, onePerRequest, spreadOrder } from './change-parts.ts'
import { type Feature, featureWords, largeParts, partWords } from './features.ts'
import type { Candidate, ScenarioEvidence } from './scenario.ts'

/** More parts than this of one feature are not each looked at. */
const MAX_PARTS = 12
const NOTHING_WITHIN = () => []
const NOTHING = new Float64Array(0)

/**
 * For each feature by which the calls of a group divide: what if the calls of one part were served
 * as fast as the others are? (Ostrowski, Mann and Sandler 2011, §4.1, first type) And, where there is
 * another period: what if those of one part, of one host, say, were served as they are there?
 */
export function partitionCandidates(context: CandidateContext, group: CallGroup): Candidate[] {
  const { base, features, minimumPartition } = context
  const calls = callRows(base.forest, group.paths)
  return features.flatMap((feature) => {
    if (feature.ofCalls === null) return []
    const partition = feature.ofCalls(base, calls)
    const parts = largeParts(partition, minimumPartition)
    if (parts.length < 2 || parts.length > MAX_PARTS) return []
    const nameOf = (part: number) => partition.names[part] as string
    const partsOfOne = parts.flatMap((part) => {
      const one = { group, feature, name: nameOf(part) }
      return [partitionCandidate(context, one), ...partAsAfter(context, one)]
    })
    return [
      ...callMixCandidates(context, { group, feature, parts: parts.map(nameOf) }),
      ...partsOfOne,
    ]
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
    evidence: (base, target) => partEvidence(base, target, one),
  }
}

/**
 * Of one part, the times before, and those after without what changed about all calls alike: that is
 * not about this part. Nor is the part a cause where it is as fast as before, however others changed.
 */
function partEvidence(base: RequestModel, target: RequestModel, one: OnePart): ScenarioEvidence {
  const [own, others] = timesOfParts(base, one)
  const [ownAfter, othersAfter] = timesOfParts(target, one)
  if ([own, others, ownAfter, othersAfter].some(({ length }) => length === 0)) {
    return { measured: 'times', before: NOTHING, after: NOTHING }
  }
  const without = undoing(othersAfter, others)
  const alone = ownAfter.map((us) => without(us))
  const change = (after: Float64Array) => ksTwoSample(own, after).statistic
  if (change(alone) >= change(ownAfter)) return { measured: 'times', before: own, after: ownAfter }
  // What is undone is known from samples too: as much less is known of what remains.
  const share = Math.min(shareOf(others, own), shareOf(othersAfter, alone))
  return { measured: 'times', before: own, after: alone, share }
}

function shareOf(others: Float64Array, own: Float64Array): number {
  return others.length / (others.length + own.length)
}

/** The level at which a part of whole requests is looked at by itself. */
const STANDS_OUT = 0.001

/** Whether a part changed by more, or less, than all else did. */
function standsOut(base: RequestModel, target: RequestModel, one: OnePart): boolean {
  const { before, after } = partEvidence(base, target, one)
  return before.length > 0 && ksTwoSample(before, after).p < STANDS_OUT
}

/** How far from its ends a sample's quantiles are known well. */
const EDGE = 0.05

/**
 * Takes times from after to before, as those of other calls went the other way: by quantiles, and
 * beyond the outer twentieths by the factor that is there, as a part may lie wholly beyond the others.
 */
function undoing(after: Float64Array, before: Float64Array): (us: number) => number {
  const [sortedAfter, sortedBefore] = [after.slice().sort(), before.slice().sort()]
  const edge = (share: number) => {
    const us = quantile(sortedAfter, share)
    return { us, factor: us > 0 ? quantile(sortedBefore, share) / us : 1 }
  }
  const [low, high] = [edge(EDGE), edge(1 - EDGE)]
  const map = quantileMap(after, before)
  return (us) => (us < low.us ? us * low.factor : us > high.us ? us * high.factor : map(us))
}

/** One part as it is in the target. */
function partAsAfter(context: CandidateContext, one: OnePart): Candidate[] {
  const { group, feature, name } = one
  if (context.target === null) return []
  // Of whole requests, each part as after would explain its share of any change.
  const isWhole = group.paths.every((path) => context.paths.parent(path) < 0)
  if (isWhole && !standsOut(context.base, context.target, one)) return []
  const timesOf = (model: RequestModel, calls: Uint32Array) =>
    Float64Array.from(calls, (call) => model.forest.serverUs[call] as number)
  return [
    {
      kind: 'partition',
      key: `part ${feature.name}=${name} ${group.paths}`,
      title: `server time of ${groupTitle(context.paths, group)} ${partWords(feature.name, name)} as after`,
      service: group.service,
      operation: group.operation,
      path: group.paths.length === 1 ? (group.paths[0] as number) : null,
      within: NOTHING_WITHIN,
      apply(base, target) {
        const { inside } = dividedCalls(base, one)
        const there = target === null ? inside.subarray(0, 0) : dividedCalls(target, one).inside
        if (target === null || inside.length === 0 || there.length === 0) {
          return { changes: [], weight: null }
        }
        const own = timesOf(base, inside)
        const map = quantileMap(own, timesOf(target, there))
        return { changes: [{ calls: inside, serverUs: own.map((us) => map(us)) }], weight: null }
      },
      evidence: (base, target) => partEvidence(base, target, one),
    },
  ]
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

interface CallMix {
  readonly group: CallGroup
  readonly feature: Feature
  /** The kinds of calls that there are enough of. */
  readonly parts: readonly string[]
}

/**
 * What if as many calls of a group were of each kind as in the target: cache misses instead of hits,
 * say? Calls that become another kind take the same quantile of the server times of that kind, as
 * they were before. Unlike the mix of requests, this keeps all else about each request.
 *
 * None for requests as a whole, where it would be the mix of requests.
 */
function callMixCandidates(context: CandidateContext, mix: CallMix): Candidate[] {
  const { group, feature } = mix
  const { paths, target } = context
  if (target === null || group.paths.some((path) => paths.parent(path) < 0)) return []
  return [
    {
      kind: 'partition',
      key: `mix ${feature.name} ${group.paths}`,
      title: `mix of calls to ${groupName(group)} by ${featureWords(feature.name)} as after`,
      service: group.service,
      operation: group.operation,
      path: group.paths.length === 1 ? (group.paths[0] as number) : null,
      within: () => [],
      apply: (base, to) => ({
        changes: to === null ? [] : mixedAs(base, to, mix),
        weight: null,
      }),
      evidence: (base, to) => ({
        ...{ measured: 'kinds', before: kindsOf(base, mix), after: kindsOf(to, mix) },
      }),
    },
  ]
}

/** The calls of each part, rows. */
function divided(model: RequestModel, { group, feature, parts }: CallMix): number[][] {
  const calls = callRows(model.forest, group.paths)
  const partition = feature.ofCalls?.(model, calls)
  const rows: number[][] = parts.map(() => [])
  calls.forEach((call, i) => {
    const name = partition?.names[partition.codes[i]!]
    if (name !== undefined) rows[parts.indexOf(name)]?.push(call)
  })
  return rows
}

function mixedAs(base: RequestModel, target: RequestModel, mix: CallMix): LatencyChange[] {
  const own = divided(base, mix)
  const theirs = divided(target, mix)
  const size = (rows: readonly number[][]) => rows.reduce((sum, { length }) => sum + length, 0)
  if (size(theirs) === 0) return []
  const scale = size(own) / size(theirs)
  const spare = own.map((calls, part) => calls.length - Math.round(theirs[part]!.length * scale))
  const timesOf = (calls: ArrayLike<number>) =>
    Float64Array.from(calls, (call) => base.forest.serverUs[call]!)
  const changes: LatencyChange[] = []
  own.forEach((calls, from) => {
    const order = spreadOrder(calls)
    for (let to = 0; to < own.length && spare[from]! > 0; to++) {
      const moved = Math.min(spare[from]!, -spare[to]!)
      if (moved <= 0) continue
      spare[from]! -= moved
      spare[to]! += moved
      const chosen = Uint32Array.from(order.splice(0, moved)).sort()
      const map = quantileMap(timesOf(calls), timesOf(own[to]!))
      changes.push({ calls: chosen, serverUs: timesOf(chosen).map((us) => map(us)) })
    }
  })
  return changes
}

/** The kind of one call of each request. */
function kindsOf(model: RequestModel, mix: CallMix): Float64Array {
  const kindOf = new Map<number, number>()
  divided(model, mix).forEach((calls, part) => {
    for (const call of calls) kindOf.set(call, part)
  })
  const calls = Uint32Array.from(kindOf.keys()).sort()
  return Float64Array.from(onePerRequest(model.forest, calls), (call) => kindOf.get(call)!)
}
