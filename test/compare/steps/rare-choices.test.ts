import { describe, expect, test } from 'vitest'
import { compareActions } from '../../../src/compare/steps/time-blocks.ts'
import { randomSource } from '../../../src/stats/random.ts'

const PER_RUN = 10
const BLOCKS = { perRun: PER_RUN, runs: 1, pairs: null } as const

/** Counts of 60 chances a stretch, each taken with a share that may depend on its stretch. */
function counted(seed: number, shareAt: (stretch: number) => number) {
  const random = randomSource(seed)
  const chances = new Float64Array(2 * PER_RUN).fill(60)
  const made = chances.map((count, stretch) => {
    return Array.from({ length: count }, () => random.next() < shareAt(stretch)).filter(Boolean)
      .length
  })
  return { strata: [{ chances, made }] }
}

/** Choices whose shares wander, as those of one system do together. */
const wandering = (seed: number) =>
  Array.from({ length: 10 }, (_, i) =>
    counted(100 * seed + i, (stretch) => 0.3 + 0.15 * Math.sin(stretch + i)),
  )

describe('rare choices beside others that wander', () => {
  test('are sure where 3 % of the calls do after what none did before', () => {
    const sure = Array.from({ length: 20 }, (_, seed) => {
      const rare = counted(seed, (stretch) => (stretch < PER_RUN ? 0 : 0.03))
      return compareActions([rare, ...wandering(seed)], BLOCKS)[0]!.p
    })
    expect(sure.filter((p) => p < 0.002).length).toBeGreaterThanOrEqual(12)
  })

  test('differ by chance in at most 5 % of comparisons', () => {
    const chances = Array.from({ length: 400 }, (_, seed) => {
      const rare = counted(seed, () => 0.02)
      return compareActions([rare, ...wandering(seed)], BLOCKS)[0]!.p
    })
    expect(chances.filter((p) => p < 0.05).length).toBeLessThanOrEqual(20)
  })
})
