import { expect, test } from 'vitest'
import { squaredVariation } from '../../src/compare/categories/categories.ts'
import { compare } from '../../src/comparison/comparison.ts'
import { restoreComparison, takeSnapshot } from '../../src/comparison/snapshot.ts'
import { BEFORE } from '../../src/flows/flow-set.ts'
import { makeSpans } from '../make-traces.ts'

/** Requests of two tenants, one five times as slow, that read from 1 to 60 bytes. */
function period() {
  return makeSpans(
    Array.from({ length: 120 }, (_, i) => ({
      trace: `t${i}`,
      id: 'web',
      startUs: 0,
      endUs: (i % 2 ? 100 : 500) + (i % 7),
      attributes: { tenant: i % 2 ? 'gold' : 'free', bytes: 1 + (i % 60) },
    })),
  )
}

const plain = compare(period(), period())

test('an attribute in labels splits a category, and times within each vary less', () => {
  expect(plain.categories.size).toBe(1)
  const split = plain.with({ labelBy: ['tenant'] })
  const roots = [0, 1].map((category) => split.categories.root(category))
  expect(roots.map((root) => root.match(/\[.*\]/)?.[0])).toEqual(['[tenant=free]', '[tenant=gold]'])
  const c2 = (one: typeof split) => squaredVariation(one.categories.responseTimeMoments(0, BEFORE))
  expect(c2(plain)).toBeGreaterThan(0.4)
  expect(c2(split)).toBeLessThan(0.001)
  const restored = restoreComparison(JSON.parse(JSON.stringify(takeSnapshot(split))))
  expect(restored.categories.size).toBe(2)
})

test('numbers of many values stand in buckets by their power of two', () => {
  const { categories } = plain.with({ labelBy: ['bytes'] })
  const buckets = Array.from({ length: categories.size }, (_, category) =>
    categories.root(category).replace(/.*\[(.*)\].*/, '$1'),
  )
  expect(buckets).toEqual([
    'bytes=1..2',
    'bytes=2..4',
    'bytes=4..8',
    'bytes=8..16',
    'bytes=16..32',
    'bytes=32..64',
  ])
})

test('an attribute that no span has changes nothing', () => {
  expect(plain.with({ labelBy: ['weather'] }).categories.size).toBe(1)
})
