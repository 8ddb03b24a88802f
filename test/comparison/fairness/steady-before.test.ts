import { expect, test } from 'vitest'
import { NOON_US, type SpanSketch } from '../../make-traces.ts'
import { call, type Details, spansOf } from '../../worlds.ts'
import { coded } from './coded.ts'

const MINUTE_US = 60e6

/** A request a second, of about 10 ms; `change` says what the one at a share of the period is. */
function requests(
  hour: number,
  { seed = hour, count = 600, change = (_share: number): Details & { slow?: number } => ({}) } = {},
): SpanSketch[] {
  const name = `hour-${hour}-${seed}`
  const fromUs = NOON_US + hour * 60 * MINUTE_US
  return spansOf({ seed, requests: count, fromUs, name }, (r) => {
    const { slow = 1, ...more } = change(r.part)
    return call('web GET /', slow * r.about(10_000, 1 / 3), more)
  })
}

const said = (...periods: [SpanSketch[], SpanSketch[]]) =>
  coded('unsteady-before', ...periods).map(({ finding }) => finding)

const outage = (share: number) =>
  share >= 0.4 && share < 0.5 ? ({ status: 'error' } as const) : {}
const jump = (share: number) => (share < 0.7 ? {} : { slow: 2 })

test('a before period with an outage in it is told, and when', () => {
  expect(said(requests(1, { change: outage }), requests(2))).toEqual([
    'The before period is not steady: for 59 s from 4 min after its start, 100 % of requests failed, otherwise 0 % (p < 1e-6).',
  ])
})

test('a before period that jumps to another level is told', () => {
  expect(said(requests(1, { change: jump }), requests(2))).toEqual([
    expect.stringMatching(
      /^The before period is not steady: for 2\.98 min from 7 min after its start, the median of web GET \/ was (19|20|21)[.\d]* ms, otherwise (9|10)[.\d]* ms \(p < 1e-6\)\.$/,
    ),
  ])
})

test('what both periods do at the same time of theirs is as steady as it can be', () => {
  expect(said(requests(1, { change: jump }), requests(2, { change: jump }))).toEqual([])
})

test('an unsteady after period is what a comparison is to find', () => {
  expect(said(requests(1), requests(2, { change: jump }))).toEqual([])
})

test('few requests, small jumps and chance are silent', () => {
  expect(said(requests(1, { change: jump, count: 90 }), requests(2))).toEqual([])
  const slightly = (share: number) => (share < 0.7 ? {} : { slow: 1.15 })
  expect(said(requests(1, { change: slightly }), requests(2))).toEqual([])
  for (let seed = 10; seed < 40; seed++) {
    expect(said(requests(1, { seed, count: 200 }), requests(2, { count: 200 }))).toEqual([])
  }
})
