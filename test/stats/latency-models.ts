import type { RandomSource } from '../../src/stats/index.ts'

/** A distribution of latencies, with what of it is known exactly. */
export interface LatencyModel {
  readonly name: string
  readonly draw: (random: RandomSource) => number
  readonly mean: number
  readonly median: number
}

const exponential = (random: RandomSource) => -Math.log(1 - random.next())

/** One without skewness, one with much, and one in which every tenth request is ten times slower. */
export const LATENCY_MODELS: readonly LatencyModel[] = [
  { name: 'normal', draw: (random) => 100 + 15 * random.normal(), mean: 100, median: 100 },
  {
    name: 'log-normal',
    draw: (random) => random.logNormal(Math.log(100), 1),
    mean: 100 * Math.exp(0.5),
    median: 100,
  },
  {
    name: 'mixture',
    draw: (random) => (random.next() < 0.9 ? 100 : 1000) * exponential(random),
    mean: 190,
    // Where 0.9·e^(−x/100) + 0.1·e^(−x/1000) is ½.
    median: 79.20713054944451,
  },
]

/** A sample of a model, ascending, each value multiplied and moved. */
export function latencies(
  { draw }: LatencyModel,
  n: number,
  { random, times = 1, plus = 0 }: { random: RandomSource; times?: number; plus?: number },
): Float64Array {
  return Float64Array.from({ length: n }, () => times * draw(random) + plus).sort()
}

/** Lines of `cells` under `header`, in columns. */
export function textTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [header, ...rows]
  const widths = header.map((_, i) => Math.max(...all.map((row) => (row[i] ?? '').length)))
  return all
    .map((row) =>
      row
        .map((cell, i) => cell.padEnd(widths[i] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

export const percent = (share: number) => (100 * share).toFixed(1)
