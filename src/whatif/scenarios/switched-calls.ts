// Over every call along some paths: the loops index with `!`.
import type { ExecutionModel } from '../models/execution-model.ts'
import { orderClasses } from '../models/order-classes.ts'
import type { RequestModel } from '../recompute/request-model.ts'
import { callRows } from './call-rows.ts'
import { spreadOrder } from './spread-order.ts'

/** Calls that follow one model and are to follow another, of the other period. */
export interface SwitchedCalls {
  /** Rows, ascending. */
  readonly calls: Uint32Array
  readonly from: ExecutionModel
  readonly to: ExecutionModel
}

/** Shares times counts may miss a whole number by rounding. */
const ROUNDING = 1e-9

/**
 * Which calls have to change their order such that, of those that make the same calls, as many follow
 * each order as in `target`. Calls that both periods have fewer than `least` of stay as they are.
 */
export function switchedCalls(
  base: RequestModel,
  target: RequestModel,
  { paths, least }: { readonly paths: readonly number[]; readonly least: number },
): SwitchedCalls[] {
  const classes = orderClasses(base.models)
  const own = callsByModel(base, paths)
  const theirs = callsByModel(target, paths)
  const switched: SwitchedCalls[] = []
  for (const [key, ofModels] of own) {
    const wanted = theirs.get(key)
    if (wanted === undefined) continue
    const [count, countThere] = [sizeOf(ofModels), sizeOf(wanted)]
    if (count < least || countThere < least) continue
    // By class: how many calls too many it has, or, if negative, how many too few.
    const spare = new Map<number, number>()
    const add = (model: ExecutionModel, calls: number) => {
      const own = classes[model.id]!
      spare.set(own, (spare.get(own) ?? 0) + calls)
    }
    for (const [model, calls] of ofModels) add(model, calls.length)
    for (const [model, calls] of wanted) add(model, (-calls.length / countThere) * count)
    for (const [from, calls] of ofModels) {
      const left = spreadOrder(calls)
      for (const to of wanted.keys()) {
        const [many, few] = [spare.get(classes[from.id]!)!, spare.get(classes[to.id]!)!]
        const moved = Math.floor(Math.min(many, -few, left.length) + ROUNDING)
        if (moved <= 0) continue
        switched.push({ calls: Uint32Array.from(left.splice(0, moved)).sort(), from, to })
        add(from, -moved)
        add(to, moved)
      }
    }
  }
  return switched
}

/** By what calls call, then by their model, rows. */
function callsByModel({ models, period, forest }: RequestModel, paths: readonly number[]) {
  const { orderOf, modelOf } = models.period(period)
  const found = new Map<number, Map<ExecutionModel, number[]>>()
  for (const call of callRows(forest, paths)) {
    const { key, nodes, bits } = models.orders[orderOf[call]!]!
    if (nodes.length < 2 || bits === null) continue
    const model = models.models[modelOf[call]!]!
    const ofKey = found.get(key) ?? new Map<ExecutionModel, number[]>()
    if (ofKey.size === 0) found.set(key, ofKey)
    const calls = ofKey.get(model)
    if (calls === undefined) ofKey.set(model, [call])
    else calls.push(call)
  }
  return found
}

function sizeOf(ofModels: ReadonlyMap<ExecutionModel, readonly number[]>): number {
  let size = 0
  for (const calls of ofModels.values()) size += calls.length
  return size
}
