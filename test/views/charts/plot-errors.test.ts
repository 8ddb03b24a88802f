import { expect, test } from 'vitest'
import { plot } from '../../../src/views/plot.ts'
import { compareShops } from '../../compare/findings/fixture.ts'
import { dataOf, expectDrawable, smallComparison } from './fixture.ts'

const comparison = compareShops({ requests: 600 }, { requests: 600, failing: 0.1 })
const chart = plot(comparison, 'errors')

test('all requests, and calls of findings of errors, fail in shares that add up', () => {
  const panels = dataOf(chart).filter((rows) => rows.some(({ rate }) => rate !== undefined))
  expect(panels).toHaveLength(2)
  const failed = Array.from(comparison.flows.period.keys()).filter((request) =>
    comparison.flows.outcomes?.failed(request),
  )
  for (const rows of panels) {
    expect(rows.map(({ period }) => period)).toEqual([
      'before',
      ...Array.from({ length: 20 }, () => 'after'),
    ])
    // All requests before, and thirty each after.
    const sum = rows.reduce((all, { rate }, i) => all + (i === 0 ? 600 : 30) * Number(rate), 0)
    expect(sum).toBeCloseTo(failed.length, 6)
    for (const { rate, low, high, fromUs, toUs } of rows) {
      expect(Number(low)).toBeLessThanOrEqual(Number(rate))
      expect(Number(high)).toBeGreaterThanOrEqual(Number(rate))
      expect(Number(toUs)).toBeGreaterThan(Number(fromUs))
    }
  }
})

test('what only failures record is no condition under which calls fail', () => {
  expect(comparison.findings.findings.map(({ segment }) => segment?.text)).toEqual([undefined])
})

test('is drawn with a title for each panel', () => {
  const svg = expectDrawable(chart)
  expect(svg).toMatch(/all requests: 0 of 600 requests before, \d+ of 600 after/)
  expect(svg).toContain('#1 stock LOOKUP: ')
})

test('of one finding by its rank, which must be of errors', () => {
  const svg = expectDrawable(plot(comparison, 'errors', { rank: 1 }))
  expect(svg).not.toContain('all requests')
  expect(() => plot(comparison, 'errors', { rank: 7 })).toThrow(/rank is 7.*1/)
})

test('says where nothing is known of failures', () => {
  const none = plot(smallComparison(), 'errors')
  expect(none.description).toContain('Trace points do not record what fails.')
  expectDrawable(none)
})

test('says that nothing failed instead of drawing an interval above zero', () => {
  const none = plot(compareShops({ requests: 600 }, { requests: 600, payUs: 4000 }), 'errors')
  expect(none.description).toBe('None of 1,200 requests failed, before or after.')
  expect(dataOf(none).flat()).toEqual([])
  expectDrawable(none)
})
