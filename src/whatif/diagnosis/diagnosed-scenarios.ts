import { benjaminiHochberg } from '../../stats/benjamini-hochberg.ts'
import { quantile } from '../../stats/quantile.ts'
import type { Scenario } from '../scenarios/scenario.ts'
import { type ProfileQuantiles, profileQuantiles } from '../scenarios/scenario-profile.ts'
import { type Evaluation, profileOf } from './evaluate-scenario.ts'
import type { TriedScenario } from './grow-diagnosis.ts'
import type { DiagnosisSubject } from './latency-diagnosis.ts'
import { rankScenarios, scoreSiblings } from './rank-scenarios.ts'

/** One node of the diagnosis tree. */
export interface DiagnosedScenario extends ProfileQuantiles {
  /** Place among all scenarios, from 1, the best; the same wherever it stands in the tree. */
  readonly rank: number
  readonly scenario: Scenario
  /** 1 for those that are tried first. */
  readonly depth: number
  /** What it lies within; null for those that are tried first. */
  readonly parent: DiagnosedScenario | null
  /** What lies within it and was tried, best first. */
  readonly children: readonly DiagnosedScenario[]
  /** Place among its siblings: 0 the best, 1 the worst; 0 where there are none. */
  readonly score: number
  /** From its profile to the target's. */
  readonly divergence: number
  /** By how much its requests would still have to move on average to be the target's, µs. */
  readonly distanceUs: number
  /** By which share of the base's divergence it is closer to the target; negative where it is further. */
  readonly gain: number
  /** What of the gain is beyond chance: the 5 % quantile over resampled requests. */
  readonly gainAtLeast: number
  /** KS statistic of what it changes, before against after; NaN where nothing can be compared. */
  readonly statistic: number
  /** p of what it changes being the same before and after; NaN where that cannot be tested. */
  readonly p: number
  /** p corrected over all scenarios (Benjamini and Hochberg). */
  readonly q: number
  /**
   * Whether it explains a change, beyond chance: base and target differ, so does what it changes (where
   * that can be compared, q below `alpha`), it gains in nineteen of twenty resamples, and it moves
   * requests towards the target on average too: a profile that covers only part of the target's range
   * can be close to it by its divergence.
   */
  readonly significant: boolean
  /** Requests whose response time or weight it changes. */
  readonly touched: number
  readonly evaluation: Evaluation
}

type Growing = { -readonly [Key in keyof DiagnosedScenario]: DiagnosedScenario[Key] } & {
  children: DiagnosedScenario[]
}

/** What was tried, as a tree and in order. */
export interface DiagnosisNodes {
  /** Every scenario once, where it stands nearest to the root; best first. */
  readonly ranked: readonly DiagnosedScenario[]
  /** Those that were tried first, best first. */
  readonly tree: readonly DiagnosedScenario[]
}

/** Orders what was tried, tells chance apart, and ties the tree together. */
export function diagnosedScenarios(
  tried: readonly TriedScenario[],
  subject: DiagnosisSubject,
): DiagnosisNodes {
  const firsts = firstOfEach(tried)
  const scores = scoresOf(tried)
  const q = benjaminiHochberg(firsts.map(({ evaluation }) => evaluation.p))
  const changed = firsts.length > 0 && subject.changeP() < subject.options.alpha
  const order = rankScenarios(firsts.map(({ evaluation }) => evaluation))
  const placeOf = new Map(
    order.map((row, i) => [
      (firsts[row] as TriedScenario).candidate.key,
      { rank: i + 1, q: q[row] as number },
    ]),
  )
  const made = new Map<TriedScenario, Growing>()
  for (const node of tried) {
    const place = placeOf.get(node.candidate.key) as { rank: number; q: number }
    const facts = { ...place, score: scores.get(node) ?? 0 }
    const scenario = describe(node, facts, { subject, changed })
    // Callers come before what lies within them.
    scenario.parent = (node.parent && made.get(node.parent)) ?? null
    made.set(node, scenario)
  }
  const byRank = (a: DiagnosedScenario, b: DiagnosedScenario) => a.rank - b.rank
  for (const scenario of made.values()) (scenario.parent as Growing | null)?.children.push(scenario)
  for (const { children } of made.values()) children.sort(byRank)
  return {
    ranked: firsts.map((node) => made.get(node) as Growing).sort(byRank),
    tree: [...made.values()].filter(({ parent }) => parent === null).sort(byRank),
  }
}

/** The first node of each scenario: the one nearest to the root. */
function firstOfEach(tried: readonly TriedScenario[]): TriedScenario[] {
  const seen = new Set<string>()
  return tried.filter(({ candidate }) => !seen.has(candidate.key) && seen.add(candidate.key))
}

/** Scores among all siblings, those included that were tried elsewhere before. */
function scoresOf(tried: readonly TriedScenario[]): Map<TriedScenario, number> {
  const families = new Map<TriedScenario | null, TriedScenario[]>()
  for (const node of tried) {
    const family = families.get(node.parent)
    if (family === undefined) families.set(node.parent, [node])
    else family.push(node)
  }
  const scores = new Map<TriedScenario, number>()
  for (const family of families.values()) {
    const own = scoreSiblings(family.map(({ evaluation }) => evaluation))
    family.forEach((node, i) => {
      scores.set(node, own[i] as number)
    })
  }
  return scores
}

function describe(
  { candidate, evaluation, depth }: TriedScenario,
  { rank, score, q }: { readonly rank: number; readonly score: number; readonly q: number },
  { subject, changed }: { readonly subject: DiagnosisSubject; readonly changed: boolean },
): Growing {
  const { unchanged, isOfTraces, options } = subject
  const { divergence, distanceUs, statistic, p, touched } = evaluation
  const share = (gain: number) => (unchanged.divergence > 0 ? gain / unchanged.divergence : 0)
  const gainAtLeast = share(gainOf(unchanged, evaluation))
  return {
    ...{
      rank,
      scenario: candidate,
      depth,
      parent: null,
      children: [],
      score,
      divergence,
      distanceUs,
    },
    ...{ gain: share(unchanged.divergence - divergence), gainAtLeast, statistic, p, q },
    significant:
      changed &&
      gainAtLeast > 0 &&
      distanceUs < unchanged.distanceUs &&
      (!isOfTraces || q < options.alpha),
    ...{ touched, evaluation },
    ...profileQuantiles(profileOf(evaluation)),
  }
}

/** What is gained in nineteen of twenty resamples, at least. */
function gainOf(unchanged: Evaluation, { resampled }: Evaluation): number {
  const gains = resampled.map((own, round) => (unchanged.resampled[round] as number) - own)
  return quantile(gains.sort(), 0.05)
}
