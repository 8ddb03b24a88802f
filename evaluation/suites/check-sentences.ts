import type { Comparison } from '../../src/compare/comparison.ts'
import type { EdgeChange } from '../../src/compare/edges/find-edge-changes.ts'
import type { Finding } from '../../src/compare/findings/finding.ts'
import { formatDuration } from '../../src/core/units.ts'
import { counted, pValue, shortNumber, signedDuration } from '../../src/core/words.ts'
import { AFTER, BEFORE, type FlowSet } from '../../src/flows/flow-set.ts'
import { labelText } from '../../src/flows/node-labels.ts'
import { fisherExact } from '../../src/stats/fisher-exact.ts'
import { quantile } from '../../src/stats/quantile.ts'
import { welch } from '../../src/stats/welch.ts'
import { partCounts, type StepTimes, stepTimes } from './recorded-steps.ts'

/** Whether what a finding says is so in the traces. */
export interface CheckedSentence {
  readonly id: string
  readonly title: string
  /** What it is about: the way of a call, work of one span, time between two others, or structure. */
  readonly about: 'way' | 'work' | 'between' | 'structure'
  readonly isTrue: boolean
  /** What the traces say, in numbers. */
  readonly measured: string
}

/** The time that no other call covers must have shifted by this share of what a finding says. */
const MIN_SHARE_OF_SHIFT = 0.5

/** Where the share of requests that have a part moves by less than this, its number a request counts. */
const MIN_SHARE_MOVED = 0.01

/** Level of the test whether a part became more frequent. */
const ALPHA = 0.05

/**
 * Checks what findings say against the recorded spans, consequences included. Of steps: the median
 * time that no other call of the same service covers moved the way that the finding says, by at
 * least half of it. Of structure: requests of these types have the added part more often, or the
 * removed part less often. Findings of neither, and traces without spans, are left out.
 */
export function checkSentences(comparison: Comparison): CheckedSentence[] {
  const all = comparison.findings.findings.flatMap((one) => [one, ...one.consequences])
  return all.flatMap((finding) => {
    const { id, title, kind } = finding
    const [step] = finding.changedEdges
    const part = structureClaim(comparison, finding)
    const about = part || step === undefined ? 'structure' : aboutStep(step)
    const checked = part
      ? checkStructure(comparison, part)
      : kind !== 'structure' && step && checkStep(comparison.flows, step)
    return checked ? [{ id, title, about, ...checked }] : []
  })
}

function aboutStep({ kind, fromNode, toNode }: EdgeChange): CheckedSentence['about'] {
  if (kind === 'network') return 'way'
  return fromNode.phase === 'call' && toNode.phase === 'reply' ? 'work' : 'between'
}

/**
 * Checks that a step takes as much longer or less as said: the median over the requests that have
 * it, of the time that no other call of its service covers.
 *
 * @param step.shiftUs what the step is said to take longer (negative: less)
 */
export function checkStep(
  flows: FlowSet,
  { from, to, shiftUs }: { readonly from: string; readonly to: string; readonly shiftUs: number },
): Pick<CheckedSentence, 'isTrue' | 'measured'> | undefined {
  if (flows.spanRows === undefined) return undefined
  const before = stepTimes(flows, BEFORE, { from, to })
  const after = stepTimes(flows, AFTER, { from, to })
  const requests = [before, after].map(({ elapsedUs }) => elapsedUs.length)
  if (requests.includes(0)) {
    return { isTrue: false, measured: `no request has this step (${requests.join(' → ')})` }
  }
  const shift = (key: keyof StepTimes) => median(after[key]) - median(before[key])
  const uncoveredUs = shift('uncoveredUs')
  const isSame = uncoveredUs > 0 === shiftUs > 0
  return {
    isTrue: isSame && Math.abs(uncoveredUs) >= MIN_SHARE_OF_SHIFT * Math.abs(shiftUs),
    measured:
      `said ${signedDuration(shiftUs)}, the median that no other call covers ${signedDuration(uncoveredUs)}` +
      ` (${formatDuration(median(before.uncoveredUs))} → ${formatDuration(median(after.uncoveredUs))}` +
      `, all of the step ${signedDuration(shift('elapsedUs'))}; ${requests.join(' and ')} requests)`,
  }
}

function median(times: Float64Array): number {
  return quantile(times.toSorted(), 0.5)
}

/** What a structural finding says: which part it added or removed, in which types of request. */
export interface StructureClaim {
  readonly change: 'added' | 'removed'
  /** Label of the part's first node. */
  readonly label: string
  /** Label of the node that it follows, where the order is what changed. */
  readonly after?: string
  /** Labels of the roots of the requests; `null` for all. */
  readonly roots: ReadonlySet<string> | null
}

/**
 * Checks that requests of these types have an added part more often, or a removed one less often,
 * beyond what chance does: by Fisher's test how many of them have it, or where about as many do, by
 * Welch's how often each has it.
 */
export function checkStructure(
  { before, after }: Pick<Comparison, 'before' | 'after'>,
  { change, label, after: previous, roots }: StructureClaim,
): Pick<CheckedSentence, 'isTrue' | 'measured'> | undefined {
  if (before.kind !== 'spans' || after.kind !== 'spans') return undefined
  const part = { label, ...(previous !== undefined && { after: previous }) }
  const was = partCounts(before, roots, part)
  const is = partCounts(after, roots, part)
  const { pMore, pFewer } = moved(was, is)
  const p = change === 'added' ? pMore : pFewer
  const follows = previous === undefined ? '' : ` after ${previous}`
  return {
    isTrue: p < ALPHA,
    measured: `said ${change}, ${label}${follows}: ${frequency(was)} → ${frequency(is)}, ${pValue(p)}`,
  }
}

/** Tests one-sidedly whether requests after have a part more often, or less often. */
function moved(before: readonly number[], after: readonly number[]) {
  const share = (counts: readonly number[]) => having(counts) / counts.length
  if (Math.abs(share(after) - share(before)) >= MIN_SHARE_MOVED) {
    return fisherExact(having(before), before.length, having(after), after.length)
  }
  const { statistic, p } = welch(before, after)
  return statistic > 0 ? { pMore: p / 2, pFewer: 1 - p / 2 } : { pMore: 1 - p / 2, pFewer: p / 2 }
}

function having(counts: readonly number[]): number {
  return counts.filter((count) => count > 0).length
}

function frequency(counts: readonly number[]): string {
  const each = counts.reduce((sum, count) => sum + count, 0) / counts.length
  return `${having(counts)} of ${counted(counts.length, 'request')}, ${shortNumber(each)} times each`
}

function structureClaim(
  { categories }: Comparison,
  { changedStructure, moves }: Finding,
): StructureClaim | undefined {
  const [first] = changedStructure
  if (first === undefined) return undefined
  const { change, label, after } = first
  const isMoved = changedStructure.some((one) => one.label === label && one.change !== change)
  const roots = new Set(moves.map(({ to }) => labelText(categories.nodeLabel(to, 0))))
  return {
    ...{ change, label },
    roots: after === null ? null : roots,
    ...(isMoved && after !== null && { after: after.label }),
  }
}
