import { expect, test } from 'vitest'
import { falseAlarms } from './runs-level.ts'

test.each([3, 5])(
  'with %i runs before, at most one comparison in twenty reports what is not there',
  (runs) => {
    // Of 150 comparisons at 5 %, 13 or more report something in 1 of 50 series.
    expect(falseAlarms({ runs, comparisons: 150, seed: 3 })).toBeLessThanOrEqual(12)
    expect(falseAlarms({ runs, comparisons: 60, seed: 5, factor: 3 })).toBeGreaterThanOrEqual(50)
    // Half as long again is four times what runs differ by: three runs hardly show it.
    const half = falseAlarms({ runs, comparisons: 60, seed: 4, factor: 1.5 })
    expect(half).toBeGreaterThanOrEqual(runs === 3 ? 15 : 30)
  },
)
