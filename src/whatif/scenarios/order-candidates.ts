// Over every call that a scenario changes: the loops index with `!`.
import { greatest, group as groupBy, sum } from 'd3-array'
import { type CallForest, requestWeights } from '../../calls/call-forest.ts'
import { getOrInsert } from '../../core/entries.ts'
import { remembered } from '../../core/remembered.ts'
import { ksTwoSample } from '../../stats/ks-two-sample.ts'
import { quantile } from '../../stats/quantile.ts'
import { ascendingSample } from '../../stats/weighted-sample.ts'
import { type WaitPlan, waitAlike } from '../models/call-orders.ts'
import type { ExecutionModel, ExecutionModels } from '../models/execution-models.ts'
import type { LatencyChange, RequestModel } from '../recompute/request-model.ts'
import { type CallGroup, groupName, groupTitle } from './call-group.ts'
import { type CandidateContext, type CandidateSketch, candidate } from './candidate-context.ts'
import {
  type CallTimes,
  callRows,
  countCalls,
  samplePerRequest,
  spreadOrder,
  takeCalls,
  timesAs,
  timesAt,
  timesMap,
} from './change-parts.ts'
import {
  type Feature,
  featureWords,
  largeParts,
  MAX_FEATURE_PARTS,
  mayFollow,
  type Partition,
  partitionBy,
  partWords,
} from './features.ts'
import {
  type Candidate,
  type EvidenceSample,
  NO_SAMPLE,
  type ScenarioEvidence,
} from './scenario.ts'

/**
 * Returns scenarios in which the calls of a group make their own calls in the target's order: one after the other, for
 * example, instead of all at once. Among calls with the same children, each order gets its share in the target. None if
 * the order is the same.
 */
export function orderCandidates(context: CandidateContext, group: CallGroup): Candidate[] {
  const { paths, base, target, minimumPartition: least } = context
  if (target === null || switchedCalls(base, target, { group, least }).length === 0) return []
  return [
    candidate({
      kind: 'order',
      group,
      key: `order ${group.paths}`,
      title: `calls of ${groupTitle(paths, group)} in the order of after`,
      asTarget: (from, to) =>
        switchedCalls(from, to, { group, least }).flatMap((each) =>
          reordered(from, to, { ...each, group }),
        ),
      evidence(from, to) {
        const kept = keysInSeveralOrders([from, to], group)
        return {
          measured: 'kinds',
          before: ordersOf(from, group, kept),
          after: ordersOf(to, group, kept),
        }
      },
    }),
  ]
}

type SwitchedCalls = ReturnType<typeof switchedCalls>[number]

/**
 * Returns the changes that give calls another order. What waits for something else than before takes the same quantile
 * of the time that goes by before it in the target; all else keeps its own time.
 */
function reordered(
  base: RequestModel,
  target: RequestModel,
  { calls, from, to, group }: SwitchedCalls & { readonly group: CallGroup },
): LatencyChange[] {
  const { modelOf } = target.models.period(target.period)
  const there = callRows(target.forest, group.paths).filter((call) => modelOf[call] === to.id)
  const plan = usualPlan(target, there)
  if (plan === null) return []
  const changed = to.nodes
    .map((_, node) => node)
    .filter((node) => !haveSameNodes(from.predecessors[node], to.predecessors[node]))
    .map((node) => ({
      time: 'preprocessingUs' as const,
      own: childrenOf(base, calls, node),
      theirs: childrenOf(target, there, node),
    }))
  const replies = { time: 'replyUs', own: calls, theirs: there } as const
  const isReplySame = haveSameNodes(from.returnPredecessors, to.returnPredecessors)
  return [
    { calls, orders: Array.from(calls, () => plan) },
    ...[...changed, ...(isReplySame ? [] : [replies])].map(({ time, own, theirs }) => ({
      calls: own,
      [time]: timesAs(
        timesAt(base, own, (call) => base[time][call]!),
        timesAt(target, theirs, (call) => target[time][call]!),
      ),
    })),
  ]
}

function usualPlan({ models, period, forest }: RequestModel, calls: Uint32Array): WaitPlan | null {
  const { planOf, plans } = models.period(period)
  const ofPlans = groupBy(calls, (call) => planOf[call]!)
  const usual = greatest(ofPlans, ([, same]) => countCalls(forest, same))
  return usual === undefined ? null : plans[usual[0]]!
}

/** Returns the calls at a node under some calls, ascending. */
function childrenOf({ models, period, forest }: RequestModel, calls: Uint32Array, node: number) {
  const { nodeCalls } = models.period(period)
  return calls.map((call) => nodeCalls[forest.childOffsets[call]! + node]!).sort()
}

function haveSameNodes(one: readonly number[] = [], other: readonly number[] = []): boolean {
  return one.length === other.length && one.every((node, i) => node === other[i])
}

/** Returns the kinds of calls, by their children, that occur in several orders. */
function keysInSeveralOrders(models: readonly RequestModel[], group: CallGroup): Set<number> {
  const orderOfKey = new Map<number, number>()
  const several = new Set<number>()
  for (const model of models) {
    const classOf = orderClassOf(model)
    for (const call of callRows(model.forest, group.paths)) {
      const key = keyOf(model, call)
      if ((orderOfKey.get(key) ?? classOf(call)) !== classOf(call)) several.add(key)
      orderOfKey.set(key, classOf(call))
    }
  }
  return several
}

function ordersOf(
  model: RequestModel,
  group: CallGroup,
  keys: ReadonlySet<number>,
): EvidenceSample {
  const calls = callRows(model.forest, group.paths).filter((call) => keys.has(keyOf(model, call)))
  return samplePerRequest(model.forest, calls, orderClassOf(model))
}

function orderClassOf({ models, period }: RequestModel): (call: number) => number {
  const classes = orderClasses(models)
  const { modelOf } = models.period(period)
  return (call) => classes[modelOf[call]!]!
}

function keyOf({ models, period }: RequestModel, call: number): number {
  return models.orders[models.period(period).orderOf[call]!]!.key
}

/**
 * Returns the calls that must change their order so that, among calls with the same children, each order has its share
 * in `target`, weighted. Calls that both periods have fewer than `least` of stay as they are.
 */
function switchedCalls(
  base: RequestModel,
  target: RequestModel,
  { group, least }: { readonly group: CallGroup; readonly least: number },
) {
  const classes = orderClasses(base.models)
  const theirs = callsByModel(target, group)
  const { forest } = base
  return [...callsByModel(base, group)].flatMap(([key, ofModels]) => {
    const wanted = theirs.get(key) ?? new Map<ExecutionModel, number[]>()
    const counts = [ofModels, wanted].map((each) => sum(each.values(), ({ length }) => length))
    if (counts.some((count) => count === 0 || count < least)) return []
    const scale =
      sum(ofModels.values(), (calls) => countCalls(forest, calls)) /
      sum(wanted.values(), (calls) => countCalls(target.forest, calls))
    const spare = new Float64Array(classes.length)
    for (const [{ id }, calls] of ofModels) spare[classes[id]!]! += countCalls(forest, calls)
    for (const [{ id }, calls] of wanted) {
      spare[classes[id]!]! -= countCalls(target.forest, calls) * scale
    }
    return movedCalls(forest, {
      kinds: ofModels,
      wanted: [...wanted.keys()],
      spare,
      placeOf: ({ id }) => classes[id]!,
    })
  })
}

/**
 * Moves calls from kinds that have too many of them to kinds that have too few.
 *
 * @param spare surplus of calls, by the place of each kind; negative for a lack
 */
function movedCalls<Kind>(
  forest: CallForest,
  {
    kinds,
    wanted,
    spare,
    placeOf,
  }: {
    readonly kinds: Iterable<readonly [kind: Kind, calls: Iterable<number>]>
    readonly wanted: readonly Kind[]
    readonly spare: Float64Array
    readonly placeOf: (kind: Kind) => number
  },
) {
  const moved: { readonly calls: Uint32Array; readonly from: Kind; readonly to: Kind }[] = []
  for (const [from, own] of kinds) {
    const left = spreadOrder([...own])
    for (const to of wanted) {
      const [source, end] = [placeOf(from), placeOf(to)]
      const calls = takeCalls(forest, left, Math.min(spare[source]!, -spare[end]!))
      if (calls.length === 0) continue
      moved.push({ calls, from, to })
      spare[source]! -= countCalls(forest, calls)
      spare[end]! += countCalls(forest, calls)
    }
  }
  return moved
}

/** Groups rows by their calls, then by their model. */
function callsByModel({ models, period, forest }: RequestModel, { paths }: CallGroup) {
  const { orderOf, modelOf } = models.period(period)
  const orderOfCall = (call: number) => models.orders[orderOf[call]!]!
  const ordered = callRows(forest, paths).filter((call) => orderOfCall(call).nodes.length > 1)
  const keyOfCall = (call: number) => orderOfCall(call).key
  return groupBy(ordered, keyOfCall, (call) => models.models[modelOf[call]!]!)
}

/**
 * Returns, by model, the number of its order: the same for models, of either period, if none waits for a node that
 * another does not wait for. Models may differ in nodes that were over by chance, which happens more often if these
 * became faster; that is no other order.
 */
export const orderClasses = remembered((models: ExecutionModels): Uint32Array => {
  const classes = Uint32Array.from(models.models, ({ id }) => id)
  const observed = models.forests.flatMap((_, period) =>
    models.period(period).clusters.filter(({ precedence }) => precedence.nodes > 1),
  )
  for (const alike of groupBy(observed, ({ key }) => key).values()) {
    // The models of most calls stand for their classes.
    const leaders: typeof observed = []
    alike.sort((a, b) => b.calls - a.calls || a.model - b.model)
    for (const one of alike) {
      const leader = leaders.find((other) => waitAlike(one, other))
      if (leader === undefined) leaders.push(one)
      classes[one.model] = (leader ?? one).model
    }
  }
  return classes
})

/** The calls of a group, as a feature divides them. */
interface DividedGroup {
  readonly group: CallGroup
  readonly feature: Feature
}

/**
 * Returns, for each feature that divides the calls of a group, scenarios in which the calls of one part are served as
 * fast as the others (Ostrowski, Mann and Sandler 2011, §4.1, first type). If there is another period, also returns
 * scenarios in which those of one part, such as one host, are served as they are there.
 */
export function partitionCandidates(context: CandidateContext, group: CallGroup): Candidate[] {
  const { base, target, features, minimumPartition } = context
  return features.flatMap((feature) => {
    if (feature.ofCalls === null) return []
    const largeIn = (model: RequestModel) => {
      const partition = namedCalls(model, { group, feature })
      return largeParts(partition, minimumPartition).map((part) => partition.names[part]!)
    }
    const names = largeIn(base)
    // A kind that comes or goes is a change of the mix, too.
    const parts = [...new Set([...names, ...(target === null ? [] : largeIn(target))])]
    if (parts.length < 2 || parts.length > MAX_FEATURE_PARTS) return []
    return [
      ...callMixCandidates(context, { group, feature, parts }),
      ...(names.length < 2 ? [] : names).flatMap((name) =>
        partCandidates(context, { group, feature, name }),
      ),
    ]
  })
}

interface OnePart extends DividedGroup {
  readonly name: string
}

/** Returns candidates for one part as fast as the others, and as it is in the target. */
function partCandidates({ paths, base, target }: CandidateContext, one: OnePart): Candidate[] {
  const { group, feature, name } = one
  const place = `${feature.name}=${name} ${group.paths}`
  const what = `${groupTitle(paths, group)} ${partWords(feature.name, name)}`
  const shared = {
    kind: 'partition',
    group,
    evidence: (before, after) => partEvidence(before, after, one),
  } satisfies Partial<CandidateSketch>
  const asOthers = candidate({
    ...shared,
    key: `partition ${place}`,
    title: `${what}, as fast as the others`,
    isTwoWay: false,
    changes: (model) => {
      const { inside, outside } = dividedCalls(model, one)
      return [servedAs(model, inside, serverTimes(model, outside))]
    },
  })
  // For whole requests, every part set to its times after would explain its share of any change.
  const isWhole = group.paths.every((path) => paths.parent(path) < 0)
  if (target === null || (isWhole && !standsOut(base, target, one))) return [asOthers]
  const asAfter = candidate({
    ...shared,
    key: `part ${place}`,
    title: `server time of ${what} as after`,
    asTarget: (from, to) => {
      const { inside } = dividedCalls(from, one)
      const there = serverTimes(to, dividedCalls(to, one).inside)
      const isEmpty = inside.length === 0 || there.values.length === 0
      return isEmpty ? [] : [servedAs(from, inside, there)]
    },
  })
  return [asOthers, asAfter]
}

/** Gives calls the same quantile of given server times. */
function servedAs(model: RequestModel, calls: Uint32Array, to: CallTimes): LatencyChange {
  return { calls, serverUs: timesAs(serverTimes(model, calls), to) }
}

function serverTimes(model: RequestModel, calls: Uint32Array): CallTimes {
  return timesAt(model, calls, (call) => model.forest.serverUs[call]!)
}

/**
 * Returns a part's times before, and its times after without the change common to all calls, which is not about this
 * part. A part that is as fast as before is no cause either, however others changed.
 */
function partEvidence(base: RequestModel, target: RequestModel, one: OnePart): ScenarioEvidence {
  const [own, others] = timesOfParts(base, one)
  const [ownAfter, othersAfter] = timesOfParts(target, one)
  if ([own, others, ownAfter, othersAfter].some(({ values }) => values.length === 0)) {
    return { measured: 'times', before: NO_SAMPLE, after: NO_SAMPLE }
  }
  const undo = undoing(othersAfter, others)
  const alone = { ...ownAfter, values: ownAfter.values.map(undo) }
  const change = (after: WeighedSample) => ksOf(own, after).statistic
  if (change(alone) >= change(ownAfter)) return { measured: 'times', before: own, after: ownAfter }
  // The undone change is estimated from samples, too, so the rest is less certain.
  const shareOf = ({ values: of }: EvidenceSample, { values: part }: EvidenceSample) =>
    of.length / (of.length + part.length)
  const share = Math.min(shareOf(others, own), shareOf(othersAfter, alone))
  return { measured: 'times', before: own, after: alone, share }
}

/** The level at which a part of whole requests is looked at by itself. */
const STANDS_OUT = 0.001

/** Whether a part changed by more, or less, than all else did. */
function standsOut(base: RequestModel, target: RequestModel, one: OnePart): boolean {
  const { before, after } = partEvidence(base, target, one)
  if (before.values.length === 0) return false
  return ksOf(weighed(base, before), weighed(target, after)).p < STANDS_OUT
}

/** A sample, and how many requests each value stands for; undefined where each for one. */
interface WeighedSample extends EvidenceSample, CallTimes {}

function weighed({ forest }: RequestModel, sample: EvidenceSample): WeighedSample {
  return { ...sample, weights: requestWeights(forest, sample.requests) }
}

function ksOf(before: WeighedSample, after: WeighedSample) {
  const weights = { beforeWeights: before.weights, afterWeights: after.weights }
  return ksTwoSample(before.values, after.values, weights)
}

/** Distance from the ends of a sample, as a share, from which its quantiles are known well. */
const EDGE = 0.05

/**
 * Takes times from after to before, as those of other calls went the other way: by quantiles, and
 * beyond the outer twentieths by the factor that is there, as a part may lie wholly beyond the others.
 */
function undoing(after: CallTimes, before: CallTimes): (us: number) => number {
  const quantilesOf = (times: CallTimes) => {
    const { values, weights } = ascendingSample(times.values, times.weights)
    return (share: number) => quantile(values, share, weights)
  }
  const [ofAfter, ofBefore] = [quantilesOf(after), quantilesOf(before)]
  const edge = (share: number) => {
    const us = ofAfter(share)
    return { us, factor: us > 0 ? ofBefore(share) / us : 1 }
  }
  const [low, high] = [edge(EDGE), edge(1 - EDGE)]
  const map = timesMap(after, before)
  return (us) => (us < low.us ? us * low.factor : us > high.us ? us * high.factor : map(us))
}

/** Returns server times of one call of each request, within a part and outside of it. */
function timesOfParts(model: RequestModel, one: OnePart) {
  const { inside, outside } = dividedCalls(model, one)
  const timesOf = (calls: Uint32Array) =>
    weighed(
      model,
      samplePerRequest(model.forest, calls, (call) => model.forest.serverUs[call]!),
    )
  return [timesOf(inside), timesOf(outside)] as const
}

/** Returns the calls of one part, and those of all other parts: the mixture of these has their own sizes. */
function dividedCalls(model: RequestModel, { name, ...divided }: OnePart) {
  const { calls, codes, names } = namedCalls(model, divided)
  const part = names.indexOf(name)
  return {
    inside: calls.filter((_, i) => part >= 0 && codes[i] === part),
    outside: calls.filter((_, i) => codes[i] !== part && codes[i]! >= 0),
  }
}

/** Caches divisions by model and feature: every part of a group, and each scenario of it, divides the same calls. */
const dividedBy = remembered((_: RequestModel) =>
  remembered((_: Feature) => new Map<string, Partition & { readonly calls: Uint32Array }>()),
)

/** Returns the calls of a group, and the part that each belongs to. */
function namedCalls(model: RequestModel, { group, feature }: DividedGroup) {
  return getOrInsert(dividedBy(model)(feature), group.paths.join(), () => {
    const calls = callRows(model.forest, group.paths)
    const parts = feature.ofCalls?.(model, calls) ?? partitionBy(calls.length, () => undefined)
    return { calls, ...parts }
  })
}

interface CallMix extends DividedGroup {
  readonly parts: readonly string[]
}

/**
 * Returns the scenario in which a group has the target's mix of kinds of calls: cache misses instead of hits, for
 * example. Calls that become another kind take the same quantile of that kind's server times before. Unlike the mix of
 * requests, this keeps everything else about each request.
 *
 * None for whole requests, because that would be the mix of requests.
 */
function callMixCandidates({ paths, target }: CandidateContext, mix: CallMix): Candidate[] {
  const { group, feature } = mix
  if (target === null || group.paths.some((path) => paths.parent(path) < 0)) return []
  return [
    candidate({
      kind: 'partition',
      group,
      key: `mix ${feature.name} ${group.paths}`,
      title: `mix of calls to ${groupName(group)} by ${featureWords(feature.name)} as after`,
      asTarget: (base, to) => mixedAs(base, to, mix),
      kinds: (model) => kindsOf(model, mix),
      mayFollow: mayFollow(feature),
    }),
  ]
}

function mixedAs(base: RequestModel, target: RequestModel, mix: CallMix): LatencyChange[] {
  const [own, theirs] = [base, target].map((model) =>
    mix.parts.map((name) => dividedCalls(model, { ...mix, name }).inside),
  ) as [Uint32Array[], Uint32Array[]]
  const [sizes, theirSizes] = [
    own.map((calls) => countCalls(base.forest, calls)),
    theirs.map((calls) => countCalls(target.forest, calls)),
  ] as const
  if (sum(theirSizes) === 0) return []
  const scale = sum(sizes) / sum(theirSizes)
  const spare = Float64Array.from(sizes, (size, part) => {
    return size - Math.round(theirSizes[part]! * scale)
  })
  const moved = movedCalls(base.forest, {
    kinds: own.entries(),
    wanted: [...own.keys()],
    spare,
    placeOf: Number,
  })
  return moved.map(({ calls, from, to }) => {
    // A kind that is new is known from the target alone.
    const others = own[to]!
    const ofOthers =
      others.length > 0 ? serverTimes(base, others) : serverTimes(target, theirs[to]!)
    const ofKind = serverTimes(base, own[from]!)
    return { calls, serverUs: timesAs(serverTimes(base, calls), ofOthers, ofKind) }
  })
}

/** Returns the kind of one call of each request. */
function kindsOf(model: RequestModel, mix: CallMix): EvidenceSample {
  const { calls, codes, names } = namedCalls(model, mix)
  const kinds = codes.map((code) => mix.parts.indexOf(names[code] ?? ''))
  const kindOf = new Map(Array.from(calls, (call, i) => [call, kinds[i]!]))
  const ofParts = calls.filter((_, i) => kinds[i]! >= 0)
  return samplePerRequest(model.forest, ofParts, (call) => kindOf.get(call)!)
}
