import type { FlowSet } from './flows/flow-set.ts'
import { AFTER, BEFORE, type Period } from './flows/flow-set.ts'
import type { TraceSet } from './traces/trace-set.ts'

/** Something that may make results mean less than they seem to. */
export interface ComparisonWarning {
  readonly code: 'unequal-load' | 'hosts-differ' | 'skipped-traces' | 'undecided-structures'
  /** What was found, what it does to the results, and which option answers it. */
  readonly message: string
}

/** Periods whose numbers of requests differ by more than this factor are not alike. */
const ALIKE = 1.1

/** Looks for what makes the two periods hard to compare. */
export function comparisonWarnings(comparison: {
  before: TraceSet
  after: TraceSet
  flows: FlowSet
  categories: { undecided: number }
  options: { omitHosts: boolean; counts: string }
}): ComparisonWarning[] {
  const { before, after, flows, categories, options } = comparison
  return [
    ...unequalLoad(flows, options.counts),
    ...(options.omitHosts ? [] : differingHosts(flows)),
    ...[before, after].flatMap(skippedTraces),
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

function skippedTraces(traces: TraceSet): ComparisonWarning[] {
  const { skippedTraces: skipped } = traces.quality()
  if (skipped === 0) return []
  return [
    {
      code: 'skipped-traces',
      message:
        `${skipped} trace(s) of ${traces.name} could not be used and are left out. ` +
        'Look at `traces.quality().table()` for which and why.',
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
