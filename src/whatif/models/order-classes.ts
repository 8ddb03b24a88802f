// Over every call of both periods: the loops index with `!`.
import { group } from 'd3-array'
import type { ExecutionModel, ExecutionModels } from './execution-models.ts'
import { OrderTimes } from './order-times.ts'
import { Precedence } from './precedence.ts'
import { type TimedOrders, waitAlike } from './split-waiting.ts'

/** A model, as it is compared with others. */
interface Observed extends TimedOrders {
  readonly model: ExecutionModel
  readonly key: number
}

const known = new WeakMap<ExecutionModels, Uint32Array>()

/**
 * By model, the number of the order that its calls make theirs in: the same for models, of either
 * period, of which none waits for what another does not wait for. Models may differ by what was over
 * by chance, more often so where it became faster; that is no other order.
 */
export function orderClasses(models: ExecutionModels): Uint32Array {
  const found = known.get(models)
  if (found !== undefined) return found
  const classes = Uint32Array.from(models.models, ({ id }) => id)
  known.set(models, classes)
  const observed = models.forests.flatMap((_, period) => observedModels(models, period))
  for (const alike of group(observed, ({ key }) => key).values()) {
    // The models of most calls stand for their classes.
    const leaders: Observed[] = []
    alike.sort((a, b) => b.calls - a.calls || a.model.id - b.model.id)
    for (const one of alike) {
      const leader = leaders.find((other) => waitAlike(one, other))
      if (leader === undefined) leaders.push(one)
      classes[one.model.id] = (leader ?? one).model.id
    }
  }
  return classes
}

/** The models of a period whose calls wait for several others. */
function observedModels(models: ExecutionModels, period: number): Observed[] {
  const learned = models.period(period)
  const times = new OrderTimes(learned, models.orders.length)
  const ordersOf = new Map<number, Set<number>>()
  learned.modelOf.forEach((model, call) => {
    const own = ordersOf.get(model) ?? new Set()
    if (own.size === 0) ordersOf.set(model, own)
    own.add(learned.orderOf[call]!)
  })
  return Array.from(ordersOf).flatMap(([id, orders]) => {
    const model = models.models[id]!
    const members = [...orders]
    const { key, precedence } = models.orders[members[0]!]!
    if (precedence === null || model.nodes.length < 2) return []
    const { calls, predecessors } = model
    return [{ model, key, members, calls, times, precedence: Precedence.ofDirect(predecessors) }]
  })
}
