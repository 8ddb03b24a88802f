import { describe, expect, test } from 'vitest'
import { type Comparison, compare } from '../../../src/comparison/comparison.ts'
import { differenceWords } from '../../../src/views/widgets/flows/flow-scene.ts'
import { type GraphSketch, makeGraphs } from '../../make-traces.ts'
import { recordedCase } from '../../recorded.ts'
import { flows, propsOf } from '../../views/widgets/flow-fixture.ts'

/** How many edges of a category changed: by the table, and by the picture, or as in the thesis. */
function counts(comparison: Comparison, category: number) {
  const rows = comparison.responseTime.edgeTable(category).objects() as Record<string, unknown>[]
  const red = (options: object) => {
    const data = propsOf(flows(comparison, category, { origin: 'itself', ...options })).data
    const changed = data.edges.filter(({ verdict }) => verdict === 'changed')
    return {
      red: new Set(changed.map(({ after }) => after?.edgeClass)).size,
      said: differenceWords(data),
    }
  }
  const is = (column: string) => rows.filter((row) => row[column] === true).length
  return {
    changed: is('changed'),
    rejected: is('rejected'),
    large: red({}),
    all: red({ largeShift: 0 }),
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
    const { changed, rejected, large, all } = counts(await recordedCase('delay-1ms'), category)
    expect(large.red).toBe(changed)
    expect(changed).toBeLessThan(rejected)
    expect(large.said).toMatch(/latenc(y|ies) changed by little/)
    expect(all.said).not.toContain('by little')
  })

  test.each([4, 12])('mark tiny shifts of %i steps only if asked', (count) => {
    const [before, after] = [steps(count, {}), steps(count, { moreUs: 2, lastUs: 100 })]
    const comparison = compare(makeGraphs(before), makeGraphs(after))
    const why = [...comparison.responseTime.edgeTable(0).array('why')]
    expect(why).toEqual([null, ...Array.from({ length: count - 1 }, () => 'too small')])
    expect(counts(comparison, 0)).toMatchObject({
      changed: 1,
      rejected: count,
      large: { red: 1 },
      all: { red: count },
    })
  })

  test('mark nothing where all shifts are tiny, and the picture says so', () => {
    const comparison = compare(makeGraphs(steps(3, {})), makeGraphs(steps(3, { moreUs: 1 })))
    expect(counts(comparison, 0)).toMatchObject({
      changed: 0,
      rejected: 3,
      large: {
        red: 0,
        said: '3 latencies changed by little.',
      },
      all: { red: 3 },
    })
  })
})
