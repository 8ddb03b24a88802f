import { codeText } from '../../core/code-literals.ts'
import type { OptionAdvice } from '../../core/errors.ts'
import type { ExplosionVariants, Fold, Variant } from './find-causes.ts'
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
  readonly remedies: readonly Remedy[]
  readonly leftOut: readonly { readonly remedy: RemedyName; readonly reason: string }[]
  /** `null` where no host is in any label. */
  readonly hostClasses: HostClasses | null
}

interface Recipe extends Variant {
  readonly remedy: RemedyName
  /** Where options cannot say it. */
  readonly code?: string
  readonly options?: OptionAdvice | undefined
  readonly part: ExplosionPart
}

/**
 * Measures every remedy, and those for the causes together. The best leaves most requests in
 * testable categories (in whole per cent), then the least spread within (C²), then most categories.
 */
export function findRemedies(
  variants: ExplosionVariants,
  { fold, causes }: { readonly fold: Fold; readonly causes: readonly ExplosionPart[] },
): Remedies {
  const { recipes, leftOut, hostClasses } = listRecipes(variants, fold)
  const remedies = [...recipes, ...together(recipes, causes)].map(
    ({ remedy, code, options, ...variant }): Remedy => ({
      ...{ remedy, code: code ?? codeOf(options), options: options ?? null },
      ...categorySizes(variants.categorize(variant)),
    }),
  )
  return { remedies: remedies.sort(bestFirst), leftOut, hostClasses }
}

function listRecipes(variants: ExplosionVariants, fold: Fold) {
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
        ...{ remedy: 'omit hosts', part: 'host', options: { omitHosts: true } },
        changes: [withoutMachine],
      },
      {
        ...{ remedy: 'host classes', part: 'host' },
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
    const built = variants.flows(concurrency)
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

function codeOf(options: OptionAdvice = {}): string {
  return Object.entries(options)
    .map(([name, value]) => `${name}: ${codeText(value)}`)
    .join(', ')
}

function bestFirst(a: Remedy, b: Remedy): number {
  const percent = ({ testableShare }: Remedy) => Math.round(testableShare * 100)
  const spread = ({ medianC2 }: Remedy) =>
    Number.isNaN(medianC2) ? Number.MAX_VALUE : Math.round(medianC2 * 100)
  return percent(b) - percent(a) || spread(a) - spread(b) || b.categories - a.categories
}
