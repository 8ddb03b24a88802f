import { defineOptions, number } from '../../core/options.ts'
import { Stage } from '../../core/stage.ts'
import { type StageTable, stageTable } from '../../core/stage-table.ts'
import type { Finding } from './finding.ts'
import { findingsText } from './findings-text.ts'

/** Options of findings. */
export const FINDINGS_OPTIONS = defineOptions({
  findingsThreshold: number({
    default: 'auto',
    min: 0,
    or: 'auto',
    unit: 'requests',
    sentence:
      "Requests that a category must gain or lose to become a finding; 'auto' tests its share of the requests of its type",
  }),
})

/** What changed, one entry a cause, the most important first. */
export class Findings extends Stage {
  readonly findings: readonly Finding[]
  /** Findings beyond the limit, which are left out. */
  readonly omitted: number
  /** By how much the sum of response times after differs from what before would have made it. */
  readonly observedChangeUs: number
  /** Whether the 95 % interval of that change leaves 0 out; shares of it mean little where not. */
  readonly changeIsClear: boolean
  /** Whether anything had enough requests in both periods to be tested. */
  readonly testable: boolean

  constructor(
    findings: readonly Finding[],
    { omitted = 0, observedChangeUs = 0, changeIsClear = false, testable = true } = {},
  ) {
    super()
    this.findings = findings
    this.omitted = omitted
    this.observedChangeUs = observedChangeUs
    this.changeIsClear = changeIsClear
    this.testable = testable
  }

  /** All findings in words, in lines of at most 100 characters. */
  text(): string {
    return findingsText(this)
  }

  /** One row a finding. */
  table(): StageTable {
    const column = <T>(value: (finding: Finding) => T) => this.findings.map(value)
    return stageTable({
      rank: column(({ rank }) => rank),
      title: column(({ title }) => title),
      direction: column(({ direction }) => direction),
      requests: column(({ requests }) => requests),
      contributionUs: column(({ contributionUs }) => contributionUs),
      shareOfChange: column(({ shareOfChange }) => shareOfChange),
      q: column(({ q }) => q),
      mutations: column(({ mutations }) => mutations.map(({ rank }) => rank).join(', ')),
      categories: column(({ categories }) => categories.length),
      id: column(({ id }) => id),
    })
  }
}
