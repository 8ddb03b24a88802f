import { cumsum, group, rollup, sort } from 'd3-array'
import { type Categories, squaredVariation } from '../../compare/categories/categories.ts'
import { categorize } from '../../compare/categories/categorize.ts'
import { getOrInsert } from '../../core/entries.ts'
import { counted, tooltipText } from '../../core/words.ts'
import { buildFlows } from '../../flows/build-flows.ts'
import { AFTER, BEFORE, type Concurrency, type FlowSet } from '../../flows/flow-set.ts'
import {
  changesLabels,
  type LabelChange,
  stripIds,
  threadOf,
  withoutIds,
  withoutMachine,
  withoutThread,
} from '../../flows/label-parts.ts'
import { machineOf } from '../../flows/node-labels.ts'
import { relabelFlows } from '../../flows/relabel-flows.ts'
import { selectRequests } from '../../flows/select-requests.ts'
import { isTestable } from '../../stats/two-sample.ts'
import type { TraceSet } from '../../traces/trace-set.ts'

export type Fold = (flows: FlowSet) => FlowSet

export interface Variant {
  readonly concurrency?: Concurrency | undefined
  readonly changes?: readonly LabelChange[]
  readonly fold?: Fold | undefined
}

export class ExplosionVariants {
  readonly categories: Categories
  readonly #rebuilt = new Map<Concurrency, FlowSet | string>()

  constructor(categories: Categories) {
    this.categories = categories
  }

  /** The same requests by another order, or why that cannot be. */
  flows({ concurrency }: Pick<Variant, 'concurrency'>): FlowSet | string {
    const { flows } = this.categories
    const own = flows.options.concurrency
    if (concurrency === undefined || concurrency === own) return flows
    return getOrInsert(this.#rebuilt, concurrency, () => rebuildFlows(flows, concurrency))
  }

  /** Order first, then labels, then loops: folding needs names that repeat. */
  categorize({ changes = [], fold, ...rebuilt }: Variant): Categories {
    const { flows, options } = this.categories
    const built = this.flows(rebuilt)
    const relabelled = relabelFlows(typeof built === 'string' ? flows : built, changes)
    const folded = fold === undefined ? relabelled : fold(relabelled)
    return folded === flows ? this.categories : categorize(folded, options)
  }
}

function rebuildFlows(flows: FlowSet, concurrency: Concurrency): FlowSet | string {
  const [first] = flows.periods
  if (first === undefined) return 'the traces are not at hand'
  if (first.kind === 'graphs') return 'trace points carry their own forks and joins'
  const runs = flows.periods.slice(0, -1)
  const after = flows.periods.at(-1) as TraceSet
  const rebuilt = buildFlows(runs.length > 0 ? [runs, after] : first, {
    ...flows.options,
    concurrency,
  })
  return sameRequests(flows, rebuilt) ?? 'the requests are not found again in their traces'
}

function sameRequests(flows: FlowSet, rebuilt: FlowSet): FlowSet | undefined {
  const keyOf = ({ recordedIn, traceOf, startUs, ids }: FlowSet, row: number) =>
    `${recordedIn[row]} ${traceOf[row]} ${startUs[row]} ${ids[row]}`
  const rows = group(rebuilt.ids.keys(), (row) => keyOf(rebuilt, row))
  const periods: [number[], number[]] = [[], []]
  for (let request = flows.size - 1; request >= 0; request--) {
    const row = rows.get(keyOf(flows, request))?.pop()
    if (row === undefined) return undefined
    periods[flows.period[request] as 0 | 1].push(row)
  }
  const [before, after] = [periods[0].reverse(), periods[1].reverse()]
  return selectRequests(rebuilt, { before, after })
}

/** What can tell requests apart that do the same work. */
export type ExplosionPart = 'host' | 'thread' | 'concurrency order' | 'loop counts' | 'ids in names'

/** A part of what requests are told apart by, and how many categories it makes. */
export interface ExplosionCause {
  readonly part: ExplosionPart
  /**
   * Its share of the explosion, 0 to 1: by how much it multiplies the number of categories, taken
   * out first and taken out last, on a logarithmic scale; all parts add up to 1.
   */
  readonly share: number
  /** Categories when it alone is taken out. */
  readonly categoriesWithout: number
  /** Categories when every other part is taken out, and it alone is left. */
  readonly categoriesWithOnly: number
  /** What was seen, in words. */
  readonly detail: string
}

export interface ExplosionCauses {
  /** Those that matter, the largest share first. */
  readonly causes: readonly ExplosionCause[]
  /**
   * Categories when all causes are taken out, each step counted once if loops are one: remedies may
   * leave more. As many as there are, without causes.
   */
  readonly remaining: number
}

const NOTABLE = 0.1

const LABEL_PARTS: Readonly<Partial<Record<ExplosionPart, LabelChange>>> = {
  host: withoutMachine,
  thread: withoutThread,
  'ids in names': withoutIds,
}

/** The rule of concurrency that takes the order of siblings out, where flows can be rebuilt. */
function orderFree(variants: ExplosionVariants): Concurrency | undefined {
  const { concurrency } = variants.categories.flows.options
  const other = concurrency === 'learned' ? 'none' : 'learned'
  return typeof variants.flows({ concurrency: other }) === 'string' ? undefined : other
}

/**
 * Finds which parts of labels and structure make categories many, by counting those left without
 * each, and with each alone: one part often hides behind another.
 */
export function findCauses(variants: ExplosionVariants): ExplosionCauses {
  const { categories } = variants
  const known = new Map<string, number>()
  const count = (without: readonly ExplosionPart[]) =>
    getOrInsert(known, without.join(), () => countWithout(without, variants))
  const all = count([])
  const parts = partsOf(variants).filter((part) => count([part]) <= all)
  const least = Math.min(all, count(parts))
  const drafts = parts.map((part) => {
    const categoriesWithout = count([part])
    const categoriesWithOnly = count(parts.filter((other) => other !== part))
    const first = Math.log(all / categoriesWithout)
    const last = Math.log(categoriesWithOnly / least)
    return { part, categoriesWithout, categoriesWithOnly, weight: Math.max(0, (first + last) / 2) }
  })
  const total = drafts.reduce((sum, { weight }) => sum + weight, 0)
  const causes = drafts
    .map(({ weight, ...draft }) => ({
      ...draft,
      share: total === 0 ? 0 : weight / total,
      detail: detailOf(draft.part, categories),
    }))
    .filter(({ share }) => share >= NOTABLE)
    .sort((a, b) => b.share - a.share)
  const found = parts.filter((part) => causes.some((cause) => cause.part === part))
  return { causes, remaining: Math.min(all, count(found)) }
}

function partsOf(variants: ExplosionVariants): ExplosionPart[] {
  const { categories } = variants
  const labelParts = Object.entries(LABEL_PARTS)
    .filter(([, change]) => changesLabels(categories, change))
    .map(([part]) => part as ExplosionPart)
  const order = orderFree(variants) === undefined ? [] : (['concurrency order'] as const)
  return [...labelParts, ...order, 'loop counts']
}

function countWithout(without: readonly ExplosionPart[], variants: ExplosionVariants): number {
  const changes = without.flatMap((part) => LABEL_PARTS[part] ?? [])
  const concurrency = without.includes('concurrency order') ? orderFree(variants) : undefined
  const found = variants.categorize({ changes, concurrency })
  return without.includes('loop counts') ? countWithoutLoops(found) : found.size
}

function detailOf(part: ExplosionPart, categories: Categories): string {
  const { labels, options } = categories.flows
  const nodes = Array.from({ length: labels.size }, (_, code) => labels.get(code))
  switch (part) {
    case 'host':
      return `requests name ${counted(new Set(nodes.map(machineOf)).size, 'host')}`
    case 'thread':
      return `requests name ${counted(new Set(nodes.map(threadOf)).size, 'thread')}`
    case 'concurrency order':
      return options.concurrency === 'learned'
        ? 'siblings run one after the other in some requests'
        : 'siblings start and end in another order from request to request'
    case 'loop counts':
      return `the same step occurs up to ${counted(mostRepeats(categories), 'time')} in a request`
    case 'ids in names': {
      const names = new Set(nodes.flatMap(({ service, operation }) => [service, operation]))
      names.delete('')
      const plain = new Set([...names].map(stripIds))
      const example = [...names].find((name) => stripIds(name) !== name) ?? ''
      return (
        `${counted(names.size, 'name')} of services and operations are ${plain.size} without ids; ` +
        `${tooltipText(example)} is one of ${tooltipText(stripIds(example))}`
      )
    }
  }
}

function mostRepeats(categories: Categories): number {
  let most = 0
  for (let category = 0; category < categories.size; category++) {
    const steps = Array.from(categories.outline(category).labelCodes, (_, node) => {
      const { service, operation, phase } = categories.nodeLabel(category, node)
      return `${service} ${operation} ${phase}`
    })
    const counts = rollup(steps, ({ length }) => length, String)
    for (const count of counts.values()) most = Math.max(most, count)
  }
  return most
}

/** Whether categories hold enough requests, and how much these vary within them. */
export interface CategorySizes {
  readonly categories: number
  /** Mean number of requests a category, of both periods together. */
  readonly requestsPerCategory: number
  /**
   * Categories with enough requests for the Kolmogorov-Smirnov test of before against after; of a
   * single period, for one against another of as many.
   */
  readonly testable: number
  readonly testableShare: number
  /**
   * C² = variance / mean² of response times in the category, and period, that the median request is
   * in; of those with two requests or more. NaN where there is none.
   */
  readonly medianC2: number
}

export function categorySizes(categories: Categories): CategorySizes {
  const { flows, size } = categories
  const onePeriod = flows.count(BEFORE) === 0 || flows.count(AFTER) === 0
  const variations: { c2: number; requests: number }[] = []
  let testable = 0
  let testableRequests = 0
  for (let category = 0; category < size; category++) {
    const [before, after] = [categories.count(category, BEFORE), categories.count(category, AFTER)]
    const all = before + after
    if (onePeriod ? isTestable(all, all) : isTestable(before, after)) {
      testable++
      testableRequests += all
    }
    for (const period of [BEFORE, AFTER]) {
      const moments = categories.responseTimeMoments(category, period)
      const c2 = squaredVariation(moments)
      if (!Number.isNaN(c2)) variations.push({ c2, requests: categories.counted(category, period) })
    }
  }
  return {
    categories: size,
    requestsPerCategory: size === 0 ? Number.NaN : flows.size / size,
    testable,
    testableShare: flows.size === 0 ? Number.NaN : testableRequests / flows.size,
    medianC2: medianByRequests(variations),
  }
}

/** Where categories are small their number says little: each counts with its requests. */
function medianByRequests(
  variations: readonly { readonly c2: number; readonly requests: number }[],
) {
  const ascending = sort(variations, ({ c2 }) => c2)
  const counted = cumsum(ascending, ({ requests }) => requests)
  const half = (counted.at(-1) ?? 0) / 2
  return ascending[counted.findIndex((requests) => requests >= half)]?.c2 ?? Number.NaN
}

/** Counts flows of the same edges, however often, as one: at least what folding loops leaves. */
function countWithoutLoops(categories: Categories): number {
  const seen = new Set<string>()
  for (let category = 0; category < categories.size; category++) {
    const { labelCodes, from, to } = categories.outline(category)
    const edges = new Set<number>()
    for (let edge = 0; edge < from.length; edge++) {
      const source = labelCodes[from[edge] as number] as number
      edges.add(source * categories.labelCount + (labelCodes[to[edge] as number] as number))
    }
    const nodes = [...new Set(labelCodes)].sort((a, b) => a - b)
    seen.add(`${nodes.join(' ')}|${[...edges].sort((a, b) => a - b).join(' ')}`)
  }
  return seen.size
}
