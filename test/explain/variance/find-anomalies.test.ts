import { expect, test } from 'vitest'
import { categorize } from '../../../src/compare/categories/categorize.ts'
import { findVariance } from '../../../src/explain/variance/find-variance.ts'
import { buildFlows } from '../../../src/flows/build-flows.ts'
import { randomSource } from '../../../src/stats/random.ts'
import { chains, makeGraphs, makeSpans } from '../../make-traces.ts'
import { requests } from '../parameters/fixture.ts'

const SLOW = 8
const RARE = [100, 200]

/** 300 requests, eight slow in the store where the cache misses, two that ask the disk. */
const spans = requests(300, (i) => {
  const isSlow = i % 37 === 5
  return {
    web: { size: 64 * (1 + (i % 3)) },
    store: { hit: !isSlow, zone: `zone-${i % 4}` },
    storeUs: (isSlow ? 5000 : 100) + (i % 7) * 3,
    disk: RARE.includes(i),
  }
})
const found = findVariance(categorize(buildFlows(makeSpans(spans)))).anomalies()

test('slow requests far out are named with the edge and the attribute that set them apart', () => {
  const [slow = expect.fail()] = found.anomalies
  expect(slow).toMatchObject({ requests: SLOW, of: 300 - RARE.length })
  expect([slow.medianUs > 5000, slow.usualUs < 200]).toEqual([true, true])
  expect(slow.edges[0]).toMatchObject({ from: 'store get call', to: 'store get reply' })
  expect(slow.edges[0]?.share).toBeCloseTo(1, 2)
  const [path] = slow.explanation.paths
  expect(path).toMatchObject({ predicts: 'mutation', requests: SLOW, precision: 1, recall: 1 })
  expect(path?.conditions[0]?.column).toBe('store get · hit')
})

test('the text tells of them, and the table has a row each', () => {
  const text = found.text()
  expect(text).toContain('Slow requests, far out in their category: 8 requests in 1 category.')
  expect(text).toContain('100 % of the excess on store get call → store get reply')
  expect(text).toContain('Where store get · hit is false, requests are among the slowest: 8 of 8')
  expect(found.table().numRows()).toBe(1)
})

test('log-normal times have nothing far out', () => {
  const random = randomSource(3)
  const times = Array.from({ length: 500 }, () => random.logNormal(5, 1))
  const calm = findVariance(categorize(buildFlows(makeGraphs(chains(['a', 'b'], times)))))
  expect(calm.anomalies().anomalies).toEqual([])
  expect(calm.anomalies().text()).toBe('Slow requests, far out in their category: none.')
})
