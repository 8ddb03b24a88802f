import { greatest, sum } from 'd3-array'
import type { Finding } from '../../compare/findings/finding.ts'
import { percent } from '../../core/words.ts'
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
  callRows,
  changeParts,
  mapParts,
  timesPerRequest,
} from './change-parts.ts'
import { countCandidates } from './count-candidates.ts'
import {
  type Feature,
  largeParts,
  MAX_FEATURE_PARTS,
  type Partition,
  partSizes,
} from './feature.ts'
import { featureWords, isGiven, mayFollow, partWords } from './features.ts'
import { pathsAt, placesOf } from './finding-places.ts'
import { orderCandidates } from './order-candidates.ts'
import { partitionCandidates } from './partition-candidates.ts'
import { type Candidate, type EvidenceSample, NO_SAMPLE, type ScenarioKind } from './scenario.ts'

/** Of a group of more parts than this, those of most calls are looked at singly. */
const MAX_PARTS = 24

/** One thing about calls that can be different. */
interface CallChange {
  readonly kind: ScenarioKind
  readonly what: string
  readonly group: CallGroup
  readonly parts: readonly ChangedPart[]
  readonly within?: () => readonly Candidate[]
  readonly below?: () => readonly Candidate[]
}

/**
 * The first candidates of a diagnosis: what the requests' first call does itself, the calls it makes,
 * whole services wherever they are called, and requests as a whole.
 */
export function firstCandidates(
  context: CandidateContext,
  { services, structural }: { readonly services: boolean; readonly structural: boolean },
): Candidate[] {
  const { paths } = context
  const roots = callGroup(paths, rootPaths(paths))
  const kinds = groupsByName(paths, roots.paths)
  // Of a call that calls nothing, own time is all of its time: an answer where it is all there is.
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
 * The first candidates of a diagnosis that begins at what a finding tells: the way to the calls, or these
 * as a whole and all that is within them. None where no request has such calls, or it is of trace points.
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

/** What a call does and calls: its own time, every call it makes, and the network to all of these. */
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

/** What a call does itself: before each of its calls, and before it replies. */
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

/** A group in smaller ones: by operation, or else path by path. */
function partsOf({ paths, base }: CandidateContext, group: CallGroup): CallGroup[] {
  const parts = dividedGroup(paths, group)
  if (parts.length <= MAX_PARTS) return parts
  const calls = (part: CallGroup) => callRows(base.forest, part.paths).length
  return parts.sort((a, b) => calls(b) - calls(a)).slice(0, MAX_PARTS)
}

/** One candidate that makes it as it is in the target, or one a factor where there is none. */
function candidates({ target, factors }: CandidateContext, change: CallChange): Candidate[] {
  const { kind, what, group, parts, within = () => [], below = () => [] } = change
  const key = parts.map((each) => `${each.part} ${each.paths}`).join(';')
  const shared = {
    kind,
    group,
    within,
    below,
    evidence: (base, to) => ({
      measured: 'times',
      before: timesPerRequest(base, parts),
      after: timesPerRequest(to, parts),
    }),
  } satisfies Partial<CandidateSketch>
  if (target === null) {
    return factors.map((factor) =>
      candidate({
        ...shared,
        key: `${key} × ${factor}`,
        title: `${what} × ${factor}`,
        changes: (base) => parts.map((each) => changeParts(base, each, (us) => us * factor)),
      }),
    )
  }
  const asAfter = candidate({
    ...shared,
    key,
    title: `${what} as after`,
    changes: (base, to) => (to === null ? [] : parts.map((each) => mapParts(base, to, each))),
  })
  return [asAfter]
}

function distinct(all: readonly Candidate[]): Candidate[] {
  const seen = new Set<string>()
  return all.filter(({ key }) => !seen.has(key) && seen.add(key))
}

/**
 * For each feature by which requests divide: what if they came in the target's proportions? Without
 * the other period's traces: what if those of one part came twice as often, or half as often?
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

/** Parts too small to weigh by themselves become the last; both periods are divided alike. */
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
