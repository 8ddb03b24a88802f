import { describe, expect, test } from 'vitest'
import { compare } from '../../../src/comparison/comparison.ts'
import { restoreComparison, takeSnapshot } from '../../../src/comparison/snapshot.ts'
import { firstQuick } from '../../first-quick.ts'
import { call, record } from '../../worlds.ts'

/** What a function does: which of its calls are cold starts, how many rows they read, what either takes. */
interface Calls {
  readonly cold?: number
  readonly coldMs?: number
  readonly rows?: number
  readonly rowUs?: number
  /** Number of the first of the rows, each one that a call reads; how many it reads where undefined. */
  readonly fromRow?: number
  /** Share of calls for tenant `a`, which tells nothing of what they take. */
  readonly ofA?: number
}

/** 400 requests: `web` calls `fn`, which records whether it starts, rows, a tenant, and a shard of 12. */
function period(
  seed: number,
  { cold = 0, coldMs = 1800, rows = 50, rowUs = 1000, fromRow, ofA = 0.5 }: Calls = {},
) {
  return record({ seed, requests: 400, everyUs: 5e6 }, (r) => {
    const [isCold, read] = [r.is(cold), Math.round(r.about(rows, 0.5))]
    const attributes = {
      'faas.coldstart': isCold,
      'db.rows': fromRow === undefined ? read : fromRow + 2 * r.index + r.integer(9),
      tenant: r.is(ofA) ? 'a' : 'b',
      shard: `s${r.integer(12)}`,
    }
    const us = r.about(rowUs * read + (isCold ? 1000 * coldMs : 0), 0.05)
    return call('web GET', 2000, {}, [call('fn', us, { attributes })])
  })
}

const compared = (before: Calls, after: Calls, seed = 1) =>
  compare(period(seed, before), period(seed + 100, after))

describe('a step whose calls recorded other values than before', () => {
  test('is told with the value that became more frequent, where calls with it take as long', () => {
    const comparison = compared({ cold: 0.03 }, { cold: 0.4 })
    const [first, ...others] = comparison.findings.findings
    expect(others).toEqual([])
    expect(first?.title).toMatch(
      /^fn: .* itself takes 1\.\d+ s longer in \d\d % of the calls, because fn faas\.coldstart = true comes more often \((3\d|4\d) % of calls, [1-5] % before\)$/,
    )
    const page = restoreComparison(takeSnapshot(comparison, { latenciesOf: () => true }))
    expect(page.findings.findings.map(({ title }) => title)).toEqual([first?.title])
  })

  test('is told with how large numbers are that are larger', () => {
    const [first] = compared({}, { rows: 65 }).findings.findings
    expect(first?.title).toMatch(/, because typically fn db\.rows = 6\d \((4|5)\d before\)$/)
  })

  test('is told beside numbers of which before had none like them, which it may take longer for', () => {
    const [first] = compared({}, { rows: 500, rowUs: 130 }).findings.findings
    expect(first?.title).not.toContain(', because ')
    expect(first?.facts).toContainEqual(
      expect.stringMatching(
        /^at the same time, typically fn db\.rows = [45]\d0 \([45]\d before\)$/,
      ),
    )
    const { findings } = compared({ fromRow: 0 }, { fromRow: 10_000, rowUs: 1300 }).findings
    expect(findings).toHaveLength(1)
    expect(findings[0]?.text).not.toContain('at the same time')
  })

  describe.each(firstQuick([1, 2, 3, 4, 5]))('of seeds', ({ rows: seeds, tags }) => {
    test.each([
      ['each row takes longer', {}, { rowUs: 1300 }],
      ['each row takes longer, and a tenant asks more often', {}, { rowUs: 1300, ofA: 0.9 }],
      ['cold starts take longer', { cold: 0.1 }, { cold: 0.1, coldMs: 5400 }],
    ])('is told without them where %s', { tags }, (_, before, after) => {
      for (const seed of seeds) {
        const { findings } = compared(before, after, seed).findings
        expect(findings).not.toEqual([])
        for (const { title } of findings) expect(title).not.toContain(', because ')
      }
    })
  })
})

interface Mix {
  readonly ofGold?: number
  /** Share of the requests of other tenants that may ask; of gold, 0.9 may. */
  readonly others?: number
  /** Share of those that do. */
  readonly asked?: number
}

/** 600 requests: `web` asks a cache for the requests of one tenant, or of others in a small share. */
function mixed(seed: number, { ofGold = 0.2, asked = 1, others = 0.1 }: Mix) {
  return record({ seed, requests: 600, everyUs: 5e6 }, (r) => {
    const isGold = r.is(ofGold)
    const isAsked = r.is((isGold ? 0.9 : others) * asked)
    const attributes = { 'tenant.id': isGold ? 'gold' : `t${r.integer(4)}`, asked: isAsked }
    const get = isAsked && call('cache get', r.about(3000))
    return call('web GET', r.about(2000, 0.3), { attributes }, [get])
  })
}

describe('a call that is made more often', () => {
  const titles = (before: Mix, after: Mix) =>
    compare(mixed(1, before), mixed(2, after)).findings.findings.map(({ title }) => title)

  test('is told with the tenant that comes more often, if each makes it as often as before', () => {
    const [first, ...others] = titles({}, { ofGold: 0.5 })
    expect(others).toEqual([])
    expect(first).toMatch(
      /^web: GET calls cache get in 2\d\d of 600 calls \(1\d\d of 600 before\), because tenant\.id = gold comes more often \(\d\d % of calls, 2\d % before\)$/,
    )
  })

  test('is told without a tenant if all make it more often', () => {
    const [first] = titles({ asked: 0.5, others: 0.9 }, { asked: 1, others: 0.9 })
    expect(first).toContain('web: GET calls cache get in ')
    expect(first).not.toContain('tenant.id')
  })
})
