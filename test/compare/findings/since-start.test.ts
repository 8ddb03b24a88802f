import { describe, expect, test } from 'vitest'
import type { Finding } from '../../../src/compare/findings/finding.ts'
import { compare } from '../../../src/comparison/comparison.ts'
import { NOON_US } from '../../make-traces.ts'
import { call, record } from '../../worlds.ts'
import { MINUTES, type Shop, shop } from '../onset/shop.ts'

/** The finding of stock, after which two requests a second arrive for four minutes. */
function slowStock(after: Omit<Shop, 'seed'>, seed = 1) {
  const { findings } = compare(
    shop('before', NOON_US, { seed }),
    shop('after', NOON_US + MINUTES * 60e6, { ...after, seed: seed + 1 }),
  ).findings
  const [finding] = findings
  expect(finding?.title).toMatch(/^stock: LOOKUP itself/)
  return finding!
}

describe('what starts or ends within after is told in the numbers of the requests in between', () => {
  test.each([
    ['in the last of four minutes', { slowFrom: 180, slowUs: 3000 }, 120],
    ['in the second of four minutes', { slowFrom: 60, slowUntil: 120, slowUs: 3000 }, 120],
    ['in the first 1.5 minutes', { slowFrom: 0, slowUntil: 90, slowUs: 3000 }, 180],
  ])('3 ms longer %s', (_, after, requests) => {
    const finding = slowStock(after)
    const { size, title, concerned, contributionUs, steps, probabilitySlower, facts } = finding
    expect(Number(/takes ([\d.]+) ms longer/.exec(title)?.[1])).toBeCloseTo(3, 0)
    expect(title).not.toContain('of the calls')
    expect(Math.abs(finding.requests - requests)).toBeLessThanOrEqual(3)
    expect(concerned).toEqual([480, finding.requests])
    expect(facts[0]).toContain(`${finding.requests} of 480 requests take `)
    expect(size.interval[0]).toBeLessThan(3000)
    expect(size.interval[1]).toBeGreaterThan(3000)
    expect(size.interval[1] - size.interval[0]).toBeLessThan(1500)
    expect(size.value * finding.requests).toBeCloseTo(contributionUs, 3)
    expect(steps[0]?.shiftUs).toBeGreaterThan(2700)
    expect(steps[0]?.share).toBeUndefined()
    expect(probabilitySlower).toBeGreaterThan(0.9)
    expect(finding.text).not.toMatch(/the slow calls/)
  })

  test('what was there from the start is told of all requests', () => {
    const { requests, size } = slowStock({ slowFrom: 0, slowUs: 700 })
    expect(requests).toBe(480)
    expect(size.interval[0]).toBeLessThan(700)
    expect(size.interval[1]).toBeGreaterThan(700)
  })

  test('where the start may lie anywhere in a quarter of the time since, all requests are counted', () => {
    const { requests, since } = slowStock({ slowFrom: 60, slowUs: 0, leakUs: 4000 }, 3)
    expect(since?.gradual).toBe(true)
    expect(since!.highUs - since!.lowUs).toBeGreaterThan(45e6)
    expect(requests).toBe(480)
  })
})

/*
 * Cards and payments call stock, on one of two hosts; in the second half, calls take longer to get
 * there: all of payments, those of cards on the first host alone:
 *
 *   cards  GET     |-------------------|
 *   cards  lookup    |---------------|
 *   stock  LOOKUP        |-------|
 */
function twoCallers(name: string, { fromUs = NOON_US, slowUs = 0, seed = 1 } = {}) {
  return record({ seed, requests: 3000, everyUs: 2e5, fromUs, name }, (r) => {
    const [caller, host] = [r.is(0.45) ? 'cards' : 'payments', r.is(0.4) ? 'one' : 'two']
    const isSlow = r.index > 1500 && (host === 'one' || caller === 'payments')
    const wayUs = r.about(1000) + (isSlow ? slowUs : 0)
    const client = { us: [wayUs, 400], operation: 'lookup' } as const
    return call(`${caller} GET`, 400, {}, [call('stock LOOKUP', r.about(4000), { host, client })])
  })
}

test('where calls of several services take longer, the segment of one is counted among its own calls', () => {
  const { findings } = compare(
    twoCallers('before'),
    twoCallers('after', { fromUs: NOON_US + 600e6, slowUs: 6000, seed: 2 }),
  ).findings
  const [{ title, text, steps, segment }] = findings as [Finding]
  expect(title).toMatch(
    /^calls to stock: LOOKUP .* from payments and cards, mostly where stock host = one$/,
  )
  expect(steps.map(({ caller }) => caller)).toEqual(['payments', 'cards'])
  expect(segment?.step?.caller).toBe('cards')
  const { inside, outside } = segment!
  expect(inside.after).toBe(segment!.requests.length - inside.before)
  expect(inside.after / (1500 * 0.45 * 0.4)).toBeCloseTo(1, 1)
  expect((inside.after + outside.after) / (1500 * 0.45)).toBeCloseTo(1, 1)
  expect(inside.change / 6000).toBeCloseTo(1, 1)
  expect(text).toContain(
    `${inside.after} of ${inside.after + outside.after} requests with stock LOOKUP meet this condition`,
  )
})

/*
 * Two operations of one service, the second rarer and eight times as long; since the middle of after,
 * both take 3 ms longer, which is much of the first only, and over all of after:
 *
 *   shop  GET    |----|
 *   shop  BUY    |----------------|
 */
function twoOperations(name: string, { fromUs = NOON_US, slowUs = 0, seed = 1 } = {}) {
  return record({ seed, requests: 1600, everyUs: 2e5, fromUs, name }, (r) => {
    const isLong = r.is(0.4)
    const us = r.about(isLong ? 80_000 : 10_000, 0.02) + (r.part >= 0.5 ? slowUs : 0)
    return call(isLong ? 'shop BUY' : 'shop GET', us)
  })
}

test('operations that changed enough only in the time since the start are all accounted for', () => {
  const { findings } = compare(
    twoOperations('before'),
    twoOperations('after', { fromUs: NOON_US + 320e6, slowUs: 3000, seed: 2 }),
  ).findings
  const [{ title, requests, contributionUs, size }] = findings as [Finding]
  expect(title).toMatch(/^shop: GET itself takes 3\.\d+ ms longer, as does BUY$/)
  expect(Math.abs(requests - 800)).toBeLessThanOrEqual(3)
  expect(contributionUs / requests / 3000).toBeCloseTo(1, 1)
  expect(size.interval[0]).toBeLessThan(3000)
  expect(size.interval[1]).toBeGreaterThan(3000)
})
