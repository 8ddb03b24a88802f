import type { CallPaths } from '../../calls/call-paths.ts'
import type { Finding } from '../../compare/findings/finding.ts'
import { percent, shortText } from '../../core/words.ts'
import { isAbout, placesOf } from '../scenarios/finding-places.ts'
import type { DiagnosedScenario } from './diagnosed-scenario.ts'

/** A finding of `compare`, and what of a diagnosis is about the same. */
export interface ExplainedFinding {
  readonly finding: Finding
  /** The best significant cause that is about the same; `null` for none. */
  readonly cause: DiagnosedScenario | null
}

/**
 * Lays to each finding the best significant cause that is about the same: the work of the same service,
 * the way between the same two, the calls that the same operation makes, and into the same direction.
 */
export function matchFindings(
  findings: readonly Finding[],
  ranked: readonly DiagnosedScenario[],
  paths: CallPaths,
): ExplainedFinding[] {
  const causes = ranked.filter(({ significant }) => significant)
  return findings.map((finding) => {
    const places = placesOf(finding)
    const isSlower = finding.direction === 'slower'
    const fits = causes.filter(
      ({ scenario, evaluation }) =>
        evaluation.impactUs > 0 === isSlower &&
        places.some((place) => isAbout(scenario, place, paths)),
    )
    return { finding, cause: fits[0] ?? null }
  })
}

/** `#1 own time of disk as after: by itself 85 % of the difference`; `null` where no cause is about it. */
export function causeText({ cause }: ExplainedFinding, maxLength: number): string | null {
  if (cause === null) return null
  const { rank, scenario, gain } = cause
  const share = gain > 0 ? `${percent(gain)} of the difference` : 'brings the profiles no closer'
  return `#${rank} ${shortText(scenario.title, maxLength)}: by itself ${share}`
}
