import { range, rollup, sum } from 'd3-array'
import { formatAmount, TIME } from '../../core/quantity.ts'
import { counted, firstOf, grouped, percent } from '../../core/words.ts'
import { buildFlows } from '../../flows/build-flows.ts'
import { AFTER, BEFORE, type FlowSet, type Period } from '../../flows/flow-set.ts'
import { fisherExact } from '../../stats/fisher-exact.ts'
import { isTestable } from '../../stats/two-sample.ts'
import type { ServiceVersions } from '../../traces/span-columns.ts'
import { categorize } from '../categories/categorize.ts'
import { compareArrivals } from '../steps/arrivals.ts'
import { hasTestableType } from '../steps/root-types.ts'
import {
  type ComparedPeriods,
  type ComparisonWarning,
  exactPercent,
  partOf,
  warning,
} from './comparison-warning.ts'

/** Largest ratio of the periods' numbers of requests at which their load counts as the same. */
const ALIKE_LOAD = 1.1

/** Smallest factor at which requests come more often, if that is sure. */
const MORE_LOAD = 1.25

/** Whether one period has more requests, while counts are compared as they are. */
export function unequalLoad(periods: ComparedPeriods): ComparisonWarning[] {
  const { flows, options } = periods
  const before = flows.wholes(BEFORE)
  const after = flows.wholes(AFTER)
  const ratio = Math.max(before, after) / Math.max(1, Math.min(before, after))
  if (ratio <= ALIKE_LOAD || allowsForLoad(periods)) return []
  const kind = after > before ? 'structural mutations' : 'precursors'
  const passing = passingByLoad(periods, after / before)
  const { rate } = compareArrivals(flows)
  const isLoaded = rate !== null && rate.ratio >= MORE_LOAD && rate.interval[0] > 1
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

function hostsByService({ shapeOf, shapes, labels, period }: FlowSet, wanted: Period) {
  const placed = range(labels.size).filter((code) => {
    const { service, host } = labels.get(code)
    return service !== '' && host !== ''
  })
  // Trace points have no services.
  if (placed.length === 0) return new Map<string, Set<string>>()
  const used = new Set(shapeOf.filter((_, request) => period[request] === wanted))
  const isUsed = new Uint8Array(labels.size)
  for (const shape of used) for (const code of shapes.labels(shape)) isUsed[code] = 1
  return rollup(
    placed.filter((code) => isUsed[code] === 1).map((code) => labels.get(code)),
    (own) => new Set(own.map(({ host }) => host)),
    ({ service }) => service,
  )
}

/** Smallest change of a version's share of its service's spans that is reported. */
const MIN_CHANGE = 0.05
/** Level of all tests of shares together: spans of one request count as several. */
const VERSION_LEVEL = 1e-4

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
    .filter(({ p }) => p * compared.length < VERSION_LEVEL)
    .sort((a, b) => a.p - b.p)
    .map(({ service, were, are }) => `${service} ${versionText(were)} → ${versionText(are)}`)
}

/** Returns the least p of the versions whose share changed by enough, corrected for their number. */
function chanceOf(before: Versions, after: Versions): number {
  const versions = [...new Set([...before.keys(), ...after.keys()])]
  const tests = versions
    .filter((one) => Math.abs(versionShare(after, one) - versionShare(before, one)) > MIN_CHANGE)
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

/** One request of a period is extreme when it takes this share of all its requests' time. */
const EXTREME_SHARE = 0.2
/** Among fewer requests, one may well take much of the time. */
const MIN_REQUESTS = 50

/** Whether one request takes a large part of a period's time, so that it dominates the means. */
export function extremeRequest(periods: ComparedPeriods): ComparisonWarning[] {
  return ([BEFORE, AFTER] as const).flatMap((period) => extremeOf(periods, period))
}

function extremeOf({ flows }: ComparedPeriods, period: Period): ComparisonWarning[] {
  const count = flows.count(period)
  if (count < MIN_REQUESTS) return []
  const first = period === BEFORE ? 0 : flows.count(BEFORE)
  const timesUs = flows.responseTimeUs.subarray(first, first + count)
  const totalUs = timesUs.reduce((sum, timeUs) => sum + (timeUs || 0), 0)
  const slowestUs = timesUs.reduce((most, timeUs) => (timeUs > most ? timeUs : most), 0)
  if (!(slowestUs > EXTREME_SHARE * totalUs)) return []
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

/** Periods in which more requests than this take no time at all were recorded too coarsely. */
const MAX_ZEROS = 0.5

export function noDurations({ flows }: ComparedPeriods): ComparisonWarning[] {
  if (flows.quantity !== TIME) return []
  return ([BEFORE, AFTER] as const).flatMap((period) => {
    const count = flows.count(period)
    const zeros = flows.responseTimeUs.reduce(
      (sum, timeUs, request) => sum + (timeUs === 0 && flows.period[request] === period ? 1 : 0),
      0,
    )
    if (count === 0 || zeros <= MAX_ZEROS * count) return []
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
