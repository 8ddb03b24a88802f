import { expect, test } from 'vitest'
import { categorize } from '../../../src/compare/categories/categorize.ts'
import { compare } from '../../../src/compare/comparison.ts'
import { diagnoseExplosion } from '../../../src/explain/explosion/diagnose-explosion.ts'
import { buildFlows } from '../../../src/flows/build-flows.ts'
import { makeGraphs, makeSpans } from '../../make-traces.ts'

/** Requests of two tenants, one five times as slow, from some clients to one of some hosts. */
function period({ requests = 120, hostOf = (_request: number): number => 0 } = {}) {
  return makeSpans(
    Array.from({ length: requests }, (_, i) => ({
      trace: `t${i}`,
      id: 'web',
      host: `web-${hostOf(i)}`,
      startUs: 0,
      endUs: (i % 2 ? 100 : 500) + (i % 7),
      attributes: { tenant: i % 2 ? 'gold' : 'free', client: `c${i % 3}`, request: i },
    })),
  )
}

test('an attribute that times differ by is proposed as a split, with what it does', () => {
  const comparison = compare(period(), period())
  const diagnosis = diagnoseExplosion(comparison)
  expect(diagnosis.proposals.map(({ change, by }) => [change, by])).toEqual([['split', 'tenant']])
  const [split] = diagnosis.proposals
  expect(split).toMatchObject({ categories: 2, testableShare: 1, options: { labelBy: ['tenant'] } })
  expect(split?.medianC2).toBeLessThan(0.001)
  expect(diagnosis.text()).toContain(
    "Split by tenant (`labelBy: ['tenant']`): 2 categories, 100 % of requests testable instead of 100 %, C² 0.0000",
  )
  expect(comparison.with({ labelBy: ['tenant'] }).categories.size).toBe(split?.categories)
  expect(diagnoseExplosion(comparison, { splits: 0 }).proposals).toEqual([])
})

test('a split that leaves fewer requests testable is none, and what is in labels is not tried', () => {
  const few = { requests: 12 }
  expect(diagnoseExplosion(compare(period(few), period(few))).proposals).toEqual([])
  const split = compare(period(), period(), { labelBy: ['tenant'] })
  const tried = diagnoseExplosion(split).splits.map(({ attribute }) => attribute)
  expect(tried).not.toContain('tenant')
})

test('a merge is proposed where C² does not grow, and a remedy says what it gains and loses', () => {
  const spread = { hostOf: (request: number) => Math.floor(request / 2) }
  const hosts = diagnoseExplosion(compare(period(spread), period(spread)))
  expect(hosts.proposals.map(({ change, by }) => [change, by])).toEqual([
    ['merge', 'omit hosts'],
    ['merge', 'host classes'],
  ])
  const rows = hosts.table().objects() as { remedy: string; gains: string; loses: string }[]
  expect(rows.find(({ remedy }) => remedy === 'omit hosts')).toMatchObject({
    gains: 'testable requests and C²',
    loses: '',
  })
  const apart = { hostOf: (request: number) => request % 2 }
  const rowsApart = diagnoseExplosion(compare(period(apart), period(apart)))
    .table()
    .objects()
  expect(rowsApart).toContainEqual(
    expect.objectContaining({ remedy: 'omit hosts', gains: '', loses: 'C²' }),
  )
})

test('trace points have no attributes of requests to split by that labels could take', () => {
  const graphs = makeGraphs([{ labels: ['A', 'B'], edges: [[0, 1]] }])
  expect(diagnoseExplosion(categorize(buildFlows(graphs))).splits).toEqual([])
})
