import { expect, test } from 'vitest'
import { whatifWarnings } from '../../src/whatif/diagnosis/trace-warnings.ts'
import { every, makeSpans, NOON_US, requestsAt } from '../make-traces.ts'

const HOUR_US = 3600e6
const hour = (at: number) =>
  makeSpans(requestsAt(every(1e6, 100, NOON_US + at * HOUR_US), { trace: `hour-${at}` }))

const said = (...periods: Parameters<typeof whatifWarnings>) =>
  whatifWarnings(...periods).map(({ finding }) => finding)

test('whatif asks whether periods are swapped or the same, as compare does', () => {
  expect(said(hour(1), hour(2))).toEqual([])
  expect(said(hour(1), null)).toEqual([])
  expect(said(hour(2), hour(1))).toEqual([
    'The after period ends 58.4 min before the before period begins. Are they swapped?',
  ])
  expect(said(hour(1), hour(1))).toEqual([
    'Both periods are the same 100 traces. Was one file given twice?',
  ])
})
