import { describe, expect, test } from 'vitest'
import { compare } from '../../../src/comparison/comparison.ts'
import { restoreComparison, takeSnapshot } from '../../../src/comparison/snapshot.ts'
import { type Period, period, SERVICES } from './five-services.ts'

const before = period({ seed: 1 })
const told = (after: Omit<Period, 'seed'>, seed = 2) => {
  const comparison = compare(before, period({ seed, ...after }))
  return { comparison, findings: comparison.findings.findings }
}

describe('where all services take longer by the same factor', () => {
  const { comparison, findings } = told({ slower: () => 1.3 })
  const [first, ...others] = findings

  test('one finding says so, and those of single services stand under it', () => {
    expect(others).toEqual([])
    expect(first?.title).toBe('all 5 services: the own work of each takes about 1.3 times as long')
    expect(first?.look).toBe('what all steps share: host, runtime, load')
    expect(first?.facts).toContain('on all 3 hosts')
    expect(first?.consequences.flatMap(({ services }) => services[0]).sort()).toEqual(SERVICES)
  })

  test('it adds what those under it add, once', () => {
    const { contributionUs = 0, consequences = [], size, requests = 0 } = first ?? {}
    const sum = consequences.reduce((all, one) => all + one.contributionUs, 0)
    expect(contributionUs).toBeCloseTo(sum, 3)
    expect((size?.value ?? 0) * requests).toBeCloseTo(sum, 3)
    expect(Math.abs(sum / comparison.findings.observedChangeUs - 1)).toBeLessThan(0.1)
  })

  test('a snapshot says the same', () => {
    const snapshot = takeSnapshot(comparison, { ids: true, latenciesOf: () => true })
    const restored = restoreComparison(JSON.parse(JSON.stringify(snapshot)))
    expect(restored.findings.text()).toBe(comparison.findings.text())
  })
})

test('all that take less by the same factor are told as one, too', () => {
  expect(told({ slower: () => 0.7 }).findings.map(({ title }) => title)).toEqual([
    'all 5 services: the own work of each takes about 0.72 times as long',
  ])
})

test.each([
  ['by another factor', { slower: (one: string) => (one === 'price' ? 3 : 1.3) }],
  ['in its database', { slower: () => 1.3, database: (one: string) => (one === 'price' ? 6 : 1) }],
])('a service that is slower %s stands beside the others', (_, after) => {
  const { findings } = told(after)
  expect(findings.map(({ where }) => where.replace(/all 5|4 of 5/, 'most')).sort()).toEqual([
    'most services',
    'price',
  ])
  const most = findings.find(({ where }) => where.includes('services'))
  expect(most?.consequences.flatMap(({ services }) => services)).not.toContain('price')
})

test.each([
  ['some of the services', (one: string) => (SERVICES.indexOf(one) < 2 ? 1.3 : 1)],
  ['services by other factors', (one: string) => 1.2 + 0.4 * SERVICES.indexOf(one)],
])('%s are no slowdown of all', (_, slower) => {
  const { findings } = told({ slower })
  expect(findings.length).toBeGreaterThan(1)
  expect(findings.map(({ where }) => where).join()).not.toContain('services')
})

describe.each([
  { seeds: [2], tags: [] },
  { seeds: [3, 4, 5, 6, 7, 8, 9, 10, 11], tags: ['full'] },
])('of $seeds.length seeds', ({ seeds, tags }) => {
  test('periods alike have no such finding', { tags }, () => {
    for (const seed of seeds) expect(told({}, seed).findings).toEqual([])
  })
})
