import type { Categories } from '../../compare/categories/categories.ts'
import { categoriesOf } from '../../compare/categories/categories-of.ts'
import type { Comparison } from '../../compare/comparison.ts'
import { OptionError, rejectUnknownOptions } from '../../core/errors.ts'
import { foldFlows } from '../../flows/fold/fold-flows.ts'
import { categorySizes } from './category-sizes.ts'
import { expectedCategories } from './expected-categories.ts'
import { ExplosionDiagnosis } from './explosion-diagnosis.ts'
import { ExplosionVariants, type Fold } from './explosion-variants.ts'
import { findCauses } from './find-causes.ts'
import { findRemedies } from './find-remedies.ts'

const foldByPowers: Fold = (flows) => foldFlows(flows, { log2: true })

/** What a diagnosis can be told. */
export interface ExplosionOptions {
  /** Folds what flows repeat, for the remedy of that name. */
  readonly fold: Fold
  /** A cluster whose requests each choose `replicas` of `hosts`, to say how many categories to expect. */
  readonly cluster: {
    readonly hosts: number
    readonly replicas: number
    /** How many of the requests choose hosts so; default: all. */
    readonly requests?: number
  }
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
 * @param options.fold `(flows) => flows` for the remedy that folds what repeats; default
 *   `foldFlows` by powers of two, as `compare` does with `fold: 'log2'`
 * @param options.cluster hosts, replicas, and requests if not all; see `expectedCategories`. Default:
 *   no expectation
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
  options: Partial<ExplosionOptions> = {},
): ExplosionDiagnosis {
  rejectUnknownOptions(options, ['fold', 'cluster'])
  const { fold = foldByPowers, cluster } = options
  if (typeof fold !== 'function') {
    throw new OptionError('fold', fold, 'a function that takes flows and gives flows')
  }
  const categories = categoriesOf(source, 'diagnoseExplosion')
  const variants = new ExplosionVariants(categories)
  const found = findCauses(variants)
  const causes = found.causes.map(({ part }) => part)
  return new ExplosionDiagnosis(categories, {
    ...found,
    ...findRemedies(variants, { fold, causes }),
    sizes: categorySizes(categories),
    expected:
      cluster === undefined
        ? null
        : expectedCategories(
            cluster.hosts,
            cluster.replicas,
            cluster.requests ?? categories.flows.size,
          ),
  })
}
