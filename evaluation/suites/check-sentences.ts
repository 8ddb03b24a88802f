import type { Finding, FindingCall, FindingStep } from '../../src/compare/findings/finding.ts'
import { stepKey } from '../../src/compare/steps/step-times.ts'
import type { Comparison } from '../../src/comparison/comparison.ts'
import {
  formatDuration,
  grouped,
  pValue,
  shortNumber,
  signedDuration,
} from '../../src/core/words.ts'
import { AFTER, BEFORE } from '../../src/flows/flow-set.ts'
import { fisherExact } from '../../src/stats/fisher-exact.ts'
import { quantile } from '../../src/stats/quantile.ts'
import { welch } from '../../src/stats/welch.ts'
import { SPAN_STATUSES } from '../../src/traces/span-columns.ts'
import type { SpanTraces } from '../../src/traces/span-traces.ts'
import { recordedCalls, recordedRepeats, recordedUs } from './recorded-steps.ts'

/** Whether what a finding says is so in the traces. */
export interface CheckedSentence {
  readonly id: string
  readonly title: string
  /** What it is about first: a service's work, the way of a call, requests, or what is called. */
  readonly about: FindingStep['kind'] | 'structure'
  /** Whether all parts are true. */
  readonly isTrue: boolean
  /** Each step or change of calls that it rests on, the one told first. */
  readonly parts: readonly CheckedPart[]
}

/** Whether one step or one change of calls is as said. */
export interface CheckedPart {
  readonly isTrue: boolean
  /** What the traces say, in numbers. */
  readonly measured: string
}

/** What is measured must have moved by this share of what a finding says. */
const MIN_SHARE_OF_SHIFT = 0.5

/** Level of the tests whether something is done more or less often. */
const ALPHA = 0.05

/**
 * Checks what findings say against the recorded spans, consequences included. Traces without spans
 * are left out, as are findings that rest on no step and no call.
 */
export function checkSentences(comparison: Comparison): CheckedSentence[] {
  const all = comparison.findings.findings.flatMap((one) => [one, ...one.consequences])
  return all.flatMap((finding) => {
    const { id, title } = finding
    const parts = checkParts(comparison, finding)
    const about = finding.steps[0]?.kind ?? 'structure'
    const isTrue = parts.every((part) => part.isTrue)
    return parts.length === 0 ? [] : [{ id, title, about, isTrue, parts }]
  })
}

function checkParts(
  comparison: Comparison,
  { steps, calls, segment }: Pick<Finding, 'steps' | 'calls' | 'segment'>,
): CheckedPart[] {
  const { before, after, flows } = comparison
  if (before.kind !== 'spans' || after.kind !== 'spans') return []
  const inside = ([BEFORE, AFTER] as const).map((period) =>
    segment?.requests
      .filter((request) => flows.period[request] === period)
      .map((request) => flows.traceOf[request] as number),
  )
  const traces = [before, after].map((all, period) => {
    const rows = inside[period]
    return rows === undefined ? all : all.pick(rows)
  }) as unknown as Traces
  return [
    ...steps.map((step) =>
      segment?.step != null && stepKey(step) === stepKey(segment.step)
        ? checkStep(traces, { share: 1, ...step })
        : checkStep([before, after], step),
    ),
    ...calls.map((call) => checkCall([before, after], call)),
  ]
}

type Traces = readonly [before: SpanTraces, after: SpanTraces]

/**
 * Checks that a step takes as much longer or less as said: the median over the requests that have
 * it must have moved the same way, by at least half of it; where only some calls are said to have
 * changed, the mean, by at least half of what those make of it. Where it says which requests, these
 * alone count, by their mean.
 */
export function checkStep([before, after]: Traces, step: FindingStep): CheckedPart {
  const [was, is] = [recordedUs(before, step), recordedUs(after, step)]
  const { share } = step
  const [wasUs, isUs] = share === undefined ? [median(was), median(is)] : [mean(was), mean(is)]
  const saidUs = step.shiftUs * (share ?? 1)
  const what = `${nameOf(step)}: said ${signedDuration(saidUs)}${share === undefined ? '' : ' on average'}`
  const requests = `${grouped(was.length)} and ${grouped(is.length)} requests`
  if (was.length === 0 || is.length === 0) {
    return { isTrue: false, measured: `${what}, in ${requests}` }
  }
  return {
    isTrue: isBorneOut(saidUs, isUs - wasUs),
    measured:
      `${what}, measured ${signedDuration(isUs - wasUs)}` +
      ` (${formatDuration(wasUs)} → ${formatDuration(isUs)}; ${requests})`,
  }
}

/**
 * Checks that an operation does something more or less often, as said: its share of the chances
 * must have moved the same way, by at least half of it, beyond what chance does by Fisher's exact
 * test; of a repeated call, the mean times that requests make it, by Welch's.
 */
export function checkCall(traces: Traces, call: FindingCall): CheckedPart {
  if (call.kind === 'fails' || call.kind === 'fails with') return checkErrors(traces, call)
  const said = shareOf(call, 1) - shareOf(call, 0)
  const { measured, shift, p } =
    call.kind === 'repeats' ? countRepeats(traces, call) : countCalls(traces, call)
  const what = `${nameOfCall(call)}: said ${frequency(call, 0)} → ${frequency(call, 1)}`
  return {
    isTrue: isBorneOut(said, shift) && p < ALPHA,
    measured: `${what}, counted ${measured}, ${pValue(p)}`,
  }
}

/** Checks that more or fewer traces have a span that ended as an error, beyond what chance does. */
function checkErrors([before, after]: Traces, call: FindingCall): CheckedPart {
  const [was, is] = [tracesWithErrors(before), tracesWithErrors(after)]
  const { p } = fisherExact(was, before.size, is, after.size)
  const shift = is / after.size - was / before.size
  const counts = { made: [was, is], chances: [before.size, after.size] } as const
  const what = `${nameOfCall(call)}: said ${frequency(call, 0)} → ${frequency(call, 1)}`
  return {
    isTrue: shift > 0 === shareOf(call, 1) > shareOf(call, 0) && p < ALPHA,
    measured: `${what}, traces with errors ${frequency(counts, 0)} → ${frequency(counts, 1)}, ${pValue(p)}`,
  }
}

const ERROR = SPAN_STATUSES.indexOf('error')

function tracesWithErrors({ ids, spanOffsets, spans }: SpanTraces): number {
  const fails = (_: string, trace: number) =>
    spans.status.subarray(spanOffsets[trace], spanOffsets[trace + 1]).includes(ERROR)
  return ids.filter(fails).length
}

function countCalls([before, after]: Traces, call: FindingCall) {
  const [was, is] = [recordedCalls(before, call), recordedCalls(after, call)]
  const counts = { made: [was.made, is.made], chances: [was.chances, is.chances] } as const
  return {
    measured: `${frequency(counts, 0)} → ${frequency(counts, 1)}`,
    shift: shareOf(counts, 1) - shareOf(counts, 0),
    p: fisherExact(was.made, was.chances, is.made, is.chances).p,
  }
}

function countRepeats([before, after]: Traces, call: FindingCall) {
  const [was, is] = [recordedRepeats(before, call), recordedRepeats(after, call)]
  const sum = (values: readonly number[]) => values.reduce((all, value) => all + value, 0)
  const counts = { made: [sum(was), sum(is)], chances: [was.length, is.length] } as const
  return {
    measured: `${frequency(counts, 0)} → ${frequency(counts, 1)}`,
    shift: shareOf(counts, 1) - shareOf(counts, 0),
    p: welch(was, is).p,
  }
}

type Counts = Pick<FindingCall, 'made' | 'chances'>

function shareOf({ made, chances }: Counts, period: 0 | 1): number {
  return made[period] / chances[period]
}

function frequency({ made, chances }: Counts, period: 0 | 1): string {
  return `${shortNumber(made[period])} of ${grouped(chances[period])}`
}

function isBorneOut(said: number, measured: number): boolean {
  return measured > 0 === said > 0 && Math.abs(measured) >= MIN_SHARE_OF_SHIFT * Math.abs(said)
}

function nameOf({ kind, service, caller, operation }: FindingStep): string {
  return kind === 'call' ? `${caller} → ${service} ${operation}` : `${service} ${operation}`
}

function nameOfCall({ kind, of, previous, call }: FindingCall): string {
  const name = (one: FindingCall['of'] | null) =>
    one === null ? 'nothing' : `${one.service} ${one.operation}`
  const after = kind === 'next' ? ` after ${name(previous)}` : ''
  return `${name(of)} ${kind} ${name(call)}${after}`
}

function mean(times: Float64Array): number {
  return times.reduce((sum, time) => sum + time, 0) / times.length
}

function median(times: Float64Array): number {
  return quantile(times.toSorted(), 0.5)
}
