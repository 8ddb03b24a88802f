import type { BoxLine } from './flow-chains.ts'

/** What is there of a graph at one moment, and how long its lines are, in pixels. */
export interface FlowMoment {
  /** By number of line; `null` for a line that is not there. */
  readonly lengths: readonly (number | null)[]
  /** By number of box. */
  readonly isThere: readonly boolean[]
}

/**
 * How far down each box begins, time running down: as soon as the last line into it has ended, as
 * joins wait for all they join. `NaN` for boxes that are not there.
 */
export function rowTops(
  { heights, lines }: { heights: readonly number[]; lines: readonly BoxLine[] },
  { lengths, isThere }: FlowMoment,
): Float64Array {
  const into: number[][] = heights.map(() => [])
  lines.forEach(({ to }, line) => {
    into[to]?.push(line)
  })
  const tops = new Float64Array(heights.length)
  heights.forEach((_, box) => {
    if (!isThere[box]) {
      tops[box] = Number.NaN
      return
    }
    for (const line of into[box] as readonly number[]) {
      const { from } = lines[line] as BoxLine
      const length = lengths[line] ?? null
      if (length === null) continue
      const end = (tops[from] as number) + (heights[from] as number) + length
      if (end > (tops[box] as number)) tops[box] = end
    }
  })
  return tops
}
