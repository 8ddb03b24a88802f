import { describe, expect, test } from 'vitest'
import { eventBefore, seenEvents } from '../../../src/compare/onset/events.ts'
import { compare } from '../../../src/comparison/comparison.ts'
import { restoreComparison, takeSnapshot } from '../../../src/comparison/snapshot.ts'
import { NOON_US } from '../../make-traces.ts'
import { MINUTES, type Shop, shop } from './shop.ts'

/** Before begins at 22:13:20Z, after at 22:17:20Z. */
const AFTER_US = NOON_US + MINUTES * 60e6

function compareShops(after: Omit<Shop, 'seed'>, before: Omit<Shop, 'seed'> = {}, gapUs = 0) {
  return compare(
    shop('before', NOON_US, { ...before, seed: 1 }),
    shop('after', AFTER_US + gapUs, { ...after, seed: 2 }),
  )
}

describe('a finding that began just after an event', () => {
  const events = [
    '2023-11-14T22:14Z long before',
    '2023-11-14T22:17:40Z deploy stock 2.0',
    '2023-11-14T22:19Z later',
  ]
  const comparison = compareShops({ slowFrom: 30, slowUs: 4000 }).with({ events })
  const [finding] = comparison.findings.findings

  test('says so, and how long after', () => {
    expect(finding?.facts.at(-1)).toMatch(
      /^since 22:17:.*\), (9|10)(\.\d+)? s after deploy stock 2\.0$/,
    )
    expect(finding?.follows).toMatchObject({ words: 'deploy stock 2.0', source: 'given' })
  })

  test('says it in a page as well', () => {
    const restored = restoreComparison(takeSnapshot(comparison, { latenciesOf: () => true }))
    const facts = (one: typeof comparison) => one.findings.findings.map(({ text }) => text)
    expect(facts(restored)).toEqual(facts(comparison))
  })

  test('does not, where it began long after or before', () => {
    const [other] = comparison.with({ events: [events[0]!, events[2]!] }).findings.findings
    expect(other?.follows).toBe(null)
    expect(other?.facts.at(-1)).toMatch(/\)$/)
  })

  test('names what happened between the periods, where it was there from the start', () => {
    const [other] = compareShops({ slowFrom: 0, slowUs: 4000 }, {}, 3_600e6).with({
      events: ['2023-11-14T22:40Z deploy stock 2.0'],
    }).findings.findings
    expect(other?.facts.at(-1)).toBe(
      'in all of the after period (first seen 23:17:20 UTC); at its start, deploy stock 2.0',
    )
  })
})

describe('versions and hosts that come or go', () => {
  test('are events, which findings follow', () => {
    const comparison = compareShops(
      { slowFrom: 31, slowUs: 4000, versionFrom: 30 },
      { versionFrom: 1e3 },
    )
    expect(comparison.events).toEqual([
      {
        words: 'stock goes from 1.9 to 2.0',
        atUs: AFTER_US + 29.5e6,
        source: 'versions',
        services: ['stock'],
      },
    ])
    expect(comparison.findings.findings[0]?.facts.at(-1)).toContain(
      'after stock goes from 1.9 to 2.0',
    )
  })

  test('are when a change of a version that is deployed within after began', () => {
    const { findings } = compareShops(
      { slowFrom: 100, slowUs: 4000, versionFrom: 100 },
      { versionFrom: 1e3 },
    ).findings
    expect(findings[0]?.title).toContain('only where stock version = 2.0')
    expect(findings[0]?.facts).toContainEqual(expect.stringMatching(/^280 of 480 requests take /))
    expect(findings[0]?.facts.at(-1)).toBe(
      'since 22:19:00.000 UTC (95 % CI 22:18:59.500 to 22:19:00.000), at most 500 ms after stock goes from 1.9 to 2.0',
    )
  })

  test('are not told beside what concerns other services', () => {
    const { flows, events, findings } = compareShops(
      { slowFrom: 31, slowUs: 4000, versionFrom: 30 },
      { versionFrom: 1e3 },
    )
    const { since } = findings.findings[0]!
    expect(eventBefore(since!, { flows, events, services: ['shop', 'stock'] })).toBe(events[0])
    expect(eventBefore(since!, { flows, events, services: ['shop', 'pay'] })).toBe(null)
  })

  test('are none where each request draws one of many at random', () => {
    const drawn = Array.from({ length: 20 }, (_, i) => {
      const period = (name: string, fromUs: number, seed: number) =>
        shop(name, fromUs, { seed, hosts: 5 + 5 * i })
      return seenEvents(
        compare(period('b', NOON_US, 2 * i), period('a', AFTER_US, 2 * i + 1)).flows,
      )
    })
    expect(drawn.flat()).toEqual([])
  })
})
