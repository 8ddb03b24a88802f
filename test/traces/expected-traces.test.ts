import { describe, expect, test } from 'vitest'
import { categorize } from '../../src/compare/categories/categorize.ts'
import { compare } from '../../src/comparison/comparison.ts'
import { buildFlows } from '../../src/flows/build-flows.ts'
import { quantile } from '../../src/stats/quantile.ts'
import { expectedTraces, type ServiceModel } from '../../src/traces/expected-traces.ts'

const MODEL: ServiceModel = {
  SEARCH: { service: 'frontend', workUs: 800, calls: ['AUTH', ['RANK', 'SPELL']] },
  AUTH: { service: 'auth', workUs: { medianUs: 300, p99Us: 900 } },
  RANK: { service: 'ranker', workUs: 1500, calls: ['ROWS', { call: 'PREFETCH', share: 0.5 }] },
  SPELL: { service: 'speller', workUs: [200, 250, 300] },
  ROWS: { service: 'table', operation: 'READ', workUs: 1200 },
  PREFETCH: { service: 'table', workUs: 500 },
}
const against = (model: ServiceModel, { seed = 2, networkUs = 100 } = {}) =>
  compare(
    expectedTraces(MODEL, { networkUs }),
    expectedTraces(model, { networkUs, seed, name: 'observed' }),
  ).findings.findings

describe('a model as the period before', () => {
  test.each([2, 3, 4, 5, 6])(
    'finds nothing where the system does what it expects (seed %i)',
    (seed) => {
      expect(against(MODEL, { seed })).toEqual([])
    },
  )

  test('finds the one step that takes longer than expected, by how much', () => {
    const slower = { ...MODEL, ROWS: { ...MODEL['ROWS'], workUs: 2400 } } as ServiceModel
    const found = against(slower)
    expect(found).toHaveLength(1)
    expect(found[0]).toMatchObject({ kind: 'latency', services: ['table'], operation: 'READ' })
    expect(found[0]?.steps[0]?.shiftUs).toBeGreaterThan(1000)
    expect(found[0]?.steps[0]?.shiftUs).toBeLessThan(1400)
  })

  test('finds the one call that is made more often than expected', () => {
    const calls = ['ROWS', { call: 'PREFETCH', share: 0.9 }]
    const rank = { service: 'ranker', workUs: 1500, calls }
    const found = against({ ...MODEL, RANK: rank })
    expect(found.map(({ kind, title }) => `${kind} ${title}`)).toEqual([
      expect.stringMatching(/^structure ranker: RANK .*table PREFETCH/),
    ])
  })
})

describe('expected traces', () => {
  const responsesOf = (model: ServiceModel, options = {}) =>
    buildFlows(expectedTraces(model, { requests: 4000, ...options })).responseTimeUs.toSorted()

  test('have the structure of the model, with optional calls in their share of requests', () => {
    const categories = categorize(buildFlows(expectedTraces(MODEL, { requests: 2000 })))
    expect(categories.size).toBe(2)
    expect(Math.abs(categories.count(0, 0) - 1000)).toBeLessThan(70)
  })

  test('take the times of the model', () => {
    const spread = responsesOf({ A: { service: 'a', workUs: 1000 } })
    expect(quantile(spread, 0.5) / 1000).toBeCloseTo(1, 1)
    const tailed = responsesOf({ A: { service: 'a', workUs: { medianUs: 1000, p99Us: 5000 } } })
    expect(quantile(tailed, 0.99) / 5000).toBeCloseTo(1, 0)
    expect(new Set(responsesOf({ A: { service: 'a', workUs: [10, 20] } }))).toEqual(
      new Set([10, 20]),
    )
  })

  test('wait for the slowest of calls made at the same time, and for each of those in turn', () => {
    const leaves = { B: { service: 'b', workUs: 1000 }, C: { service: 'c', workUs: 3000 } }
    const still = { spread: 0, networkUs: 0, requests: 1 }
    const root = { service: 'a', workUs: 10 }
    expect(responsesOf({ A: { ...root, calls: [['B', 'C']] }, ...leaves }, still)[0]).toBe(3010)
    expect(responsesOf({ A: { ...root, calls: ['B', 'C'] }, ...leaves }, still)[0]).toBe(4010)
    const [twice, one] = [[{ call: 'B', times: 2 }], { B: leaves.B }]
    expect(responsesOf({ A: { ...root, calls: twice }, ...one }, still)[0]).toBeCloseTo(2010)
  })

  test('begin with operations that no other calls, as often as they say', () => {
    const { labels, shapes, shapeOf } = buildFlows(
      expectedTraces(
        { A: { service: 'a', workUs: 1, requests: 3 }, B: { service: 'b', workUs: 1 } },
        { requests: 4000 },
      ),
    )
    const ofA = [...shapeOf].filter((shape) => {
      const [root = 0] = shapes.labels(shape)
      return labels.get(root).service === 'a'
    })
    expect(ofA.length / 4000).toBeCloseTo(0.75, 1)
  })

  test('are the same for the same seed', () => {
    expect(responsesOf(MODEL)).toEqual(responsesOf(MODEL))
    expect(responsesOf(MODEL)).not.toEqual(responsesOf(MODEL, { seed: 2 }))
  })

  test.each<[unknown, string]>([
    [{ A: { service: 'a', workUs: 1, calls: ['B'] } }, "'B' is no operation of the model."],
    [
      {
        A: { service: 'a', workUs: 1, calls: ['B'] },
        B: { service: 'b', workUs: 1, calls: ['A'] },
      },
      'Operations of the model call each other in a circle: A → B → A.',
    ],
    [{ A: { service: 'a', workUs: 0 } }, 'Option workUs of A is 0.'],
    [{ A: { service: 'a', workUs: { medianUs: 5, p99Us: 1 } } }, 'Give a time above 0 in µs'],
    [{ A: { workUs: 1 } }, 'an object with service, workUs'],
    [
      {
        A: { service: 'a', workUs: 1, calls: [{ call: 'B', share: 2 }] },
        B: { service: 'b', workUs: 1 },
      },
      'Option share is 2.',
    ],
    [{}, 'No operation of the model takes requests.'],
  ])('%j is refused', (model, message) => {
    expect(() => expectedTraces(model as ServiceModel)).toThrow(message)
  })
})
