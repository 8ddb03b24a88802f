import type { CallForest } from '../../calls/call-forest.ts'
import type { CallPaths } from '../../calls/call-paths.ts'
import type { LatencyChange, RequestModel } from '../recompute/request-model.ts'
import type { CallGroup } from './call-group.ts'
import { callRows } from './change-parts.ts'
import {
  ATTRIBUTE,
  attributeFeatures,
  BUILT_IN_FEATURES,
  chooseFeature,
  type Feature,
  type FeatureChoice,
  valueFeature,
} from './features.ts'
import { type Candidate, type EvidenceSample, NO_SAMPLE } from './scenario.ts'

/** Sources of a diagnosis's candidates. */
export interface CandidateContext {
  readonly paths: CallPaths
  readonly base: RequestModel
  /** The other period; null where the target is known as a profile only. */
  readonly target: RequestModel | null
  readonly features: readonly Feature[]
  /** Parts of fewer requests, or calls, are not looked at by themselves. */
  readonly minimumPartition: number
  /** Factors to try if there is no other period to take times from. */
  readonly factors: readonly number[]
  /** Calls of the base along each path. */
  readonly callsOf: Uint32Array
  /** Paths whose time is also recorded by a second path; see `shadowPaths`. */
  readonly shadows: ReadonlySet<number>
  /** Paths of which some call was recorded by both client and server. */
  readonly twoSided: ReadonlySet<number>
}

/** Finds out what candidates need to know of two periods, or of one. */
export function candidateContext(
  base: RequestModel,
  target: RequestModel | null,
  {
    features,
    minimumPartition,
    factors,
  }: Pick<CandidateContext, 'minimumPartition' | 'factors'> & {
    readonly features: readonly FeatureChoice[] | 'auto'
  },
): CandidateContext {
  const { paths } = base.models
  const twoSided = new Set<number>()
  const forests = (target === null ? [base] : [base, target]).map(({ forest }) => forest)
  for (const forest of forests) {
    forest.clientSpan.forEach((client, call) => {
      if (client >= 0) twoSided.add(forest.path[call]!)
    })
  }
  const callsOf = new Uint32Array(paths.size)
  for (const path of base.forest.path) callsOf[path]!++
  return {
    paths,
    callsOf,
    base,
    target,
    minimumPartition,
    factors,
    twoSided,
    features:
      features === 'auto'
        ? [...BUILT_IN_FEATURES, ...attributeFeatures(forests, minimumPartition)]
        : features.map((feature) => {
            const chosen = chooseFeature(feature, 'features')
            if (typeof feature !== 'string' || !feature.startsWith(ATTRIBUTE)) return chosen
            return (
              valueFeature(forests, feature.slice(ATTRIBUTE.length), minimumPartition) ?? chosen
            )
          }),
    shadows: shadowPaths(base.forest, paths),
  }
}

/** Candidate without the properties that most have in common. */
export interface CandidateSketch
  extends Pick<Candidate, 'kind' | 'key' | 'title'>,
    Partial<Pick<Candidate, 'within' | 'below' | 'callee' | 'isTwoWay' | 'isGiven' | 'evidence'>> {
  /** The calls that change; without, requests change as a whole. */
  readonly group?: CallGroup
  /** Changes that need no other period … */
  readonly changes?: (base: RequestModel) => LatencyChange[]
  /** … and those that make calls as they are in it. */
  readonly asTarget?: (base: RequestModel, target: RequestModel) => LatencyChange[]
  readonly weight?: (base: RequestModel, target: RequestModel | null) => Float64Array
  /** Times that change, or kinds, one of each request of a period: the evidence, unless it is given. */
  readonly times?: (model: RequestModel) => EvidenceSample
  readonly kinds?: (model: RequestModel) => EvidenceSample
  /** Whether slowness may change these kinds by itself. */
  readonly mayFollow?: boolean
}

/**
 * Completes a candidate. By default, nothing changes, nothing lies within it, and it can be undone unless it weighs
 * requests.
 */
export function candidate(sketch: CandidateSketch): Candidate {
  const { group, changes, asTarget, weight, times, kinds, mayFollow = false, ...own } = sketch
  const { service = '', operation = '', paths = [] } = group ?? {}
  const [path = null, ...others] = paths
  const sampleOf = times ?? kinds ?? (() => NO_SAMPLE)
  return {
    within: () => [],
    below: () => [],
    callee: '',
    isTwoWay: weight === undefined,
    isGiven: false,
    evidence: (base, target) => ({
      measured: times === undefined ? 'kinds' : 'times',
      before: sampleOf(base),
      after: sampleOf(target),
      mayFollow,
    }),
    ...own,
    service,
    operation,
    path: others.length === 0 ? path : null,
    apply: (base, target) => ({
      changes: changes?.(base) ?? (target && asTarget?.(base, target)) ?? [],
      weight: weight?.(base, target) ?? null,
    }),
  }
}

/** Share of a path's calls that must be shadows. */
const NEARLY_ALWAYS = 0.9
/** Largest difference between the ends of a call and those of its shadow: a share of its duration, and µs. */
const APART = { share: 0.05, us: 2000 }

/**
 * Returns paths of steps that only wait for a sibling: a step of the caller's own service without calls that, in nine
 * of ten calls, begins and ends with another call of its caller that has calls itself (within 5 % of its duration, or 2
 * ms if that is more). A reactive gateway records itself in this way: its handler and the call it awaits are siblings.
 * Such a step's time is recorded twice, and is no cause by itself.
 */
export function shadowPaths(forest: CallForest, paths: CallPaths): Set<number> {
  const isShadowPath = (path: number) => {
    const parent = paths.parent(path)
    if (parent < 0 || paths.service(parent) !== paths.service(path)) return false
    const calls = callRows(forest, [path])
    const shadows = calls.filter((call) => isShadow(forest, call))
    return calls.length > 0 && shadows.length >= NEARLY_ALWAYS * calls.length
  }
  return new Set(paths.all().filter(isShadowPath))
}

function isShadow(forest: CallForest, call: number): boolean {
  const { parent, childOffsets, children, offsetUs, latencyUs } = forest
  if (isMore(forest, call)) return false
  const caller = parent[call]!
  const startUs = offsetUs[call]!
  const endUs = startUs + latencyUs[call]!
  const apartUs = Math.max(APART.us, APART.share * latencyUs[call]!)
  return children
    .subarray(childOffsets[caller], childOffsets[caller + 1])
    .some(
      (other) =>
        other !== call &&
        isMore(forest, other) &&
        Math.abs(offsetUs[other]! + latencyUs[other]! - endUs) <= apartUs &&
        Math.abs(offsetUs[other]! - startUs) <= apartUs,
    )
}

/** Whether a call is known to be more than a step: it calls something, or another host served it. */
function isMore({ childOffsets, clientSpan }: CallForest, call: number): boolean {
  return childOffsets[call + 1]! > childOffsets[call]! || clientSpan[call]! >= 0
}
