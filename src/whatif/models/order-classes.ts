// Over every call of both periods: the loops index with `!`.
import type { ExecutionModel, ExecutionModels } from './execution-models.ts'
import { OrderTimes } from './order-times.ts'
import {
  closePrecedence,
  type PrecedenceBits,
  precedenceOrder,
  wordsOf,
} from './precedence-bits.ts'
import { waitsForMore } from './split-waiting.ts'

const known = new WeakMap<ExecutionModels, Uint32Array>()

/**
 * By model, the number of the order that its calls make theirs in: the same for models, of either
 * period, of which none waits for what another does not wait for. Models may differ by what was over
 * by chance, more often so where it became faster; that is no other order.
 */
export function orderClasses(models: ExecutionModels): Uint32Array {
  let classes = known.get(models)
  if (classes === undefined) {
    classes = new ClassFinder(models).classes
    known.set(models, classes)
  }
  return classes
}

/** A model, as it is compared with others. */
interface Observed {
  readonly model: ExecutionModel
  readonly bits: PrecedenceBits
  /** Orders of its calls. */
  readonly members: readonly number[]
  readonly times: OrderTimes
}

class ClassFinder {
  readonly classes: Uint32Array

  constructor(models: ExecutionModels) {
    this.classes = Uint32Array.from(models.models, ({ id }) => id)
    const byKey = new Map<number, Observed[]>()
    models.forests.forEach((_, period) => {
      const learned = models.period(period)
      const times = new OrderTimes(learned, models.orders.length)
      const members = new Map<number, Set<number>>()
      learned.modelOf.forEach((model, call) => {
        const orders = members.get(model)
        if (orders === undefined) members.set(model, new Set([learned.orderOf[call]!]))
        else orders.add(learned.orderOf[call]!)
      })
      for (const [id, orders] of members) {
        const model = models.models[id]!
        const [first] = orders
        const { key, bits } = models.orders[first!]!
        if (bits === null || model.nodes.length < 2) continue
        const observed = { model, bits: bitsOf(model), members: [...orders], times }
        const others = byKey.get(key)
        if (others === undefined) byKey.set(key, [observed])
        else others.push(observed)
      }
    })
    for (const alike of byKey.values()) this.#classify(alike)
  }

  /** The models of most calls stand for their classes. */
  #classify(alike: Observed[]): void {
    const leaders: Observed[] = []
    alike.sort((a, b) => b.model.calls - a.model.calls || a.model.id - b.model.id)
    for (const one of alike) {
      const leader = leaders.find((other) => isSameOrder(one, other))
      if (leader === undefined) leaders.push(one)
      this.classes[one.model.id] = (leader ?? one).model.id
    }
  }
}

function isSameOrder(one: Observed, other: Observed): boolean {
  const nodes = one.model.nodes.length
  const waits = (own: Observed, { bits }: Observed) =>
    waitsForMore(
      { own: own.bits, other: bits, nodes },
      { members: own.members, calls: own.model.calls, times: own.times },
    )
  return !waits(one, other) && !waits(other, one)
}

function bitsOf({ nodes, predecessors }: ExecutionModel): PrecedenceBits {
  const words = wordsOf(nodes.length)
  const bits = new Uint32Array(nodes.length * words)
  predecessors.forEach((before, b) => {
    for (const a of before) bits[b * words + (a >>> 5)]! |= 1 << (a & 31)
  })
  const order = precedenceOrder(bits, nodes.length)
  if (order !== null) closePrecedence(bits, order)
  return bits
}
