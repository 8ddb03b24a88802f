// Over all calls of a period: the loops index with `!`.

import type { CallPaths } from '../calls/call-paths.ts'
import type { CallForest } from '../calls/index-calls.ts'
import type { RequestModel } from '../recompute/request-model.ts'
import { callRows } from './change-parts.ts'
import {
  attributeFeatures,
  BUILT_IN_FEATURES,
  chooseFeature,
  type Feature,
  type FeatureChoice,
} from './features.ts'

/** What candidates of a diagnosis are made of. */
export interface CandidateContext {
  readonly paths: CallPaths
  readonly base: RequestModel
  /** The other period; null where the target is known as a profile only. */
  readonly target: RequestModel | null
  readonly features: readonly Feature[]
  /** Parts of fewer requests, or calls, are not looked at by themselves. */
  readonly minimumPartition: number
  /** Factors that are tried where there is no other period to take times from. */
  readonly factors: readonly number[]
  /** Paths whose time is recorded a second time beside them; see `shadowPaths`. */
  readonly shadows: ReadonlySet<number>
  /** Paths of which some call was recorded by both client and server. */
  readonly twoSided: ReadonlySet<number>
}

interface ContextOptions {
  readonly features: readonly FeatureChoice[] | 'auto'
  readonly minimumPartition: number
  readonly factors: readonly number[]
}

/** Finds out what candidates need to know of two periods, or of one. */
export function candidateContext(
  base: RequestModel,
  target: RequestModel | null,
  { features, minimumPartition, factors }: ContextOptions,
): CandidateContext {
  const { paths } = base.models
  const periods = target === null ? [base] : [base, target]
  const twoSided = new Set<number>()
  for (const { forest } of periods) {
    forest.clientSpan.forEach((client, call) => {
      if (client >= 0) twoSided.add(forest.path[call] as number)
    })
  }
  return {
    ...{ paths, base, target, minimumPartition, factors, twoSided },
    features:
      features === 'auto'
        ? [...BUILT_IN_FEATURES, ...attributeFeatures(base.forest, minimumPartition)]
        : features.map((feature) => chooseFeature(feature, 'features')),
    shadows: shadowPaths(base.forest, paths),
  }
}

/** Share of a path's calls that must be shadows. */
const NEARLY_ALWAYS = 0.9
/** How far apart a shadow and what casts it may begin and end: a share of its duration, and µs. */
const APART = { share: 0.05, us: 2000 }

/**
 * Paths of steps that only wait, beside what they wait for: a step of the caller's own service that
 * calls nothing and, in nine of ten calls, begins and ends with another call that its caller makes
 * and that does call something (within 5 % of its duration, or 2 ms where that is more). A
 * reactive gateway records itself so: its handler and the call it awaits are siblings. Such a step's
 * time is recorded twice, and is no cause by itself.
 */
export function shadowPaths(forest: CallForest, paths: CallPaths): Set<number> {
  const shadows = new Set<number>()
  for (let path = 0; path < paths.size; path++) {
    const parent = paths.parent(path)
    if (parent < 0 || paths.service(parent) !== paths.service(path)) continue
    const calls = callRows(forest, [path])
    if (calls.length === 0) continue
    let found = 0
    for (const call of calls) if (isShadow(forest, call)) found++
    if (found >= NEARLY_ALWAYS * calls.length) shadows.add(path)
  }
  return shadows
}

function isShadow(forest: CallForest, call: number): boolean {
  const { parent, childOffsets, children, offsetUs, latencyUs, clientSpan } = forest
  if (childOffsets[call + 1]! > childOffsets[call]! || clientSpan[call]! >= 0) return false
  const caller = parent[call]!
  const startUs = offsetUs[call]!
  const endUs = startUs + latencyUs[call]!
  const apartUs = Math.max(APART.us, APART.share * latencyUs[call]!)
  for (let entry = childOffsets[caller]!; entry < childOffsets[caller + 1]!; entry++) {
    const other = children[entry]!
    if (other === call || !isMore(forest, other)) continue
    const otherStartUs = offsetUs[other]!
    const otherEndUs = otherStartUs + latencyUs[other]!
    if (Math.abs(otherEndUs - endUs) <= apartUs && Math.abs(otherStartUs - startUs) <= apartUs) {
      return true
    }
  }
  return false
}

/** Whether a call is known to be more than a step: it calls something, or another host served it. */
function isMore({ childOffsets, clientSpan }: CallForest, call: number): boolean {
  return childOffsets[call + 1]! > childOffsets[call]! || clientSpan[call]! >= 0
}
