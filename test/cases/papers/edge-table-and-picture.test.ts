import { describe, expect, test } from 'vitest'
import { compare } from '../../../src/compare/comparison.ts'
import type { ResponseTimeMutations } from '../../../src/compare/mutations/find-response-time-mutations.ts'
import { flowPicture } from '../../../src/views/drawing/flow.tsx'
import { type GraphSketch, makeGraphs } from '../../make-traces.ts'
import { recordedCase } from '../../recorded.ts'

/** How many edges of a category changed: by the table, and by the picture, whole or as in the thesis. */
function counts(responseTime: ResponseTimeMutations, category: number) {
  const rows = responseTime.edgeTable(category).objects() as Record<string, unknown>[]
  const red = (mark: 'large' | 'rejected') => {
    const { lines, subtitle } = flowPicture(responseTime, category, { mark, limit: 500 })
    return { red: lines.filter((line) => line.kind === 'changed').length, said: subtitle[2] ?? '' }
  }
  const is = (column: string) => rows.filter((row) => row[column] === true).length
  return {
    changed: is('changed'),
    rejected: is('rejected'),
    large: red('large'),
    all: red('rejected'),
  }
}

/** Requests of so many steps of 100 µs, each so much longer than the one before; the last step also by `lastUs`. */
const steps = (count: number, { moreUs = 0, lastUs = 0 }): GraphSketch[] =>
  Array.from({ length: 60 }, (_, request) => ({
    labels: Array.from({ length: count + 1 }, (__, step) => `STEP ${step}`),
    edges: Array.from({ length: count }, (__, step) => [step, step + 1] as const),
    latencyUs: Array.from(
      { length: count },
      (__, step) => 100 + request / 100 + moreUs + (step === count - 1 ? lastUs : 0),
    ),
  }))

describe('the edge table and the picture of a flow', () => {
  test.each([40, 33, 32])('of the recorded delay agree: category %i', async (category) => {
    const { changed, rejected, large, all } = counts(
      (await recordedCase('delay-1ms')).responseTime,
      category,
    )
    expect(large.red).toBe(changed)
    expect(all.red).toBe(rejected)
    expect(changed).toBeLessThan(rejected)
    expect(large.said).toMatch(
      `${changed} of the ${rejected} latencies that changed significantly also changed enough to matter`,
    )
    expect(all.said).toMatch(new RegExp(`^${rejected} latencies changed significantly`))
  })

  test.each([4, 12])('mark tiny shifts of %i steps only if asked', (count) => {
    const [before, after] = [steps(count, {}), steps(count, { moreUs: 2, lastUs: 100 })]
    const { responseTime } = compare(makeGraphs(before), makeGraphs(after))
    expect(counts(responseTime, 0)).toMatchObject({
      changed: 1,
      rejected: count,
      large: { red: 1 },
      all: { red: count },
    })
  })

  test('mark nothing where all shifts are tiny, and the picture says so', () => {
    const { responseTime } = compare(makeGraphs(steps(3, {})), makeGraphs(steps(3, { moreUs: 1 })))
    expect(counts(responseTime, 0)).toMatchObject({
      changed: 0,
      rejected: 3,
      large: {
        red: 0,
        said: 'No latency changed enough to matter, though 3 changed significantly.',
      },
      all: { red: 3 },
    })
  })
})
