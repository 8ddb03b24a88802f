import { describe, expect, test } from 'vitest'
import { type EdgeChange, findEdgeChanges } from '../../../src/compare/edges/find-edge-changes.ts'
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
    })
  })

  test('only the changed one is called changed, with its shift and the interval of that', () => {
    const [change, ...others] = edges.changes
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
    expect(lookup).toMatchObject({ significant: true, changed: false })
    const asked = findEdgeChanges(small.categories, { minimumEffect: 0, minimumShare: 0 })
    expect(asked.changes.map(({ from }) => from)).toContain('stock LOOKUP call')
  })

  test('the observed change does not count unequal load', () => {
    const { observedChangeUs, usualUs } = compareShops({}, { requests: 150 }).edges
    expect(Math.abs(observedChangeUs) / usualUs).toBeLessThan(0.02)
  })

  test('the breakdown adds up to the mean response time of each period', () => {
    const { flows } = comparison
    const mean = (from: number, to: number) =>
      flows.responseTimeUs.slice(from, to).reduce((sum, time) => sum + time, 0) / (to - from)
    const table = edges.breakdown()
    const sum = (name: string) =>
      (table.array(name) as Float64Array).reduce((total, value) => total + value, 0)
    expect(sum('beforeUs')).toBeCloseTo(mean(0, 300), 6)
    expect(sum('afterUs')).toBeCloseTo(mean(300, 600), 6)
    expect([table.get('service', 0), table.get('kind', 0)]).toEqual(['pay', 'self'])
  })

  test.each([
    [{ alpha: 0 }, 'Option alpha is 0. Give a level between 0 and 1.'],
    [{ minimumEffect: -1 }, 'Option minimumEffect is -1. Give a share, 0 or more.'],
    [{ minimumShare: -1 }, 'Option minimumShare is -1. Give a share, 0 or more.'],
  ])('refuses %o', (options, text) => {
    expect(() => findEdgeChanges(comparison.categories, options)).toThrow(text)
  })
})
