import { describe, expect, test } from 'vitest'
import { categorize } from '../../../src/compare/categories/categorize.ts'
import { compare } from '../../../src/compare/comparison.ts'
import { findFindings } from '../../../src/compare/findings/find-findings.ts'
import { groupFindings } from '../../../src/compare/findings/group-findings.ts'
import { FlowdeltaError } from '../../../src/core/errors.ts'
import { selectRequests } from '../../../src/flows/select-requests.ts'
import { randomSource } from '../../../src/stats/random.ts'
import { NO_PARENT, type SpanTraces } from '../../../src/traces/span-traces.ts'
import { compareShops, shopPeriod } from './fixture.ts'

const summary = (comparison: ReturnType<typeof compareShops>) =>
  comparison.findings.findings.map(({ kind, direction, title, services, requests }) => ({
    ...{ kind, direction, title: title.replace(/^\d+ µs/, 'N µs').replace(/: \d+ µs/, ': N µs') },
    ...{ services, requests },
  }))

describe('a finding is one cause', () => {
  test('none when nothing changed', () => {
    expect(compareShops({}, {}).findings.findings).toEqual([])
  })

  test('a service that is slow is one finding, though two categories of requests show it', () => {
    const comparison = compareShops({}, { stockUs: 1300 })
    expect(summary(comparison)).toEqual([
      {
        ...{ kind: 'edges', direction: 'slower', services: ['stock'], requests: 300 },
        title: 'N µs more in stock, in “LOOKUP” itself',
      },
    ])
    expect(comparison.findings.findings[0]?.mutations).toEqual(comparison.ranking.mutations)
    expect(comparison.ranking.mutations).toHaveLength(2)
  })

  test('one that is called slowly is another than one that works slowly', () => {
    expect(summary(compareShops({}, { networkUs: 300 }))).toEqual([
      {
        ...{ kind: 'edges', direction: 'slower', services: ['stock'], requests: 300 },
        title:
          'Calls to stock take longer: N µs on the way from shop to “LOOKUP” of stock, and 1 other step',
      },
      {
        ...{ kind: 'edges', direction: 'slower', services: ['pay'], requests: 100 },
        title:
          'Calls to pay take longer: N µs on the way back from “CHARGE” of pay to shop, and 1 other step',
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

  test('work that is done more often is a finding of structure', () => {
    const comparison = compareShops({ archive: 0.1 }, { archive: 0.4, requests: 120 })
    expect(summary(comparison)).toMatchObject([
      {
        ...{ kind: 'structure', direction: 'slower', services: ['stock', 'shop', 'archive'] },
        title: 'Requests for “GET” of shop now go to archive as well',
      },
    ])
    const [finding] = comparison.findings.findings
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
    expect(finding?.text).toMatch(
      /one such step typically takes \d+ µs less than before.* saves \d+ ms/,
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
      { kind: 'edges', services: ['pay'], requests: 20, mutations: [] },
    ])
  })

  test('8 against 8 is too few', () => {
    const rare = { requests: 320, payEvery: 40 }
    expect(compareShops(rare, { ...rare, payUs: 6000 }).findings.findings).toEqual([])
  })

  test('a structure that 20 of 100 requests take now is found without a threshold of requests', () => {
    const comparison = compareShops({ requests: 100 }, { requests: 100, archive: 0.2 })
    expect(comparison.ranking.mutations).toEqual([])
    expect(comparison.findings.findings).toMatchObject([{ kind: 'structure' }])
  })

  test('findings have a threshold of their own', () => {
    const comparison = compareShops({}, { archive: 0.2 }, { findingsThreshold: 1000 })
    expect(comparison.findings.findings).toEqual([])
    expect(comparison.with({ findingsThreshold: 'auto' }).findings.findings).toHaveLength(1)
  })

  test('the threshold of the ranked list does not change what is found', () => {
    const { findings } = compareShops({}, { archive: 0.2 }, { smPThreshold: 1000 }).findings
    expect(findings).toHaveLength(1)
  })
})

describe('the text of a finding', () => {
  test('of a step says how much, in how many requests, how sure, and where to look', () => {
    const [finding] = compareShops({}, { payUs: 2600 }).findings.findings
    expect(finding?.text).toMatch(
      /^In 100 of 300 requests after \(33 %\) one such step typically takes \d{3} µs longer than before \(between \d{3} µs and \d{3} µs\); where requests wait for it, that adds \d+(\.\d)? ms in all \(\d{3} µs for each of these requests\), over 99 % of the observed change\. Pick one request of each period: the later one is slower there over 99 % of the time, and chance alone would do as much less than once in a million times; look next at pay, for example in traces t1-\d+ \(before\) and t2-\d+ \(after\)\.$/,
    )
  })

  test('of a structure says how many requests went this way before and after', () => {
    const [finding] = compareShops({}, { payEvery: 2 }).findings.findings
    expect(finding?.text).toContain('the new one was taken by 100 requests before, by 150 after')
    expect(finding?.text).toContain('look next at what “LOOKUP” of stock answered just before')
  })
})

describe('findings as a stage', () => {
  const comparison = compareShops({}, { stockUs: 1300, payUs: 2600 })

  test('are listed in a table, one row each', () => {
    const table = comparison.findings.table()
    expect(table.columnNames()).toEqual([
      ...['rank', 'title', 'direction', 'requests', 'contributionUs', 'shareOfChange', 'q'],
      ...['mutations', 'categories', 'id'],
    ])
    expect(table.array('rank')).toEqual([1, 2])
  })

  test('those beyond the limit are counted', () => {
    const { ranking, edges } = comparison
    const findings = groupFindings({ ranking, evidence: ranking, edges }, { limit: 1 })
    expect([findings.findings.length, findings.omitted]).toEqual([1, 1])
  })

  test('stages of other categories are refused', () => {
    const { ranking } = comparison
    const { edges } = compareShops({}, {})
    expect(() => groupFindings({ ranking, evidence: ranking, edges })).toThrow(FlowdeltaError)
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
    expect(findings.text()).toBe(
      'No finding: no kind of request has enough requests in both periods for any test. Something may well have changed.',
    )
  })
})
