import { describe, expect, test } from 'vitest'
import { compare } from '../../../src/comparison/comparison.ts'
import type { RandomSource } from '../../../src/stats/random.ts'
import { makeSpans, NOON_US, type SpanSketch } from '../../make-traces.ts'
import { call, spansOf } from '../../worlds.ts'

/** How clients and the service behave at a moment, in seconds from the start. */
interface Behavior {
  readonly perSecond: (second: number) => number
  /** Work of the service, given how many requests arrive a second. */
  readonly workMs: (perSecond: number) => number
  /** Chance that the client stops for 400 ms before a request. */
  readonly pause?: number
}

/** A web server that calls a store, for a minute; clients do not wait for answers. */
function period(seed: number, { perSecond, workMs, pause = 0 }: Behavior): SpanSketch[] {
  let second = 0
  const everyUs = ({ next }: RandomSource) => {
    const gap = -Math.log(1 - next()) / perSecond(second) + (next() < pause ? 0.4 : 0)
    second += gap
    return 1e6 * gap
  }
  // More than come within a minute.
  const given = { seed, requests: 12_000, everyUs, fromUs: NOON_US, name: `${seed}` }
  return spansOf(given, (r) => {
    if (r.seconds > 60) return false
    const us = r.about(1000 * workMs(perSecond(r.seconds)))
    return call('web GET', [100, Math.max(0, us - 100)], {}, [call('store READ', 800)])
  })
}

const steady = () => 40
const waves = (second: number) => 40 + 25 * Math.sin(second / 3)
const loaded = (perSecond: number) => 5 + perSecond / 5
const flat = () => 13
const findingsOf = (before: Behavior, after: Behavior, seed = 1) =>
  compare(makeSpans(period(seed, before)), makeSpans(period(seed + 1000, after))).findings

describe('findings about load', () => {
  test('as many requests as the busy stretches of before had explain that all are as slow', () => {
    const findings = findingsOf(
      { perSecond: waves, workMs: loaded },
      { perSecond: () => 62, workMs: loaded },
    )
    const [first] = findings.findings
    expect(first).toMatchObject({ kind: 'load', direction: 'slower', where: 'clients' })
    expect(first?.what).toMatch(/^send 1\.[56] times the requests: 6[0-9]\.\d a second, \d+/)
    // All of it is true; rates of short windows are known roughly, which makes it less.
    expect(first?.text).toMatch(/the load explains (8\d|9\d|100) % of the slowdown/)
    expect(first?.size).toMatchObject({ unit: 'rate', per: 'second' })
    expect(first?.size.value).toBeCloseTo(22, -1)
    expect(findings.findings.filter(({ kind }) => kind === 'unattributed')).toEqual([])
  })

  test('a load that few requests tell of comes after what explains most of the change', () => {
    const { findings } = findingsOf(
      { perSecond: () => 1, workMs: flat },
      { perSecond: () => 3, workMs: () => 200 },
    )
    expect(findings.map(({ kind }) => kind)).toEqual(['latency', 'load'])
    expect(findings[1]?.text).toContain('too few requests to say')
  })

  test('a load that before never had comes first, without a share', () => {
    const [first] = findingsOf(
      { perSecond: steady, workMs: loaded },
      { perSecond: () => 160, workMs: loaded },
    ).findings
    expect(first?.kind).toBe('load')
    expect(first?.text).toContain(
      'the before period never had this load, so its share of the slowdown is unknown',
    )
  })

  test('a load that before had for a moment alone is told where times follow the load', () => {
    const gusty = (second: number) => (second > 30 && second < 31 ? 85 : 40 + 10 * Math.sin(second))
    const findings = (workMs: Behavior['workMs']) =>
      findingsOf({ perSecond: gusty, workMs }, { perSecond: () => 70, workMs: () => 200 }).findings
    const [first, load] = findings(loaded)
    expect([first?.kind, load?.kind]).toEqual(['latency', 'load'])
    expect(load?.text).toContain(
      'the before period had this load only for moments, so its share of the slowdown is unknown',
    )
    expect(findings(flat).map(({ kind }) => kind)).toEqual(['latency'])
  })

  test('fewer requests that take less say so', () => {
    const [first] = findingsOf(
      { perSecond: waves, workMs: loaded },
      { perSecond: () => 18, workMs: loaded },
    ).findings
    expect(first).toMatchObject({ kind: 'load', direction: 'faster' })
    expect(first?.what).toMatch(/^send 2\.\d times fewer requests/)
  })

  test('more requests are no cause where times did not depend on how many there were', () => {
    const { findings } = findingsOf(
      { perSecond: waves, workMs: flat },
      { perSecond: () => 62, workMs: () => 20 },
    )
    expect(findings.map(({ kind }) => kind)).toEqual(['latency'])
  })

  test('fewer requests that take longer are no cause: clients wait for a slow service', () => {
    const { findings } = findingsOf(
      { perSecond: steady, workMs: flat },
      { perSecond: () => 20, workMs: () => 26 },
    )
    expect(findings.map(({ kind }) => kind)).toEqual(['latency'])
  })

  test('clients that pause before one request in eighty are told', () => {
    const [first, ...others] = findingsOf(
      { perSecond: steady, workMs: flat },
      { perSecond: steady, workMs: flat, pause: 0.0125 },
    ).findings
    expect(first).toMatchObject({ kind: 'load', where: 'clients', contributionUs: 0 })
    expect(first?.what).toMatch(
      /^leave more gaps of about \d+ ms between requests: \d+ among [\d,]+ \(before: /,
    )
    expect(others).toEqual([])
  })

  test('answers that take longer leave no fewer gaps between requests', () => {
    let requests = 0
    const workMs = () => (requests++ % 4 === 0 ? 300 : 3)
    const { findings } = findingsOf(
      { perSecond: steady, workMs: () => 3 },
      { perSecond: steady, workMs },
    )
    expect(findings.map(({ kind }) => kind)).toEqual(['latency'])
  })

  test('of 60 pairs of alike periods, steady or in waves, at most three are told apart', {
    tags: 'full',
  }, () => {
    const found = Array.from({ length: 60 }, (_, i) => {
      const alike = { perSecond: i % 2 ? waves : steady, workMs: i % 3 ? loaded : flat }
      return findingsOf(alike, alike, i + 1).findings.length
    })
    expect(found.filter((count) => count > 0).length).toBeLessThanOrEqual(3)
  })
})
