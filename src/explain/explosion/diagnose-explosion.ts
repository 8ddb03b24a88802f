import type { Categories } from '../../compare/categories/categories.ts'
import { categoriesOf } from '../../compare/categories/categorize.ts'
import type { Comparison } from '../../compare/comparison.ts'
import { findHostClasses } from '../../compare/hosts/find-host-classes.ts'
import type { HostClasses } from '../../compare/hosts/host-classes.ts'
import { codeText } from '../../core/code-literals.ts'
import type { OptionAdvice } from '../../core/errors.ts'
import { custom, defineOptions, type OptionsOf, readOptions } from '../../core/options.ts'
import { columnarStage, own, rowTable, type StageTable } from '../../core/stage.ts'
import { counted, grouped, percent, shortNumber } from '../../core/words.ts'
import { foldFlows } from '../../flows/fold/fold-flows.ts'
import {
  changesLabels,
  withoutIds,
  withoutMachine,
  withoutThread,
} from '../../flows/label-parts.ts'
import { type ExpectedCategories, expectedCategories } from './expected-categories.ts'
import {
  type CategorySizes,
  categorySizes,
  type ExplosionCauses,
  type ExplosionPart,
  ExplosionVariants,
  type Fold,
  findCauses,
  type Variant,
} from './find-causes.ts'

export const EXPLOSION_OPTIONS = defineOptions({
  fold: custom<Fold>({
    default: (flows) => foldFlows(flows, { log2: true }),
    sentence: 'Folds what flows repeat, for the remedy of that name',
    expected: 'a function that takes flows and gives flows',
    accepts: (value) => typeof value === 'function',
  }),
  cluster: custom<Cluster | null>({
    default: null,
    sentence: 'Cluster whose requests each choose some hosts, to say how many categories to expect',
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
 * Tells whether requests are spread over so many categories that these cannot be tested, which parts
 * of labels and structure tell them apart though they do the same work, and what each remedy would
 * do: to the number of categories, to requests a category, and to the spread of response times
 * within them (C²), which merging must not raise.
 *
 * Parts are hosts, threads, the order of concurrent siblings, how often something is repeated, and
 * ids in the names of operations. Every remedy is carried out on the requests themselves, which for
 * many requests takes several times as long as categorizing them.
 *
 * @param source a comparison, or a stage of `categorize`, also of one period
 * @param given see {@link EXPLOSION_OPTIONS}; `fold` is by default `foldFlows` by powers of two, as
 *   `compare` does with `fold: 'log2'`, `cluster` is as `expectedCategories` takes it
 * @throws FlowdeltaError for an unknown option; OptionError for a fold that is no function, or a
 *   cluster that `expectedCategories` does not take
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
  const { fold, cluster } = readOptions(EXPLOSION_OPTIONS, given)
  const categories = categoriesOf(source, 'diagnoseExplosion')
  const variants = new ExplosionVariants(categories)
  const found = findCauses(variants)
  const causes = found.causes.map(({ part }) => part)
  return new ExplosionDiagnosis({
    ...found,
    categories,
    ...findRemedies(variants, { fold, causes }),
    sizes: categorySizes(categories),
    expected: cluster && expectedIn(cluster, categories.flows.size),
  })
}

function expectedIn({ hosts, replicas, requests }: Cluster, size: number): ExpectedCategories {
  return expectedCategories(hosts, replicas, requests ?? size)
}

interface DiagnosisContents extends ExplosionCauses, Remedies {
  readonly categories: Categories
  readonly sizes: CategorySizes
  readonly expected: ExpectedCategories | null
}

/** Below this share of requests in testable categories, categories are called too thin. */
const ENOUGH = 0.5

/** Whether categories are too many to compare, why, and what would help. */
export class ExplosionDiagnosis extends columnarStage<DiagnosisContents>() {
  /** Whether fewer than half of the requests are in categories that can be tested. */
  get thin(): boolean {
    return !(this.sizes.testableShare >= ENOUGH)
  }

  /** What was found, in words. */
  text(): string {
    const { causes, expected, remaining, sizes } = this
    const requests = this.categories.flows.size
    if (requests === 0) return 'There are no requests.'
    const [best] = this.remedies
    const lines = [
      `${counted(requests, 'request')} ${requests === 1 ? 'is' : 'are'} in ${sizeText(sizes)} large ` +
        `enough to be tested${this.thin ? ': too thin to compare.' : '.'}`,
    ]
    if (expected !== null) {
      const { expected: mean, sd, possible } = expected
      lines.push(
        `Hosts chosen at random would give ${shortNumber(mean)} ± ${shortNumber(sd)} categories, of ` +
          `${Number.isFinite(possible) ? shortNumber(possible) : 'more than 1e308'} there can be.`,
      )
    }
    if (causes.length === 0) {
      lines.push(
        'As far as hosts, threads, the order of siblings, loop counts and ids in names tell, requests ' +
          'differ in the work they do.',
      )
    }
    if (causes.length === 0 && this.thin) {
      lines.push(
        'If names say in another way where work was done, or for whom, leave that out with a rule of ' +
          'your own: `categorize(flows, { label })`.',
      )
    }
    for (const { part, share, detail } of causes) {
      lines.push(`${percent(share)} of the excess comes from ${part}: ${detail}.`)
    }
    if (causes.length > 0) {
      const isBound = causes.some(({ part }) => part === 'loop counts')
      const left = counted(remaining, 'category', 'categories')
      const fewest = Math.min(...this.remedies.map(({ categories }) => categories))
      const isFar = fewest > remaining
      lines.push(
        `Without all that, ${isBound ? 'at least ' : ''}${left} would be left.` +
          `${isFar ? ` No remedy that was tried leaves fewer than ${grouped(fewest)}.` : ''}`,
      )
    }
    const helps = (remedy: Remedy) =>
      remedy.categories < sizes.categories && remedy.testableShare > sizes.testableShare
    const isBest = best !== undefined && helps(best)
    if (isBest) {
      lines.push(
        `What helps most is ${best.remedy} (\`${best.code}\`): ` +
          `${counted(best.categories, 'category', 'categories')}, ${shortNumber(best.requestsPerCategory)} ` +
          `requests in each, ${percent(best.testableShare)} of requests in categories large enough to be tested; C² of the ` +
          `category that the median request is in: ` +
          `${c2Text(best.medianC2)} instead of ${c2Text(this.sizes.medianC2)}.`,
      )
    } else if (this.thin) lines.push('Nothing that was tried makes more requests testable.')
    return lines.join('\n')
  }

  /** One row a remedy, the best first, below one for things as they are. */
  table(): StageTable {
    const rows = [
      { remedy: 'as it is', code: '', gains: '', loses: '', ...this.sizes },
      ...this.remedies.map((remedy) => ({ ...remedy, ...effectOf(remedy, this.sizes) })),
    ]
    const sizes = own('categories requestsPerCategory testable testableShare medianC2')
    return rowTable(rows, { remedy: 'remedy', ...sizes, ...own('gains loses code') })
  }

  /** One row a cause, the largest share first. */
  causeTable(): StageTable {
    return rowTable(this.causes, own('part share categoriesWithout categoriesWithOnly detail'))
  }

  override displayText(): string {
    return `${this.text()}\n${this.table().displayText()}`
  }
}

function sizeText({ categories, requestsPerCategory, testableShare }: CategorySizes): string {
  return (
    `${counted(categories, 'category', 'categories')}, ${shortNumber(requestsPerCategory)} in each ` +
    `on average; ${percent(testableShare)} of them are in categories`
  )
}

function c2Text(c2: number): string {
  return Number.isNaN(c2) ? 'none' : shortNumber(c2)
}

/** Most requests testable, then the least C², then most categories. */
function bestFirst(a: CategorySizes, b: CategorySizes): number {
  return shareOf(b) - shareOf(a) || spreadOf(a) - spreadOf(b) || b.categories - a.categories
}

function codeOf(options: OptionAdvice = {}): string {
  return Object.entries(options)
    .map(([name, value]) => `${name}: ${codeText(value)}`)
    .join(', ')
}

/** What of the two a change makes better, and what worse; both as they are shown, in two digits. */
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

/** C² in hundredths; none is as bad as any. */
function spreadOf({ medianC2 }: CategorySizes): number {
  return Number.isNaN(medianC2) ? Number.MAX_VALUE : Math.round(medianC2 * 100)
}

/** What can be done against too many categories. */
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

/** One way to fewer categories, and what comes of it. */
export interface Remedy extends CategorySizes {
  readonly remedy: RemedyName
  /** How to do it, as code: options of `compare`. */
  readonly code: string
  /** The same options by name; `null` where one of them is a function. */
  readonly options: OptionAdvice | null
}

/** Remedies that were tried, and why others were not. */
export interface Remedies {
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

/** Measures every remedy, and those for the causes together; the best first, see `bestFirst`. */
function findRemedies(
  variants: ExplosionVariants,
  { fold, causes }: { readonly fold: Fold; readonly causes: readonly ExplosionPart[] },
): Remedies {
  const { recipes, leftOut, hostClasses } = listRecipes(variants, fold)
  const remedies = [...recipes, ...together(recipes, causes)].map(
    ({ remedy, code, options, ...variant }): Remedy => ({
      remedy,
      code: code ?? codeOf(options),
      options: options ?? null,
      ...categorySizes(variants.categorize(variant)),
    }),
  )
  return { remedies: remedies.sort(bestFirst), leftOut, hostClasses }
}

export function listRecipes(variants: ExplosionVariants, fold: Fold) {
  const { categories } = variants
  const recipes: Recipe[] = []
  const leftOut: { remedy: RemedyName; reason: string }[] = []
  const hasHosts = changesLabels(categories, withoutMachine)
  const hostClasses = hasHosts ? findHostClasses(categories.flows) : null
  if (hostClasses === null) {
    const reason = 'no label has a host'
    leftOut.push({ remedy: 'omit hosts', reason }, { remedy: 'host classes', reason })
  } else {
    recipes.push(
      {
        remedy: 'omit hosts',
        part: 'host',
        options: { omitHosts: true },
        changes: [withoutMachine],
      },
      {
        remedy: 'host classes',
        part: 'host',
        code: 'label: findHostClasses(comparison).label',
        changes: [(node) => hostClasses.inClass(node)],
      },
    )
  }
  if (changesLabels(categories, withoutThread)) {
    const code = 'label: labelWithoutThreads'
    recipes.push({ remedy: 'omit threads', part: 'thread', code, changes: [withoutThread] })
  }
  for (const concurrency of ['learned', 'none'] as const) {
    const remedy = concurrency === 'learned' ? 'learned order' : 'no order'
    const built = variants.flows({ concurrency })
    if (concurrency === categories.flows.options.concurrency) {
      leftOut.push({ remedy, reason: 'it is so already' })
    } else if (typeof built === 'string') leftOut.push({ remedy, reason: built })
    else {
      recipes.push({ remedy, part: 'concurrency order', options: { concurrency }, concurrency })
    }
  }
  if (changesLabels(categories, withoutIds)) {
    const code = 'label: labelWithoutIds'
    recipes.push({ remedy: 'strip ids', part: 'ids in names', code, changes: [withoutIds] })
  } else leftOut.push({ remedy: 'strip ids', reason: 'no name has an id in it' })
  recipes.push({ remedy: 'fold loops', part: 'loop counts', options: { fold: 'log2' }, fold })
  return { recipes, leftOut, hostClasses }
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
        remedy,
        part: first.part,
        code: chosen.map(({ code, options }) => code ?? codeOf(options)).join(' + '),
        options: hasOptions
          ? Object.assign({}, ...chosen.map(({ options }) => options))
          : undefined,
        changes: chosen.flatMap(({ changes = [] }) => changes),
        concurrency: chosen.find(({ concurrency }) => concurrency !== undefined)?.concurrency,
        fold: chosen.find(({ fold }) => fold !== undefined)?.fold,
      },
    ]
  }
  const classes = causes.includes('host')
    ? combine('together, with host classes', 'host classes')
    : []
  return [...combine('together', 'omit hosts'), ...classes]
}
