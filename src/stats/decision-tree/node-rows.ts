// Called for every row of every node: indexes with `!`.

/** The rows that reach a node. A row whose value was missing on the way is in several, in part. */
export interface NodeRows {
  /** Row numbers, ascending. */
  readonly rows: Int32Array
  /** How much of each row is here, above 0 to 1; all of each if undefined. */
  readonly weights: Float64Array | undefined
}

/** How a split divides rows: which child a code belongs to, −1 for codes that no row of the node has. */
export interface Division {
  readonly codes: Int32Array
  readonly childOf: (code: number) => number
  /** For each child its share of the rows whose value is known. */
  readonly shares: readonly number[]
}

export function allRows(count: number): NodeRows {
  return { rows: Int32Array.from({ length: count }, (_, row) => row), weights: undefined }
}

/**
 * The rows of each child. A row whose value is missing goes to every child, divided as the known
 * rows are (C4.5's fractional cases). Parts below `leastWeight` are not made but given to the child
 * with the largest share, so that no weight is lost and no row is scattered without end.
 */
export function divideRows(node: NodeRows, division: Division, leastWeight: number): NodeRows[] {
  const { rows, weights } = node
  const { codes, childOf, shares } = division
  const children = new Int32Array(rows.length)
  const whole = new Int32Array(shares.length)
  let missing = 0
  for (let i = 0; i < rows.length; i++) {
    const code = codes[rows[i]!]!
    const child = code < 0 ? -1 : childOf(code)
    children[i] = child
    if (child < 0) missing++
    else whole[child]!++
  }
  const largest = shares.indexOf(Math.max(...shares))
  return shares.map((share, child) => {
    const weighted = weights !== undefined || missing > 0
    const most = whole[child]! + missing
    const ownRows = new Int32Array(most)
    const ownWeights = weighted ? new Float64Array(most) : undefined
    let count = 0
    for (let i = 0; i < rows.length; i++) {
      const to = children[i]!
      if (to !== child && to >= 0) continue
      const weight = weights === undefined ? 1 : weights[i]!
      const part = to >= 0 ? weight : partOf(weight, child)
      if (part === 0) continue
      ownRows[count] = rows[i]!
      if (ownWeights !== undefined) ownWeights[count] = part
      count++
    }
    if (count === most) return { rows: ownRows, weights: ownWeights }
    return { rows: ownRows.slice(0, count), weights: ownWeights?.slice(0, count) }

    function partOf(weight: number, child: number): number {
      if (child !== largest) return weight * share < leastWeight ? 0 : weight * share
      let others = 0
      for (let other = 0; other < shares.length; other++) {
        const part = weight * shares[other]!
        if (other !== largest && part >= leastWeight) others += part
      }
      return weight - others
    }
  })
}
