import { OptionError } from '../../core/errors.ts'
import { type StageTable, stageTable } from '../../core/stage-table.ts'
import { moments } from '../../stats/moments.ts'
import type { CollapsedFlows } from './collapsed-flows.ts'

/**
 * How large flows were and are: one row a group of requests, with mean and standard deviation of
 * the number of nodes as recorded and collapsed.
 *
 * Columns: `group`, `root` (label of the group's first request, collapsed), `requests`, `nodesMean`,
 * `nodesSd`, `collapsedMean`, `collapsedSd`. Groups come in ascending order; the SD of one request is
 * `NaN`.
 *
 * @param groupOf a number a request, such as `categorize(flows).categoryOf`, or `flows.period`; by
 *   default its collapsed shape
 * @throws OptionError when `groupOf` has not one number a request
 *
 * Source: Sambasivan 2013, Table 3.6.
 *
 * @example
 * const sizes = collapseFlows(flows)
 * collapsedSizes(sizes, categorize(sizes).categoryOf).print()
 */
export function collapsedSizes(
  flows: CollapsedFlows,
  groupOf: ArrayLike<number> = flows.shapeOf,
): StageTable {
  if (groupOf.length !== flows.size) {
    throw new OptionError('groupOf', `${groupOf.length} numbers`, `one a request: ${flows.size}`)
  }
  const groups = new Map<number, number[]>()
  for (let request = 0; request < flows.size; request++) {
    const group = groupOf[request] as number
    const known = groups.get(group)
    if (known === undefined) groups.set(group, [request])
    else known.push(request)
  }
  const { shapes, shapeOf, labels, uncollapsed } = flows
  const rows = [...groups]
    .sort(([a], [b]) => a - b)
    .map(([group, requests]) => ({
      ...{ group, requests: requests.length },
      root: labels.text(shapes.labels(shapeOf[requests[0] as number] as number)[0] as number),
      recorded: moments(
        requests.map((i) => uncollapsed.shapes.nodeCount(uncollapsed.shapeOf[i] as number)),
      ),
      collapsed: moments(requests.map((i) => shapes.nodeCount(shapeOf[i] as number))),
    }))
  return stageTable({
    group: rows.map(({ group }) => group),
    root: rows.map(({ root }) => root),
    requests: rows.map(({ requests }) => requests),
    nodesMean: rows.map(({ recorded }) => recorded.mean),
    nodesSd: rows.map(({ recorded }) => recorded.sd),
    collapsedMean: rows.map(({ collapsed }) => collapsed.mean),
    collapsedSd: rows.map(({ collapsed }) => collapsed.sd),
  })
}
