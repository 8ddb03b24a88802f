import { cumsum, group, range, sort, sum } from 'd3-array'
import { type Categories, squaredVariation } from '../../compare/categories/categories.ts'
import { categoriesOf, categorize } from '../../compare/categories/categorize.ts'
import { findHostClasses, type HostClasses } from '../../compare/hosts/host-classes.ts'
import type { Comparison } from '../../comparison/comparison.ts'
import { codeText } from '../../core/code-literals.ts'
import { getOrInsert } from '../../core/entries.ts'
import type { OptionAdvice } from '../../core/errors.ts'
import { custom, defineOptions, type OptionsOf, readOptions } from '../../core/options.ts'
import { columnarStage, own, rowTable, type StageTable } from '../../core/stage.ts'
import { counted, listed, percent, shortNumber, spoken } from '../../core/words.ts'
import { buildFlows } from '../../flows/build-flows.ts'
import { AFTER, BEFORE, type Concurrency, type FlowSet } from '../../flows/flow-set.ts'
import { foldFlows } from '../../flows/fold/fold-flows.ts'
import {
  changesLabels,
  type LabelChange,
  relabelFlows,
  withoutIds,
  withoutMachine,
  withoutThread,
} from '../../flows/label-parts.ts'
import { selectRequests } from '../../flows/select-requests.ts'
import { isTestable } from '../../stats/two-sample.ts'
import type { TraceSet } from '../../traces/trace-set.ts'
import { type ExpectedCategories, expectedCategories } from './expected-categories.ts'

export const EXPLOSION_OPTIONS = defineOptions({
  cluster: custom<Cluster | null>({
    default: null,
    sentence:
      'Size of a cluster whose requests each choose some hosts, to compute how many categories to expect',
    expected: 'an object with hosts and replicas, or null',
    accepts: (value) => typeof value === 'object',
  }),
})

export type ExplosionOptions = OptionsOf<typeof EXPLOSION_OPTIONS>

/** A cluster whose requests each choose `replicas` of `hosts`. */
export interface Cluster {
  readonly hosts: number
  readonly replicas: number
  /** Requests that choose hosts this way. Default: all. */
  readonly requests?: number
}

/**
 * Tests whether requests are spread over too many categories to test. Finds the parts of labels and structure that
 * separate requests doing the same work. Measures each remedy by the number of categories, the requests per category,
 * and the spread of response times within them (C²), which merging must not raise.
 *
 * Parts are hosts, threads, the order of concurrent siblings, numbers of repetitions, and ids in the names of
 * operations. Every remedy is carried out on the requests themselves, which for many requests takes several times as
 * long as categorizing them.
 *
 * @param source a comparison, or a stage of `categorize`, also of one period
 * @param given see {@link EXPLOSION_OPTIONS}; `cluster` is as `expectedCategories` takes it
 * @throws FlowdeltaError for an unknown option; OptionError for a cluster that `expectedCategories`
 *   does not take
 *
 * Source: Sambasivan 2013, §3.5.3; causes and remedies beyond hosts are flowdelta's own.
 *
 * @example
 * const explosion = diagnoseExplosion(comparison)
 * explosion.thin // false
 * console.log(explosion.text())
 * explosion.table().print()
 */
export function diagnoseExplosion(
  source: Comparison | Categories,
  given: Partial<ExplosionOptions> = {},
): ExplosionDiagnosis {
  const { cluster } = readOptions(EXPLOSION_OPTIONS, given)
  const categories = categoriesOf(source, 'diagnoseExplosion')
  return new ExplosionDiagnosis({
    categories,
    ...findRemedies(new ExplosionVariants(categories)),
    sizes: categorySizes(categories),
    expected:
      cluster &&
      expectedCategories(
        cluster.hosts,
        cluster.replicas,
        cluster.requests ?? categories.flows.size,
      ),
  })
}

/** Below this share of requests in testable categories, categories are called too thin. */
const ENOUGH = 0.5

/** Diagnosis of categories: whether they are too many to compare, the causes, and the remedies. */
export class ExplosionDiagnosis extends columnarStage<
  Remedies & {
    readonly categories: Categories
    readonly sizes: CategorySizes
    readonly expected: ExpectedCategories | null
  }
>() {
  /** Whether fewer than half of the requests are in categories that can be tested. */
  get thin(): boolean {
    return !(this.sizes.testableShare >= ENOUGH)
  }

  /** Writes the diagnosis in words. */
  text(): string {
    const { causes, expected, sizes } = this
    const requests = this.categories.flows.size
    if (requests === 0) return 'There are no requests.'
    const [best] = this.remedies
    const isBest =
      best !== undefined &&
      best.categories < sizes.categories &&
      best.testableShare > sizes.testableShare
    return spoken([
      `${counted(requests, 'request')} ${requests === 1 ? 'is' : 'are'} in ${counted(sizes.categories, 'category', 'categories')}, ` +
        `${shortNumber(sizes.requestsPerCategory)} in each on average; ${percent(sizes.testableShare)} of them are in categories ` +
        `large enough to be tested${this.thin ? ': too thin to compare.' : '.'}`,
      expected &&
        `Hosts chosen at random would give ${shortNumber(expected.expected)} ± ${shortNumber(expected.sd)} categories, of ` +
          `${Number.isFinite(expected.possible) ? shortNumber(expected.possible) : 'more than 1e308'} possible.`,
      causes.length === 0 &&
        'Requests differ in the work they do: hosts, threads, sibling order, loop counts and ids in ' +
          'names explain none of the categories.',
      causes.length === 0 &&
        this.thin &&
        'If names contain a place or a customer in another form, remove it with your own rule: ' +
          '`categorize(flows, { label })`.',
      causes.length > 0 &&
        `Requests with the same work are set apart by ${listed(causes.map((cause) => CAUSE_WORDS[cause]))}.`,
      isBest &&
        `Most effective: ${best.remedy} (\`${best.code}\`) leaves ` +
          `${counted(best.categories, 'category', 'categories')} with ${shortNumber(best.requestsPerCategory)} ` +
          `requests each, and ${percent(best.testableShare)} of requests in categories large enough to be tested. C² of the ` +
          `median request’s category: ${c2Text(best.medianC2)} instead of ${c2Text(sizes.medianC2)}.`,
      !isBest && this.thin && 'No remedy that was tried makes more requests testable.',
    ]).join('\n')
  }

  /** Returns one row per remedy, the best first, below one for things as they are. */
  table(): StageTable {
    const rows = [
      { remedy: 'as it is', code: '', gains: '', loses: '', ...this.sizes },
      ...this.remedies.map((remedy) => ({ ...remedy, ...effectOf(remedy, this.sizes) })),
    ]
    const sizes = own('categories requestsPerCategory testable testableShare medianC2')
    return rowTable(rows, { remedy: 'remedy', ...sizes, ...own('gains loses code') })
  }

  override displayText(): string {
    return `${this.text()}\n${this.table().displayText()}`
  }
}

function c2Text(c2: number): string {
  return Number.isNaN(c2) ? 'none' : shortNumber(c2)
}

function codeOf(options: OptionAdvice = {}): string {
  return Object.entries(options)
    .map(([name, value]) => `${name}: ${codeText(value)}`)
    .join(', ')
}

/** Returns the measures that a change improves, and those that it worsens, as rounded for display. */
function effectOf(now: CategorySizes, before: CategorySizes) {
  const changes = [
    { what: 'testable requests', by: shareOf(now) - shareOf(before) },
    { what: 'C²', by: spreadOf(before) - spreadOf(now) },
  ] as const
  const names = (found: readonly (typeof changes)[number][]) =>
    found.map(({ what }) => what).join(' and ')
  return {
    gains: names(changes.filter(({ by }) => by > 0)),
    loses: names(changes.filter(({ by }) => by < 0)),
  }
}

function shareOf({ testableShare }: CategorySizes): number {
  return Math.round(100 * (testableShare || 0))
}

/** Returns C² in hundredths; none is as bad as any. */
function spreadOf({ medianC2 }: CategorySizes): number {
  return Number.isNaN(medianC2) ? Number.MAX_VALUE : Math.round(medianC2 * 100)
}

/** Name of a remedy against too many categories. */
export type RemedyName =
  | 'omit hosts'
  | 'omit threads'
  | 'host classes'
  | 'learned order'
  | 'no order'
  | 'strip ids'
  | 'fold loops'
  | 'together'
  | 'together, with host classes'

/** A remedy against too many categories, and its result. */
export interface Remedy extends CategorySizes {
  readonly remedy: RemedyName
  /** Options of `compare` that do it, as code. */
  readonly code: string
  /** The same options by name; `null` where one of them is a function. */
  readonly options: OptionAdvice | null
}

/** Remedies that were tried, and why others were not. */
export interface Remedies {
  /** Parts that set requests with the same work apart: without any of these, many more categories are left. */
  readonly causes: readonly ExplosionPart[]
  readonly remedies: readonly Remedy[]
  readonly leftOut: readonly { readonly remedy: RemedyName; readonly reason: string }[]
  /** `null` where no host is in any label. */
  readonly hostClasses: HostClasses | null
}

interface Recipe extends Variant {
  readonly remedy: RemedyName
  readonly code?: string
  readonly options?: OptionAdvice | undefined
  readonly part: ExplosionPart
}

/**
 * Measures every remedy, and those for the causes together: those with the most testable requests first, then the
 * least C², then the most categories.
 */
function findRemedies(variants: ExplosionVariants): Remedies {
  const { recipes, leftOut, hostClasses } = listRecipes(variants)
  const causes = findCauses(variants, recipes)
  const remedies = [...recipes, ...together(recipes, causes)].map(
    ({ remedy, code, options, ...variant }): Remedy => ({
      remedy,
      code: code ?? codeOf(options),
      options: options ?? null,
      ...categorySizes(variants.categorize(variant)),
    }),
  )
  const best = sort(
    remedies,
    (remedy) => -shareOf(remedy),
    spreadOf,
    ({ categories }) => -categories,
  )
  return { causes, remedies: best, leftOut, hostClasses }
}

/** A part that accounts for less of the excess, on a logarithmic scale, is no cause. */
const NOTABLE = 0.1

/**
 * Finds the parts that make categories many: takes out all, then puts back those without which hardly more categories
 * are left. One part often hides behind another.
 */
function findCauses(variants: ExplosionVariants, recipes: readonly Recipe[]): ExplosionPart[] {
  const recipesOf = (parts: readonly ExplosionPart[]) =>
    parts.flatMap((part) => recipes.find((one) => one.part === part) ?? [])
  const count = (parts: readonly ExplosionPart[]) =>
    variants.categorize(combined(recipesOf(parts))).size
  const parts = [...new Set(recipes.map(({ part }) => part))]
  const excess = Math.log(variants.categories.size / count(parts))
  if (!(excess > 0)) return []
  return parts.reduce((kept, part) => {
    const others = kept.filter((other) => other !== part)
    return Math.log(count(others) / count(kept)) < NOTABLE * excess ? others : kept
  }, parts)
}

/** Returns several variants as one. */
export function combined(chosen: readonly Variant[]): Variant {
  return {
    changes: chosen.flatMap(({ changes = [] }) => changes),
    concurrency: chosen.findLast(({ concurrency }) => concurrency !== undefined)?.concurrency,
    folds: chosen.some(({ folds }) => folds === true),
  }
}

const OMIT_THREADS = {
  remedy: 'omit threads',
  part: 'thread',
  code: 'label: labelWithoutThreads',
  changes: [withoutThread],
  reason: null,
} as const

export function listRecipes(variants: ExplosionVariants) {
  const { categories } = variants
  const isWithout = (change: LabelChange, reason: string) =>
    changesLabels(categories, change) ? null : reason
  const noHost = isWithout(withoutMachine, 'no label has a host')
  const hostClasses = noHost === null ? findHostClasses(categories.flows) : null
  const order = (remedy: RemedyName, concurrency: 'learned' | 'none') => {
    const built = variants.flows({ concurrency })
    const isDone = concurrency === categories.flows.options.concurrency
    const reason = isDone ? 'already done' : typeof built === 'string' ? built : null
    const options = { concurrency }
    return { remedy, part: 'concurrency order', options, concurrency, reason } as const
  }
  const all: readonly (Recipe & { readonly reason: string | null })[] = [
    // Before hosts, without which threads are not recognized.
    ...(changesLabels(categories, withoutThread) ? [OMIT_THREADS] : []),
    {
      remedy: 'omit hosts',
      part: 'host',
      options: { omitHosts: true },
      changes: [withoutMachine],
      reason: noHost,
    },
    {
      remedy: 'host classes',
      part: 'host',
      code: 'label: findHostClasses(comparison).label',
      changes: [(node) => hostClasses?.inClass(node) ?? node],
      reason: noHost,
    },
    order('learned order', 'learned'),
    order('no order', 'none'),
    {
      remedy: 'strip ids',
      part: 'ids in names',
      code: 'label: labelWithoutIds',
      changes: [withoutIds],
      reason: isWithout(withoutIds, 'no name has an id in it'),
    },
    {
      remedy: 'fold loops',
      part: 'loop counts',
      options: { fold: 'log2' },
      folds: true,
      reason: null,
    },
  ]
  const leftOut = all.flatMap(({ remedy, reason }) => (reason === null ? [] : [{ remedy, reason }]))
  return { recipes: all.filter(({ reason }) => reason === null), leftOut, hostClasses }
}

function together(recipes: readonly Recipe[], causes: readonly ExplosionPart[]): Recipe[] {
  const combine = (remedy: RemedyName, hosts: RemedyName): Recipe[] => {
    const chosen = causes.flatMap((cause) => {
      const own = recipes.filter(({ part }) => part === cause)
      const [first] = cause === 'host' ? own.filter((each) => each.remedy === hosts) : own
      return first === undefined ? [] : [first]
    })
    const [first] = chosen
    if (first === undefined || chosen.length < 2) return []
    const hasOptions = chosen.every(({ options }) => options !== undefined)
    return [
      {
        ...combined(chosen),
        remedy,
        part: first.part,
        code: chosen.map(({ code, options }) => code ?? codeOf(options)).join(' + '),
        options: hasOptions
          ? Object.assign({}, ...chosen.map(({ options }) => options))
          : undefined,
      },
    ]
  }
  const classes = causes.includes('host')
    ? combine('together, with host classes', 'host classes')
    : []
  return [...combine('together', 'omit hosts'), ...classes]
}

export interface Variant {
  readonly concurrency?: Concurrency | undefined
  readonly changes?: readonly LabelChange[]
  readonly folds?: boolean
}

export class ExplosionVariants {
  readonly categories: Categories
  readonly #rebuilt = new Map<Concurrency, FlowSet | string>()

  constructor(categories: Categories) {
    this.categories = categories
  }

  /** Returns the same requests by another order, or why that cannot be. */
  flows({ concurrency }: Pick<Variant, 'concurrency'>): FlowSet | string {
    const { flows } = this.categories
    const own = flows.options.concurrency
    if (concurrency === undefined || concurrency === own) return flows
    return getOrInsert(this.#rebuilt, concurrency, () => rebuildFlows(flows, concurrency))
  }

  /** Categorizes a variant: order first, then labels, then loops, because folding needs names that repeat. */
  categorize({ changes = [], folds = false, ...rebuilt }: Variant): Categories {
    const { flows, options } = this.categories
    const built = this.flows(rebuilt)
    const relabelled = relabelFlows(typeof built === 'string' ? flows : built, changes)
    const folded = folds ? foldFlows(relabelled, { log2: true }) : relabelled
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

/** Difference that puts requests with the same work into several categories. */
export type ExplosionPart = 'host' | 'thread' | 'concurrency order' | 'loop counts' | 'ids in names'

const CAUSE_WORDS: Readonly<Record<ExplosionPart, string>> = {
  host: 'hosts',
  thread: 'threads',
  'concurrency order': 'the order of concurrent siblings',
  'loop counts': 'loop counts',
  'ids in names': 'ids in names',
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

function categorySizes(categories: Categories): CategorySizes {
  const { flows, size } = categories
  const onePeriod = flows.count(BEFORE) === 0 || flows.count(AFTER) === 0
  const counts = range(size).map((category) => {
    const [before, after] = [categories.count(category, BEFORE), categories.count(category, AFTER)]
    return onePeriod ? ([before + after, before + after] as const) : ([before, after] as const)
  })
  const testable = counts.filter(([before, after]) => isTestable(before, after))
  const variations = range(size).flatMap((category) =>
    ([BEFORE, AFTER] as const).map((period) => ({
      c2: squaredVariation(categories.responseTimeMoments(category, period)),
      requests: categories.counted(category, period),
    })),
  )
  const testableRequests = sum(testable, ([before, after]) => (onePeriod ? after : before + after))
  return {
    categories: size,
    requestsPerCategory: size === 0 ? Number.NaN : flows.size / size,
    testable: testable.length,
    testableShare: flows.size === 0 ? Number.NaN : testableRequests / flows.size,
    medianC2: medianByRequests(variations.filter(({ c2 }) => !Number.isNaN(c2))),
  }
}

/** Returns a median weighted by requests: the number of small categories says little. */
function medianByRequests(
  variations: readonly { readonly c2: number; readonly requests: number }[],
) {
  const ascending = sort(variations, ({ c2 }) => c2)
  const counted = cumsum(ascending, ({ requests }) => requests)
  const half = (counted.at(-1) ?? 0) / 2
  return ascending[counted.findIndex((requests) => requests >= half)]?.c2 ?? Number.NaN
}
