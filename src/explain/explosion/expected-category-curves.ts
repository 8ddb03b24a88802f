import { OptionError, rejectUnknownOptions } from '../../core/errors.ts'
import { type StageTable, stageTable } from '../../core/stage-table.ts'
import { requireCount } from '../../stats/require-option.ts'
import { expectedCategories } from './expected-categories.ts'

/** Which clusters and how many requests curves are drawn for. */
export interface CategoryCurveOptions {
  /** Cluster sizes, a curve each. */
  readonly hosts: readonly number[]
  readonly replicas: number
  /** Fewest and most requests. */
  readonly requests: readonly [fewest: number, most: number]
  /** Points a curve, evenly spread on a logarithmic axis; equal ones after rounding come once. */
  readonly points: number
}

/**
 * How the number of categories grows with the number of requests, for clusters of several sizes:
 * one row a cluster and number of requests.
 *
 * Columns: hosts, replicas, requests, expected, sd, possible, and requestsPerCategory, the mean
 * number of requests in a category that has any.
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
 * expectedCategoryCurves({ hosts: [10, 50], requests: [1, 1000], points: 4 }).numRows() // 8
 */
export function expectedCategoryCurves(options: Partial<CategoryCurveOptions> = {}): StageTable {
  rejectUnknownOptions(options, ['hosts', 'replicas', 'requests', 'points'])
  const { hosts = [10, 50, 100, 1000], replicas = 3, points = 61 } = options
  const [fewest, most] = options.requests ?? [1, 1e6]
  requireCount('points', points, 2)
  if (!(fewest >= 1 && most > fewest)) {
    throw new OptionError('requests', options.requests, '[fewest, most], 1 or more, in that order')
  }
  const counts = new Set(
    Array.from({ length: points }, (_, i) =>
      Math.round(fewest * (most / fewest) ** (i / (points - 1))),
    ),
  )
  const rows = hosts.flatMap((each) =>
    Array.from(counts, (requests) => ({
      ...{ hosts: each, requests },
      ...expectedCategories(each, replicas, requests),
    })),
  )
  return stageTable({
    hosts: rows.map(({ hosts }) => hosts),
    replicas: rows.map(() => replicas),
    requests: rows.map(({ requests }) => requests),
    expected: rows.map(({ expected }) => expected),
    sd: rows.map(({ sd }) => sd),
    possible: rows.map(({ possible }) => possible),
    requestsPerCategory: rows.map(({ requests, expected }) => requests / expected),
  })
}
