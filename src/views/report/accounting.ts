import type { Comparison } from '../../compare/comparison.ts'
import { AFTER } from '../../flows/flow-set.ts'

/** One part of the observed change. */
export interface Part {
  /** Rank of the finding; `null` where it is none. */
  readonly rank: number | null
  readonly name: string
  /** Of the sum of all response times after, in µs. */
  readonly totalUs: number
  /** Of the mean response time. */
  readonly perRequestUs: number
  /** Of the observed change; `NaN` where that may as well be 0. */
  readonly share: number
}

/** How findings add up against what was observed. */
export interface Accounting {
  readonly findings: readonly Part[]
  /** What no finding accounts for; negative where findings say more than was observed. */
  readonly remainder: Part
  readonly observed: Part
}

/** Adds up what the findings contribute, against how much longer all requests took after. */
export function accounting({ findings, flows }: Comparison): Accounting {
  const observedUs = findings.observedChangeUs
  const part = (rank: number | null, name: string, totalUs: number): Part => ({
    ...{ rank, name, totalUs },
    perRequestUs: totalUs / Math.max(1, flows.count(AFTER)),
    share: findings.changeIsClear ? totalUs / observedUs : Number.NaN,
  })
  const attributedUs = findings.findings.reduce(
    (sum, { contributionUs }) => sum + contributionUs,
    0,
  )
  const left = findings.omitted > 0 ? `, ${findings.omitted} smaller findings included` : ''
  return {
    findings: findings.findings.map(({ rank, title, contributionUs }) =>
      part(rank, title, contributionUs),
    ),
    remainder: part(null, `not accounted for${left}`, observedUs - attributedUs),
    observed: part(null, 'observed', observedUs),
  }
}
