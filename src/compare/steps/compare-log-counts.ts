import { group } from 'd3-array'
import { TIME } from '../../core/quantity.ts'
import type { FlowSet } from '../../flows/flow-set.ts'
import { areFromSpans } from '../../flows/span-tree.ts'
import { bonferroni } from '../../stats/bonferroni.ts'
import type { EdgeOptions } from '../edges/find-edge-changes.ts'
import { compareChoices } from './between-runs.ts'
import { sameTest } from './call-counts.ts'
import type { CountsTest } from './compare-counts.ts'
import { ERRORS, type LogCounts, logCounts } from './log-counts.ts'
import { timeBlocks } from './time-blocks.ts'

/** What spans of an operation log, compared between the periods. */
export interface LogChange extends Omit<LogCounts, 'ofRequests'>, CountsTest {
  /** p corrected over all tests of steps, calls, errors and logs together. */
  readonly q: number
  /** Significant among what the operation logs, and large enough to matter. */
  readonly changed: boolean
}

export interface LogTests {
  readonly tests: readonly { readonly counts: LogCounts; readonly test: CountsTest }[]
  /** Tests that are not the same as another. */
  readonly distinct: number
  readonly p: number
}

/** Of errors any share matters; of others, a share as of calls. */
const MIN_SHARE = 0.05

/**
 * Tests which statements spans log more or less often, and what comes right after each. Requests
 * that have any must differ as well: spans of one log together.
 */
export function testLogs(flows: FlowSet): LogTests[] {
  const { logs } = flows
  if (logs === undefined || flows.quantity !== TIME || !areFromSpans(flows)) return []
  const blocks = timeBlocks(flows)
  const counted = logCounts(flows, logs, blocks)
  const bySpan = compareChoices(counted, blocks)
  const byRequest = compareChoices(
    counted.map(({ ofRequests: strata }) => ({ strata })),
    blocks,
  )
  const tests = counted.map((counts, i) => {
    const [own, ofRequests] = [bySpan[i] as CountsTest, byRequest[i] as CountsTest]
    return { counts, test: { ...own, p: Math.max(own.p, ofRequests.p) } }
  })
  return [...group(tests, ({ counts }) => JSON.stringify(counts.of)).values()].map((members) => {
    const known = members.filter(({ test }) => !Number.isNaN(test.p))
    const distinct = new Map(known.map(({ counts, test: { p } }) => [sameTest(counts, p), p]))
    return { tests: known, distinct: distinct.size, p: bonferroni([...distinct.values()]) }
  })
}

export function describeLogs(
  { logs }: FlowSet,
  tests: readonly LogTests[],
  {
    q: qOf,
    alpha,
    minimumShare,
  }: { q: readonly number[] } & Pick<EdgeOptions, 'alpha' | 'minimumShare'>,
): LogChange[] {
  return tests.flatMap((operation, i) =>
    operation.tests.map(({ counts: { ofRequests: _, ...counts }, test }): LogChange => {
      const q = Math.max(qOf[i] as number, Math.min(1, test.p * operation.distinct))
      const level = logs?.statements[counts.statement]?.level ?? ''
      const least = ERRORS.has(level) ? minimumShare : MIN_SHARE
      const changed = q < alpha && Math.abs(test.difference) >= least
      return { ...counts, ...test, q, changed }
    }),
  )
}
