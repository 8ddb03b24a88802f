// Called for every row of every node: indexes with `!`.
import type { NodeRows } from './node-rows.ts'

/** The weight of each row of a node, in the array of its class and 0 in the other. */
export interface ClassCounts {
  readonly precursors: Float64Array
  readonly mutations: Float64Array
  /** Their sums. */
  readonly weights: readonly [number, number]
}

export function classCounts({ rows, weights }: NodeRows, labels: Uint8Array): ClassCounts {
  const precursors = new Float64Array(rows.length)
  const mutations = new Float64Array(rows.length)
  let first = 0
  let second = 0
  for (let i = 0; i < rows.length; i++) {
    const weight = weights === undefined ? 1 : weights[i]!
    if (labels[rows[i]!] === 0) {
      precursors[i] = weight
      first += weight
    } else {
      mutations[i] = weight
      second += weight
    }
  }
  return { precursors, mutations, weights: [first, second] }
}
