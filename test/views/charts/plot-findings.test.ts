import { expect, test } from 'vitest'
import { Interference, NO_INTERFERENCE } from '../../../src/compare/interference/interference.ts'
import { compare } from '../../../src/comparison/comparison.ts'
import { groupFindings } from '../../../src/comparison/words/find-findings.ts'
import { edgeChangesChart } from '../../../src/views/charts/edges.ts'
import { findingsChart, interferenceChart } from '../../../src/views/charts/findings.ts'
import { plot } from '../../../src/views/plot.ts'
import { compareShops } from '../../compare/findings/fixture.ts'
import { minorityPeriod } from '../../compare/steps/minority-traces.ts'
import { dataOf, expectDrawable, pick } from './fixture.ts'

const both = compareShops({}, { stockUs: 1300, payUs: 2600 })

test('bars of findings stand end to end, then the rest, then the observed change', () => {
  const chart = findingsChart(both.findings)
  const rows = dataOf(chart)[0] ?? []
  expect(pick(rows, 'kind')).toEqual([['more'], ['more'], ['unexplained'], ['observed change']])
  const [first, second, rest, whole] = rows as { startUs: number; endUs: number }[]
  expect(first?.startUs).toBe(0)
  expect(second?.startUs).toBe(first?.endUs)
  expect(rest?.startUs).toBe(second?.endUs)
  expect(rest?.endUs).toBeCloseTo(both.findings.observedChangeUs, 6)
  expect(whole).toMatchObject({ startUs: 0, endUs: both.findings.observedChangeUs })
  expectDrawable(chart)
})

test('a finding that saves time goes to the left, with a minus sign and the color of less', () => {
  const chart = findingsChart(compareShops({ stockUs: 1500 }, {}).findings)
  const [row] = dataOf(chart)[0] as {
    kind: string
    startUs: number
    endUs: number
    amount: string
  }[]
  expect(row?.kind).toBe('less')
  expect(row?.endUs).toBeLessThan(row?.startUs as number)
  expect(row?.amount).toMatch(/^−\d+ ms$/)
  expectDrawable(chart)
})

test('a finding of failures says how many more requests fail, though it has no bar', () => {
  const chart = findingsChart(compareShops({}, { failing: 0.2 }).findings)
  const [row] = dataOf(chart)[0] as { amount: string }[]
  expect(row?.amount).toMatch(/^([+−][\d.]+ m?s, )?\d+ more failed requests$/)
  expect(chart.description).toContain("kind 'errors' shows when requests failed")
  expectDrawable(chart)
})

test('smaller findings that were left out are counted', () => {
  const chart = findingsChart(groupFindings(both, { limit: 1 }))
  expect(chart.description).toContain('Counts 1 smaller finding as “unexplained”.')
  expectDrawable(chart)
})

test('without findings the chart says so', () => {
  const { findings, edges } = compareShops({}, {})
  expect(findingsChart(findings).description).toContain('No significant change.')
  const chart = edgeChangesChart(edges)
  expect(chart.description).toContain('No step changed significantly')
  expectDrawable(chart)
})

test('a changed step is a point with its interval, named by what happens and where', () => {
  const chart = edgeChangesChart(both.edges)
  expect(pick(dataOf(chart)[0], 'label', 'kind', 'requests')).toEqual([
    ['1. stock: LOOKUP call → LOOKUP reply', 'changed', 300],
    ['2. pay: CHARGE call → CHARGE reply', 'changed', 100],
  ])
  for (const row of dataOf(chart)[0] ?? []) {
    expect(row['lowUs']).toBeLessThan(row['shiftUs'] as number)
    expect(row['highUs']).toBeGreaterThan(row['shiftUs'] as number)
  }
  expectDrawable(chart)
})

test('of a comparison, a step that the first finding names is a row, though no edge changed', () => {
  const noise = { sigma: 0.3 }
  const before = minorityPeriod('b', { requests: 800, seed: 14, noise })
  const slow = { noise, share: 0.12, factor: 20 }
  const comparison = compare(
    before.traces,
    minorityPeriod('a', { requests: 800, seed: 15, ...slow }).traces,
  )
  expect(comparison.findings.findings[0]?.title).toMatch(/^s3: S3 itself takes 1\d\d ms longer/)
  expect(comparison.edges.changes).toEqual([])
  const chart = plot(comparison, 'shifts')
  const [row, ...others] = dataOf(chart)[0] ?? []
  expect(others).toEqual([])
  expect(row).toMatchObject({ kind: 'changed', from: 's3', to: 's3', slower: 'unknown' })
  expect(row?.['label']).toMatch(/^1\. s3 S3 itself in 1[1-3] % of the calls$/)
  expect(row?.['shift']).toMatch(/^\+1\d\d ms$/)
  expectDrawable(chart)
  // A step is not drawn beside its edge.
  expect(dataOf(plot(both, 'shifts'))).toEqual(dataOf(edgeChangesChart(both.edges)))
})

test('steps that changed by too little are counted, and drawn when asked for', () => {
  const { edges } = compareShops({ requests: 3000 }, { requests: 3000, stockUs: 1020 })
  expect(edgeChangesChart(edges).description).toContain('too little to matter.')
  expect(pick(dataOf(edgeChangesChart(edges, { small: true }))[0], 'kind')).toContainEqual([
    'significant, but small',
  ])
})

test('a limit of 0 is refused', () => {
  expect(() => edgeChangesChart(both.edges, { limit: 0 })).toThrow(
    'Option limit is 0. Give a whole number of steps, 1 or more.',
  )
})

test.each(['segments', 'interference', 'contributions', 'shifts'] as const)(
  '%s of nothing are a sentence alone, without an axis',
  (kind) => {
    const svg = expectDrawable(plot(compareShops({}, {}), kind))
    expect(svg).toContain('role-title-subtitle')
    expect(svg).not.toContain('role-axis')
  },
)

test('interference that was not found says what was looked at', () => {
  const described = (one: Interference) => interferenceChart(one).description
  expect(described(NO_INTERFERENCE)).toContain('No calls were examined: this needs a finding')
  const { interference } = both.findings.findings[0] ?? {}
  expect(interference?.step).toMatchObject({ service: 'stock', operation: 'LOOKUP' })
  const looked = { ...(interference as Interference), compared: [], interferers: [] }
  expect(described(new Interference({ ...looked, slowCalls: 0, usualCalls: 0 }))).toBe(
    'Fewer than 10 calls of stock LOOKUP after took longer than 95 % of those before: too few to tell what delays them.',
  )
  expect(described(new Interference({ ...looked, slowCalls: 290, usualCalls: 10 }))).toMatch(
    /^No group of other requests ran during 5 or more of 290 slow calls of stock LOOKUP after \(10 usual ones\),/,
  )
})
