// Seven million steps for two flows of 15,000 tokens: the loops index with `!`.

const WORD = 32

/**
 * Levenshtein distance by bit-parallel dynamic programming, 32 rows of the table at a time.
 *
 * The table is filled one band of 32 pattern tokens after the other; between bands only the
 * horizontal differences (−1, 0, 1) along the text are kept. O(n·m/32) time, O(n + m) memory.
 *
 * Source: Hyyrö 2003, "A bit-vector algorithm for computing Levenshtein and Damerau edit
 * distances", Nordic J. Computing 10(1):29-39, after Myers 1999.
 */
export function bitParallelEditDistance(pattern: Float64Array, text: Float64Array): number {
  const { patternIds, textIds, idCount } = numberTokens(pattern, text)
  const positions = new Int32Array(idCount)
  // The table's first row grows by 1 per column. Bit 0: +1, bit 1: −1.
  const differences = new Uint8Array(text.length).fill(1)
  for (let start = 0; start < pattern.length; start += WORD) {
    const band = patternIds.subarray(start, start + WORD)
    for (let row = 0; row < band.length; row++) positions[band[row]!]! |= 1 << row
    fillBand(textIds, { positions, differences, lastRow: band.length - 1 })
    for (const id of band) positions[id] = 0
  }
  let distance = pattern.length
  for (const difference of differences) distance += (difference & 1) - (difference >> 1)
  return distance
}

/** 32 rows of the table, to be filled for one text. */
export interface Band {
  /** Per token id, the rows of the band that hold it, as bits. */
  readonly positions: Int32Array
  /** Horizontal differences above the band; replaced by those at its last row. */
  readonly differences: Uint8Array
  readonly lastRow: number
}

/** Fills one band of the table, column by column. */
export function fillBand(
  textIds: Int32Array | Uint32Array,
  { positions, differences, lastRow }: Band,
): void {
  let up = -1
  let down = 0
  for (let column = 0; column < textIds.length; column++) {
    const above = differences[column]!
    const aboveUp = above & 1
    const aboveDown = above >> 1
    let equal = positions[textIds[column]!]!
    const vertical = equal | down
    equal |= aboveDown
    const horizontal = ((((equal & up) + up) | 0) ^ up) | equal
    let right = down | ~(horizontal | up)
    let left = up & horizontal
    differences[column] = ((right >>> lastRow) & 1) | (((left >>> lastRow) & 1) << 1)
    right = (right << 1) | aboveUp
    left = (left << 1) | aboveDown
    up = left | ~(vertical | right)
    down = right & vertical
  }
}

interface NumberedTokens {
  readonly patternIds: Int32Array
  readonly textIds: Int32Array
  readonly idCount: number
}

/** Numbers the pattern's tokens from 1; 0 stands for every token it does not have. */
function numberTokens(pattern: Float64Array, text: Float64Array): NumberedTokens {
  const ids = new Map<number, number>()
  const patternIds = new Int32Array(pattern.length)
  for (let i = 0; i < pattern.length; i++) {
    const token = pattern[i]!
    let id = ids.get(token)
    if (id === undefined) {
      id = ids.size + 1
      ids.set(token, id)
    }
    patternIds[i] = id
  }
  const textIds = new Int32Array(text.length)
  for (let i = 0; i < text.length; i++) textIds[i] = ids.get(text[i]!) ?? 0
  return { patternIds, textIds, idCount: ids.size + 1 }
}
