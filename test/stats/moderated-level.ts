import { expect, test } from 'vitest'
import {
  type BlockedSample,
  type BlockedStratum,
  moderatedShifts,
  type RandomSource,
  randomSource,
} from '../../src/stats/index.ts'

/** How the level of values wanders, in standard deviations of log values. */
export interface Wandering {
  readonly name: string
  /** Values of each period. */
  readonly sizes: readonly [before: number, after: number]
  /** Measures judged together; all wander by themselves. */
  readonly measures: number
  /** Level of a stretch of time, and how much of it the next one keeps. */
  readonly level: number
  readonly kept: number
  readonly seed: number
  /** Periods apart, compared phase by phase, that both get warm as they begin; by default they adjoin. */
  readonly phases?: boolean
  /** Share of p < 0.05 that is allowed; 5 % where left out. */
  readonly atMost?: number
}

const BLOCKS = 10

/** Log-normal values of two adjoining periods of ten stretches of time each. */
function drawMeasure(
  { sizes, level, kept, phases = false }: Wandering,
  random: RandomSource,
): BlockedStratum {
  let now = level * random.normal()
  const drawPeriod = (size: number): BlockedSample => {
    if (phases) now = level * random.normal()
    const levels = Array.from({ length: BLOCKS }, (_, i) => {
      now = kept * now + Math.sqrt(1 - kept ** 2) * level * random.normal()
      return now + (phases ? 2 * Math.exp(-i) : 0)
    })
    const blocks = Array.from({ length: size }, (_, i) => Math.floor((i * BLOCKS) / size))
    const values = blocks.map(
      (block) => 1e4 * Math.exp((levels[block] as number) + random.normal()),
    )
    return { values, blocks }
  }
  const [before, after] = [drawPeriod(sizes[0]), drawPeriod(sizes[1])]
  return { before, after: { ...after, blocks: Array.from(after.blocks, (one) => one + BLOCKS) } }
}

/** Declares the simulation: of measures that did not change, how many have p < 0.05. */
export function testLevel(wandering: Wandering, runs: number): void {
  const { name, measures, level, kept, seed, phases = false, atMost = 0.05 } = wandering
  test(`of ${name}, at most ${atMost * 100} % have p < 0.05`, () => {
    const random = randomSource(seed)
    const shares: number[] = []
    for (let run = 0; run < runs; run++) {
      const strata = Array.from({ length: measures }, () => [drawMeasure(wandering, random)])
      const options = { perRun: BLOCKS, pairs: phases ? ('phase' as const) : null }
      const rejected = moderatedShifts(strata, options).filter(({ p }) => p < 0.05).length
      shares.push(rejected / measures)
    }
    // Measures of one run share their variance and design effect: only runs are independent.
    const mean = shares.reduce((sum, share) => sum + share, 0) / runs
    const error = Math.sqrt(shares.reduce((sum, share) => sum + (share - mean) ** 2, 0)) / runs
    expect(mean).toBeLessThanOrEqual(atMost + 3 * error)
    // A cautious test must reject all the same; levels are taken to last, so hardly those that do not.
    if (level === 0 || kept >= 0.7) expect(mean).toBeGreaterThan(0.005)
  })
}
