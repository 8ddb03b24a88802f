import type { Comparison } from '../comparison/comparison.ts'
import { AFTER } from '../traces/period.ts'

/** Adds up the contributions of findings, for comparison with the extra time of all requests after. */
export function accounting({ account, findings, flows }: Comparison) {
  const observedUs = findings.observedChangeUs
  const mixUs = account.mixUs * flows.countedIn(AFTER)
  const part = (rank: number | null, name: string, totalUs: number) => ({
    /** Rank of the finding; `null` if it is none. */
    rank,
    name,
    totalUs,
    perRequestUs: totalUs / Math.max(1, flows.countedIn(AFTER)),
    /** Share of the observed change; `NaN` if that may be 0. */
    share: findings.changeIsClear ? totalUs / observedUs : Number.NaN,
  })
  const left = findings.omitted > 0 ? `, ${findings.omitted} smaller findings included` : ''
  return {
    findings: findings.findings.map(({ rank, title, contributionUs }) =>
      part(rank, title, contributionUs),
    ),
    /** Together with the findings, they add up to the observed change. */
    others: [
      ...(mixUs === 0 ? [] : [part(null, 'changed request mix', mixUs)]),
      part(null, `unexplained${left}`, observedUs - mixUs - findings.attributedUs),
    ],
    observed: part(null, 'observed', observedUs),
  }
}
