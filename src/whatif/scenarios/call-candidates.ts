// Over all calls of a period: the loops index with `!`.
import { bisectRight, cumsum, greatest, group as groupBy, sum } from 'd3-array'
import type { Finding } from '../../compare/findings/finding.ts'
import { percent, shortNumber } from '../../core/words.ts'
import type { LatencyChange, RequestModel } from '../recompute/request-model.ts'
import {
  type CallGroup,
  calledBy,
  callGroup,
  dividedGroup,
  groupName,
  groupsByName,
  groupsByService,
  groupTitle,
  reachedBy,
  rootPaths,
} from './call-group.ts'
import { type CandidateContext, type CandidateSketch, candidate } from './candidate-context.ts'
import {
  type ChangedPart,
  callCounter,
  callRows,
  changeParts,
  mapParts,
  samplePerRequest,
  spreadOrder,
  timesPerRequest,
} from './change-parts.ts'
import {
  type Feature,
  featureWords,
  isGiven,
  largeParts,
  MAX_FEATURE_PARTS,
  mayFollow,
  type Partition,
  partSizes,
  partWords,
} from './features.ts'
import { pathsAt, placesOf } from './finding-places.ts'
import { orderCandidates, partitionCandidates } from './order-candidates.ts'
import type { Candidate, EvidenceSample, ScenarioKind } from './scenario.ts'

/** Largest number of parts of a group that are tried singly, those with the most calls first. */
const MAX_PARTS = 24

/** One thing about calls that can be different. */
interface CallChange {
  readonly kind: ScenarioKind
  readonly what: string
  readonly group: CallGroup
  readonly parts: readonly ChangedPart[]
  readonly within?: Candidate['within']
  readonly below?: Candidate['below']
}

/**
 * Returns the first candidates of a diagnosis: the own time of the requests' first call, the calls it makes, whole
 * services wherever they are called, and requests as a whole.
 */
export function firstCandidates(
  context: CandidateContext,
  { services, structural }: { readonly services: boolean; readonly structural: boolean },
): Candidate[] {
  const { paths } = context
  const roots = callGroup(paths, rootPaths(paths))
  const kinds = groupsByName(paths, roots.paths)
  // Requests without calls have only their own time as a candidate.
  const inside = calledBy(paths, roots).length === 0 ? ownCandidates : insideCandidates
  return distinct([
    ...inside(context, roots),
    ...(kinds.length > 1 ? kinds.flatMap((kind) => serverCandidates(context, kind)) : []),
    ...(services ? groupsByService(paths).flatMap((group) => callCandidates(context, group)) : []),
    ...(structural ? reweightCandidates(context) : []),
    ...(structural ? partitionCandidates(context, roots) : []),
  ])
}

/**
 * Returns the first candidates of a diagnosis that begins at a finding: the way to its calls, or these as a whole and
 * everything within them. None if no request has these calls, or the finding is about trace points.
 */
export function candidatesAt(context: CandidateContext, finding: Finding): Candidate[] {
  const { paths } = context
  return distinct(
    placesOf(finding).flatMap((place) => {
      if (place.what === 'load') return reweightCandidates(context)
      const members = pathsAt(paths, place)
      if (members.length === 0) return []
      const group = callGroup(paths, members)
      if (place.what === 'way') return networkCandidates(context, group)
      const whole = serverCandidates(context, group)
      return [...whole, ...whole.flatMap((one) => one.within())]
    }),
  )
}

/** Returns candidates within a call: its own time, every call it makes, and the network to all of these. */
function insideCandidates(context: CandidateContext, group: CallGroup): Candidate[] {
  const { paths, twoSided } = context
  const called = calledBy(paths, group)
  if (called.length === 0) return []
  const remote = called.filter((path) => twoSided.has(path))
  return [
    ...groupsByName(paths, reachedBy(paths, group)).flatMap((each) =>
      callCandidates(context, each),
    ),
    ...ownCandidates(context, group),
    ...orderCandidates(context, group),
    ...countCandidates(context, group),
    ...(groupsByName(paths, remote).length < 2
      ? []
      : candidates(context, {
          kind: 'children',
          what: `network to everything that ${groupTitle(paths, group)} calls,`,
          group,
          parts: [{ part: 'network', paths: remote }],
        })),
  ]
}

/** Returns candidates for a call's own time: before each of its calls, and before it replies. */
function ownCandidates(context: CandidateContext, group: CallGroup): Candidate[] {
  const { paths } = context
  const called = calledBy(paths, group)
  const own = (what: string, parts: readonly ChangedPart[], within?: CallChange['within']) =>
    candidates(context, {
      kind: 'preprocessing',
      what: `own time of ${groupTitle(paths, group)}${what}`,
      group,
      parts,
      ...(within && { within }),
    })
  const reply: ChangedPart = { part: 'reply', paths: group.paths }
  if (called.length === 0) return own('', [reply])
  return own('', [{ part: 'preprocessing', paths: called }, reply], () => [
    ...groupsByName(paths, called).flatMap((each) =>
      own(` just before it calls ${groupName(each)},`, [
        { part: 'preprocessing', paths: each.paths },
      ]),
    ),
    ...own(' just before it replies,', [reply]),
  ])
}

/** Calls as a whole: on the way, and in the server. */
function callCandidates(context: CandidateContext, group: CallGroup): Candidate[] {
  const { paths, twoSided } = context
  const remote = group.paths.filter((path) => twoSided.has(path))
  const network = remote.length === 0 ? [] : networkCandidates(context, callGroup(paths, remote))
  return [...network, ...serverCandidates(context, group)]
}

function networkCandidates(context: CandidateContext, group: CallGroup): Candidate[] {
  return candidates(context, {
    kind: 'network',
    what: `network to ${groupTitle(context.paths, group)}`,
    group,
    parts: [{ part: 'network', paths: group.paths }],
    within: () => partsOf(context, group).flatMap((part) => networkCandidates(context, part)),
  })
}

function serverCandidates(context: CandidateContext, whole: CallGroup): Candidate[] {
  const { paths, shadows, callsOf, minimumPartition } = context
  const members = whole.paths.filter((path) => !shadows.has(path))
  if (members.length === 0) return []
  const group = callGroup(paths, members)
  return candidates(context, {
    kind: 'server',
    what: `server time of ${groupTitle(paths, group)}`,
    group,
    parts: [{ part: 'server', paths: group.paths }],
    below: () =>
      calledBy(paths, group)
        .filter((path) => (callsOf[path] ?? 0) >= minimumPartition)
        .flatMap((path) => serverCandidates(context, callGroup(paths, [path]))),
    within: () =>
      distinct([
        ...insideCandidates(context, group),
        ...partsOf(context, group).flatMap((part) => serverCandidates(context, part)),
        ...partitionCandidates(context, group),
      ]),
  })
}

/** Returns a group in smaller ones: by operation, or else path by path. */
function partsOf({ paths, base }: CandidateContext, group: CallGroup): CallGroup[] {
  const parts = dividedGroup(paths, group)
  if (parts.length <= MAX_PARTS) return parts
  const calls = (part: CallGroup) => callRows(base.forest, part.paths).length
  return parts.sort((a, b) => calls(b) - calls(a)).slice(0, MAX_PARTS)
}

/** Returns one candidate that makes a time as in the target, or one per factor if there is no target. */
function candidates({ target, factors }: CandidateContext, change: CallChange): Candidate[] {
  const { what, parts, ...own } = change
  const key = parts.map((each) => `${each.part} ${each.paths}`).join(';')
  const times: CandidateSketch['times'] = (model) => timesPerRequest(model, parts)
  if (target === null) {
    return factors.map((factor) =>
      candidate({
        ...own,
        times,
        key: `${key} × ${factor}`,
        title: `${what} × ${factor}`,
        changes: (base) => parts.map((each) => changeParts(base, each, (us) => us * factor)),
      }),
    )
  }
  const asAfter = candidate({
    ...own,
    times,
    key,
    title: `${what} as after`,
    asTarget: (base, to) => parts.map((each) => mapParts(base, to, each)),
  })
  return [asAfter]
}

function distinct(all: readonly Candidate[]): Candidate[] {
  const seen = new Set<string>()
  return all.filter(({ key }) => !seen.has(key) && seen.add(key))
}

/**
 * Returns, for each feature that divides requests, the scenario in which they come in the target's proportions. Without
 * the other period's traces, returns scenarios in which those of one part come twice as often, or half as often.
 * (Ostrowski, Mann and Sandler 2011, §4.1, second type)
 */
function reweightCandidates(context: CandidateContext): Candidate[] {
  const { base, target, features, minimumPartition } = context
  return features.flatMap((feature) => {
    const partition = feature.ofRequests(base)
    const parts = largeParts(partition, minimumPartition)
    if (parts.length === 0 || partition.names.length < 2) return []
    if (target !== null) {
      const large = parts.map((part) => partition.names[part] as string)
      const both = [partition, feature.ofRequests(target)] as const
      const small = both.flatMap(({ names }) => names.filter((name) => !large.includes(name)))
      const [only = 'others', ...more] = new Set(small)
      const kept = [...large, more.length === 0 ? only : 'others']
      const [before, after] = [onlyLarge(both[0], kept), onlyLarge(both[1], kept)]
      return [mixCandidate(context, feature, [before, after])]
    }
    if (parts.length > MAX_FEATURE_PARTS) return []
    return parts.flatMap((part) =>
      [0.5, 2].map((factor) => frequencyCandidate(feature, partition, { part, factor })),
    )
  })
}

/** Merges parts that are too small to weigh into the last one; both periods are divided in the same way. */
function onlyLarge({ names, codes }: Partition, kept: readonly string[]): Partition {
  const numbers = names.map((name) => (kept.includes(name) ? kept.indexOf(name) : kept.length - 1))
  return { names: kept, codes: codes.map((code) => numbers[code] ?? -1) }
}

/** ` (mobile 70 % instead of 30 %)`: the part whose share changed most. */
function shiftWords(
  { base, target }: CandidateContext,
  [before, after]: readonly [Partition, Partition],
): string {
  const [own, theirs] = [
    partSizes(before, base.forest.weight),
    partSizes(after, target?.forest.weight),
  ].map((of) => {
    const sizes = [...of]
    const all = sum(sizes)
    return sizes.map((size) => (all > 0 ? size / all : 0))
  }) as [number[], number[]]
  const moved = (part: number) => Math.abs((theirs[part] ?? 0) - (own[part] ?? 0))
  const most = greatest([...before.names.keys()], (a, b) => moved(a) - moved(b)) ?? 0
  const [was, now] = [own[most] ?? 0, theirs[most] ?? 0].map((share) => percent(share))
  return was === now ? '' : ` (${before.names[most]} ${now} instead of ${was})`
}

function mixCandidate(
  context: CandidateContext,
  feature: Feature,
  parts: readonly [before: Partition, after: Partition],
): Candidate {
  const [before, after] = parts
  return candidate({
    kind: 'reweight',
    key: `mix ${feature.name}`,
    title: `mix of requests by ${featureWords(feature.name)} as after${isGiven(feature) ? shiftWords(context, parts) : ''}`,
    isGiven: isGiven(feature),
    weight({ forest: { weight } }, target) {
      const sizes = [...partSizes(before, weight)]
      const wanted = [...partSizes(after, target?.forest.weight)]
      // A part of only one period cannot be weighed against the other.
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
  })
}

/** Callers with more calls than this count as the same when numbers of calls are tested. */
const MAX_COUNT = 16

interface Callees {
  /** Callers of these calls. */
  readonly group: CallGroup
  readonly callees: CallGroup
}

/**
 * Returns scenarios in which the calls of a group called something as often as in the target: six times instead of
 * once, again after a failure, newly, or no longer. None if no number of calls differs.
 *
 * Callers pair by the rank of their number of calls, weighted. If a call makes more calls, its extra time is what its
 * partner in the target would save without the last of them. If it makes fewer, it saves the time of its own last ones.
 */
function countCandidates(context: CandidateContext, whole: CallGroup): Candidate[] {
  const { paths, base, target, minimumPartition: least } = context
  if (target === null) return []
  // Operations do not pair with each other.
  const all = groupsByName(paths, whole.paths).flatMap((group) =>
    groupsByName(paths, calledBy(paths, group)).map((callees): Callees => ({ group, callees })),
  )
  return all.flatMap((divided) => {
    const { group, callees } = divided
    const [before, after] = [countsOf(base, divided), countsOf(target, divided)]
    if (before.values.length < least || after.values.length < least) return []
    if (new Set([...before.values, ...after.values]).size < 2) return []
    return candidate({
      kind: 'count',
      group,
      key: `count ${callees.paths}`,
      callee: callees.service,
      title: `${groupTitle(paths, group)} ${countWords(before, after, groupName(callees))}`,
      asTarget: (from, to) => countedAs(from, to, divided),
      kinds: (model) => {
        const countOf = calleesOf(model, divided)
        return samplePerRequest(model.forest, callRows(model.forest, group.paths), (call) =>
          Math.min(countOf(call).length, MAX_COUNT),
        )
      },
    })
  })
}

/** `calls stock 6 times on average instead of once`, `now calls audit`, `calls disk in 81 % of its calls instead of 19 %`. */
function countWords(before: CallCounts, after: CallCounts, name: string): string {
  const mean = ({ values, callers }: CallCounts, of: (count: number) => number) =>
    sum(values, (count, i) => of(count) * callers[i]!) / sum(callers)
  const whole = (share: number) => `${Math.round(100 * share)} %`
  const times = (count: number) => (count === 1 ? 'once' : `${shortNumber(count)} times`)
  const [was, now] = [mean(before, Number), mean(after, Number)]
  const [any, anyNow] = [before, after].map((counts) => mean(counts, (count) => Math.min(count, 1)))
  if (was === 0)
    return `now calls ${name}${anyNow! < 1 ? `, in ${whole(anyNow!)} of its calls` : ''}`
  if (now === 0) return `no longer calls ${name}`
  return any === was && anyNow === now
    ? `calls ${name} in ${whole(now)} of its calls instead of ${whole(was)}`
    : `calls ${name} ${times(now)} on average instead of ${times(was)}`
}

/** Number of calls of each caller, and the number of callers it stands for. */
type CallCounts = ReturnType<typeof countsOf>

/** Returns the rows of each caller's calls to `callees`, in the order of their starts. */
function calleesOf({ forest }: RequestModel, { callees }: Callees): (call: number) => number[] {
  const { children, childOffsets, path } = forest
  const paths = new Set(callees.paths)
  return (call) => {
    const found: number[] = []
    for (let at = childOffsets[call]!; at < childOffsets[call + 1]!; at++) {
      if (paths.has(path[children[at]!]!)) found.push(children[at]!)
    }
    return found
  }
}

function countsOf(model: RequestModel, divided: Callees) {
  const calleesOfCall = calleesOf(model, divided)
  const calls = callRows(model.forest, divided.group.paths)
  return {
    values: calls.map((call) => calleesOfCall(call).length),
    callers: Float64Array.from(calls, callCounter(model.forest)),
  }
}

/** Returns the time that callers of one period save without some of their calls, by caller, in µs. */
function savedUs(
  model: RequestModel,
  left: ReadonlyMap<number, readonly number[]>,
): Map<number, number> {
  const saved = new Map<number, number>()
  model.shifts([withoutCalls([...left.values()].flat())], (call, shiftUs) => {
    if (left.has(call)) saved.set(call, -shiftUs)
  })
  return saved
}

/** Returns a change in which calls, and the delays before them, take no time. */
function withoutCalls(left: readonly number[]): LatencyChange {
  const calls = Uint32Array.from(left).sort()
  const none = new Float64Array(calls.length)
  return { calls, serverUs: none, networkUs: none, preprocessingUs: none }
}

function countedAs(base: RequestModel, target: RequestModel, divided: Callees): LatencyChange[] {
  const ranked = (model: RequestModel) => {
    const calleesOfCall = calleesOf(model, divided)
    return spreadOrder([...callRows(model.forest, divided.group.paths)])
      .map((call) => ({ call, callees: calleesOfCall(call) }))
      .sort((a, b) => a.callees.length - b.callees.length)
  }
  /** Returns cumulative weights of callers, up to and including each. */
  const upToEach = ({ forest }: RequestModel, all: ReturnType<typeof ranked>) =>
    cumsum(all, ({ call }) => callCounter(forest)(call))
  const [own, theirs] = [ranked(base), ranked(target)]
  const [upTo, upToTheirs] = [upToEach(base, own), upToEach(target, theirs)]
  if (own.length === 0 || theirs.length === 0) return []
  const fewer: number[] = []
  const pairs = own.flatMap(({ call, callees: { length: kept }, callees }, i) => {
    const share = ((upTo[i - 1] ?? 0) + upTo[i]!) / 2 / upTo.at(-1)!
    const partner = theirs[bisectRight(upToTheirs, share * upToTheirs.at(-1)!)]!
    fewer.push(...callees.slice(partner.callees.length))
    return partner.callees.length > kept ? [{ call, kept, partner }] : []
  })
  // Callers with different numbers of calls may share a partner, whose surplus then differs.
  const addedUs = new Map<number, number>()
  for (const [kept, alike] of groupBy(pairs, (pair) => pair.kept)) {
    const surplus = alike.map(({ partner }) => [partner.call, partner.callees.slice(kept)] as const)
    const saved = savedUs(target, new Map(surplus))
    for (const { call, partner } of alike) addedUs.set(call, saved.get(partner.call) ?? 0)
  }
  const calls = Uint32Array.from(addedUs.keys()).sort()
  const serverUs = Float64Array.from(
    calls,
    (call) => base.forest.serverUs[call]! + addedUs.get(call)!,
  )
  return [{ calls, serverUs }, ...(fewer.length === 0 ? [] : [withoutCalls(fewer)])]
}
