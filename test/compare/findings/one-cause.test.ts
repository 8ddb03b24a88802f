import { expect, test } from 'vitest'
import { compare } from '../../../src/comparison/comparison.ts'
import { call, record, tries } from '../../worlds.ts'

interface Period {
  /** Whether `recs` answers with an empty list, at once: `home` then asks for no titles. */
  readonly isEmpty?: boolean
  /** Whether `recs` has `audit` record what it is asked. */
  readonly isAudited?: boolean
  readonly queryUs?: number
  /** How many rules `recs` reads where requests have the flag; such are many requests. */
  readonly rules?: number
}

/*
 *   home    GET     |-----------------------------|
 *   recs    Rank     |---------------|
 *   recs    MGET       |---|
 *   audit   Record           |----|
 *   titles  Batch                      |-------|
 */
function period(
  seed: number,
  { isEmpty = false, isAudited = false, queryUs = 4000, rules = 0 }: Period,
) {
  return record({ seed, requests: 400, fromUs: seed * 1e10 }, (r) => {
    const own = (us: number) => [r.about(us, 0.25), 50] as const
    const isFlagged = r.index % 5 === 0
    const rank = call('recs Rank', own(isEmpty ? 500 : 8000), {}, [
      !isEmpty && call('recs MGET', own(queryUs)),
      ...Array.from({ length: isFlagged ? rules : 0 }, () => call('recs HGET', own(700))),
      isAudited && call('audit Record', own(6000)),
    ])
    const titles = !isEmpty && call('titles Batch', own(9000))
    return call('home GET', own(3000), { attributes: { 'flag.rules': isFlagged } }, [rank, titles])
  })
}

const found = (after: Period) => compare(period(3, {}), period(4, after)).findings
const told = (after: Period) => found(after).findings
const titles = (findings: readonly { readonly title: string }[]) =>
  findings.map(({ title }) => title)

test('a call that is left out after an answer stands under what gives another answer, though all requests do', () => {
  const findings = told({ isEmpty: true })
  expect(titles(findings)).toEqual([expect.stringMatching(/^recs: Rank no longer calls MGET/)])
  expect(titles(findings[0]?.consequences ?? [])).toContainEqual(
    expect.stringMatching(/^home: GET no longer calls titles Batch/),
  )
})

test('a query that takes longer is a cause of its own beside a new call to another service', () => {
  const { findings, observedChangeUs } = found({ isAudited: true, queryUs: 12_000 })
  const [query, audit] = findings
  expect(query?.title).toMatch(/^recs: MGET within Rank takes [78]\.?\d* ms longer/)
  expect(audit?.title).toMatch(/^recs: Rank now calls audit Record after MGET in 400 of 400 calls/)
  expect(findings).toHaveLength(2)
  // Of 400 requests, 8 ms and 6 ms each.
  const shares = findings.map(({ contributionUs }) => contributionUs / observedChangeUs)
  expect(Math.abs((shares[0] ?? 0) - 8 / 14)).toBeLessThan(0.06)
  expect(Math.abs((shares[1] ?? 0) - 6 / 14)).toBeLessThan(0.06)
})

test('a service that works longer only where it calls something new is told with that', () => {
  const findings = told({ rules: 15 })
  expect(titles(findings)).toEqual([
    expect.stringMatching(/^recs: Rank now calls HGET in 80 of 400 calls/),
  ])
  expect(titles(findings[0]?.consequences ?? [])).toEqual([
    expect.stringMatching(
      /^recs: Rank takes 1\d(\.\d+)? ms longer, because it calls HGET more often/,
    ),
  ])
})

/** `maps` asks a provider for a route, once more 80 ms after it gave up. */
function routes(seed: number, deadlineUs: number) {
  return record({ seed, requests: 400, fromUs: seed * 1e10 }, (r) => {
    const asked = tries(2, (attempt) => {
      const us = r.about(55_000, 0.4)
      const how = { fails: us > deadlineUs, gapUs: attempt > 0 ? 80_000 : 0 }
      return call('maps GET', Math.min(us, deadlineUs), { kind: 'client', ...how })
    })
    return call('maps Route', [1500, 500], {}, asked)
  })
}

test('what takes longer for a timeout stands under its failures, though all other calls are the fast ones', () => {
  const { findings } = compare(routes(1, 1e6), routes(2, 90_000)).findings
  expect(titles(findings)).toEqual([expect.stringMatching(/^maps: GET within Route fails in \d+/)])
  expect(titles(findings[0]?.consequences ?? [])).toContainEqual(
    expect.stringMatching(/^maps: .* takes 1\d\d ms longer in \d+ % of the calls$/),
  )
})
