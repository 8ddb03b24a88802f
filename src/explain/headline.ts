import { extent, range, sum } from 'd3-array'
import { type Detectable, detectableShifts } from '../compare/findings/detectable.ts'
import { isClear, type WholeShift, wholeShifts } from '../compare/findings/request-findings.ts'
import type { Comparison } from '../comparison/comparison.ts'
import { partOfAll, timeText } from '../comparison/words/finding-facts.ts'
import type { Findings } from '../comparison/words/findings.ts'
import { formatAmount, moreText, type Quantity, signedAmount, TIME } from '../core/quantity.ts'
import { counted, grouped, percent, spoken } from '../core/words.ts'
import { AFTER, BEFORE, countText, type FlowSet } from '../flows/flow-set.ts'
import { isTimeOfDay } from '../traces/epoch-clock.ts'

export const NOTHING = '–'

export function durationText(us: number, of: Quantity = TIME): string {
  return Number.isNaN(us) ? NOTHING : formatAmount(us, of).replace('-', '−')
}

export function differenceText(us: number, of: Quantity = TIME): string {
  return Number.isNaN(us) ? NOTHING : signedAmount(us, of)
}

export function amountTexts(beforeUs: number, afterUs: number, of: Quantity = TIME): string[] {
  const difference = differenceText(afterUs - beforeUs, of)
  return [durationText(beforeUs, of), durationText(afterUs, of), difference]
}

/** Writes an interval of differences; as `middle ± half` where both ends look the same. */
export function intervalText(
  [lowUs, highUs]: readonly [low: number, high: number],
  of: Quantity = TIME,
): string {
  if (Number.isNaN(lowUs) || Number.isNaN(highUs)) return NOTHING
  const [low, high] = [signedAmount(lowUs, of), signedAmount(highUs, of)]
  if (low !== high) return `${low} to ${high}`
  return highUs > lowUs ? `${low} ± ${formatAmount((highUs - lowUs) / 2, of)}` : low
}

export function shareText(share: number): string {
  if (!Number.isFinite(share)) return NOTHING
  return `${share <= -0.005 ? '−' : ''}${percent(Math.abs(share))}`
}

export function chanceText(q: number): string {
  if (Number.isNaN(q)) return NOTHING
  if (q < 0.001) return 'under 0.001'
  return String(Number(q.toPrecision(2)))
}

/** Answers "what happened?": in a title, in the change over all requests, in shifts. */
export function headline(comparison: Comparison) {
  const { flows, findings } = comparison
  const [before, after] = [flows.count(BEFORE), flows.count(AFTER)]
  const had = countText(flows, BEFORE)
  const requests = `${had} ${had === '1' ? 'request' : 'requests'} before and ${countText(flows, AFTER)} after`
  if (before === 0 || after === 0) {
    return {
      title: 'Nothing to compare: a period has no requests',
      sentences: [`There ${before === 1 ? 'is' : 'are'} ${requests}.`],
      shifts: [] as WholeShift[],
    }
  }
  const [mean, median] = wholeShifts(flows)
  const isNone = findings.findings.length === 0
  return {
    title:
      isNone && findings.unexplained === null && findings.otherWay === 0
        ? findings.testable
          ? (findings.onlySlowText ?? 'No change found')
          : 'Too few requests for a test'
        : titleOf(findings, [mean, median], grouped(flows.countedIn(AFTER))),
    sentences: [
      `The mean request took ${wayOf(mean, flows.quantity)}, the median request ${wayOf(median, flows.quantity)}, over ${requests}.`,
      isNone ? nothingFound(findings) : leadingFinding(comparison),
      ...spoken([findings.slowStretchText, findings.fewSlowText]),
    ],
    shifts: [mean, median],
  }
}

function wayOf({ beforeUs, afterUs }: WholeShift, of: Quantity): string {
  return `${durationText(beforeUs, of)} before and ${durationText(afterUs, of)} after`
}

/**
 * Titles failures where they come first, else the mean; or the median, where a few extreme requests
 * hide the change of the mean; or the requests of the first finding, where both may be chance.
 */
function titleOf(all: Findings, shifts: readonly WholeShift[], requestsAfter: string): string {
  const { findings, quantity: of } = all
  const [first] = findings
  const failed = first?.failedRequests ?? 0
  if (failed > 0)
    return `${counted(failed, 'more request fails', 'more requests fail')} than before`
  const clear = shifts.find(isClear)
  if (clear === undefined) {
    return first !== undefined && first.requests > 0 && first.contributionUs !== 0
      ? `${grouped(first.requests)} of ${requestsAfter} requests take ${moreText(first.contributionUs / first.requests, of)}`
      : `Something changed, but overall requests take about as ${of === TIME ? 'long' : 'much'} as before`
  }
  const { measure, beforeUs, afterUs, shiftUs } = clear
  const way = moreText(shiftUs, of)
  // No test of a step or a kind of request confirms it.
  const isUnsure = findings.length === 0 && all.unexplainedShare > 0
  const [take, takes] = isUnsure ? ['may take', 'may take'] : ['take', 'takes']
  const said =
    measure === 'mean' ? `Requests ${take} ${way} on average` : `The median request ${takes} ${way}`
  if (!(beforeUs > 0)) return said
  const factor = afterUs / beforeUs
  return factor >= 2
    ? `${said}: ${Number(factor.toPrecision(2))} times as ${of === TIME ? 'long' : 'much'} as before`
    : `${said} (${percent(Math.abs(factor - 1))})`
}

/** Says how sure the difference of the means is, for readers without the table. */
export function certainty(shifts: readonly WholeShift[], of: Quantity = TIME): string {
  return shifts
    .filter(({ measure, interval: [low] }) => measure === 'mean' && !Number.isNaN(low))
    .map(
      ({ shiftUs, interval }) =>
        `The means differ by ${differenceText(shiftUs, of)} (95 % interval: ${intervalText(interval, of)}).`,
    )
    .join('')
}

function nothingFound(findings: Findings): string {
  const { testable, otherWay, onlySlowText } = findings
  const nothing =
    testable && otherWay === 0 && onlySlowText === null
      ? 'Chance alone can explain the difference.'
      : ''
  return spoken([findings.movedText() ?? nothing, findings.seenText()]).join(' ')
}

function leadingFinding({ findings: all }: Comparison): string {
  const { findings, omitted } = all
  const [first] = findings
  const count = counted(findings.length + omitted, 'change')
  if (!(first !== undefined && first.shareOfChange > 0)) return `${count} found.`
  const which = findings.length + omitted === 1 ? 'it' : 'the first'
  return `${count} found; ${which} explains ${partOfAll(first, all)}.`
}

export function periodTimes({ flows }: Comparison) {
  const { period, recordedIn, runs } = flows
  const times = runs.map((run) =>
    timesOf(flows, (i) => period[i] === BEFORE && recordedIn[i] === run),
  )
  return {
    before: spoken(times).join('; ') || undefined,
    after: timesOf(flows, (i) => period[i] === AFTER),
  }
}

/** Writes from when to when requests arrived: `2026-09-30 11:15:03 to 11:25:00 UTC`. */
function timesOf(flows: FlowSet, isWanted: (request: number) => boolean): string | undefined {
  const arrivals = range(flows.size)
    .filter(isWanted)
    .map((request) => flows.arrivalUs(request))
  const ends = extent(arrivals).filter((us) => us !== undefined && isTimeOfDay(us))
  const [from, to] = ends.map((us) => timeText(Number(us), { days: true }))
  if (from === undefined || to === undefined) return undefined
  const day = from.slice(0, from.indexOf(' ') + 1)
  return `${from} to ${to.startsWith(day) ? to.slice(day.length) : to} UTC`
}

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

/** Returns the slowdown of frequent kinds of requests that four comparisons of five find. */
export function power({ flows, steps, edges }: Comparison, limit: number) {
  const all = detectableShifts(steps, edges)
  const testable = all.filter((kind) => kind.testable)
  const after = (kinds: readonly Detectable[]) => sum(kinds, (kind) => kind.after)
  return {
    kinds: testable.slice(0, limit),
    quantity: flows.quantity,
    isOfRuns: flows.runs.length > 1,
    testableKinds: testable.length,
    allKinds: all.length,
    /** Share of the requests after. */
    testableShare: after(testable) / Math.max(1, after(all)),
  }
}

export function powerNote(known: ReturnType<typeof power>): string {
  const { testableKinds, allKinds, testableShare, quantity, isOfRuns } = known
  return (
    `If every request of a type took that much ${quantity === TIME ? 'longer' : 'more'}, four of five comparisons like this ` +
    `would find it${isOfRuns ? ', if runs did not differ' : ''}. ${grouped(testableKinds)} of ${counted(allKinds, 'type')} ${testableKinds === 1 ? 'has' : 'have'} enough ` +
    `requests for a test: ${percent(testableShare)} of the requests after.`
  )
}
