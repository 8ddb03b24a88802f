import { describe, expect, test } from 'vitest'
import type { Comparison } from '../../../src/comparison/comparison.ts'
import { readOptions } from '../../../src/core/options.ts'
import { signedDuration } from '../../../src/core/words.ts'
import { explore } from '../../../src/views/explore.ts'
import {
  RANKING_WIDGET_OPTIONS,
  rankingData,
  rankingEntries,
  thresholdCode,
  thresholdCurve,
  thresholdState,
} from '../../../src/views/widgets/ranking/ranking-model.ts'
import {
  type TableColumn,
  tableColumns,
  valueAt,
} from '../../../src/views/widgets/table/table-columns.ts'
import { compareShops } from '../../compare/findings/fixture.ts'
import { enterpriseIncident } from '../../compare/segments/incident.ts'
import { slower } from './ranking-fixture.ts'

const dataOf = (comparison: Comparison, limit = 30) =>
  rankingData(comparison, readOptions(RANKING_WIDGET_OPTIONS, { limit, flows: 2, explanations: 1 }))

/** Structural mutations with precursors. */
const other = compareShops({ archive: 0.1 }, { archive: 0.5, ways: 2 })

describe('the data of the ranking browser', () => {
  test('has details for each row of the ranking, up to the limit', { tags: 'full' }, () => {
    const { details } = dataOf(slower, 5)
    expect(details.map(({ category }) => category)).toEqual(
      slower.ranking.mutations.slice(0, 5).map(({ category }) => category),
    )
  })

  test('has the edges of the edge table in its order, changed ones first', () => {
    for (const { category, edges, changedEdges } of dataOf(slower, 5).details) {
      const table = slower.responseTime.edgeTable(category)
      const columns = tableColumns(edges)
      const values = (name: string) => {
        const column = columns.find((each) => each.name === name) as TableColumn
        return Array.from({ length: edges.rows }, (_, row) => valueAt(column, row))
      }
      expect(values('from')).toEqual(table.array('from'))
      expect(values('changed')).toEqual(Array.from(table.array('changed')))
      expect(values('afterMeanUs')).toEqual(Array.from(table.array('afterMeanUs')))
      expect(edges.totalRows).toBe(table.numRows())
      expect(changedEdges).toBe(values('changed').filter((changed) => changed === true).length)
    }
  })

  test('has flows for as many mutations as asked for, as explore compares them', {
    tags: 'full',
  }, () => {
    const { details } = dataOf(other)
    expect(details.map(({ flows }) => flows !== null).lastIndexOf(true)).toBe(1)
    const [mutation = null] = other.ranking.mutations
    expect(details[0]?.flows).toEqual(explore(other, 'flows', { mutation }).data)
  })

  test('has no numbers that JSON does not know', () => {
    const { details } = dataOf(other)
    expect(JSON.parse(JSON.stringify(details))).toEqual(details)
  })
})

describe('the entries of the ranking browser', () => {
  test('are the rows of the ranking, up to the limit', () => {
    expect(rankingEntries(slower, 5).map(({ rank }) => rank)).toEqual([1, 2, 3, 4, 5])
  })

  test('have the response times of what a structural mutation was before', () => {
    const [first] = rankingEntries(other, 30)
    const precursor = other.ranking.mutations[0]?.precursors[0]?.category ?? -1
    expect(first?.before.category).toBe(precursor)
    expect(first?.before.count).toBe(other.categories.count(precursor, 0))
    expect(first?.after.category).toBe(first?.category)
    const quantilesUs = first?.after.quantilesUs ?? []
    expect(quantilesUs).toHaveLength(41)
    expect([...quantilesUs].sort((a, b) => a - b)).toEqual(quantilesUs)
  })
})

describe('the curve of thresholds', () => {
  test('counts what a comparison with each threshold finds', () => {
    const { thresholds, mutations, precursors } = thresholdCurve(other)
    for (const [i, smPThreshold] of thresholds.entries()) {
      const { structural } = other.with({ smPThreshold })
      expect([mutations[i], precursors[i]]).toEqual([
        structural.mutations.length,
        structural.precursors.length,
      ])
    }
    expect([mutations.at(-1), precursors.at(-1)]).toEqual([0, 0])
  })
})

describe('the code of a threshold', () => {
  test('names only the options that changed', () => {
    const from = thresholdState(other)
    expect(thresholdCode('comparison', from, from)).toBe('comparison')
    expect(thresholdCode('mine', from, { ...from, smPThreshold: 'auto', oneToN: false })).toBe(
      "mine.with({ smPThreshold: 'auto', oneToN: false })",
    )
  })
})

describe('an address of traces', () => {
  test.each([
    'javascript:alert("{traceId}")',
    'https://{traceId}.example/',
    'https://user:secret@traces.example/{traceId}',
    'https://traces.example/',
    '{traceId}',
  ])('%s is refused', (traceUrl) => {
    expect(() => explore(slower, { traceUrl })).toThrow('Option traceUrl is')
  })
})

describe('the ranking browser', () => {
  test('checks its options', () => {
    expect(() => explore(slower, { limit: 0 })).toThrow('Option limit is 0.')
    expect(() => explore(slower, { rows: 3 } as never)).toThrow('no option rows')
  })

  test('is a picture of the first mutations where no script runs', () => {
    const svg = explore(other).svg()
    const structural = other.ranking.mutations.filter(({ kind }) => kind === 'structural')
    expect(svg.match(/>structural</g)).toHaveLength(structural.length)
    expect(svg).not.toMatch(/NaN|undefined/)
    const first = other.ranking.mutations[0]
    expect(svg).toContain(signedDuration(first?.contributionUs ?? 0))
  })

  test('lists findings, and in which requests they are', () => {
    const confined = enterpriseIncident()
    const { findings } = dataOf(confined)
    expect(findings[0]).toMatchObject({
      what: 'store: query itself takes 242 ms longer',
      where: 'only where tenant.tier = enterprise',
      segment: { inside: '57.9 ms → 300 ms', ofChange: 1 },
    })
    expect(dataOf(other).findings[0]).toMatchObject({ where: 'all', segment: undefined })
    const svg = explore(confined).svg()
    expect(svg).toContain('in which requests')
  })

  test('is a picture of the curve of thresholds too, when it is open', () => {
    const { 'text/html': html, 'image/svg+xml': svg } = explore(other, {
      threshold: true,
    }).mimeBundle()
    expect(html).toMatch(
      /^<div [^>]*data-flowdelta-widget="[^"]+"><img src="data:image\/svg\+xml;base64,/,
    )
    expect(svg).toContain('Chance alone reaches')
  })

  test('draws and says so when nothing is ranked', () => {
    const none = compareShops({}, { payUs: 2000 }).with({ alpha: 1e-9, smPThreshold: 1e6 })
    expect(none.ranking.mutations).toEqual([])
    expect(explore(none).svg()).toContain('Nothing is ranked.')
  })
})
