import type { Categories } from '../../compare/categories/categories.ts'
import { categoriesOf } from '../../compare/categories/categorize.ts'
import type { Comparison } from '../../compare/comparison.ts'
import { custom, defineOptions, type OptionsOf, readOptions } from '../../core/options.ts'
import { columnarStage } from '../../core/stage.ts'
import { rowTable, type StageTable } from '../../core/stage-table.ts'
import { counted, percent, shortNumber } from '../../core/words.ts'
import { foldFlows } from '../../flows/fold/fold-flows.ts'
import { type ExpectedCategories, expectedCategories } from './expected-categories.ts'
import {
  type CategorySizes,
  categorySizes,
  type ExplosionCauses,
  ExplosionVariants,
  type Fold,
  findCauses,
} from './find-causes.ts'
import { findRemedies, type Remedies, type Remedy } from './find-remedies.ts'

/** Options of `diagnoseExplosion`. */
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

/** Options that a diagnosis was made with. */
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
      const about = causes.some(({ part }) => part === 'loop counts') ? 'about ' : ''
      lines.push(
        `Without all that, ${about}${counted(remaining, 'category', 'categories')} would be left.`,
      )
    }
    const helps = (remedy: Remedy) =>
      remedy.categories < sizes.categories && remedy.testableShare > sizes.testableShare
    if (best !== undefined && helps(best)) {
      lines.push(
        `What helps most is ${best.remedy} (${best.code}): ` +
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
    const rows = [{ remedy: 'as it is', code: '', ...this.sizes }, ...this.remedies]
    return rowTable(rows, [
      'remedy',
      'categories',
      'requestsPerCategory',
      'testable',
      'testableShare',
      'medianC2',
      'code',
    ])
  }

  /** One row a cause, the largest share first. */
  causeTable(): StageTable {
    const names = ['part', 'share', 'categoriesWithout', 'categoriesWithOnly', 'detail'] as const
    return rowTable(this.causes, names)
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
