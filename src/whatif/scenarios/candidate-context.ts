import type { CallPaths } from '../calls/call-paths.ts'
import type { RequestModel } from '../recompute/request-model.ts'
import { attributeFeatures } from './attribute-features.ts'
import { BUILT_IN_FEATURES, chooseFeature, type FeatureChoice } from './choose-feature.ts'
import type { Feature } from './feature.ts'
import { shadowPaths } from './shadow-paths.ts'

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
