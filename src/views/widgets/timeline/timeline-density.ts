import { quantile } from '../../../stats/quantile.ts'
import type { AxisScale } from '../../drawing/axis-scale.ts'
import type { TimelineRequests } from './timeline-model.ts'

/** Requests that fall into one cell, at least: each step of darkness. */
export const DARKNESS = [
  { from: 1, opacity: 0.5 },
  { from: 2, opacity: 0.7 },
  { from: 4, opacity: 0.85 },
  { from: 8, opacity: 1 },
] as const

/** A plot as cells of `cell` × `cell` pixels. */
export interface DensityGrid {
  readonly width: number
  readonly height: number
  readonly cell: number
}

/**
 * Where requests arrived (to the right) and how long they took (upwards), as one path for each step
 * of darkness, to be stroked as wide as a cell: as many requests as there are cost no more than
 * the cells they fall into.
 */
export function densityPaths(
  requests: TimelineRequests,
  { x, y }: { readonly x: AxisScale; readonly y: AxisScale },
  { width, height, cell }: DensityGrid,
): readonly string[] {
  const columns = Math.max(1, Math.ceil(width / cell))
  const rows = Math.max(1, Math.ceil(height / cell))
  const counts = new Uint32Array(columns * rows)
  for (const [i, start] of requests.startUs.entries()) {
    const column = Math.min(columns - 1, Math.floor((x.share(start) * width) / cell))
    const share = y.share(requests.responseTimeUs[i] as number)
    const row = Math.min(rows - 1, Math.floor(((1 - share) * height) / cell))
    const place = row * columns + column
    counts[place] = (counts[place] as number) + 1
  }
  const paths = DARKNESS.map(() => '')
  for (let row = 0; row < rows; row++) {
    const line = counts.subarray(row * columns, (row + 1) * columns)
    for (const [step, path] of rowPaths(line, row, cell).entries()) paths[step] += path
  }
  return paths
}

/** One row of cells: of each step, its runs of neighbours, as strokes along the row's middle. */
function rowPaths(line: Uint32Array, row: number, cell: number): readonly string[] {
  const paths = DARKNESS.map(() => '')
  const ends = DARKNESS.map(() => 0)
  for (let column = 0; column < line.length; ) {
    const step = stepOf(line[column] as number)
    let end = column + 1
    while (end < line.length && stepOf(line[end] as number) === step) end++
    if (step >= 0) {
      const from =
        paths[step] === ''
          ? `M${column * cell} ${(row + 0.5) * cell}`
          : `m${(column - (ends[step] as number)) * cell} 0`
      paths[step] += `${from}h${(end - column) * cell}`
      ends[step] = end
    }
    column = end
  }
  return paths
}

function stepOf(count: number): number {
  return DARKNESS.findLastIndex(({ from }) => count >= from)
}

/** Equal parts of the time, the last of which may be cut short. */
export interface TimeBins {
  readonly spanUs: readonly [fromUs: number, toUs: number]
  readonly binUs: number
}

/** How many requests arrived in each part of the time. */
export function arrivalBins({ startUs }: TimelineRequests, bins: TimeBins): readonly number[] {
  const counts = new Array<number>(binCount(bins)).fill(0)
  for (const start of startUs) {
    const bin = binOf(start, bins)
    counts[bin] = (counts[bin] as number) + 1
  }
  return counts
}

/** A median over fewer requests says little. */
const FEWEST = 5

/** The median response time of each part of the time; `null` where too few arrived. */
export function medianBins(
  { startUs, responseTimeUs }: TimelineRequests,
  bins: TimeBins,
): readonly (number | null)[] {
  const times = Array.from({ length: binCount(bins) }, (): number[] => [])
  for (const [i, start] of startUs.entries()) {
    times[binOf(start, bins)]?.push(responseTimeUs[i] as number)
  }
  return times.map((inBin) =>
    inBin.length < FEWEST ? null : quantile(Float64Array.from(inBin).sort(), 0.5),
  )
}

function binOf(timeUs: number, { spanUs, binUs }: TimeBins): number {
  return Math.floor((timeUs - spanUs[0]) / binUs)
}

function binCount({ spanUs, binUs }: TimeBins): number {
  return Math.ceil((spanUs[1] - spanUs[0]) / binUs)
}
