// Over every call: the loops index with `!`.
import type { CallForest } from '../calls/call-forest.ts'
import type { CallPaths } from '../calls/call-paths.ts'
import type { CallOrder } from './call-orders.ts'
import type { UnawaitedCalls } from './execution-model.ts'

/** What the calls of one period made without waiting. */
export interface UnawaitedIn {
  readonly paths: CallPaths
  readonly orders: readonly CallOrder[]
  readonly forest: CallForest
  readonly orderOf: Uint32Array
  readonly nodeCalls: Uint32Array
  /** By call. */
  readonly modelOf: Uint32Array
}

/** By model: what its calls call without waiting, most first. */
export function unawaitedCalls(period: UnawaitedIn): Map<number, readonly UnawaitedCalls[]> {
  const { paths, orders, forest, orderOf, nodeCalls, modelOf } = period
  const counts = new Map<number, Map<number, number>>()
  for (let call = 0; call < modelOf.length; call++) {
    const end = forest.childOffsets[call + 1]!
    const awaited = orders[orderOf[call]!]!.nodes.length
    for (let at = forest.childOffsets[call]! + awaited; at < end; at++) {
      const name = paths.name(forest.path[nodeCalls[at]!]!)
      const own = counts.get(modelOf[call]!) ?? new Map<number, number>()
      counts.set(modelOf[call]!, own.set(name, (own.get(name) ?? 0) + 1))
    }
  }
  return new Map(
    Array.from(counts, ([model, own]) => [
      model,
      [...own]
        .sort((a, b) => b[1] - a[1] || a[0] - b[0])
        .map(([name, calls]) => ({
          service: paths.serviceOf(name),
          operation: paths.operationOf(name),
          calls,
        })),
    ]),
  )
}
