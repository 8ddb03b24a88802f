import { type ComparisonOptions, compare } from '../src/comparison/comparison.ts'
import { compareVariances } from '../src/explain/variance/find-variance.ts'
import { loadTraces } from '../src/traces/load-traces.ts'
import { evaluateComparison } from './evaluate-comparison.ts'
import { type BaselineQualities, operationBaselines } from './operation-baselines.ts'
import type { RankedQuality } from './ranked-quality.ts'
import type { RecordedCase } from './recorded-cases.ts'
import { firstRelevantFinding } from './relevant-finding.ts'
import { type ThesisRow, thesisRow } from './thesis-table.ts'

/** One row of the evaluation: a case at one threshold. */
export interface EvaluatedCase extends RankedQuality {
  readonly name: string
  /** Which recording of the case this is. */
  readonly recording: number
  readonly smPThreshold: number
  readonly categories: number
  /** Findings shown, and the place of the first that is right; they use the automatic threshold. */
  readonly findings: number
  readonly firstRelevantFinding: number | null
  /** p of the comparison of variances within categories (thesis 3.3.6). */
  readonly variancesP: number | null
  /** From files to the ranked list and the findings. */
  readonly seconds: number
  readonly thesis: ThesisRow | null
  readonly baselines: BaselineQualities | null
}

/** Evaluates a case at each of its thresholds. */
export async function evaluateCase(
  { name, recording, before, after, truth }: RecordedCase,
  options: Partial<ComparisonOptions>,
): Promise<EvaluatedCase[]> {
  const start = performance.now()
  const good = await loadTraces(before, { name: 'before' })
  const bad = await loadTraces(after, { name: 'after' })
  const comparison = compare(good, bad, options)
  const { size } = comparison.categories
  const variancesP = compareVariances(comparison.categories).p
  const found = {
    findings: comparison.findings.findings.length,
    firstRelevantFinding: firstRelevantFinding(comparison, truth),
  }
  const shared = (performance.now() - start) / 1000
  const baselines =
    good.kind === 'spans' && bad.kind === 'spans' ? operationBaselines(good, bad, truth) : null
  return (truth.smPThresholds ?? [50]).map((smPThreshold) => {
    const began = performance.now()
    const atThreshold = comparison.with({ smPThreshold })
    const quality = evaluateComparison(atThreshold, truth)
    return {
      name,
      recording,
      smPThreshold,
      categories: size,
      ...quality,
      ...found,
      variancesP: Number.isNaN(variancesP) ? null : variancesP,
      seconds: shared + (performance.now() - began) / 1000,
      thesis: thesisRow(name, smPThreshold),
      baselines,
    }
  })
}
