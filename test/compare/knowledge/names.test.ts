import { expect, test } from 'vitest'
import { compare } from '../../../src/compare/comparison.ts'
import { type Knowledge, NO_KNOWLEDGE } from '../../../src/compare/knowledge/knowledge.ts'
import { nameTraces, nameType, withoutNames } from '../../../src/compare/knowledge/names.ts'
import { restoreComparison, takeSnapshot } from '../../../src/compare/snapshot.ts'
import { operationName } from '../../../src/flows/node-labels.ts'
import { makeGraphs } from '../../make-traces.ts'
import { compareShops, type Shop, shopPeriod } from '../findings/fixture.ts'

const said = { by: 'Ann', at: '2026-09-03T10:00Z' }

function named(names: Readonly<Record<string, string>>): Knowledge {
  const list = Object.entries(names).map(([about, name]) => ({ about, name, ...said }))
  return { ...NO_KNOWLEDGE, names: list }
}

const knowledge = named({
  'service:stock': 'warehouse "A"',
  'service:shop': 'a shop',
  'step:pay CHARGE': 'charge a card',
})

test('names of services and steps stand in findings, tables and pages, beside what was recorded', () => {
  const comparison = compareShops({}, { payUs: 3100, stockUs: 1500 }).with({ knowledge })
  const text = comparison.findings.text()
  expect(text).toContain('warehouse "A" (stock): LOOKUP itself takes')
  expect(text).toContain('pay: charge a card (CHARGE) itself takes')
  const [root] = comparison.categories.table().array('root') as string[]
  expect(root).toBe('a shop (shop) GET call')
  const page = restoreComparison(takeSnapshot(comparison, { ids: true, latenciesOf: () => true }))
  expect(page.findings.text()).toBe(text)
  expect(comparison.where('stock is called').flows.size).toBe(comparison.flows.size)
})

test.each<[change: string, after: Shop]>([
  ['slower services', { payUs: 3100, stockUs: 1500, networkUs: 180 }],
  ['other calls', { archive: 0.4, payEvery: 2 }],
  ['failures', { failing: 0.3 }],
])('findings of %s keep their ids when names are given', (_, after) => {
  const comparison = compareShops({}, after)
  const idsOf = ({ findings }: typeof comparison) =>
    findings.findings.flatMap(({ id, consequences }) => [id, ...consequences.map((one) => one.id)])
  expect(idsOf(comparison).length).toBeGreaterThan(0)
  const shown = comparison.with({ knowledge })
  expect(shown.findings.text()).not.toBe(comparison.findings.text())
  expect(idsOf(shown).sort()).toEqual(idsOf(comparison).sort())
})

test('trace points, ids in names, and types of requests have names as well', () => {
  const points = makeGraphs([{ labels: ['sn1__t7__READ', 'sn1__t7__REPLY'], edges: [[0, 1]] }])
  const reading = named({ 'step:READ': 'read a block' })
  expect(nameTraces(points, reading).labels).toEqual([
    'sn1__t7__read a block (READ)',
    'sn1__t7__REPLY',
  ])
  const users = named({ 'step:web GET /users/#': 'one user', 'service:web': 'front' })
  expect(nameType(users, 'web GET /users/17')).toBe('front (web) one user (GET /users/17)')
  expect(nameType(users, 'other GET')).toBe('other GET')
  expect(withoutNames('front (web) one user (GET /users/17)', users)).toBe('web GET /users/17')
  expect(nameTraces(points, NO_KNOWLEDGE)).toBe(points)
  const grpc = '/shop.v1.Catalog/GetProduct'
  expect(operationName({ operation: grpc })).toBe('GetProduct')
  expect(operationName({ operation: `find it (${grpc})` })).toBe('find it (GetProduct)')
})

test('findings of trace points keep their ids when names are given', () => {
  const period = (share: number) =>
    makeGraphs(
      Array.from({ length: 200 }, (_, i) => {
        const reads = i % 100 < share
        const labels = ['READ', 'CACHE', ...(reads ? ['DISK'] : []), 'REPLY']
        const edges = labels.slice(1).map((_, at) => [at, at + 1] as const)
        return { labels: labels.map((label) => `sn1__t7__${label}`), edges, startUs: i * 1000 }
      }),
    )
  const points = compare(period(10), period(60))
  const disks = named({ 'step:DISK': 'a disk', 'step:READ': 'zero' })
  const [finding] = points.findings.findings
  const [shown] = points.with({ knowledge: disks }).findings.findings
  expect(shown?.title).toBe('zero (READ): requests now also do a disk (DISK)')
  expect(shown?.id).toBe(finding?.id)
})

test('stages are shared unless a name changes', () => {
  const comparison = compare(shopPeriod(), shopPeriod({ seed: 2 }), { knowledge })
  expect(comparison.with({ knowledge: { ...knowledge, notes: [] } }).flows).toBe(comparison.flows)
  expect(comparison.with({ knowledge: null }).flows).not.toBe(comparison.flows)
})
