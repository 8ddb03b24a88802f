import type { LatencyProfile } from '../../../whatif/recompute/latency-profile.ts'
import {
  type ProfileQuantiles,
  profileQuantiles,
} from '../../../whatif/scenarios/apply-scenario.ts'
import { profileSteps } from '../../charts/ecdf-curves.ts'

/** p50, p90, p99 and the mean, µs. */
export interface ProfileFacts extends ProfileQuantiles {
  readonly meanUs: number
}

/** A profile as it travels into a page: the facts, and latencies at evenly spaced shares. */
export interface PackedProfile {
  readonly facts: ProfileFacts
  /** The least, those at (i + ½)/n of the requests, the most; µs. */
  readonly latencyUs: readonly number[]
}

/** So many requests took no longer. */
export interface CurvePoint {
  readonly us: number
  readonly share: number
}

const DIGITS = 4
/** Steps of a curve that is computed in the page. */
const STEPS = 400

/** Packs a profile into `points` latencies. */
export function packProfile(profile: LatencyProfile, points: number): PackedProfile {
  const at = (share: number) => Number(profile.quantile(share).toPrecision(DIGITS))
  return {
    facts: profileFacts(profile),
    latencyUs: [at(0), ...Array.from({ length: points }, (_, i) => at((i + 0.5) / points)), at(1)],
  }
}

export function profileFacts(profile: LatencyProfile): ProfileFacts {
  const { p50Us, p90Us, p99Us } = profileQuantiles(profile)
  const short = (us: number) => Number(us.toPrecision(6))
  return {
    ...{ p50Us: short(p50Us), p90Us: short(p90Us), p99Us: short(p99Us) },
    meanUs: short(profile.meanUs),
  }
}

/** The curve of a packed profile. */
export function packedCurve({ latencyUs }: PackedProfile): readonly CurvePoint[] {
  const points = latencyUs.length - 2
  return latencyUs.map((us, i) => ({
    us,
    share: i === 0 ? 0 : i > points ? 1 : (i - 0.5) / points,
  }))
}

/** The curve of a profile that is there as a whole, as corners of its steps. */
export function profileCurve(profile: LatencyProfile): readonly CurvePoint[] {
  let share = 0
  return profileSteps(profile, STEPS).flatMap(([x, y]) => {
    const corner = { us: x, share }
    share = y
    return [corner, { us: x, share }]
  })
}
