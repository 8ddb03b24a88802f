// Over every call of a group: the loops index with `!`.
import { bisectRight, cumsum, greatest, group as groupBy, sum } from 'd3-array'
import { shortNumber } from '../../core/words.ts'
import { SPAN_STATUSES } from '../../traces/span-traces.ts'
import type { LatencyChange, RequestModel } from '../recompute/request-model.ts'
import { type CallGroup, calledBy, groupName, groupsByName, groupTitle } from './call-group.ts'
import { type CandidateContext, candidate } from './candidate-context.ts'
import { callCounter, callRows, samplePerRequest, spreadOrder } from './change-parts.ts'
import type { Candidate, EvidenceSample } from './scenario.ts'

/** Callers that make more calls than this are alike, where it is tested whether numbers changed. */
const MAX_COUNT = 16

interface Callees {
  /** Who calls. */
  readonly group: CallGroup
  readonly callees: CallGroup
}

/**
 * What if the calls of a group called something as often as in the target: six times instead of once,
 * again after a failure, newly, or no longer? None where no number of calls differs.
 *
 * Callers pair by the rank of how often they call, as often as they weigh. What a call that makes more calls takes longer is
 * what its partner in the target would gain without the last of them; what one that makes fewer takes
 * less is what it gains without its own last ones.
 */
export function countCandidates(context: CandidateContext, group: CallGroup): Candidate[] {
  const { paths } = context
  // Operations do not pair with each other.
  return groupsByName(paths, group.paths).flatMap((callers) =>
    groupsByName(paths, calledBy(paths, callers)).flatMap((callees) =>
      countCandidate(context, { group: callers, callees }),
    ),
  )
}

function countCandidate(context: CandidateContext, divided: Callees): Candidate[] {
  const { paths, base, target, minimumPartition: least } = context
  const { group, callees } = divided
  if (target === null) return []
  const [before, after] = [countsOf(base, divided), countsOf(target, divided)]
  if (before.values.length < least || after.values.length < least) return []
  if (new Set([...before.values, ...after.values]).size < 2) return []
  const what = { name: groupName(callees), isRetry: isRetry(target, divided) }
  return [
    candidate({
      kind: 'count',
      group,
      key: `count ${callees.paths}`,
      callee: callees.service,
      title: `${groupTitle(paths, group)} ${countWords(before, after, what)}`,
      changes: (from, to) => (to === null ? [] : countedAs(from, to, divided)),
      evidence: (from, to) => ({
        measured: 'kinds',
        before: kindsOf(from, divided),
        after: kindsOf(to, divided),
      }),
    }),
  ]
}

/** Share of callers with the same number of calls that stand for all of them. */
const NEARLY_ALL = 0.9

/** `calls stock 6 times instead of once`, `now calls audit`, `retries stock in 20 % of its calls`. */
function countWords(
  before: CallCounts,
  after: CallCounts,
  { name, isRetry }: { readonly name: string; readonly isRetry: boolean },
): string {
  const share = (counts: CallCounts, holds: (count: number) => boolean) =>
    callersOf(counts, holds) / sum(counts.callers)
  const whole = (part: number) => `${Math.round(100 * part)} %`
  /** Whether so many callers do something, instead of so many. */
  const shift = (holds: (count: number) => boolean) => {
    const [was, now] = [share(before, holds), share(after, holds)]
    return {
      was,
      now,
      by: now - was,
      text: `in ${whole(now)} of its calls instead of ${whole(was)}`,
    }
  }
  const [any, several] = [shift((count) => count > 0), shift((count) => count > 1)]
  if (isRetry && several.by > 0) return `calls ${name} again after it failed, ${several.text}`
  if (any.was === 0) {
    return `now calls ${name}${any.now < 1 ? `, in ${whole(any.now)} of its calls` : ''}`
  }
  if (any.now === 0) return `no longer calls ${name}`
  const [usual, usualNow] = [usualCount(before), usualCount(after)]
  const isUsual = share(before, (count) => count === usual) >= NEARLY_ALL
  if (usual !== usualNow && isUsual && share(after, (count) => count === usualNow) >= NEARLY_ALL) {
    return `calls ${name} ${timesText(usualNow)} instead of ${timesText(usual)}`
  }
  if (Math.abs(any.by) >= Math.abs(several.by)) return `calls ${name} ${any.text}`
  const gains = Array.from(new Set(after.values), (count) => ({
    count,
    ...shift((one) => one === count),
  }))
  const most = greatest(gains, (a, b) => a.by - b.by)
  if (most !== undefined && most.by >= Math.abs(several.by) / 2) {
    return `calls ${name} ${timesText(most.count)} ${most.text}`
  }
  const [was, now] = [before, after].map((counts) => shortNumber(meanCount(counts)))
  return `calls ${name} ${now} times on average instead of ${was}`
}

/** How often each caller calls, and how many callers it stands for. */
type CallCounts = ReturnType<typeof countsOf>

function callersOf({ values, callers }: CallCounts, holds: (count: number) => boolean): number {
  return sum(values, (count, i) => (holds(count) ? callers[i]! : 0))
}

function usualCount(counts: CallCounts): number {
  const all = Array.from(new Set(counts.values), (count) => ({
    count,
    callers: callersOf(counts, (one) => one === count),
  }))
  return greatest(all, (a, b) => a.callers - b.callers)?.count ?? 0
}

function meanCount({ values, callers }: CallCounts): number {
  return sum(values, (count, i) => count * callers[i]!) / sum(callers)
}

function timesText(count: number): string {
  return count === 0 ? 'not at all' : count === 1 ? 'once' : `${count} times`
}

/** Rows of what each caller calls of `callees`, in the order of their starts. */
function calleesOf({ forest }: RequestModel, { callees }: Callees): (call: number) => number[] {
  const { children, childOffsets, path } = forest
  const paths = new Set(callees.paths)
  return (call) => {
    const found: number[] = []
    for (let at = childOffsets[call]!; at < childOffsets[call + 1]!; at++) {
      if (paths.has(path[children[at]!]!)) found.push(children[at]!)
    }
    return found
  }
}

function countsOf(model: RequestModel, divided: Callees) {
  const calleesOfCall = calleesOf(model, divided)
  const calls = callRows(model.forest, divided.group.paths)
  return {
    values: calls.map((call) => calleesOfCall(call).length),
    callers: Float64Array.from(calls, callCounter(model.forest)),
  }
}

function kindsOf(model: RequestModel, divided: Callees): EvidenceSample {
  const calleesOfCall = calleesOf(model, divided)
  return samplePerRequest(model.forest, callRows(model.forest, divided.group.paths), (call) =>
    Math.min(calleesOfCall(call).length, MAX_COUNT),
  )
}

/** Whether most repeated calls follow one that failed. */
function isRetry(model: RequestModel, divided: Callees): boolean {
  const { forest } = model
  const { status } = forest.traces.spans
  const failed = (call: number) =>
    [forest.serverSpan[call]!, forest.clientSpan[call]!].some(
      (span) => span >= 0 && SPAN_STATUSES[status[span]!] === 'error',
    )
  const calleesOfCall = calleesOf(model, divided)
  const countOf = callCounter(forest)
  const repeats = Array.from(callRows(forest, divided.group.paths), calleesOfCall).flatMap(
    (calls) => calls.slice(0, -1),
  )
  return sum(repeats.filter(failed), countOf) > 0.5 * sum(repeats, countOf)
}

/** What the callers of one period save without some of what they call: by caller, µs. */
function savedUs(
  model: RequestModel,
  left: ReadonlyMap<number, readonly number[]>,
): Map<number, number> {
  const saved = new Map<number, number>()
  model.shifts([withoutCalls([...left.values()].flat())], (call, shiftUs) => {
    if (left.has(call)) saved.set(call, -shiftUs)
  })
  return saved
}

/** Calls that take no time, nor does what goes by before them. */
function withoutCalls(left: readonly number[]): LatencyChange {
  const calls = Uint32Array.from(left).sort()
  const none = new Float64Array(calls.length)
  return { calls, serverUs: none, networkUs: none, preprocessingUs: none }
}

function countedAs(base: RequestModel, target: RequestModel, divided: Callees): LatencyChange[] {
  const ranked = (model: RequestModel) => {
    const calleesOfCall = calleesOf(model, divided)
    return spreadOrder([...callRows(model.forest, divided.group.paths)])
      .map((call) => ({ call, callees: calleesOfCall(call) }))
      .sort((a, b) => a.callees.length - b.callees.length)
  }
  /** Sums of what callers stand for, up to and with each. */
  const upToEach = ({ forest }: RequestModel, all: ReturnType<typeof ranked>) =>
    cumsum(all, ({ call }) => callCounter(forest)(call))
  const [own, theirs] = [ranked(base), ranked(target)]
  const [upTo, upToTheirs] = [upToEach(base, own), upToEach(target, theirs)]
  if (own.length === 0 || theirs.length === 0) return []
  const fewer: number[] = []
  const pairs = own.flatMap(({ call, callees: { length: kept }, callees }, i) => {
    const share = ((upTo[i - 1] ?? 0) + upTo[i]!) / 2 / upTo.at(-1)!
    const partner = theirs[bisectRight(upToTheirs, share * upToTheirs.at(-1)!)]!
    fewer.push(...callees.slice(partner.callees.length))
    return partner.callees.length > kept ? [{ call, kept, partner }] : []
  })
  // Callers that make different numbers of calls may share a partner, which then has other surplus.
  const addedUs = new Map<number, number>()
  for (const [kept, alike] of groupBy(pairs, (pair) => pair.kept)) {
    const surplus = alike.map(({ partner }) => [partner.call, partner.callees.slice(kept)] as const)
    const saved = savedUs(target, new Map(surplus))
    for (const { call, partner } of alike) addedUs.set(call, saved.get(partner.call) ?? 0)
  }
  const calls = Uint32Array.from(addedUs.keys()).sort()
  const serverUs = Float64Array.from(
    calls,
    (call) => base.forest.serverUs[call]! + addedUs.get(call)!,
  )
  return [{ calls, serverUs }, ...(fewer.length === 0 ? [] : [withoutCalls(fewer)])]
}
