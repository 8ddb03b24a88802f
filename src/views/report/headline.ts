import type { Comparison } from '../../compare/comparison.ts'
import { type Findings, NOTHING_TESTABLE } from '../../compare/findings/findings.ts'
import { counted, grouped, percent } from '../../core/words.ts'
import { AFTER, BEFORE } from '../../flows/flow-set.ts'
import { bootstrapInterval } from '../../stats/bootstrap-interval.ts'
import { quantile } from '../../stats/quantile.ts'
import { differenceText, durationText, intervalText } from './amounts.ts'

/** The answer to "what happened?", before any detail. */
export interface Headline {
  /** In a few words. */
  readonly title: string
  /** By how much, over how many requests, and what of it was found. */
  readonly sentences: readonly string[]
  /** How sure that is; none when a period is empty. */
  readonly shifts: readonly Shift[]
}

/** Mean or median of all requests of both periods, and the difference with its interval at 95 %. */
export interface Shift {
  readonly measure: 'mean' | 'median'
  readonly beforeUs: number
  readonly afterUs: number
  readonly shiftUs: number
  readonly interval: readonly [low: number, high: number]
}

/** How much slower a request is after than before, over all requests whatever their kind. */
export function headline(comparison: Comparison): Headline {
  const { flows, findings } = comparison
  const [before, after] = [flows.count(BEFORE), flows.count(AFTER)]
  const requests = `${counted(before, 'request')} before and ${grouped(after)} after`
  if (before === 0 || after === 0) {
    const sentences = [`There are ${requests}.`]
    return { title: 'Nothing to compare: a period has no requests', sentences, shifts: [] }
  }
  const mean = shiftOf(comparison, 'mean')
  const median = shiftOf(comparison, 'median')
  const isNone = findings.findings.length === 0
  return {
    title: isNone ? noChange(findings) : titleOf([mean, median]),
    sentences: [
      `The mean request took ${wayOf(mean)}, the median request ${wayOf(median)}, counted over ${requests}.`,
      isNone ? nothingFound(mean, findings) : leadingFinding(comparison),
    ],
    shifts: [mean, median],
  }
}

function noChange({ testable }: Findings): string {
  return testable ? 'No change found' : 'Too few requests to tell'
}

function wayOf({ beforeUs, afterUs }: Shift): string {
  return `${durationText(beforeUs)} before and ${durationText(afterUs)} after`
}

function shiftOf({ flows }: Comparison, measure: 'mean' | 'median'): Shift {
  const count = flows.count(BEFORE)
  const before = flows.responseTimeUs.slice(0, count).sort()
  const after = flows.responseTimeUs.slice(count).sort()
  const { estimate, low, high } = bootstrapInterval(before, after, { measure, sorted: true })
  const beforeUs = measure === 'mean' ? meanOf(before) : quantile(before, 0.5)
  const known = { measure, beforeUs, afterUs: beforeUs + estimate, shiftUs: estimate }
  return { ...known, interval: [low, high] }
}

function meanOf(values: Float64Array): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

/** Whether chance alone would hardly do as much. */
function isClear({ interval: [low, high] }: Shift): boolean {
  return low > 0 || high < 0
}

/** The mean adds up, but a few extreme requests can hide its change; then the median speaks. */
function titleOf(shifts: readonly Shift[]): string {
  const clear = shifts.find(isClear)
  if (clear === undefined)
    return 'Something changed; all in all requests take about as long as before'
  const { measure, beforeUs, afterUs, shiftUs } = clear
  const way = `${durationText(Math.abs(shiftUs))} ${shiftUs < 0 ? 'less' : 'longer'}`
  const said =
    measure === 'mean' ? `Requests take ${way} on average` : `The median request takes ${way}`
  if (!(beforeUs > 0)) return said
  const factor = afterUs / beforeUs
  return factor >= 2
    ? `${said}: ${Number(factor.toPrecision(2))} times as long as before`
    : `${said} (${percent(Math.abs(factor - 1))})`
}

/** How sure the difference of the means is, for readers without the table. */
export function certainty({ shifts }: Headline): string {
  return shifts
    .filter(({ measure, interval: [low] }) => measure === 'mean' && !Number.isNaN(low))
    .map(
      ({ shiftUs, interval }) =>
        `The means differ by ${differenceText(shiftUs)} (95 % interval: ${intervalText(interval)}).`,
    )
    .join('')
}

function nothingFound(mean: Shift, { testable }: Findings): string {
  if (!testable) return `It cannot be told: ${NOTHING_TESTABLE}`
  return isClear(mean)
    ? 'Their difference is more than chance does, but it is spread so thin, or rests on so few requests, that ' +
        'no step and no kind of request can be named.'
    : 'Chance alone makes such a difference.'
}

function leadingFinding({ findings: { findings, omitted } }: Comparison): string {
  const [first] = findings
  const count = counted(findings.length + omitted, 'change')
  const share = first?.shareOfChange ?? 0
  if (!(share > 0)) return `${count} found.`
  const which = findings.length + omitted === 1 ? 'it' : 'the first'
  return `${count} found; ${which} accounts for ${percent(share)} of the difference.`
}
