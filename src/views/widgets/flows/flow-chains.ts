/** A line between two boxes, by their numbers; lines lead from lower to higher numbers. */
export interface BoxLine {
  readonly from: number
  readonly to: number
}

/** Boxes that follow each other without a fork or a join stand below each other as one chain. */
export interface Chains {
  /** Numbers of boxes from top to bottom, a list a chain. */
  readonly boxes: readonly (readonly number[])[]
  /** For each box, the number of its chain. */
  readonly chainOf: Uint32Array
  /** Numbers of the lines within chains, and of those between them. */
  readonly inner: readonly number[]
  readonly outer: readonly number[]
  /** For each box, how many lines enter and leave it. */
  readonly entering: Uint32Array
  readonly leaving: Uint32Array
}

/** Finds the chains of a graph; a chain is numbered by when its first box comes. */
export function findChains(size: number, lines: readonly BoxLine[]): Chains {
  const entering = new Uint32Array(size)
  const leaving = new Uint32Array(size)
  for (const { from, to } of lines) {
    entering[to] = (entering[to] as number) + 1
    leaving[from] = (leaving[from] as number) + 1
  }
  const inner: number[] = []
  const outer: number[] = []
  const above = new Int32Array(size).fill(-1)
  lines.forEach(({ from, to }, line) => {
    const isInner = leaving[from] === 1 && entering[to] === 1
    if (isInner) above[to] = from
    ;(isInner ? inner : outer).push(line)
  })
  const boxes: number[][] = []
  const chainOf = new Uint32Array(size)
  above.forEach((previous, box) => {
    if (previous < 0) chainOf[box] = boxes.push([box]) - 1
    else {
      chainOf[box] = chainOf[previous] as number
      boxes[chainOf[box] as number]?.push(box)
    }
  })
  return { boxes, chainOf, inner, outer, entering, leaving }
}
