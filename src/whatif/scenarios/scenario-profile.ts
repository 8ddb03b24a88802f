import { Stage } from '../../core/stage.ts'
import { type StageTable, stageTable } from '../../core/stage-table.ts'
import type { LatencyProfile } from '../recompute/latency-profile.ts'

/** p50, p90 and p99 of a profile, µs. */
export interface ProfileQuantiles {
  readonly p50Us: number
  readonly p90Us: number
  readonly p99Us: number
}

/** The latency profile of requests as it was, and as it would be under a scenario. */
export class ScenarioProfile extends Stage {
  readonly title: string
  /** As recorded. */
  readonly before: LatencyProfile
  /** Under the scenario. */
  readonly profile: LatencyProfile
  /** What was aimed at, where there is such a thing. */
  readonly target: LatencyProfile | null
  /** Requests whose response time or weight is different. */
  readonly touched: number

  constructor(
    title: string,
    profiles: Pick<ScenarioProfile, 'before' | 'profile' | 'target'>,
    touched: number,
  ) {
    super()
    this.title = title
    this.before = profiles.before
    this.profile = profiles.profile
    this.target = profiles.target
    this.touched = touched
  }

  /** p50, p90 and p99 as recorded, µs. */
  get beforeQuantiles(): ProfileQuantiles {
    return profileQuantiles(this.before)
  }

  /** p50, p90 and p99 under the scenario, µs. */
  get quantiles(): ProfileQuantiles {
    return profileQuantiles(this.profile)
  }

  /** One row each for p50, p90, p99 and the mean: as recorded, under the scenario, the change, the target. */
  table(): StageTable {
    const read = (profile: LatencyProfile) => [
      ...[0.5, 0.9, 0.99].map((q) => profile.quantile(q)),
      profile.meanUs,
    ]
    const beforeUs = read(this.before)
    const scenarioUs = read(this.profile)
    const changeUs = scenarioUs.map((us, i) => us - (beforeUs[i] as number))
    const columns = { measure: ['p50', 'p90', 'p99', 'mean'], beforeUs, scenarioUs, changeUs }
    if (this.target === null) return stageTable(columns)
    return stageTable({ ...columns, targetUs: read(this.target) })
  }
}

export function profileQuantiles(profile: LatencyProfile): ProfileQuantiles {
  return {
    p50Us: profile.quantile(0.5),
    p90Us: profile.quantile(0.9),
    p99Us: profile.quantile(0.99),
  }
}
