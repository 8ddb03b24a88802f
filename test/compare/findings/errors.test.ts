import { describe, expect, test } from 'vitest'
import { compare } from '../../../src/comparison/comparison.ts'
import { restoreComparison, takeSnapshot } from '../../../src/comparison/snapshot.ts'
import { listedFindings } from '../../../src/explain/listed-findings.ts'
import { randomSource } from '../../../src/stats/random.ts'
import { loadTraces } from '../../../src/traces/load-traces.ts'
import { findingText } from '../../../src/views/text/comparison-text.ts'
import { firstQuick } from '../../first-quick.ts'
import { describeWithShared, sharedFile } from '../../shared.ts'
import { call, record } from '../../worlds.ts'
import { compareShops, type Shop, shopPeriod } from './fixture.ts'

const findings = (before: Shop, after: Shop) =>
  compareShops({ requests: 1000, ...before }, { requests: 1000, ...after }).findings.findings

test.each([
  [2, 'db: PUT and GET fail in '],
  [5, 'db: HEAD, GET, PUT and 2 more fail in '],
])('of %d operations that fail alike, three at most are named', (count, told) => {
  const names = ['GET', 'PUT', 'POST', 'PATCH', 'HEAD', 'TRACE'].slice(0, count)
  const period = (offset: number, fails: (i: number) => boolean) =>
    record({ seed: 1, requests: 1200, everyUs: 1000, fromUs: offset }, ({ index: i }) => {
      // The last is called twice as often as the others.
      const operation = names[Math.min(count - 1, Math.floor(i / 10) % (count + 1))]!
      return call('web', 300, {}, [call(`db ${operation}`, 200, { fails: fails(i) })])
    })
  const { findings } = compare(
    period(0, () => false),
    period(1e10, (i) => i % 10 === 0),
  ).findings
  const [first] = findings
  expect(first?.title).toMatch(told)
})

test('no line of example traces is printed for a period that has none', () => {
  const comparison = compareShops({ requests: 1000 }, { requests: 1000, failing: 0.1 })
  const [finding] = listedFindings(comparison)
  if (finding === undefined) throw new Error('no finding')
  const text = findingText({ comparison, finding })
  expect(text).not.toContain('Example traces before')
  expect(text).toMatch(/\n\nExample traces after: \w/)
})

describe('of stock that fails in a tenth of the time', () => {
  describe.each(firstQuick([0.03, 0.1]))('however many', ({ rows, tags }) => {
    test.each(rows)(
      'a share of %d that shop passes on is one finding, of stock',
      { tags },
      (failing) => {
        const [first, ...others] = findings({}, { failing })
        expect(first).toMatchObject({
          kind: 'errors',
          direction: 'slower',
          where: 'stock',
          operation: 'LOOKUP',
          services: ['stock'],
          size: { unit: 'rate', per: 'call' },
        })
        expect(first?.what).toMatch(
          /^LOOKUP fails with “no stock” in \d+ of 1,000 calls \(0 of 1,000/,
        )
        expect(first?.facts[1]).toMatch(/^\d+ more failed requests$/)
        expect(first?.consequences.map(({ title }) => title)).toEqual([
          expect.stringMatching(/^shop: GET fails in \d+ of 1,000 calls \(0 of 1,000 before\)$/),
        ])
        expect(others).toEqual([])
      },
    )

    test('few failures that may be chance are told as what came nearest to a change', () => {
      const { findings: all } = compareShops({ requests: 300 }, { requests: 300, failing: 0.02 })
      expect(all.findings).toEqual([])
      expect(all.text()).toMatch(
        / Closest to a change: stock LOOKUP fails with “no stock” in \d of 300 calls \(0 of 300 before\), \d more failed requests, p = 0\.\d+\.$/m,
      )
      const { findings: none } = compareShops({ requests: 300, failing: 0.02 }, { requests: 300 })
      expect(none.text()).not.toContain('Closest to a change: stock')
    })

    test('1 % of 3,000 requests are enough', { tags: 'full' }, () => {
      const [first] = findings({ requests: 3000 }, { requests: 3000, failing: 0.01 })
      expect(first).toMatchObject({ kind: 'errors', where: 'stock' })
    })

    test('what shop makes good is told, and that no request fails', () => {
      const found = findings({}, { failing: 0.1, passesOn: false })
      expect(found).toHaveLength(1)
      expect(found[0]).toMatchObject({ kind: 'errors', where: 'stock', consequences: [] })
      expect(found[0]?.facts).toContain('no request fails because of it')
    })

    test('what requests save while their calls fail at once, and are made good, is no finding of its own', () => {
      const failing = (i: number) => (i >= 300 && i < 700 ? 1 : 0)
      const shop = { stockUs: 5000, payEvery: 1 }
      const found = findings(shop, { ...shop, failing, passesOn: false })
      expect(found.map(({ kind, where }) => `${kind} ${where}`)).toEqual(['errors stock'])
      const [first] = found
      // Of 5 ms, a tenth is left: 400 requests.
      expect(first?.contributionUs).toBeGreaterThan(-1.05 * 400 * 4500)
      expect(first?.contributionUs).toBeLessThan(-0.9 * 400 * 4500)
      expect(first?.facts.join()).toMatch(
        /failing calls take 4\.\d+ ms less in each affected request \(95 % CI [34]\.\d+/,
      )
    })

    test('an outage that begins within the period after is found', () => {
      const [first] = findings({}, { failing: (i) => (i >= 300 ? 0.2 : 0) })
      expect(first).toMatchObject({ kind: 'errors', where: 'stock' })
    })

    test('as often before as after is no finding, and nothing got faster', () => {
      expect(findings({ failing: 0.05 }, { failing: 0.05 })).toEqual([])
    })

    test('fewer failures are a finding that says so', () => {
      const [first] = findings({ failing: 0.1 }, { failing: 0.01 })
      expect(first).toMatchObject({ kind: 'errors', direction: 'faster' })
      expect(first?.what).toMatch(/fails with “no stock” only in/)
    })

    test('calls that did not fail are still compared', () => {
      const found = findings({}, { failing: 0.1, stockUs: 2000 })
      expect(found.map(({ kind, where }) => `${kind} ${where}`).sort()).toEqual([
        'errors stock',
        'latency stock',
      ])
    })

    test('failures cost what they save, though a few others fail late in both periods', () => {
      // Of 1,000 requests, `late` give up after a second, as in either period; one in 14 fails at once in the second.
      const period = (offset: number, late: number, failing: (i: number) => boolean) =>
        record({ seed: 1, requests: 1000, everyUs: 2e6, fromUs: offset }, ({ index: i }) => {
          const isLate = i % 100 === 3 && i < 100 * late
          const fails = isLate || failing(i)
          const us = failing(i) ? 10_000 : isLate ? 1_000_000 : 90_000 + (i % 7) * 1000
          const stock = call(`${isLate ? 'vendor' : 'stock'} LOOKUP`, us - 100, { fails })
          return call('shop GET', [0, 100], { fails }, [stock])
        })
      const before = period(0, 3, () => false)
      const after = period(1e10, 7, (i) => i % 14 === 5)
      const [first] = compare(before, after).findings.findings
      expect(first).toMatchObject({ kind: 'errors', where: 'stock' })
      // 71 requests save 83 ms each.
      expect(first!.contributionUs / (-71 * 83_000)).toBeCloseTo(1, 1)
    })

    test('categories say how many of their requests failed', () => {
      const { categories, flows } = compareShops({}, { failing: 0.2 })
      const rows = categories.table().objects() as { beforeFailed: number; afterFailed: number }[]
      const sum = (values: readonly number[]) => values.reduce((all, value) => all + value, 0)
      const failed = Array.from(flows.period.keys()).filter((one) => flows.outcomes?.failed(one))
      expect(sum(rows.map(({ beforeFailed }) => beforeFailed))).toBe(0)
      expect(sum(rows.map(({ afterFailed }) => afterFailed))).toBe(failed.length)
      expect(failed.length).toBeGreaterThan(30)
    })

    test('a restored comparison says the same', () => {
      const comparison = compareShops({}, { failing: 0.2 })
      const snapshot = takeSnapshot(comparison, { ids: true, latenciesOf: () => true })
      const restored = restoreComparison(JSON.parse(JSON.stringify(snapshot)))
      expect(restored.findings.text()).toBe(comparison.findings.text())
      expect(restored.steps.errorTable().objects()).toEqual(comparison.steps.errorTable().objects())
    })

    test('a constant rate of 5 % in bursts of every length is at most 5 % of the time a finding', {
      tags: 'full',
    }, () => {
      const COMPARISONS = 24
      let found = 0
      for (let seed = 0; seed < COMPARISONS; seed++) {
        const period = (own: number) => {
          const random = randomSource(own)
          const length = 10 + Math.floor(100 * random.next())
          const starts = Array.from({ length: 200 / length }, () =>
            Math.floor(1000 * random.next()),
          )
          const failing = (i: number) =>
            starts.some((start) => i >= start && i < start + length) ? 0.22 : 0.01
          return shopPeriod({ requests: 1000, seed: own, failing })
        }
        const comparison = compare(period(2 * seed + 1), period(2 * seed + 2))
        if (comparison.findings.findings.some(({ kind }) => kind === 'errors')) found++
      }
      // Of 24 comparisons at 5 %, more than four come about once in a hundred times.
      expect(found).toBeLessThanOrEqual(4)
    })
  })
})

describe('of failures that begin 600 requests into after', () => {
  const told = (after: Shop) => findings({}, { failing: (i) => (i >= 600 ? 0.4 : 0), ...after })[0]

  test('title, share and who fails with them are of the calls since then', () => {
    const finding = told({})
    const [, failed, calls] = /in (\d+) of (\d+) calls \(0 of 1,000 before\)/.exec(finding!.title)!
    expect(finding?.since?.fromStart).toBe(false)
    expect(Math.abs(Number(calls) - 400)).toBeLessThan(10)
    expect(Number(failed) / Number(calls)).toBeCloseTo(0.4, 1)
    expect(finding?.facts[0]).toMatch(
      /^(3[5-9]|4[0-5]) % of calls \(95 % CI 3\d–4\d %\), 0 % before/,
    )
    expect(finding?.size.value).toBeCloseTo(0.4, 1)
    expect(finding?.size.interval[0]).toBeGreaterThan(0.3)
    expect(finding?.consequences[0]?.title).toContain(`in ${failed} of ${calls} calls`)
  })
})

/** A shop whose requests go to pay by the first two routes; others do not call it. Refused calls reach nobody. */
function payPeriod(offset: number, routes: readonly string[], refusedFrom = Infinity) {
  const given = { seed: offset + 1, requests: 1500, everyUs: 1000, fromUs: offset }
  return record(given, (r) => {
    const place = r.index % routes.length
    const fails = place < 2 && r.is(r.index >= refusedFrom ? 0.25 : 0)
    const code = fails ? 503 : 200
    const attributes = { 'http.route': routes[place]!, 'http.response.status_code': code }
    const pay = fails
      ? call('shop Charge', 250, { fails })
      : call('pay Charge', 150, { client: { us: [50, 50], kind: 'internal' } })
    const own = [50, 200 + 50 * r.next()] as const
    return call('shop POST', own, { attributes, fails }, [place < 2 && pay])
  })
}

test.each([
  [300, ['/pay', '/fx', '/list', '/card', '/me']],
  [750, ['/pay']],
])(
  'failures of calls that reach nobody have a start, and neither their outcome nor what all %d who call meet as a condition',
  (calls, routes) => {
    const [finding] = compare(payPeriod(0, routes), payPeriod(1e10, routes, 750)).findings.findings
    const [, counted] =
      /^shop → pay: Charge fails in \d+ of (\d+) calls \(0 of [\d,]+ before\)$/.exec(
        finding?.title ?? '',
      )!
    expect(Math.abs(Number(counted) - calls)).toBeLessThan(0.05 * calls)
    expect(finding?.since?.fromStart).toBe(false)
    expect(Math.abs(finding!.since!.timeUs - (1e10 + 750_000))).toBeLessThan(60_000)
  },
)

test('of calls within an operation that fail since some time, each since then counts', () => {
  const period = (offset: number, failsFrom = Infinity) =>
    record({ seed: 1, requests: 1000, everyUs: 1000, fromUs: offset }, ({ index: i }) => {
      const calls = [0, 1].map((at) => {
        const fails = i >= failsFrom && (i + at) % 4 === 0
        return call('web MGET', 200, { kind: 'client', gapUs: 100, fails })
      })
      return call('web GET', 300, {}, calls)
    })
  const [finding] = compare(period(0), period(1e10, 600)).findings.findings
  const [, failed, calls] =
    /^web: MGET within GET fails in (\d+) of (\d+) calls \(0 of 2,000 before\)$/.exec(
      finding?.title ?? '',
    )!
  expect(Math.abs(Number(failed) - 200)).toBeLessThan(5)
  expect(Math.abs(Number(calls) - 800)).toBeLessThan(10)
  expect(finding?.facts[0]).toMatch(/^25 % of calls/)
  expect(finding?.size.value).toBeCloseTo(0.25, 2)
})

test('of calls that are made again and again where they fail, those of some time are counted, not their requests', () => {
  const period = (offset: number, from = Infinity) =>
    record({ seed: 1, requests: 1000, everyUs: 1000, fromUs: offset }, ({ index: i }) => {
      const fails = i >= from && i < from + 100 && i % 10 < 8
      const attempt = call('drm license', 200, { kind: 'client', gapUs: 50, fails })
      return call('drm POST', 150, {}, Array(fails ? 3 : 1).fill(attempt))
    })
  const [finding] = compare(period(0), period(1e10, 600)).findings.findings
  const [, failed, calls] =
    /^drm: license within POST fails in (\d+) of (\d+) calls \(0 of 1,000 before\)$/.exec(
      finding?.title ?? '',
    )!
  // Three of each of 80 requests, and one of each of the other 20.
  expect(Math.abs(Number(failed) - 240)).toBeLessThan(7)
  expect(Math.abs(Number(calls) - 260)).toBeLessThan(8)
  expect(finding?.facts[0]).toMatch(/^9\d % of calls \(95 % CI 8\d(\.\d)?–9\d %\), 0 % before/)
  expect(finding?.size.value).toBeCloseTo(240 / 260, 1)
})

describeWithShared('errors that others planted', () => {
  async function found(folder: string) {
    const load = (file: string) =>
      loadTraces(sharedFile(`data/hdx-eval/${folder}/${file}.jsonl.gz`) as string)
    return compare(await load('before'), await load('after')).findings.findings
  }

  test('a rollout that breaks 7 % of the checkouts is errors of checkout, and no saving', {
    tags: ['full'],
  }, async () => {
    const all = await found('deploy-regression-7')
    expect(
      all.map(({ kind, direction, what, services }) => ({ kind, direction, what, services })),
    ).toEqual([
      {
        kind: 'errors',
        direction: 'slower',
        services: ['checkout-api'],
        what: 'POST /api/checkout fails with “internal error” in 193 of 2,741 calls (14 of 2,823 before)',
      },
    ])
    expect(all[0]?.title).toContain('checkout.promo_code = FLAT5, FREESHIP or GIFT10')
  })

  test('a message that is new is named first, with the service', {
    tags: ['full'],
  }, async () => {
    const [first] = await found('segmented-regression-42')
    expect(first).toMatchObject({ kind: 'errors', where: 'api-server' })
    expect(first?.what).toContain(
      '“fallback handler returned 500: schema mismatch in enterprise_v2_response” in 37 of 9,580 calls (0 of 10,084 before)',
    )
  })

  test('a quiet hour has none', { tags: ['full'] }, async () => {
    expect(await found('quiet-11')).toEqual([])
  })
})
