import { describe, expect, test } from 'vitest'
import { compare } from '../../../src/compare/comparison.ts'
import { NOON_US } from '../../make-traces.ts'
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
    expect(facts[0]).toBe(`${finding.requests} of 480 requests`)
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
