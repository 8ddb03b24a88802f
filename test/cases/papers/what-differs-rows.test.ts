import { expect, test } from 'vitest'
import { compare } from '../../../src/comparison/comparison.ts'
import { explain } from '../../../src/explain/parameters/explain.ts'
import type { AttributeValue } from '../../../src/traces/attributes.ts'
import type { GraphTraces } from '../../../src/traces/graph-traces.ts'
import { describeWithShared } from '../../shared.ts'
import { paperCase, period, type Request, some } from './sketches.ts'

function differing(before: GraphTraces, after: GraphTraces) {
  const comparison = compare(before, after)
  const [mutation] = comparison.ranking.mutations
  return explain(comparison, mutation as never, { question: 'what-differs', sample: 'all' })
}

describeWithShared('small counts take the longer path, and the build is another one after', () => {
  test('the count tells both categories apart, the build changed with the period', async () => {
    const text = differing(...(await paperCase('what-differs-rows'))).text()
    expect(text).toContain(
      'Where WRITE_CALL DEFAULT · count is at most 4,096, requests are mutations: 1,400 of 1,400',
    )
    expect(text).toContain(
      'WRITE_CALL DEFAULT · build changed with the period alone: v1 100 % before, v2 100 % after.',
    )
    expect(text).not.toContain('build is')
  })
})

const read = (isMiss: boolean, attributes: Record<string, AttributeValue>): Request => ({
  attributes,
  steps: [['GET', 0], ['LOOKUP', 30], ...(isMiss ? [['FETCH', 200] as const] : []), ['DONE', 5]],
})

/** Of 400 reads, those of cold keys fetch; `config` is what one of the period has. */
const reads = (cold: number, config: (i: number) => AttributeValue, seed: number) =>
  period(
    some(400, (i) => {
      const isCold = (i * 7) % 400 < cold
      return read(isCold, { temperature: isCold ? 'cold' : 'warm', pool: config(i) })
    }),
    seed,
  )

test('a pool that is larger after tells nothing, what is fetched does', () => {
  const explanation = differing(
    reads(80, () => 16, 1),
    reads(280, () => 64, 2),
  )
  expect(explanation.paths[0]).toMatchObject({ predicts: 'mutation', precision: 1, recall: 1 })
  expect(explanation.paths[0]?.conditions).toMatchObject([
    { column: 'GET · temperature', levels: ['cold'] },
  ])
  expect(explanation.text()).toContain(
    'GET · pool changed with the period alone: 16 before, 64 after.',
  )
})

test('removing the parameter that tells leaves what changed with the period out', () => {
  const explanation = differing(
    reads(80, () => 'a', 1),
    reads(280, () => 'b', 2),
  )
  const without = explanation.without('GET · temperature')
  expect(without.paths).toEqual([])
  expect(without.changedWithPeriod.map(({ column }) => column)).toEqual(['GET · pool'])
  expect(without.including('GET · pool').paths[0]?.precision).toBe(0.7)
})

test('a build that part of the requests have after explains what they do', () => {
  const build = (i: number, cold: number) => ((i * 7) % 400 < cold ? 'v2' : 'v1')
  const before = period(
    some(400, () => read(false, { build: 'v1' })),
    1,
  )
  const after = period(
    some(400, (i) => read(build(i, 280) === 'v2', { build: build(i, 280) })),
    2,
  )
  const explanation = differing(before, after)
  expect(explanation.changedWithPeriod).toEqual([])
  expect(explanation.paths[0]?.conditions).toMatchObject([
    { column: 'GET · build', levels: ['v2'] },
  ])
})
