// Runs once a request: the loops index with `!`.

import { greatest, mean, range, rollup, sum } from 'd3-array'
import { categorize } from '../../compare/categories/categorize.ts'
import { compareArrivals } from '../../compare/steps/arrivals.ts'
import { hasTestableType, rootTypes } from '../../compare/steps/root-types.ts'
import {
  ALIKE,
  APART,
  DRIFT_LEVEL,
  FAR,
  MIN_SEEN,
  MIN_SPREAD,
  MOST,
  PART,
  SMALL,
  STRETCHES,
  SURE,
  TWICE,
} from '../../compare/thresholds.ts'
import { formatAmount, TIME } from '../../core/quantity.ts'
import {
  certaintyText,
  counted,
  firstOf,
  formatDuration,
  grouped,
  type Microseconds,
  percent,
  printable,
  shortNumber,
} from '../../core/words.ts'
import { buildFlows } from '../../flows/build-flows.ts'
import { AFTER, BEFORE, type FlowSet, type Period } from '../../flows/flow-set.ts'
import { lengthUs, type Overlap, overlapInTime } from '../../flows/overlap.ts'
import { ascendingOrder } from '../../stats/ascending-order.ts'
import { longRunVariance } from '../../stats/change-point.ts'
import { normalP } from '../../stats/distributions.ts'
import { fisherExact } from '../../stats/fisher-exact.ts'
import { midranks } from '../../stats/midranks.ts'
import { median } from '../../stats/quantile.ts'
import { isTestable } from '../../stats/two-sample.ts'
import { groupRows } from '../../traces/group-rows.ts'
import type { ServiceVersions } from '../../traces/span-columns.ts'
import {
  type ComparedPeriods,
  type ComparisonWarning,
  exactPercent,
  partOf,
  warning,
} from './comparison-warning.ts'

/** Whether one period has more requests, while counts are compared as they are. */
export function unequalLoad(periods: ComparedPeriods): ComparisonWarning[] {
  const { flows, options } = periods
  const before = flows.wholes(BEFORE)
  const after = flows.wholes(AFTER)
  const ratio = Math.max(before, after) / Math.max(1, Math.min(before, after))
  if (ratio <= ALIKE || allowsForLoad(periods)) return []
  const kind = after > before ? 'structural mutations' : 'precursors'
  const passing = passingByLoad(periods, after / before)
  const { rate } = compareArrivals(flows)
  const isLoaded = rate !== null && rate.ratio >= APART && rate.interval[0] > 1
  const [then, now] = (rate?.perSecond ?? []).map((each) => Number(each.toPrecision(3)))
  return warning('unequal-load', {
    finding:
      `There ${before === 1 ? 'is' : 'are'} ${counted(before, 'request')} before and ${grouped(after)} after` +
      (isLoaded ? `: load grew from ${then} to ${now} requests a second.` : '.'),
    effect:
      (isLoaded
        ? 'Under more load, services short of workers or connections get slower without any other change. '
        : '') +
      `Every category ${after > before ? 'gains' : 'loses'} requests with the load, which alone lifts ` +
      `${passing === 0 ? 'none' : grouped(passing)} of ${counted(periods.categories.size, 'category', 'categories')} over ` +
      `the threshold of ${options.smPThreshold} requests, as ${kind}.`,
    answer:
      "Compare periods of equal load, scale counts with `counts: 'scaled'`, or " +
      "test shares instead of counts with `smPThreshold: 'auto'`.",
    advice: { counts: 'scaled', smPThreshold: 'auto' },
  })
}

function allowsForLoad({ flows, options }: ComparedPeriods): boolean {
  const counts = flows.counting(options.counts)
  if (options.smPThreshold === 'auto' || counts === 'scaled') return true
  return counts === 'weighted' && flows.weight !== undefined
}

/** Categories whose count would change by more than the threshold if each grew with the load. */
function passingByLoad({ categories, options }: ComparedPeriods, growth: number): number {
  return range(categories.size).filter((category) => {
    const before = categories.count(category, BEFORE)
    return Math.abs(before * growth - before) > Number(options.smPThreshold)
  }).length
}

export function smallPeriods(periods: ComparedPeriods): ComparisonWarning[] {
  const { flows, categories, options } = periods
  const { smPThreshold } = options
  const before = flows.wholes(BEFORE)
  const after = flows.wholes(AFTER)
  const many = `${counted(before, 'request')} before and ${grouped(after)} after`
  const isSmall = smPThreshold !== 'auto' && Math.min(before, after) <= smPThreshold
  const areOfSteps = !hasTestable(categories) && hasTestableType(flows)
  if (areOfSteps && !isSmall) return isSpread(periods) ? spreadOverHosts(periods, many) : []
  const problems = [
    ...(areOfSteps || hasTestable(categories)
      ? []
      : ['no category has enough requests in both periods to test its times']),
    ...(isSmall
      ? [`no category can change by more than the threshold of ${smPThreshold} requests`]
      : []),
  ]
  if (problems.length === 0) return []
  return warning('small-periods', {
    finding: `With ${many}, ${problems.join(', and ')}.`,
    effect: 'A change may go unnoticed.',
    answer: 'Load longer periods, or lower `smPThreshold`.',
    advice: { smPThreshold: null },
  })
}

/** Warns if hosts alone make categories too small for a test: findings rest on steps, which are tested. */
function spreadOverHosts(
  { flows, categories }: ComparedPeriods,
  many: string,
): ComparisonWarning[] {
  const without = categorize(flows, { omitHosts: true })
  return warning('small-periods', {
    finding: `No category has enough requests in both periods: ${many} are spread over ${counted(categories.size, 'category', 'categories')} (${grouped(without.size)} without hosts).`,
    effect: 'Steps are still compared over all categories, but single categories are not ranked.',
    answer: 'Leave hosts out of labels with `omitHosts: true`.',
    advice: { omitHosts: true },
  })
}

/** Whether categories without hosts have enough requests to be tested. */
function isSpread({ flows, options }: ComparedPeriods): boolean {
  return !options.omitHosts && hasTestable(categorize(flows, { omitHosts: true }))
}

function hasTestable(categories: ComparedPeriods['categories']): boolean {
  return range(categories.size).some((category) =>
    isTestable(categories.count(category, BEFORE), categories.count(category, AFTER)),
  )
}

/** Whether no category has requests in both periods: their times cannot be compared at all. */
export function nothingInCommon(periods: ComparedPeriods): ComparisonWarning[] {
  const { categories } = periods
  if (categories.size === 0 || hasShared(categories) || isSpread(periods)) return []
  if (isOfOrderAlone(periods)) {
    return warning('nothing-in-common', {
      finding:
        'No category has requests in both periods. They make the same calls, but in another order or with other overlaps.',
      effect: 'All categories look new, so their response times cannot be compared.',
      answer:
        "Ignore the order of calls with `concurrency: 'none'`. If one period was selected by " +
        'duration, that alone may be the reason: select both the same way.',
      advice: { concurrency: 'none' },
    })
  }
  return warning('nothing-in-common', {
    finding: 'The periods share no category: every request after has a new structure.',
    effect: 'All categories look new, so their response times cannot be compared.',
    answer:
      'Check that both periods traced the same requests with the same instrumentation. If labels ' +
      'differ only by host or name, leave these out with `omitHosts` or `label`.',
    advice: { omitHosts: true },
  })
}

function hasShared(categories: ComparedPeriods['categories']): boolean {
  return range(categories.size).some(
    (category) => categories.count(category, BEFORE) > 0 && categories.count(category, AFTER) > 0,
  )
}

/** Whether requests of both periods match once the order of their calls is ignored. */
function isOfOrderAlone({ before, after, flows, options }: ComparedPeriods): boolean {
  if (before.kind !== 'spans' || flows.options.concurrency === 'none') return false
  const unordered = buildFlows([before, after], { ...flows.options, concurrency: 'none' })
  return hasShared(categorize(unordered, { omitHosts: options.omitHosts }))
}

/** Whether services run on other hosts than before, while hosts are part of node labels. */
export function hostsDiffer({ flows, options }: ComparedPeriods): ComparisonWarning[] {
  if (options.omitHosts) return []
  const before = hostsByService(flows, BEFORE)
  const after = hostsByService(flows, AFTER)
  const moved = [...before].filter(([service, hosts]) => {
    const now = after.get(service)
    return now !== undefined && [...hosts].every((host) => !now.has(host))
  })
  if (moved.length === 0) return []
  const services = moved.map(([service]) => service)
  return warning('hosts-differ', {
    finding: `${firstOf(services, { most: 10 })}: all hosts changed between the periods.`,
    effect: 'Every request through them looks like a new structure.',
    answer: 'Leave hosts out of labels with `omitHosts: true`.',
    advice: { omitHosts: true },
  })
}

function hostsByService(flows: FlowSet, wanted: Period) {
  const { shapeOf, shapes, labels } = flows
  const placed = range(labels.size).filter((code) => {
    const { service, host } = labels.get(code)
    return service !== '' && host !== ''
  })
  // Trace points have no services.
  if (placed.length === 0) return new Map<string, Set<string>>()
  const isUsed = new Uint8Array(labels.size)
  for (const shape of new Set(flows.requestsOf(wanted).map((request) => shapeOf[request]!))) {
    for (const code of shapes.labels(shape)) isUsed[code] = 1
  }
  return rollup(
    placed.filter((code) => isUsed[code] === 1).map((code) => labels.get(code)),
    (own) => new Set(own.map(({ host }) => host)),
    ({ service }) => service,
  )
}

type Versions = ReadonlyMap<string, number>

/** Whether services ran in other versions: often that is the question, sometimes nobody knew. */
export function versionsDiffer({ before, after }: ComparedPeriods): ComparisonWarning[] {
  if (before.kind !== 'spans' || after.kind !== 'spans') return []
  const changed = changedVersions(before.versions, after.versions)
  if (changed.length === 0) return []
  return warning('versions-differ', {
    finding: `Service versions changed: ${firstOf(changed, { separator: '; ' })}.`,
    effect: 'The release alone may explain what changed.',
    answer: 'Load periods with the same versions, unless you are investigating the release.',
  })
}

/** Returns the services whose versions changed beyond chance, the surest first. */
function changedVersions(before: ServiceVersions, after: ServiceVersions): string[] {
  const compared = [...before].flatMap(([service, were]) => {
    const are = after.get(service)
    return are === undefined ? [] : [{ service, were, are, p: chanceOf(were, are) }]
  })
  return compared
    .filter(({ p }) => p * compared.length < DRIFT_LEVEL)
    .sort((a, b) => a.p - b.p)
    .map(({ service, were, are }) => `${service} ${versionText(were)} → ${versionText(are)}`)
}

/** Returns the least p of the versions whose share changed by enough, corrected for their number. */
function chanceOf(before: Versions, after: Versions): number {
  const versions = [...new Set([...before.keys(), ...after.keys()])]
  const tests = versions
    .filter((one) => Math.abs(versionShare(after, one) - versionShare(before, one)) > SMALL)
    .map((one) => {
      const [was, is] = [before.get(one) ?? 0, after.get(one) ?? 0]
      return fisherExact(was, sum(before.values()), is, sum(after.values())).p
    })
  return Math.min(1, versions.length * Math.min(...tests))
}

function versionShare(versions: Versions, version: string): number {
  return (versions.get(version) ?? 0) / sum(versions.values())
}

function versionText(versions: Versions): string {
  if (versions.size === 1) return [...versions.keys()].join('')
  const sorted = [...versions].sort(([, a], [, b]) => b - a)
  const named = sorted.map(
    ([version]) => `${version} (${exactPercent(versionShare(versions, version))})`,
  )
  return firstOf(named, { most: 3 })
}

export function undecidedStructures({ categories }: ComparedPeriods): ComparisonWarning[] {
  const { undecided } = categories
  if (undecided === 0) return []
  return warning('undecided-structures', {
    finding: `${counted(undecided, 'pair')} of flows ${undecided === 1 ? 'is' : 'are'} too symmetric to compare within the step budget.`,
    effect: 'They count as different structures, so one category may appear as several.',
    answer: 'Give their nodes more telling labels with `label`.',
  })
}

/** Whether one request takes a large part of a period's time, so that it dominates the means. */
export function extremeRequest(periods: ComparedPeriods): ComparisonWarning[] {
  return ([BEFORE, AFTER] as const).flatMap((period) => extremeOf(periods, period))
}

function extremeOf({ flows }: ComparedPeriods, period: Period): ComparisonWarning[] {
  const count = flows.count(period)
  if (count < MIN_SPREAD) return []
  const first = period === BEFORE ? 0 : flows.count(BEFORE)
  const timesUs = flows.responseTimeUs.subarray(first, first + count)
  const totalUs = timesUs.reduce((sum, timeUs) => sum + (timeUs || 0), 0)
  const slowestUs = timesUs.reduce((most, timeUs) => (timeUs > most ? timeUs : most), 0)
  if (!(slowestUs > PART * totalUs)) return []
  const when = period === BEFORE ? 'before' : 'after'
  return warning('extreme-request', {
    finding:
      `One request ${when}, trace ${flows.ids[first + timesUs.indexOf(slowestUs)]}, took ${formatAmount(slowestUs, flows.quantity)}, ` +
      `${percent(slowestUs / totalUs)} of the total of all ${grouped(count)} requests.`,
    effect:
      'It dominates means, contributions and shares of the change; medians and tests are not affected.',
    answer: "Look at that trace, and rank with `centre: 'median'`.",
    advice: { centre: 'median' },
  })
}

export function noDurations({ flows }: ComparedPeriods): ComparisonWarning[] {
  if (flows.quantity !== TIME) return []
  return ([BEFORE, AFTER] as const).flatMap((period) => {
    const count = flows.count(period)
    const zeros = flows.requestsOf(period).filter((one) => flows.responseTimeUs[one] === 0).length
    if (count === 0 || zeros <= MOST * count) return []
    return warning('no-durations', {
      finding: `${exactPercent(zeros / count)} of the requests ${period === BEFORE ? 'before' : 'after'} took 0 µs.`,
      effect:
        'Their durations are missing or rounded to a coarse unit, so no change of time can be seen.',
      answer: 'Export the traces with their durations, in µs or finer.',
    })
  })
}

/** Whether some requests, or spans that should, do not say the measure. */
export function unmeasured({ flows }: ComparedPeriods): ComparisonWarning[] {
  const { unmeasuredBefore, unmeasuredAfter, silentBefore, silentAfter } = flows.report.counts
  if (unmeasuredBefore + unmeasuredAfter + silentBefore + silentAfter === 0) return []
  const { name } = flows.quantity
  const all = [flows.count(BEFORE) + unmeasuredBefore, flows.count(AFTER) + unmeasuredAfter]
  const left = `${partOf(unmeasuredBefore, all[0] ?? 0)} requests before and ${partOf(unmeasuredAfter, all[1] ?? 0)} after`
  return warning('unmeasured', {
    finding:
      `${left} have no ${name}` +
      (silentBefore + silentAfter === 0
        ? '.'
        : `; nor do ${grouped(silentBefore)} spans before and ${grouped(silentAfter)} after, of operations that record it elsewhere.`),
    effect: 'These requests are left out; spans without it count as 0.',
    answer: `Record ${name} with every span of these operations.`,
  })
}

/** Whether an option that goes by weights has none to go by. */
export function noWeights({ flows, options }: ComparedPeriods): ComparisonWarning[] {
  const isWeighted = options.counts === 'weighted'
  const isEven = options.sampling === 'even'
  if (flows.weight !== undefined || !(isWeighted || isEven)) return []
  return warning('no-weights', {
    finding:
      `${isWeighted ? 'Weighted counts were asked for' : 'Even sampling was asked for'}, ` +
      'but no sampling weights were found: no trace state `ot=th:`, no `SampleRate`, no sampler.param of Jaeger.',
    effect: isEven
      ? `\`sampling: 'even'\` leaves nothing out${isWeighted ? ', and every request counts once' : ''}.`
      : 'Every request counts once.',
    answer: `Record the sampling probability with the traces, or ${isWeighted ? "use `counts: 'raw'`" : "leave `sampling` at 'recorded'"}.`,
    advice: { ...(isWeighted && { counts: 'raw' }), ...(isEven && { sampling: 'recorded' }) },
  })
}

/** When the requests of both periods arrived, ascending. */
export type Arrivals = readonly [before: Float64Array, after: Float64Array]

/**
 * Whether periods stand in the wrong order, overlap, or came at another rate. Periods that cover
 * the same time, and stretches in turns, are as they should be.
 */
export function timeRanges(arrivals: Arrivals): ComparisonWarning[] {
  const overlap = overlapInTime(...arrivals)
  if (overlap === null) return []
  return [
    ...swapped(overlap, arrivals),
    ...overlapping(overlap, arrivals),
    ...otherLength(...arrivals),
  ]
}

/** Whether the after period came first: all of it, or all except an overlap with later times. */
function swapped({ kind }: Overlap, [before, after]: Arrivals): ComparisonWarning[] {
  const isApart = kind === 'apart' || kind === 'partly mixed'
  if (!isApart || !(median(after) < median(before))) return []
  const [first, last] = [before[0] as number, after.at(-1) as number]
  const aheadUs = first - (last < first ? last : (after[0] as number))
  // One period within the other is in no order.
  if (!(aheadUs > 0 && last < (before.at(-1) as number))) return []
  const ahead = `${formatDuration(aheadUs)} before the before period`
  return warning('time-ranges', {
    finding: `The after period ${last < first ? `ends ${ahead} begins` : `begins ${ahead}`}. Are they swapped?`,
    effect: 'If the files were swapped, every result is reversed: slower means faster.',
    answer: 'Swap before and after, unless you want to compare with a later period.',
  })
}

function overlapping(shared: Overlap, [before, after]: Arrivals) {
  if (shared.kind !== 'partly mixed') return []
  return warning('time-ranges', {
    finding:
      `The periods overlap for ${formatDuration(shared.sharedUs)}: ` +
      `${partOf(shared.before, before.length)} requests before and ` +
      `${partOf(shared.after, after.length)} after arrived in it.`,
    effect:
      'Both periods have requests from the overlap, so changes look smaller than they are, or are missed.',
    answer: 'Load files that do not overlap, or cut the flows by arrival with `selectRequests`.',
  })
}

function otherLength(before: Float64Array, after: Float64Array): ComparisonWarning[] {
  const [beforeUs, afterUs] = [busyUs(before), busyUs(after)]
  if (!(Math.max(beforeUs / afterUs, afterUs / beforeUs) > TWICE)) return []
  const rates = [(before.length - 1) / beforeUs, (after.length - 1) / afterUs] as const
  const ratio = rates[1] / rates[0]
  // A single request has no rate.
  if (!(Math.max(ratio, 1 / ratio) >= FAR)) return []
  const all = before.length + after.length - 2
  const share = beforeUs / (beforeUs + afterUs)
  const deviation = (before.length - 1 - all * share) / Math.sqrt(all * share * (1 - share))
  if (Math.abs(deviation) < SURE) return []
  const [perSecondBefore, perSecondAfter] = rates.map((rate) => shortNumber(rate * 1e6))
  return warning('time-ranges', {
    finding:
      `The before period lasts ${lengthText(before)}, the after period ${lengthText(after)}, ` +
      `with ${perSecondBefore} and ${perSecondAfter} requests per second.`,
    effect:
      'The request rate changed, though the counts do not show it; queues and caches depend on it.',
    answer: 'Load periods of the same length and rate, or consider the rate as a cause.',
  })
}

/** Returns how long requests arrived: the period's length without gaps that random arrivals would hardly leave. */
function busyUs(arrivals: Float64Array): Microseconds {
  return lengthUs(arrivals) - sum(holesIn(arrivals), ({ fromUs, toUs }) => toUs - fromUs)
}

function lengthText(arrivals: Float64Array): string {
  const [allUs, ownUs] = [lengthUs(arrivals), busyUs(arrivals)]
  const gaps = ownUs < allUs ? ` without ${formatDuration(allUs - ownUs)} of gaps` : ''
  return formatDuration(ownUs) + gaps
}

interface Gap {
  readonly fromUs: number
  readonly toUs: number
}

type Excused = (gap: Gap) => boolean

/**
 * Whether a period has a gap that random arrivals would hardly leave; none are gaps that stretches
 * of the other period fill in turns, and those that both have at once.
 */
export function missingIntervals([before, after]: Arrivals): ComparisonWarning[] {
  const kind = overlapInTime(before, after)?.kind
  const excusedBy = (others: Float64Array): Excused => {
    if (kind === 'in turns') return (gap) => isFilled(gap, others)
    if (kind === 'side by side') return (gap) => !isBusyWithin(gap, others)
    return () => false
  }
  return [
    ...holeIn(before, 'before', excusedBy(after)),
    ...holeIn(after, 'after', excusedBy(before)),
  ]
}

function isFilled({ fromUs, toUs }: Gap, arrivals: Float64Array): boolean {
  const within = arrivals.filter((us) => us > fromUs && us < toUs)
  return lengthUs(within) > PART * (toUs - fromUs)
}

function isBusyWithin({ fromUs, toUs }: Gap, arrivals: Float64Array): boolean {
  const quarterUs = (toUs - fromUs) / 4
  return arrivals.some((us) => us > fromUs + quarterUs && us < toUs - quarterUs)
}

function holeIn(arrivals: Float64Array, name: 'before' | 'after', isExcused: Excused) {
  const holes = holesIn(arrivals).filter((gap) => !isExcused(gap))
  const gap = greatest(holes, ({ fromUs, toUs }) => toUs - fromUs)
  if (gap === undefined) return []
  const gapUs = gap.toUs - gap.fromUs
  const share = gapUs / lengthUs(arrivals)
  const startUs = gap.fromUs - (arrivals[0] as number)
  return warning('missing-intervals', {
    finding:
      `No request of the ${name} period arrived for ${formatDuration(gapUs)} (${exactPercent(share)} of it), ` +
      `from ${formatDuration(startUs)} after its start.`,
    effect:
      'Traces may be missing, or the system stood still. Results leave that time out; counts are too low.',
    answer:
      'Load the missing files, or cut the flows to the time before or after the gap with `selectRequests`.',
  })
}

/**
 * Returns the gaps that are too long for chance and a considerable part of the period: each of n − 1 gaps between n
 * Poisson arrivals has at least a share with probability (1 − share)^(n − 2).
 *
 * Source: Pyke 1965, "Spacings", Journal of the Royal Statistical Society B 27(3):395-449, §2.1.
 */
function holesIn(arrivals: Float64Array): Gap[] {
  const [allUs, gaps] = [lengthUs(arrivals), arrivals.length - 1]
  const holes: Gap[] = []
  for (let i = 1; i < arrivals.length; i++) {
    const [fromUs, toUs] = [arrivals[i - 1] as number, arrivals[i] as number]
    const share = (toUs - fromUs) / allUs
    const isUnlikely = gaps * (1 - share) ** (gaps - 1) < DRIFT_LEVEL
    if (share > SMALL && isUnlikely) holes.push({ fromUs, toUs })
  }
  return holes
}

const MIN_STEADY = MIN_SEEN * STRETCHES
const ALL_STRETCHES = STRETCHES ** 2 / 2

interface Measure {
  /** Kind of request whose response times these are; `null` for failures of all. */
  readonly name: string | null
  readonly requests: Uint32Array
  readonly values: Float64Array
}

/** Parts from `from` to `to`, with the measure there and elsewhere. */
type Stretch = ReturnType<typeof oddStretch>

/**
 * Warns if a stretch of the before period has other response times (by kind of request) or failures than the rest, and
 * the after period has no such stretch: an outage, a jump, or another load. The stretch has a twentieth to half of the
 * requests. Noise is the long-run variance, so drifting levels give no warning.
 */
export function unsteadyBefore({ flows }: Pick<ComparedPeriods, 'flows'>): ComparisonWarning[] {
  const measures = measuresOf(flows, BEFORE).filter(({ values }) => values.length >= MIN_STEADY)
  const odd = measures
    .map((measure) => ({ measure, stretch: oddStretch(measure.values) }))
    .filter(({ stretch }) => stretch.p * measures.length < DRIFT_LEVEL)
  if (odd.length === 0) return []
  const after = new Map(measuresOf(flows, AFTER).map((measure) => [measure.name, measure]))
  const found = odd.flatMap(({ measure, stretch }) => {
    const change = changeIn(measure, stretch)
    const least = measure.name === null ? SMALL : Math.log(APART)
    const same = changeIn(after.get(measure.name), stretch)
    const isAlike = same.by / change.by >= MOST
    return Math.abs(change.by) < least || isAlike ? [] : [{ measure, stretch, change }]
  })
  const [first] = found.sort((a, b) => a.stretch.p - b.stretch.p)
  if (first === undefined) return []
  const { measure, stretch, change } = first
  const { requests, name } = measure
  const [from, last] = [boundOf(requests, stretch.from), boundOf(requests, stretch.to) - 1]
  const fromUs = flows.arrivalUs(requests[from]!)
  const afterStartUs = fromUs - flows.arrivalUs(requestsOf(flows, BEFORE)[0]!)
  const lastsUs = flows.arrivalUs(requests[last]!) - fromUs
  const start = afterStartUs > 0 ? `${formatDuration(afterStartUs)} after its start` : 'its start'
  const said = (level: number) =>
    name === null ? percent(level) : formatAmount(level, flows.quantity)
  const what =
    name === null
      ? `${said(change.inside)} of requests failed`
      : `the median of ${printable(name)} was ${said(change.inside)}`
  return warning('unsteady-before', {
    finding:
      `The before period is not steady: for ${formatDuration(lastsUs)} from ${start}, ${what}, ` +
      `otherwise ${said(change.outside)} (${certaintyText(stretch.p * measures.length)}).`,
    effect: 'Comparisons use the mix of both, so changes may look smaller or larger than they are.',
    answer: 'Select a steady stretch of it with `between` or `selectRequests`.',
  })
}

/** Returns the requests of a period in the order of their arrival. */
function requestsOf(flows: FlowSet, period: Period): Uint32Array {
  const requests = Uint32Array.from(flows.requestsOf(period))
  const arrivals = Float64Array.from(requests, (request) => flows.arrivalUs(request))
  return ascendingOrder(arrivals).map((at) => requests[at]!)
}

function measuresOf(flows: FlowSet, period: Period): Measure[] {
  const all = requestsOf(flows, period)
  const { names, typeOf } = rootTypes(flows)
  const { outcomes, responseTimeUs } = flows
  const measured = all.filter((request) => responseTimeUs[request]! > 0)
  const types = measured.map((request) => typeOf[request]!)
  const { offsets, rows } = groupRows(types, names.length)
  return [
    {
      name: null,
      requests: all,
      values: Float64Array.from(all, (one) => (outcomes?.failed(one) ? 1 : 0)),
    },
    ...names.map((name, type) => {
      const requests = rows.subarray(offsets[type], offsets[type + 1]).map((at) => measured[at]!)
      return { name, requests, values: Float64Array.from(requests, (one) => responseTimeUs[one]!) }
    }),
  ]
}

function boundOf({ length }: ArrayLike<unknown>, part: number): number {
  return Math.round((part * length) / STRETCHES)
}

/** Returns the stretch whose mean rank is the most standard errors from that of the rest. */
function oddStretch(values: Float64Array) {
  const ranks = midranks(values)
  const count = ranks.length
  const bounds = Array.from({ length: STRETCHES + 1 }, (_, part) => boundOf(ranks, part))
  const center = (count + 1) / 2
  const sums = new Float64Array(count + 1)
  for (let i = 0; i < count; i++) sums[i + 1] = sums[i]! + ranks[i]! - center
  let [from, to, most] = [0, 1, 0]
  for (let i = 0; i < STRETCHES; i++) {
    for (let j = i + 1; j <= Math.min(STRETCHES, i + STRETCHES / 2); j++) {
      const inside = bounds[j]! - bounds[i]!
      const sum = Math.abs(sums[bounds[j]!]! - sums[bounds[i]!]!)
      const size = sum * Math.sqrt(count / (inside * (count - inside)))
      if (size > most) [from, to, most] = [i, j, size]
    }
  }
  if (most === 0) return { from, to, p: 1 }
  const [inside, outside] = [true, false].map((is) => mean(within(ranks, { from, to }, is)) ?? 0)
  const level = (i: number) => (i >= bounds[from]! && i < bounds[to]! ? inside! : outside!)
  const noise = longRunVariance(Array.from(ranks, (rank, i) => rank - level(i)))
  return { from, to, p: ALL_STRETCHES * normalP(most / Math.sqrt(noise), 'two-sided') }
}

/** Values within a stretch, or outside of it. */
function within(values: Float64Array, { from, to }: Pick<Stretch, 'from' | 'to'>, inside: boolean) {
  const [start, end] = [boundOf(values, from), boundOf(values, to)]
  return values.filter((_, i) => (i >= start && i < end) === inside)
}

/** Compares a measure inside a stretch with the rest; for times, by the logarithm of their medians. */
function changeIn(measure: Measure | undefined, stretch: Stretch) {
  const { name, values } = measure ?? { name: null, values: new Float64Array() }
  const [inside, outside] = [true, false].map((is) => {
    const part = within(values, stretch, is)
    return (name === null ? mean(part) : median(part)) ?? Number.NaN
  }) as [number, number]
  return { inside, outside, by: name === null ? inside - outside : Math.log(inside / outside) }
}
