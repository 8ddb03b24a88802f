// Over every call: the loops index with `!`.
import { leastSquares } from '../../stats/least-squares.ts'
import type { ExecutionModels } from '../models/execution-models.ts'

/** More columns than this are of no use to a regression; children beyond them count with the last. */
const MOST_COLUMNS = 100

/**
 * Linear regression of the server time of one operation's calls on the latencies of their children:
 * a column for each operation and occurrence, 0 where it was not called.
 *
 * @param calls all that are to be predicted, and `learned`, those to learn from
 */
export function regressionOf(
  models: ExecutionModels,
  period: number,
  { calls, learned }: { readonly calls: readonly number[]; readonly learned: readonly number[] },
): (call: number) => number {
  const { forest, nodeCalls, orderOf } = models.period(period)
  const columnOf = new Map<string, number>()
  const columnsOf = new Map<number, readonly number[]>()
  for (const call of calls) {
    const order = orderOf[call]!
    if (columnsOf.has(order)) continue
    const { nodes } = models.orders[order]!
    const columns = nodes.map((node, i) => {
      const child = `${node} ${i - nodes.indexOf(node)}`
      const column = columnOf.get(child) ?? Math.min(columnOf.size, MOST_COLUMNS - 1)
      columnOf.set(child, column)
      return column
    })
    columnsOf.set(order, columns)
  }
  const width = Math.min(columnOf.size, MOST_COLUMNS)
  const row = (call: number) => {
    const latencyUs = new Float64Array(width)
    columnsOf.get(orderOf[call]!)!.forEach((column, node) => {
      latencyUs[column]! += forest.latencyUs[nodeCalls[forest.childOffsets[call]! + node]!]!
    })
    return latencyUs
  }
  const fit = leastSquares(
    learned.map(row),
    learned.map((call) => forest.serverUs[call]!),
  )
  return (call) => fit.predict(row(call))
}

/**
 * The latencies of the children on a call's own critical path, added up: of the one that its reply
 * waited for last, of the one that this one waited for last, and so on.
 */
export function criticalPathSum(models: ExecutionModels, period: number, call: number): number {
  const { forest, nodeCalls, orderOf } = models.period(period)
  const { nodes } = models.orders[orderOf[call]!]!
  const first = forest.childOffsets[call]!
  const children = Array.from(nodeCalls.subarray(first, first + nodes.length))
  const endUs = (child: number) => forest.offsetUs[child]! + forest.latencyUs[child]!
  children.sort((a, b) => endUs(b) - endUs(a))
  let sumUs = 0
  let byUs = Number.POSITIVE_INFINITY
  for (const child of children) {
    if (endUs(child) > byUs) continue
    sumUs += forest.latencyUs[child]!
    byUs = forest.offsetUs[child]! + models.options.slackUs
  }
  return sumUs
}
