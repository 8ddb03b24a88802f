import type { Categories } from './categories/categories.ts'
import type { ComparisonOptions } from './comparison-options.ts'
import { describePlace } from './errors.ts'
import type { FlowSet } from './flows/flow-set.ts'
import { AFTER, BEFORE, type Period } from './flows/flow-set.ts'
import { isTestable } from './stats/ks-two-sample.ts'
import type { TraceSet } from './traces/trace-set.ts'

/** Something that may make results mean less than they seem to. */
export interface ComparisonWarning {
  readonly code:
    | 'unequal-load'
    | 'small-periods'
    | 'nothing-in-common'
    | 'hosts-differ'
    | 'skipped-traces'
    | 'data-quality'
    | 'undecided-structures'
  /** What was found, what it does to the results, and which option answers it. */
  readonly message: string
}

/** Periods whose numbers of requests differ by more than this factor are not alike. */
const ALIKE = 1.1

type CategoryCounts = Pick<Categories, 'size' | 'count' | 'undecided'>

/** Looks for what makes the two periods hard to compare. */
export function comparisonWarnings(comparison: {
  before: TraceSet
  after: TraceSet
  flows: FlowSet
  categories: CategoryCounts
  options: Pick<ComparisonOptions, 'omitHosts' | 'counts' | 'smPThreshold'>
}): ComparisonWarning[] {
  const { before, after, flows, categories, options } = comparison
  return [
    ...unequalLoad(flows, options.counts),
    ...smallPeriods(flows, categories, options.smPThreshold),
    ...nothingInCommon(categories),
    ...(options.omitHosts ? [] : differingHosts(flows)),
    ...[before, after].flatMap(dataQuality),
    ...undecidedStructures(categories.undecided),
  ]
}

function unequalLoad(flows: FlowSet, counts: string): ComparisonWarning[] {
  const before = flows.count(BEFORE)
  const after = flows.count(AFTER)
  const ratio = Math.max(before, after) / Math.max(1, Math.min(before, after))
  if (ratio <= ALIKE || counts === 'scaled') return []
  return [
    {
      code: 'unequal-load',
      message:
        `There are ${before} requests before and ${after} after. Every category then gains or ` +
        'loses requests, and more of them look like structural mutations. Compare periods of ' +
        "equal load, or scale counts with `counts: 'scaled'` (--scale-counts).",
    },
  ]
}

/** With few requests, neither test can find anything, and silence means nothing. */
function smallPeriods(
  flows: FlowSet,
  categories: CategoryCounts,
  smPThreshold: number | 'auto',
): ComparisonWarning[] {
  const smaller = Math.min(flows.count(BEFORE), flows.count(AFTER))
  let testable = 0
  for (let category = 0; category < categories.size; category++) {
    if (isTestable(categories.count(category, BEFORE), categories.count(category, AFTER)))
      testable++
  }
  const problems = [
    ...(testable === 0
      ? ['no category has enough requests in both periods to test its times']
      : []),
    ...(smPThreshold !== 'auto' && smaller <= smPThreshold
      ? [`no category can change by more than SM_P_THRESHOLD (${smPThreshold}) requests`]
      : []),
  ]
  if (problems.length === 0) return []
  return [
    {
      code: 'small-periods',
      message:
        `With ${flows.count(BEFORE)} requests before and ${flows.count(AFTER)} after, ` +
        `${problems.join(', and ')}: no finding does not mean no change. Load longer periods, or ` +
        'lower `smPThreshold` (--sm-p-threshold).',
    },
  ]
}

/** Periods without a category in common cannot be compared in time at all. */
function nothingInCommon(categories: CategoryCounts): ComparisonWarning[] {
  const { size } = categories
  for (let category = 0; category < size; category++) {
    if (categories.count(category, BEFORE) > 0 && categories.count(category, AFTER) > 0) return []
  }
  if (size === 0) return []
  return [
    {
      code: 'nothing-in-common',
      message:
        `None of the ${size} categories has requests in both periods: every request took another ` +
        'structure. Were the same requests traced, by the same instrumentation? Leave out what ' +
        'differs by name with `omitHosts` (--omit-hosts) or `label`.',
    },
  ]
}

/** Hosts that serve in only one period make every structure through them look new. */
function differingHosts(flows: FlowSet): ComparisonWarning[] {
  const before = hostsByService(flows, BEFORE)
  const after = hostsByService(flows, AFTER)
  const moved = [...before].filter(([service, hosts]) => {
    const now = after.get(service)
    return now !== undefined && [...hosts].every((host) => !now.has(host))
  })
  if (moved.length === 0) return []
  return [
    {
      code: 'hosts-differ',
      message:
        `${moved.map(([service]) => service).join(', ')}: no host of the before period serves in ` +
        'the after period, so every request through them looks like a new structure. Leave hosts ' +
        'out of labels with `omitHosts: true` (--omit-hosts).',
    },
  ]
}

function hostsByService({ shapeOf, shapes, labels, period }: FlowSet, wanted: Period) {
  const used = new Set<number>()
  period.forEach((of, request) => {
    if (of === wanted) used.add(shapeOf[request] as number)
  })
  const hosts = new Map<string, Set<string>>()
  for (const shape of used) {
    for (const code of shapes.labels(shape)) {
      const { service, host } = labels.get(code)
      if (host === '' || service === '') continue
      const known = hosts.get(service)
      if (known === undefined) hosts.set(service, new Set([host]))
      else known.add(host)
    }
  }
  return hosts
}

function dataQuality(traces: TraceSet): ComparisonWarning[] {
  const { skippedTraces, counts, issues } = traces.quality()
  if (counts.size === 0) return []
  const found = [...counts].map(([code, count]) => {
    const first = issues.find((issue) => issue.code === code)
    const example = first === undefined ? '' : ` (${describePlace(first.place)}${first.message})`
    return `${count} × ${code}${example}`
  })
  const [code, fate] =
    skippedTraces > 0
      ? ([
          'skipped-traces',
          `${skippedTraces} trace(s) could not be used and are left out`,
        ] as const)
      : (['data-quality', 'not everything is as it should be'] as const)
  return [
    {
      code,
      message: `${traces.name}: ${fate}: ${found.join('; ')}. All of it: \`traces.quality().issues\`.`,
    },
  ]
}

function undecidedStructures(undecided: number): ComparisonWarning[] {
  if (undecided === 0) return []
  return [
    {
      code: 'undecided-structures',
      message:
        `${undecided} pair(s) of flows are too symmetric to compare within the step budget and ` +
        'count as different structures. Give their nodes more telling labels with `label`.',
    },
  ]
}
