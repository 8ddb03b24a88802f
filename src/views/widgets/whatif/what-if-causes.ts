import { tooltipText } from '../../../core/shown-text.ts'
import type {
  DiagnosedScenario,
  LatencyDiagnosis,
} from '../../../whatif/diagnosis/latency-diagnosis.ts'
import { diagnosisRows } from '../../charts/diagnosis-rows.ts'
import { type PackedProfile, packProfile } from './what-if-curves.ts'

/** A cause as it travels into a page. */
export interface WhatIfCause {
  readonly rank: number
  readonly title: string
  /** By which share of the divergence it is closer to the target; negative where it is further. */
  readonly gain: number
  readonly divergence: number
  /** `null` where it cannot be tested. */
  readonly q: number | null
  readonly significant: boolean
  /** Requests that it changes. */
  readonly touched: number
  readonly profile: PackedProfile
  /** Place in the list of what it lies within, −1 for none. */
  readonly parent: number
  readonly level: number
}

const CURVE_POINTS = 40

/** The best causes and what they lie within, callers before what lies within them. */
export function whatIfCauses(diagnosis: LatencyDiagnosis, limit: number): WhatIfCause[] {
  const rows = diagnosisRows(diagnosis, limit)
  const placeOf = new Map(rows.map(({ cause }, place) => [cause.rank, place]))
  return rows.map(({ cause, level }) => ({
    ...factsOf(cause),
    profile: packProfile(diagnosis.profile(cause.rank).profile, CURVE_POINTS),
    parent: placeOf.get(cause.parent?.rank ?? 0) ?? -1,
    level,
  }))
}

function factsOf(cause: DiagnosedScenario) {
  const { rank, scenario, gain, divergence, q, significant, touched } = cause
  const short = (value: number) => Number(value.toPrecision(4))
  return {
    ...{ rank, significant, touched, title: tooltipText(scenario.title) },
    ...{ gain: short(gain), divergence: short(divergence) },
    q: Number.isFinite(q) ? short(q) : null,
  }
}

/** Places that are shown when some are open: those at the top, and what lies within open ones. */
export function shownCauses(
  causes: readonly WhatIfCause[],
  open: ReadonlySet<number>,
): readonly number[] {
  const shown = new Set<number>()
  causes.forEach(({ parent }, place) => {
    if (parent < 0 || (shown.has(parent) && open.has(parent))) shown.add(place)
  })
  return [...shown]
}

/** What a cause lies within, from the top down; itself left out. */
export function callersOf(causes: readonly WhatIfCause[], place: number): number[] {
  const callers: number[] = []
  for (let at = causes[place]?.parent ?? -1; at >= 0; at = causes[at]?.parent ?? -1) {
    callers.unshift(at)
  }
  return callers
}
