import { OptionError, rejectUnknownOptions } from '../../core/errors.ts'
import { columnarStage, own, rowTable, type StageTable } from '../../core/stage.ts'
import { requireCount } from '../../stats/require-option.ts'

/** Expected number of categories of requests that choose their hosts at random. */
export interface ExpectedCategories {
  readonly expected: number
  /** Standard deviation of that number from run to run. */
  readonly sd: number
  /** Number of possible categories: C = N! / (N − R)!. Infinite above 1.8e308. */
  readonly possible: number
}

/** Below this many requests a possible category, collisions are so rare that they are Poisson's. */
const RARE = 1e-5

/**
 * Returns the number of categories expected if each request chooses R of N hosts at random, in an order that matters,
 * as writes to a replicated file system do.
 *
 * E = C − C·(1 − 1/C)^k with C = N!/(N − R)!, computed as −C·expm1(k·log1p(−1/C)), which keeps its
 * digits for large C. The variance is that of the number of occupied cells of C after k balls. With
 * no replicas there is one category.
 *
 * Limits: requests that differ only in their hosts, which are all equally likely. Observed numbers lie within two
 * standard deviations 95 % of the time. With more categories, requests also differ in something else; with fewer, hosts
 * are not chosen at random. If k is below C/100,000, the relative error of sd is 1e-5.
 *
 * Source: Sambasivan 2013, §3.5.3 and Table 3.7; Johnson and Kotz 1977, "Urn models and their
 * application", §3.2 (variance).
 *
 * @param hosts N, the number of hosts to choose from
 * @param replicas R, the number of hosts that a request goes to, one after the other
 * @param requests k, the number of requests
 * @throws OptionError for numbers that are no integers of 0 or more, or more replicas than hosts
 *
 * @example
 * Math.round(expectedCategories(10, 3, 139).expected) // 126
 * expectedCategories(10, 3, 139).possible // 720
 */
export function expectedCategories(
  hosts: number,
  replicas: number,
  requests: number,
): ExpectedCategories {
  const possible = possibleCategories(hosts, replicas)
  requireCount('requests', requests, 0)
  return { ...occupied(possible, requests), possible }
}

function possibleCategories(hosts: number, replicas: number): number {
  requireCount('hosts', hosts)
  requireCount('replicas', replicas, 0)
  if (replicas > hosts) {
    throw new OptionError('replicas', replicas, `at most ${hosts}, as many as there are hosts`)
  }
  let possible = 1
  for (let i = 0; i < replicas && possible < Number.POSITIVE_INFINITY; i++) possible *= hosts - i
  return possible
}

/** Returns the mean and standard deviation of the number of occupied cells, of C, after k balls. */
function occupied(cells: number, balls: number): { expected: number; sd: number } {
  if (balls <= 1 || cells === 1) return { expected: Math.min(balls, 1), sd: 0 }
  if (cells === Number.POSITIVE_INFINITY) return { expected: balls, sd: 0 }
  const logEmpty = balls * Math.log1p(-1 / cells)
  const expected = -cells * Math.expm1(logEmpty)
  if (balls < cells * RARE) {
    return { expected, sd: Math.sqrt((balls * (balls - 1)) / (2 * cells)) }
  }
  // C·q·(1 − r/q) + C²·q²·(r/q² − 1), q and r the chances that one cell, and two, stay empty.
  const empty = Math.exp(logEmpty)
  const single = -cells * empty * Math.expm1(balls * Math.log1p(-1 / (cells - 1)))
  const joint = (cells * empty) ** 2 * Math.expm1(balls * Math.log1p(-1 / (cells - 1) ** 2))
  return { expected, sd: Math.sqrt(Math.max(0, single + joint)) }
}

/** Clusters and numbers of requests to draw curves for. */
export interface CategoryCurveOptions {
  /** Cluster sizes, a curve each. */
  readonly hosts: readonly number[]
  readonly replicas: number
  readonly requests: readonly [fewest: number, most: number]
  /** Points a curve, evenly spread on a logarithmic axis; equal ones after rounding come once. */
  readonly points: number
}

/** Expected number of categories, by size of cluster and number of requests. */
export class ExpectedCategoryCurves extends columnarStage<{
  readonly options: CategoryCurveOptions
}>() {
  /** Returns one row per point; `requestsPerCategory` is the mean over categories that have requests. */
  table(): StageTable {
    const { hosts, replicas, requests: range, points } = this.options
    const [fewest, most] = range
    const counts = new Set(
      Array.from({ length: points }, (_, i) =>
        Math.round(fewest * (most / fewest) ** (i / (points - 1))),
      ),
    )
    const rows = hosts.flatMap((each) =>
      Array.from(counts, (requests) => {
        const found = expectedCategories(each, replicas, requests)
        const requestsPerCategory = requests / found.expected
        return { hosts: each, replicas, requests, ...found, requestsPerCategory }
      }),
    )
    return rowTable(rows, own('hosts replicas requests expected sd possible requestsPerCategory'))
  }
}

/**
 * Computes how the number of categories grows with the number of requests, for clusters of several
 * sizes; `plot` draws it.
 *
 * @param options.hosts cluster sizes; default 10, 50, 100, 1000
 * @param options.replicas default 3, as HDFS has
 * @param options.requests fewest and most; default 1 to 1,000,000
 * @param options.points points a curve, 2 or more; default 61, ten a decade
 * @throws OptionError for numbers that `expectedCategories` does not take, or a range that is none;
 *   FlowdeltaError for an unknown option
 *
 * Source: Sambasivan 2013, Figure 3.7.
 *
 * @example
 * expectedCategoryCurves({ hosts: [10, 50], requests: [1, 1000], points: 4 }).table().numRows() // 8
 */
export function expectedCategoryCurves(
  given: Partial<CategoryCurveOptions> = {},
): ExpectedCategoryCurves {
  rejectUnknownOptions(given, ['hosts', 'replicas', 'requests', 'points'])
  const { hosts = [10, 50, 100, 1000], replicas = 3, requests = [1, 1e6], points = 61 } = given
  const [fewest, most] = requests
  requireCount('points', points, 2)
  if (!(fewest >= 1 && most > fewest)) {
    throw new OptionError('requests', requests, '[fewest, most], 1 or more, in that order')
  }
  for (const each of hosts) expectedCategories(each, replicas, fewest)
  return new ExpectedCategoryCurves({ options: { hosts, replicas, requests, points } })
}
