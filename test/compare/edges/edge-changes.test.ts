import { max, rollup, sum } from 'd3-array'
import { describe, expect, test } from 'vitest'
import { type EdgeChange, findEdgeChanges } from '../../../src/compare/edges/find-edge-changes.ts'
import { compare } from '../../../src/comparison/comparison.ts'
import { findCallingContexts } from '../../../src/explain/calling-contexts/find-calling-contexts.ts'
import { ganttCalls } from '../../../src/views/widgets/gantt/gantt-model.ts'
import { NOON_US } from '../../make-traces.ts'
import { call, record } from '../../worlds.ts'
import { compareShops } from '../findings/fixture.ts'

describe('edges pooled over categories', () => {
  const comparison = compareShops({}, { payUs: 2600 })
  const { edges } = comparison
  const named = (from: string, to: string) =>
    edges.edges.find((edge) => edge.from === from && edge.to === to)

  test('an edge of two categories is one', () => {
    expect(comparison.categories.size).toBe(2)
    expect(named('stock LOOKUP call', 'stock LOOKUP reply')).toMatchObject({
      kind: 'self',
      categories: [0, 1],
      comparedCategories: 2,
      beforeRequests: 300,
      afterRequests: 300,
      changed: false,
      why: 'may be chance',
    })
  })

  test('only the changed one is called changed, with its shift and the interval of that', () => {
    const [change, ...others] = edges.changes
    expect(change?.why).toBeNull()
    expect(others).toEqual([])
    expect(change).toBe(named('pay CHARGE call', 'pay CHARGE reply'))
    const { interval } = change as EdgeChange
    const [low, high] = interval as readonly [number, number]
    expect(low).toBeLessThan(600)
    expect(high).toBeGreaterThan(600)
    expect(change?.contributionUs).toBeCloseTo(100 * (change?.shiftUs as number), 3)
    expect(change?.probabilitySlower).toBeCloseTo(1, 2)
  })

  test('work and the way between services are told apart', () => {
    expect(named('shop call CHARGE call', 'pay CHARGE call')?.kind).toBe('network')
    expect(named('pay CHARGE reply', 'shop call CHARGE reply')?.kind).toBe('network')
    expect(named('shop call LOOKUP reply', 'shop call CHARGE call')?.kind).toBe('self')
  })

  test('another mix of requests is no change of an edge', () => {
    expect(compareShops({ payEvery: 4 }, { payEvery: 2 }).edges.changes).toEqual([])
  })

  test('a change too small to matter is significant at most', () => {
    const small = compareShops({ requests: 3000 }, { requests: 3000, stockUs: 1020 }).edges
    const lookup = small.edges.find(
      ({ from, to }) => /LOOKUP call$/.test(from) && /stock LOOKUP reply$/.test(to),
    )
    expect(lookup).toMatchObject({ significant: true, changed: false, why: 'too small' })
    const rows = small.table().objects() as { changed: boolean; why: string | null }[]
    for (const { changed, why } of rows) expect(why === null).toBe(changed)
    const rarely = findEdgeChanges(small.categories, { minimumEffect: 0, minimumShare: 0.1 })
    expect(rarely.edges.find(({ from }) => from === lookup?.from)?.why).toBe('too small in all')
    const asked = findEdgeChanges(small.categories, { minimumEffect: 0, minimumShare: 0 })
    expect(asked.changes.map(({ from }) => from)).toContain('stock LOOKUP call')
  })

  test('the observed change does not count unequal load', () => {
    const { observedChangeUs, usualUs } = compareShops({}, { requests: 150 }).edges
    expect(Math.abs(observedChangeUs) / usualUs).toBeLessThan(0.02)
  })

  test.each([
    [{ alpha: 0 }, 'Option alpha is 0. Give a level between 0 and 1.'],
    [{ minimumEffect: -1 }, 'Option minimumEffect is -1. Give a share, 0 or more.'],
    [{ minimumShare: -1 }, 'Option minimumShare is -1. Give a share, 0 or more.'],
  ])('refuses %o', (options, text) => {
    expect(() => findEdgeChanges(comparison.categories, options)).toThrow(text)
  })
})

/*
 * Of every ten requests, the server of one hangs for eight seconds; its caller gives up after one:
 *
 *   shop    GET      |--------------|
 *   shop    call       |-----------|        fails
 *   vendor  POST         |----------------------------------|
 *   vendor  query          |------------------------------|
 */
function withHangs(name: string, every: number) {
  return record({ seed: 1, requests: 60, everyUs: 10e6, fromUs: NOON_US, name }, (r) => {
    const fails = r.index % every === 0
    const [waitedUs, serverUs] = fails ? [1_000_000, 8_000_000] : [20_000, 19_000]
    const client = { us: [500, waitedUs - serverUs - 500], operation: 'POST', fails } as const
    const query = call('vendor', serverUs - 2000)
    return call('shop GET', [1000, 1000], {}, [call('vendor', 2000, { client }, [query])])
  })
}

test('what a server does after its caller gave up is no time of the request', () => {
  const comparison = compare(withHangs('before', 20), withHangs('after', 10))
  const spentUs = rollup(
    comparison.account.steps,
    (steps) => Math.round(sum(steps, ({ afterUs }) => afterUs)),
    ({ service, kind }) => `${service} ${kind}`,
  )
  expect(Object.fromEntries(spentUs)).toEqual({
    'shop work': 2000,
    // 0.5 ms there, and of those that are not given up as much back.
    'vendor call': Math.round(500 + 0.9 * 500),
    'vendor work': Math.round(0.9 * 19_000 + 0.1 * 999_500),
  })
  const contexts = findCallingContexts(comparison.flows).contexts
  const vendorUs = sum(contexts, ({ service, after }) => (service === 'vendor' ? after.selfUs : 0))
  expect(Math.round(vendorUs / 60)).toBe(0.9 * 19_000 + 0.1 * 999_500)
  const hanging = comparison.flows.ids.indexOf('after-0')
  const stretches = ganttCalls(comparison.flows, [hanging]).flatMap(({ critical }) => critical)
  expect(max(stretches, ([, endUs]) => endUs)).toBeCloseTo(1_002_000, 6)
  expect(sum(stretches, ([startUs, endUs]) => endUs - startUs)).toBeCloseTo(1_002_000, 6)
})
