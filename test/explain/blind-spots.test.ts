import { sum } from 'd3-array'
import { expect, test } from 'vitest'
import { compare } from '../../src/compare/comparison.ts'
import { findBlindSpots } from '../../src/explain/blind-spots.ts'
import { plot } from '../../src/index.ts'
import { randomSource } from '../../src/stats/random.ts'
import { makeSpans, type SpanSketch } from '../make-traces.ts'

/** `web` calls `db`, which is slow in one of three requests, and a `bank` that records nothing. */
function period({
  seed,
  isTold,
  bankUs = 200,
}: {
  seed: number
  isTold: boolean
  bankUs?: number
}) {
  const random = randomSource(seed)
  const spans = Array.from({ length: 200 }, (_, i): SpanSketch[] => {
    const trace = `${seed}-${i}`
    const startUs = 50_000 * i
    const isSlow = random.next() < 1 / 3
    const dbUs = (isSlow ? 9000 : 1000) * (0.95 + 0.1 * random.next())
    const paidUs = 500 + bankUs * 2 * random.next()
    const db = startUs + 300
    const pay = db + dbUs + 100
    return [
      { trace, id: 'w', service: 'web', operation: 'GET', startUs, endUs: pay + paidUs + 100 },
      {
        trace,
        id: 'd',
        parent: 'w',
        service: 'db',
        operation: 'SELECT',
        startUs: db,
        endUs: db + dbUs,
        attributes: isTold ? { 'cache.hit': !isSlow } : {},
      },
      {
        trace,
        id: 'p',
        parent: 'w',
        service: 'web',
        operation: 'POST bank',
        kind: 'client',
        startUs: pay,
        endUs: pay + paidUs,
        attributes: { 'server.address': 'bank' },
      },
    ]
  })
  return makeSpans(spans.flat())
}

const compared = (isTold: boolean, bankUs?: number) =>
  compare(
    period({ seed: 1, isTold, ...(bankUs !== undefined && { bankUs }) }),
    period({ seed: 2, isTold, ...(bankUs !== undefined && { bankUs }) }),
  )

test('a step whose slow calls nothing tells apart comes first, and nearly all variance is its gain', () => {
  const { spots } = findBlindSpots(compared(false))
  expect(spots[0]).toMatchObject({
    service: 'db',
    operation: 'SELECT',
    record: 'span',
    toldBy: null,
  })
  expect(spots[0]?.gain).toBeGreaterThan(0.9)
})

test('an attribute that tells them apart leaves little to gain', () => {
  const { spots } = findBlindSpots(compared(true, 20))
  const db = spots.find(({ service }) => service === 'db')
  expect(db).toMatchObject({ toldBy: 'cache.hit' })
  expect(db?.varianceShare).toBeGreaterThan(0.9)
  expect(db?.gain).toBeLessThan(0.02)
})

test('of a call to what records nothing, spans of the called are missing', () => {
  const { spots } = findBlindSpots(compared(true, 4000))
  expect(spots[0]).toMatchObject({ operation: 'POST bank', record: 'callee' })
  expect(spots[0]?.gain).toBeGreaterThan(0.2)
})

test('shares of time and of variance add up to 1 over all steps', () => {
  const { spots } = findBlindSpots(compared(false), { period: 'before', limit: 1000 })
  expect(sum(spots, ({ timeShare }) => timeShare)).toBeCloseTo(1)
  expect(sum(spots, ({ varianceShare }) => varianceShare)).toBeCloseTo(1)
})

test('a chart says what to record first', () => {
  expect(plot(findBlindSpots(compared(false))).description).toContain(
    'First: spans within SELECT of db.',
  )
})
