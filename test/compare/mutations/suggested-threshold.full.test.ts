import { expect, test } from 'vitest'
import {
  findStructuralMutations,
  suggestThreshold,
} from '../../../src/compare/mutations/find-structural-mutations.ts'
import { randomSource } from '../../../src/stats/random.ts'
import { categories } from './reads-and-writes.ts'

test('chance crosses the suggested threshold in one of twenty comparisons', () => {
  const random = randomSource(7)
  const runs = 400
  let crossed = 0
  const draw = (count: number, share: number) => {
    let drawn = 0
    for (let i = 0; i < count; i++) if (random.next() < share) drawn++
    return drawn
  }
  for (let run = 0; run < runs; run++) {
    const [hits, misses, writes] = [draw(600, 0.5), draw(200, 0.5), draw(200, 0.5)] as const
    const found = categories([hits, misses, writes], [600 - hits, 200 - misses, 200 - writes])
    const { changes } = findStructuralMutations(found)
    const threshold = suggestThreshold(found)
    if (changes.some((change) => Math.abs(change) > threshold)) crossed++
  }
  const standardError = Math.sqrt((0.05 * 0.95) / runs)
  expect(crossed / runs).toBeLessThan(0.05 + 3 * standardError)
  expect(crossed / runs).toBeGreaterThan(0.005)
})
