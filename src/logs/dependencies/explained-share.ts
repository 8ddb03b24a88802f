// Asked for each pair of columns that split a node equally well: the loops index with `!`.

/**
 * Pearson's r² between a column and a target over some rows: the share of the target's variance that
 * a straight line would explain. 0 where either does not vary.
 *
 * @param pulls weight times deviation of the target from any number, a row each
 */
export function explainedShare(
  values: Float64Array,
  pulls: Float64Array,
  { rows, weights }: { readonly rows: Int32Array; readonly weights: Float64Array },
): number {
  let mass = 0
  let ofValues = 0
  let ofTarget = 0
  const origin = values[rows[0]!]!
  for (const row of rows) {
    mass += weights[row]!
    ofValues += weights[row]! * (values[row]! - origin)
    ofTarget += pulls[row]!
  }
  const [shift, mean] = [ofValues / mass, ofTarget / mass]
  let both = 0
  let squares = 0
  let targetSquares = 0
  for (const row of rows) {
    const weight = weights[row]!
    const deviation = values[row]! - origin - shift
    const pull = pulls[row]! - weight * mean
    both += deviation * pull
    squares += weight * deviation * deviation
    targetSquares += (pull * pull) / weight
  }
  const share = (both * both) / (squares * targetSquares)
  return Number.isFinite(share) ? share : 0
}
