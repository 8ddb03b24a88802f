import { describe, expect, test } from 'vitest'
import { categorize } from '../../../src/compare/categories/categorize.ts'
import { draftFindings } from '../../../src/compare/findings/draft-findings.ts'
import { compare } from '../../../src/comparison/comparison.ts'
import { findFindings, groupFindings } from '../../../src/comparison/words/find-findings.ts'
import { FlowdeltaError } from '../../../src/core/errors.ts'
import { selectRequests } from '../../../src/flows/select-requests.ts'
import { randomSource } from '../../../src/stats/random.ts'
import { NO_PARENT } from '../../../src/traces/span-columns.ts'
import type { SpanTraces } from '../../../src/traces/span-traces.ts'
import { makeGraphs } from '../../make-traces.ts'
import { call, record } from '../../worlds.ts'
import { compareShops, type Shop, shopPeriod } from './fixture.ts'

const summary = (comparison: ReturnType<typeof compareShops>) =>
  comparison.findings.findings.map(({ kind, direction, title, services, requests }) => ({
    kind,
    direction,
    title: title.replace(/\d+ µs/, 'N µs'),
    services,
    requests,
  }))

describe('a finding is one cause', () => {
  test('none when nothing changed', () => {
    expect(compareShops({}, {}).findings.findings).toEqual([])
  })

  test('a service that is slow is one finding, though two categories of requests show it', () => {
    const comparison = compareShops({}, { stockUs: 1300 })
    expect(summary(comparison)).toEqual([
      {
        kind: 'latency',
        direction: 'slower',
        services: ['stock'],
        requests: 300,
        title: 'stock: LOOKUP itself takes N µs longer',
      },
    ])
    expect(comparison.findings.findings[0]?.steps).toMatchObject([
      { kind: 'work', service: 'stock', caller: null, operation: 'LOOKUP' },
    ])
    expect(comparison.findings.findings[0]?.mutations).toEqual(comparison.ranking.mutations)
    expect(comparison.ranking.mutations).toHaveLength(2)
  })

  test('one whose calls are all slow on the way is the finding, not those it calls', () => {
    const comparison = compareShops({}, { networkUs: 300 })
    // What is slow is called by the shop, and no operation of its own.
    expect(comparison.findings.findings[0]?.operation).toBeNull()
    expect(summary(comparison)).toEqual([
      {
        kind: 'latency',
        direction: 'slower',
        services: ['shop', 'stock', 'pay'],
        requests: 300,
        title: 'shop: its calls to stock and pay take N µs longer in transit',
      },
    ])
  })

  test('two causes are two findings, the larger contribution first', () => {
    const { findings } = compareShops({}, { stockUs: 1300, payUs: 2600 })
    expect(findings.findings.map(({ services }) => services)).toEqual([['stock'], ['pay']])
    const [stock = 0, pay = 0] = findings.findings.map(({ shareOfChange }) => shareOfChange)
    expect(stock).toBeGreaterThan(pay)
    expect(stock + pay).toBeCloseTo(1, 1)
  })

  test('what got faster comes after what got slower, unless requests surely got faster', () => {
    const order = (payUs: number) =>
      compareShops({ stockUs: 1500 }, { payUs }).findings.findings.map(
        ({ services }) => services[0],
      )
    // One in three pays: +430 µs a request against −500 µs, then +100 µs.
    expect([order(3300), order(2300)]).toEqual([
      ['pay', 'stock'],
      ['stock', 'pay'],
    ])
  })

  test('work that is done more often is a finding of structure', () => {
    const comparison = compareShops({ archive: 0.1 }, { archive: 0.4, requests: 120 })
    expect(summary(comparison)).toMatchObject([
      {
        kind: 'structure',
        direction: 'slower',
        services: ['shop', 'stock', 'archive'],
        title:
          'shop: GET calls archive READ after stock LOOKUP in 50 of 120 calls (34 of 300 before)',
      },
    ])
    const [finding] = comparison.findings.findings
    expect(finding?.steps).toEqual([])
    expect(finding?.calls[0]).toEqual({
      us: finding?.contributionUs,
      kind: 'next',
      of: { service: 'shop', operation: 'GET' },
      previous: { service: 'stock', operation: 'LOOKUP' },
      call: { service: 'archive', operation: 'READ' },
      made: [34, 50],
      chances: [300, 120],
      worth: [300, 120],
    })
    expect(finding?.changedStructure).toMatchObject([
      { change: 'added', label: 'shop call READ call', answered: { service: 'stock' } },
    ])
  })

  test('half the load is none', () => {
    expect(compareShops({}, { requests: 150 }).findings.findings).toEqual([])
  })

  test('what became faster is one as well, and says so', () => {
    const [finding] = compareShops({ stockUs: 1500 }, {}).findings.findings
    expect(finding).toMatchObject({ direction: 'faster', services: ['stock'] })
    expect(finding?.contributionUs).toBeLessThan(0)
    expect(finding?.title).toMatch(/^stock: LOOKUP itself takes \d+ µs less$/)
    expect(finding?.text).toMatch(
      / take \d+ µs less \(95 % CI \d+–\d+ µs\) · faster than all comparable requests before/,
    )
  })

  test('swapping the periods turns every direction', () => {
    const forward = compareShops({}, { payUs: 2600 }).findings.findings
    const backward = compare(shopPeriod({ payUs: 2600, seed: 2 }), shopPeriod()).findings.findings
    expect(forward.map(({ id }) => id)).toEqual(backward.map(({ id }) => id))
    expect([...forward, ...backward].map(({ direction }) => direction)).toEqual([
      'slower',
      'faster',
    ])
  })
})

describe('few requests', () => {
  test('a step that 20 requests take, 5 of each of 4 structures, is found', () => {
    const rare = { requests: 600, payEvery: 30, ways: 4 }
    const comparison = compareShops(rare, { ...rare, payUs: 6000 })
    expect(comparison.ranking.mutations).toEqual([])
    expect(comparison.findings.findings).toMatchObject([
      { kind: 'latency', services: ['pay'], requests: 20, mutations: [] },
    ])
  })

  test('8 against 8 are enough for a step that takes three times as long', () => {
    const rare = { requests: 320, payEvery: 40 }
    expect(compareShops(rare, { ...rare, payUs: 6000 }).findings.findings).toMatchObject([
      { kind: 'latency', services: ['pay'], requests: 8 },
    ])
  })

  test('2 against 2 are too few', () => {
    const rare = { requests: 320, payEvery: 160 }
    expect(compareShops(rare, { ...rare, payUs: 6000 }).findings.findings).toEqual([])
  })

  test('a structure that 20 of 100 requests take now is found without a threshold of requests', () => {
    const comparison = compareShops({ requests: 100 }, { requests: 100, archive: 0.2 })
    expect(comparison.ranking.mutations).toEqual([])
    expect(comparison.findings.findings).toMatchObject([{ kind: 'structure' }])
  })

  test('findings have a threshold of their own', () => {
    const comparison = compareShops({}, { archive: 0.2 }, { findingsThreshold: 1000 })
    const kinds = ({ findings }: typeof comparison) => findings.findings.map(({ kind }) => kind)
    expect(kinds(comparison)).toEqual(['unattributed'])
    expect(kinds(comparison.with({ findingsThreshold: 'auto' }))).toEqual(['structure'])
  })

  test('the threshold of the ranked list does not change what is found', () => {
    const { findings } = compareShops({}, { archive: 0.2 }, { smPThreshold: 1000 }).findings
    expect(findings).toHaveLength(1)
  })
})

describe('the text of a finding', () => {
  test('a step says where, what, how much, how sure, and where to look', () => {
    const [finding] = compareShops({}, { payUs: 2600 }).findings.findings
    expect(finding).toMatchObject({ where: 'pay', look: 'pay' })
    expect(finding?.what).toMatch(/^CHARGE itself takes \d{3} µs longer$/)
    expect(finding?.facts).toEqual([
      expect.stringMatching(
        /^100 of 300 requests take \d{3} µs longer \(95 % CI \d{3}–\d{3} µs\)$/,
      ),
      'slower than all comparable requests before',
      'p < 1e-6',
      'in all of the after period',
    ])
    expect(finding?.text).toBe(finding?.facts.join(' · '))
  })

  test('a structure says how many requests took this path before and after', () => {
    const [finding] = compareShops({}, { payEvery: 2 }).findings.findings
    expect(finding?.title).toBe(
      'shop: GET calls pay CHARGE after stock LOOKUP in 150 of 300 calls (100 of 300 before)',
    )
    expect(finding?.text).toMatch(/^50 of 300 requests take /)
    expect(finding?.look).toBe('shop, and the answer of stock LOOKUP')
  })

  test('findings print where, facts, since when and where to look, the share of the change at the right', () => {
    const text = compareShops({}, { stockUs: 1300, payUs: 2600 }).findings.text()
    const [first = '', facts, since, look, empty] = text.split('\n')
    expect(first).toMatch(/^#1 {2}stock: LOOKUP itself takes \d+ µs longer +\d+ % of the slowdown$/)
    expect(first).toHaveLength(100)
    expect(facts).toMatch(/^ {4}300 of 300 requests take /)
    expect(since).toBe(
      '    slower than all comparable requests before · p < 1e-6 · in all of the after period',
    )
    expect(look).toMatch(/^ {4}look at stock · traces: t1-\d+ \(before\), t2-\d+ \(after\)$/)
    expect(empty).toBe('')
    expect(text).toMatch(
      /\nTogether, [\d,]+ requests took [\d.]+ ms longer than they would have before\. (The finding explains|Findings explain) ([\d.]+ %|all) of it\.\np is corrected for multiple tests\. Differences between runs are unknown with only one run before\.$/,
    )
  })

  test('nothing found says what may be missed', () => {
    const { text } = { text: compareShops({}, {}).findings.text() }
    expect(text).toMatch(
      /^No significant change\. With 300 requests before, 300 after, changes under [\d.]+ µs may be missed\.$/,
    )
  })

  test('what surely changed, but too little to matter, is told with its size', () => {
    const small = compareShops({ stockUs: 1000 }, { stockUs: 1025 }, { minimumEffect: 0.2 })
    expect(small.findings.text()).toMatch(
      /^No change large enough to matter\. With .* Changed, but too little to matter: stock LOOKUP itself, \d+(\.\d)? µs longer \(95 % CI [\d.]+–[\d.]+ µs\), [\d.]+ % of the mean of these requests, p = 3e-6\.$/,
    )
  })
})

describe('the same delay seen elsewhere', () => {
  /** Requests that pay twice, though only the first payment has spans. */
  const period = (payUs: number, seed: number) =>
    record({ seed, requests: 200 }, (r) => {
      const about = (us: number) => us * (0.98 + 0.04 * r.next())
      const client = { us: [50, 50], operation: 'call CHARGE', kind: 'internal' } as const
      return call('shop GET', [50, about(payUs)], {}, [
        call('pay CHARGE', about(payUs), { client }),
      ])
    })

  test('stands under its cause', () => {
    const { findings } = compare(period(1000, 1), period(5000, 2)).findings
    expect(findings.map(({ where, rank }) => [where, rank])).toEqual([['pay', 1]])
    const [finding] = findings
    expect(finding?.consequences.map(({ title }) => title.replace(/[\d.]+ ms/, 'N ms'))).toEqual([
      'shop: GET itself takes N ms longer',
    ])
    expect(finding?.contributionUs).toBeCloseTo(200 * 8000, -5)
  })
})

describe('findings as a stage', () => {
  const comparison = compareShops({}, { stockUs: 1300, payUs: 2600 })

  test('are listed in a table, one row each', () => {
    const table = comparison.findings.table()
    expect(table.columnNames()).toEqual([
      'rank',
      'title',
      'direction',
      'requests',
      'contributionUs',
      'remainingUs',
      'shareOfChange',
      'q',
      'mutations',
      'categories',
      'id',
    ])
    expect(table.array('rank')).toEqual([1, 2])
  })

  test('those beyond the limit are counted', () => {
    const findings = groupFindings(comparison, { limit: 1 })
    expect([findings.findings.length, findings.omitted]).toEqual([1, 1])
  })

  test('stages of other categories are refused', () => {
    const { evidence, steps } = comparison
    const { edges } = compareShops({}, {})
    expect(() => draftFindings({ evidence, edges, steps })).toThrow(FlowdeltaError)
  })

  test('`findFindings` gives the same from categories alone', () => {
    const alone = findFindings(comparison.categories).findings
    expect(alone.map(({ id, q }) => [id, q])).toEqual(
      comparison.findings.findings.map(({ id, q }) => [id, q]),
    )
  })

  test('ids stay the same when the change is larger', () => {
    const larger = compareShops({}, { stockUs: 1700, payUs: 3600 })
    expect(larger.findings.findings.map(({ id }) => id)).toEqual(
      comparison.findings.findings.map(({ id }) => id),
    )
  })

  test('order of requests does not matter', () => {
    const { flows } = comparison
    const random = randomSource(3)
    const split = flows.count(0)
    const rows = (from: number, to: number) =>
      random.shuffle(Array.from({ length: to - from }, (_, i) => from + i))
    const shuffled = selectRequests(flows, {
      before: rows(0, split),
      after: rows(split, flows.size),
    })
    expect(findFindings(categorize(shuffled)).findings.map(({ id, q }) => [id, q])).toEqual(
      comparison.findings.findings.map(({ id, q }) => [id, q]),
    )
  })
})

describe('one extreme request', () => {
  const hour = 3600e6
  const withOutlier = (traces: SpanTraces) => {
    const { durationUs, parent } = traces.spans
    const root = parent.indexOf(NO_PARENT)
    durationUs[root] = hour
    return traces
  }

  test('before hides no change of all others', () => {
    const before = withOutlier(shopPeriod())
    const { findings } = compare(before, shopPeriod({ payUs: 2600, seed: 2 })).findings
    expect(findings.map(({ services }) => services[0])).toContain('pay')
  })
})

describe('periods too small for any test', () => {
  test('are said to be, not to be alike', () => {
    const tiny = (seed: number) => shopPeriod({ requests: 3, seed })
    const { findings } = compare(tiny(1), tiny(2))
    expect(findings.testable).toBe(false)
    expect(findings.text()).toMatch(
      /^Too few requests: no type of request has enough in both periods for a test\. Largest difference: /,
    )
  })
})

describe('what a structure and a step add', () => {
  const told = (before: Shop, after: Shop) => compareShops(before, after).findings
  test.each<[where: string, before: Shop, after: Shop]>([
    ['a call that became both slower and more frequent', {}, { payEvery: 1, payUs: 3000 }],
    ['a new call of all requests beside a slower one', {}, { archive: 1, stockUs: 1500 }],
    ['a new call of some requests beside a slower one', {}, { archive: 0.6, stockUs: 1500 }],
  ])('is counted once: %s', (_, before, after) => {
    const { findings, attributedUs, observedChangeUs } = told(before, after)
    expect(findings.map(({ kind }) => kind).sort()).toEqual(['latency', 'structure'])
    expect(attributedUs / observedChangeUs).toBeCloseTo(1, 1)
  })

  test('is counted once where flows are of trace points', () => {
    const period = (checked: number, readUs: number) =>
      makeGraphs(
        Array.from({ length: 200 }, (_, i) => {
          const labels = ['READ', 'DISK', ...(i % 100 < checked ? ['CHECK'] : []), 'REPLY']
          const edges = labels.slice(1).map((_, at) => [at, at + 1] as const)
          const latencyUs = edges.map((_, at) => 50 + ((i * 7919) % 11) + (at === 0 ? readUs : 0))
          return { labels, edges, latencyUs, startUs: i * 1000 }
        }),
      )
    for (const [was, is] of [
      [0, 60],
      [20, 80],
      [0, 100],
    ] as const) {
      const { attributedUs, observedChangeUs } = compare(period(was, 0), period(is, 250)).findings
      expect(attributedUs / observedChangeUs).toBeCloseTo(1, 2)
    }
  })

  test('is told in words where it is more than the whole change', () => {
    const findings = told({ payUs: 8000 }, { payUs: 1500, stockUs: 1800 })
    expect(findings.observedChangeUs).toBeLessThan(0)
    expect(findings.text()).toMatch(/more than the whole time saved; all else takes 24\d ms longer/)
  })
})
