import type { OptionAdvice } from '../../core/errors.ts'
import type { Concurrency } from '../../flows/flow-set.ts'
import type { ExplosionVariants, Fold, Variant } from './explosion-variants.ts'
import { type CategorySizes, categorySizes, type ExplosionPart } from './find-causes.ts'
import { findHostClasses } from './find-host-classes.ts'
import type { HostClasses } from './host-classes.ts'
import { changesLabels, withoutIds, withoutMachine, withoutThread } from './label-parts.ts'

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
  /** The best first. */
  readonly remedies: readonly Remedy[]
  readonly leftOut: readonly { readonly remedy: RemedyName; readonly reason: string }[]
  /** `null` where no host is in any label. */
  readonly hostClasses: HostClasses | null
}

interface Recipe extends Variant {
  readonly remedy: RemedyName
  readonly code: string
  readonly options: OptionAdvice | null
  /** What it takes away. */
  readonly part: ExplosionPart
}

/**
 * Tries every remedy that applies, and those for the causes together, and measures the categories
 * that come of it.
 *
 * The best is the one after which most requests are in testable categories, in whole per cent; of
 * those that come to the same, the one that leaves response times within categories least spread (C²,
 * to a hundredth), then the one that keeps the most categories apart.
 */
export function findRemedies(
  variants: ExplosionVariants,
  { fold, causes }: { readonly fold: Fold; readonly causes: readonly ExplosionPart[] },
): Remedies {
  const leftOut: { remedy: RemedyName; reason: string }[] = []
  const { recipes, hostClasses } = listRecipes(variants, fold, (remedy, reason) => {
    leftOut.push({ remedy, reason })
  })
  const remedies = [...recipes, ...together(recipes, causes)].map(
    ({ remedy, code, options, ...variant }): Remedy => ({
      ...{ remedy, code, options },
      ...categorySizes(variants.categorize(variant)),
    }),
  )
  return { remedies: remedies.sort(bestFirst), leftOut, hostClasses }
}

function listRecipes(
  variants: ExplosionVariants,
  fold: Fold,
  leaveOut: (remedy: RemedyName, reason: string) => void,
): { recipes: Recipe[]; hostClasses: HostClasses | null } {
  const { categories } = variants
  const recipes: Recipe[] = []
  let hostClasses: HostClasses | null = null
  if (changesLabels(categories, withoutMachine)) {
    const classes = findHostClasses(categories.flows)
    hostClasses = classes
    recipes.push(
      {
        remedy: 'omit hosts',
        part: 'host',
        code: 'omitHosts: true',
        options: { omitHosts: true },
        changes: [withoutMachine],
      },
      {
        remedy: 'host classes',
        part: 'host',
        code: 'label: findHostClasses(comparison).label',
        options: null,
        changes: [(node) => classes.inClass(node)],
      },
    )
  } else {
    leaveOut('omit hosts', 'no label has a host')
    leaveOut('host classes', 'no label has a host')
  }
  if (changesLabels(categories, withoutThread)) {
    recipes.push({
      remedy: 'omit threads',
      part: 'thread',
      code: 'label: labelWithoutThreads',
      options: null,
      changes: [withoutThread],
    })
  }
  for (const concurrency of ['learned', 'none'] as const) {
    const remedy = ORDER_REMEDIES[concurrency]
    const built = variants.flows(concurrency)
    if (concurrency === categories.flows.options.concurrency) leaveOut(remedy, 'it is so already')
    else if (typeof built === 'string') leaveOut(remedy, built)
    else {
      recipes.push({
        remedy,
        part: 'concurrency order',
        code: `concurrency: '${concurrency}'`,
        options: { concurrency },
        concurrency,
      })
    }
  }
  if (changesLabels(categories, withoutIds)) {
    recipes.push({
      remedy: 'strip ids',
      part: 'ids in names',
      code: 'label: labelWithoutIds',
      options: null,
      changes: [withoutIds],
    })
  } else leaveOut('strip ids', 'no name has an id in it')
  recipes.push({
    remedy: 'fold loops',
    part: 'loop counts',
    code: "fold: 'log2'",
    options: { fold: 'log2' },
    fold,
  })
  return { recipes, hostClasses }
}

const ORDER_REMEDIES = {
  learned: 'learned order',
  none: 'no order',
} as const satisfies Partial<Record<Concurrency, RemedyName>>

/** The remedies for all causes at once, hosts left out or in classes. */
function together(recipes: readonly Recipe[], causes: readonly ExplosionPart[]): Recipe[] {
  const combine = (remedy: RemedyName, hosts: RemedyName): Recipe[] => {
    const chosen = causes.flatMap((cause) => {
      const own = recipes.filter(({ part }) => part === cause)
      const [first] = cause === 'host' ? own.filter((each) => each.remedy === hosts) : own
      return first === undefined ? [] : [first]
    })
    const [first] = chosen
    if (first === undefined || chosen.length < 2) return []
    return [
      {
        remedy,
        part: first.part,
        code: chosen.map(({ code }) => code).join(' + '),
        options: chosen.some(({ options }) => options === null)
          ? null
          : Object.assign({}, ...chosen.map(({ options }) => options)),
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

function bestFirst(a: Remedy, b: Remedy): number {
  const percent = ({ testableShare }: Remedy) => Math.round(testableShare * 100)
  const spread = ({ medianC2 }: Remedy) =>
    Number.isNaN(medianC2) ? Number.MAX_VALUE : Math.round(medianC2 * 100)
  return percent(b) - percent(a) || spread(a) - spread(b) || b.categories - a.categories
}
