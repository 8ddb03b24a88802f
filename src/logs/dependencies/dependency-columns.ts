// Columns are read once a node, tree and feature: the loops index with `!`.

/**
 * One feature of all variables of one kind, in the instances of one class, sorted once for the trees
 * of all of them.
 */
export interface DependencyColumns {
  /** Ascending, performance among them. */
  readonly names: readonly string[]
  /** A value an instance; NaN where it is missing. */
  readonly values: readonly Float64Array[]
  /**
   * Of each column, the instances that have a value, ascending by it: those of column c from
   * `c * instances` on, as many as `counts[c]` says.
   */
  readonly orders: Int32Array
  readonly counts: Int32Array
  /** How much each instance counts. */
  readonly weights: Float64Array
  /** Σ of the weights. */
  readonly mass: number
  /** Room for the orders of one tree's nodes: as large as `orders`. */
  readonly scratch: Int32Array<ArrayBuffer>
}

/** Sorts columns. They must be in the order of their names. */
export function dependencyColumns(
  columns: readonly { readonly name: string; readonly values: Float64Array }[],
  weights: Float64Array,
): DependencyColumns {
  const orders = new Int32Array(columns.length * weights.length)
  const counts = columns.map(({ values }, column) => {
    const order = ascending(values)
    orders.set(order, column * weights.length)
    return order.length
  })
  return {
    names: columns.map(({ name }) => name),
    values: columns.map(({ values }) => values),
    orders,
    counts: Int32Array.from(counts),
    weights,
    mass: weights.reduce((sum, weight) => sum + weight, 0),
    scratch: new Int32Array(orders.length),
  }
}

function ascending(values: Float64Array): Int32Array {
  const present = Int32Array.from(values.keys()).filter((row) => !Number.isNaN(values[row]))
  present.sort((i, j) => values[i]! - values[j]! || i - j)
  // What never changes splits nothing: without rows it is passed over.
  const varies = values[present[0]!] !== values[present[present.length - 1]!]
  return varies ? present : new Int32Array(0)
}
