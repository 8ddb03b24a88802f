import { LatencyProfile } from '../../../whatif/recompute/latency-profile.ts'
import type { RequestModel } from '../../../whatif/recompute/request-model.ts'
import { packedCurve, profileCurve, profileFacts } from './what-if-curves.ts'
import type { WhatIfData } from './what-if-data.ts'
import type { DrawnProfile } from './what-if-drawing.tsx'
import { predictedProfile, type WhatIfChange } from './what-if-state.ts'
import { changesText } from './what-if-words.ts'

const LONGEST_NAME = 100

/** What is drawn whatever is changed: before as recorded, and the target. */
export function fixedProfiles(data: WhatIfData, model: RequestModel): readonly DrawnProfile[] {
  const recorded = LatencyProfile.ofRequests(model.responseTimes([]), model.forest.weight)
  const before = drawn('before', 'before', recorded)
  const { target } = data
  if (target === null) return [before]
  const { profile, title } = target
  const name = title === 'after' ? title : `target: ${title}`
  return [before, { name, look: 'target', curve: packedCurve(profile), facts: profile.facts }]
}

/** The profile under the changes; `null` without any. */
export function changedProfile(
  model: RequestModel,
  changes: readonly WhatIfChange[],
): DrawnProfile | null {
  if (changes.length === 0) return null
  return drawn(changesText(changes, LONGEST_NAME), 'changed', predictedProfile(model, changes))
}

/** The profile of a chosen cause. */
export function causeProfile({ diagnosis }: WhatIfData, rank: number | null): DrawnProfile | null {
  const cause = diagnosis?.causes.find((each) => each.rank === rank)
  if (cause === undefined) return null
  const { title, profile } = cause
  const name = `cause ${cause.rank}: ${title}`
  return { name, look: 'cause', curve: packedCurve(profile), facts: profile.facts }
}

function drawn(name: string, look: DrawnProfile['look'], profile: LatencyProfile): DrawnProfile {
  return { name, look, curve: profileCurve(profile), facts: profileFacts(profile) }
}
