import { beforeEach, expect, test } from 'vitest'
import { meaningOf, partsOf } from '../../../src/compare/categories/parts.ts'
import { type Knowledge, NO_KNOWLEDGE } from '../../../src/compare/knowledge/knowledge.ts'
import { proposeNames } from '../../../src/compare/nameable.ts'
import { explore } from '../../../src/views/explore.ts'
import { connectCharts } from '../../../src/views/notebook/connect-charts.ts'
import { plot } from '../../../src/views/plot.ts'
import { compareShops } from '../findings/fixture.ts'

beforeEach(connectCharts)

const comparison = compareShops({ archive: 0.3 }, { archive: 0.3, stockUs: 1500 })

function calling(about: string, name: string): Knowledge {
  return { ...NO_KNOWLEDGE, names: [{ about, name, by: 'Ann', at: '2026-09-03T10:00Z' }] }
}

test('what several categories do alike is proposed for a name, services and steps as well', () => {
  const { things } = proposeNames(comparison)
  const parts = things.filter(({ about }) => about.startsWith('part-'))
  expect(parts.map(({ what, categories }) => [what, categories])).toEqual([
    ['call LOOKUP with LOOKUP', 4],
    ['call CHARGE with CHARGE', 2],
    ['call READ with READ', 2],
  ])
  expect(things.find(({ about }) => about === 'service:stock')?.what).toBe('stock')
  expect(things.find(({ about }) => about === 'step:pay CHARGE')?.categories).toBe(2)
  expect(proposeNames(comparison).text()).toContain('service:stock  stock (600 requests')
})

test('a category is told by the names of its parts, in findings, tables and charts', () => {
  const { things } = proposeNames(comparison)
  const about = things.find(({ what }) => what.startsWith('call READ'))?.about ?? ''
  const named = comparison.with({ knowledge: calling(about, 'look into the archive') })
  const meanings = named.categories.table().array('meaning') as string[]
  expect(meanings.filter((meaning) => meaning === 'look into the archive')).toHaveLength(2)
  expect(meanings.filter((meaning) => meaning === '')).toHaveLength(2)
  expect(comparison.categories.table().columnNames()).not.toContain('meaning')
  expect(named.ranking.table().array('meaning')).toContain('look into the archive')
  expect(explore(named).svg()).toMatch(/>shop GET: look into the archive \(\d\)</)
  expect(named.findings.text()).toContain('among them: look into the archive')
  const withArchive = meanings.indexOf('look into the archive')
  const { title } = plot(named, 'response-times', { category: withArchive })
  expect(title).toContain('shop GET: look into the archive')
})

test('a part keeps its id in other data: other services beside it, other names, any order and number', () => {
  const keyOf = (of: typeof comparison) =>
    proposeNames(of).things.find(({ what }) => what.startsWith('call LOOKUP'))?.about
  expect(keyOf(compareShops({ payEvery: 2, ways: 2 }, { archive: 0.5 }))).toBe(keyOf(comparison))
  const named = comparison.with({ knowledge: calling('service:stock', 'warehouse') })
  expect(keyOf(named)).toBe(keyOf(comparison))
  const folded = comparison.with({ fold: 'log2', concurrency: 'none' })
  expect(keyOf(folded)).toBe(keyOf(comparison))
  expect(partsOf(comparison.categories, 0).at(-1)?.calls).toBe(1)
  expect(meaningOf(comparison.categories, 0)).toBe('')
})
