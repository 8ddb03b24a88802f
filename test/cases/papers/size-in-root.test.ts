import { expect, test } from 'vitest'
import { hdfsTraces } from '../../../datasets/hdfs-writes/hdfs-traces.ts'
import { type Comparison, compare } from '../../../src/comparison/comparison.ts'
import { restoreComparison, takeSnapshot } from '../../../src/comparison/snapshot.ts'
import { BEFORE } from '../../../src/flows/flow-set.ts'
import { rootName } from '../../../src/views/charts/node-names.ts'
import { describeWithShared } from '../../shared.ts'
import { paperCase, period, some } from './sketches.ts'

const roots = ({ categories }: Comparison) =>
  some(categories.size, (category) => categories.root(category)).sort()
const options = { omitHosts: true, fold: 'exact' } as const

describeWithShared('block writes of one, two or four portions', () => {
  test('say their size, wherever they are named', async () => {
    const comparison = compare(...(await paperCase('size-in-root')), {
      ...options,
      sizeAttribute: 'size',
    })
    expect(roots(comparison)).toEqual(
      [128, 256, 64].map((kb) => `NEW_BLOCK_CALL DEFAULT size=${kb}KB`),
    )
    const { categories } = comparison
    expect(some(3, (one) => rootName(categories, one, 99)).sort()).toEqual(
      [128, 256, 64].map((kb) => `NEW_BLOCK_CALL DEFAULT size=${kb}KB`),
    )
    expect(new Set(some(3, (one) => categories.requestKind(one))).size).toBe(1)
    const restored = restoreComparison(
      JSON.parse(JSON.stringify(takeSnapshot(comparison, { latenciesOf: () => true }))),
    )
    expect(roots(restored)).toEqual(roots(comparison))
  })
})

test('a size that is no number of bytes is shown as it is, and unsized requests by their rounds', () => {
  const batch = (rows: number | null, rounds: number) => ({
    steps: [['INSERT', 0] as const, ...some(rounds, () => ['ROW', 10] as const)],
    attributes: rows === null ? {} : { rows },
  })
  const traces = period([...some(20, () => batch(2048, 4)), ...some(20, () => batch(null, 3))], 1)
  const comparison = compare(traces, traces, {
    fold: 'exact',
    sizeAttribute: 'rows',
    sizeUnit: 'none',
  })
  expect(roots(comparison)).toEqual(['INSERT rows=2048', 'INSERT ×3'])
  expect(roots(comparison.with({ sizeAttribute: null }))).toEqual(['INSERT ×3', 'INSERT ×4'])
})

test('writes of the data set say 320KB in compare, as they do stage by stage', () => {
  const [before, after] = [
    hdfsTraces({ writes: 30, portions: 5 }),
    hdfsTraces({ writes: 30, portions: 5 }),
  ]
  const comparison = compare(before, after, { ...options, sizeAttribute: 'size' })
  const writes = roots(comparison).filter((root) => root.includes('NEW_BLOCK_CALL'))
  expect(writes.length).toBeGreaterThan(0)
  expect(writes.every((root) => root.includes('size=320KB'))).toBe(true)
  expect(comparison.categories.count(0, BEFORE)).toBeGreaterThan(0)
})
