// Millions of cells for flows of thousands of nodes: the loops index with `!`.

export interface EditStep {
  readonly kind: 'keep' | 'substitute' | 'delete' | 'insert'
  readonly before: number
  readonly after: number
}

export interface EditScript {
  readonly distance: number
  readonly steps: readonly EditStep[]
}

/** Above this many cells a table is not filled at once but halved; it takes a byte a cell. */
const LARGEST_TABLE = 2 ** 22
const [KEEP, SUBSTITUTE, DELETE, INSERT] = [0, 1, 2, 3] as const
const KINDS = ['keep', 'substitute', 'delete', 'insert'] as const
/** What a kept token is worth between scripts of the same length, its likeness aside. */
const KEPT = 2

/**
 * A shortest edit script, as long as `editDistance`; of these one that keeps many tokens, and those
 * that go together by `likeness`, the same in every run. O(n·m) time, at most 4 MB for the table.
 * Sources: Wagner and Fischer 1974, "The string-to-string correction problem", J. ACM
 * 21(1):168-173; Hirschberg 1975, Comm. ACM 18(6):341-343.
 */
export function editScript(
  before: ArrayLike<number>,
  after: ArrayLike<number>,
  { likeness = () => 1 }: { readonly likeness?: Sequences['likeness'] } = {},
): EditScript {
  const goTogether = (i: number, j: number) => before[i]! === after[j]! && likeness(i, j) === 1
  const shorter = Math.min(before.length, after.length)
  let prefix = 0
  while (prefix < shorter && goTogether(prefix, prefix)) prefix++
  let suffix = 0
  while (
    suffix < shorter - prefix &&
    goTogether(before.length - 1 - suffix, after.length - 1 - suffix)
  ) {
    suffix++
  }
  const moves: number[] = new Array(prefix).fill(KEEP)
  const rows = { start: prefix, count: before.length - suffix - prefix }
  const columns = { start: prefix, count: after.length - suffix - prefix }
  // An edit outweighs all that keeping tokens is worth.
  const edit = (KEPT + 1) * (shorter + 1)
  align({ before, after, likeness, edit }, { rows, columns }, moves)
  for (let i = 0; i < suffix; i++) moves.push(KEEP)
  return describeMoves(moves)
}

interface Sequences {
  readonly before: ArrayLike<number>
  readonly after: ArrayLike<number>
  /** How well equal tokens go together, 0 or 1; decides between scripts of the same length. */
  readonly likeness: (before: number, after: number) => number
  readonly edit: number
}

interface Span {
  readonly start: number
  readonly count: number
}

interface Block {
  readonly rows: Span
  readonly columns: Span
}

function align(sequences: Sequences, { rows, columns }: Block, moves: number[]): void {
  if (rows.count < 2 || (rows.count + 1) * (columns.count + 1) <= LARGEST_TABLE) {
    for (const move of tableMoves(sequences, { rows, columns })) moves.push(move)
    return
  }
  const half = rows.count >> 1
  const upper = { start: rows.start, count: half }
  const lower = { start: rows.start + half, count: rows.count - half }
  const down = lastRow(sequences, { rows: upper, columns }, { step: 1 })
  const up = lastRow(sequences, { rows: lower, columns }, { step: -1 })
  let split = 0
  for (let j = 1; j <= columns.count; j++) {
    if (down[j]! + up[columns.count - j]! < down[split]! + up[columns.count - split]!) split = j
  }
  const left = { start: columns.start, count: split }
  const right = { start: columns.start + split, count: columns.count - split }
  align(sequences, { rows: upper, columns: left }, moves)
  align(sequences, { rows: lower, columns: right }, moves)
}

/** Costs of aligning all rows with each number of columns; moves go to `table`, if given. */
function lastRow(
  { before, after, likeness, edit }: Sequences,
  { rows, columns }: Block,
  { step, table }: { readonly step: 1 | -1; readonly table?: Uint8Array },
): Float64Array {
  const firstRow = step === 1 ? rows.start : rows.start + rows.count - 1
  const firstColumn = step === 1 ? columns.start : columns.start + columns.count - 1
  const width = columns.count + 1
  const costs = Float64Array.from({ length: width }, (_, j) => j * edit)
  for (let i = 1; i <= rows.count; i++) {
    const row = firstRow + step * (i - 1)
    const token = before[row]!
    let diagonal = costs[0]!
    let best = diagonal + edit
    costs[0] = best
    if (table !== undefined) table[i * width] = DELETE
    for (let j = 1; j < width; j++) {
      const column = firstColumn + step * (j - 1)
      const above = costs[j]! + edit
      const left = best + edit
      const equal = token === after[column]!
      best = equal ? diagonal - KEPT - likeness(row, column) : diagonal + edit
      let move: number = equal ? KEEP : SUBSTITUTE
      if (above < best) {
        best = above
        move = DELETE
      }
      if (left < best) {
        best = left
        move = INSERT
      }
      diagonal = costs[j]!
      costs[j] = best
      if (table !== undefined) table[i * width + j] = move
    }
  }
  return costs
}

function tableMoves(sequences: Sequences, { rows, columns }: Block): number[] {
  const width = columns.count + 1
  const table = new Uint8Array((rows.count + 1) * width).fill(INSERT, 0, width)
  lastRow(sequences, { rows, columns }, { step: 1, table })
  const moves: number[] = []
  for (let i = rows.count, j = columns.count; i > 0 || j > 0; ) {
    const move = table[i * width + j]!
    moves.push(move)
    if (move !== INSERT) i--
    if (move !== DELETE) j--
  }
  return moves.reverse()
}

function describeMoves(moves: readonly number[]): EditScript {
  let before = 0
  let after = 0
  let distance = 0
  const steps = moves.map((move): EditStep => {
    const step = { kind: KINDS[move] as EditStep['kind'], before, after }
    if (move !== KEEP) distance++
    if (move !== INSERT) before++
    if (move !== DELETE) after++
    return step
  })
  return { distance, steps }
}
