import { expect, test } from 'vitest'
import { compare } from '../../../src/compare/comparison.ts'
import { randomSource } from '../../../src/stats/random.ts'
import { makeSpans, type SpanSketch } from '../../make-traces.ts'

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
  const random = randomSource(seed)
  const spans = Array.from({ length: 400 }, (_, request): SpanSketch[] => {
    const trace = `${seed} ${request}`
    const own: SpanSketch[] = []
    let nowUs = seed * 1e10 + request * 1e6
    const run = (
      [service, operation]: readonly [string, string],
      parent: string | null,
      { us, inner = () => {} }: { readonly us: number; readonly inner?: (id: string) => void },
    ) => {
      const id = `${trace} ${own.length}`
      const sketch = { trace, id, parent, service, operation, startUs: nowUs }
      const at = own.push({ ...sketch, endUs: nowUs }) - 1
      nowUs += random.logNormal(Math.log(us), 0.25)
      inner(id)
      nowUs += 50
      own[at] = { ...sketch, endUs: nowUs }
    }
    const isFlagged = request % 5 === 0
    run(['home', 'GET'], null, {
      us: 3000,
      inner: (home) => {
        run(['recs', 'Rank'], home, {
          us: isEmpty ? 500 : 8000,
          inner: (rank) => {
            if (!isEmpty) run(['recs', 'MGET'], rank, { us: queryUs })
            for (let i = 0; i < (isFlagged ? rules : 0); i++)
              run(['recs', 'HGET'], rank, { us: 700 })
            if (isAudited) run(['audit', 'Record'], rank, { us: 6000 })
          },
        })
        if (!isEmpty) run(['titles', 'Batch'], home, { us: 9000 })
      },
    })
    own[0] = { ...(own[0] as SpanSketch), attributes: { 'flag.rules': isFlagged } }
    return own
  })
  return makeSpans(spans.flat())
}

const found = (after: Period) => compare(period(1, {}), period(2, after)).findings
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
  const random = randomSource(seed)
  const spans = Array.from({ length: 400 }, (_, request): SpanSketch[] => {
    const trace = `${seed} ${request}`
    const startUs = seed * 1e10 + request * 1e6
    const own = { trace, service: 'maps' }
    const asked: SpanSketch[] = []
    let nowUs = startUs + 1500
    for (let attempt = 0; attempt < 2 && asked.at(-1)?.status !== 'ok'; attempt++) {
      if (attempt > 0) nowUs += 80_000
      const takesUs = random.logNormal(Math.log(55_000), 0.4)
      const status = takesUs > deadlineUs ? ('error' as const) : ('ok' as const)
      const times = { startUs: nowUs, endUs: nowUs + Math.min(takesUs, deadlineUs) }
      const id = `${trace} ${attempt}`
      asked.push({ ...own, ...times, id, parent: trace, operation: 'GET', kind: 'client', status })
      nowUs = times.endUs
    }
    return [{ ...own, id: trace, operation: 'Route', startUs, endUs: nowUs + 500 }, ...asked]
  })
  return makeSpans(spans.flat())
}

test('what takes longer for a timeout stands under its failures, though all other calls are the fast ones', () => {
  const { findings } = compare(routes(1, 1e6), routes(2, 90_000)).findings
  expect(titles(findings)).toEqual([expect.stringMatching(/^maps: GET within Route fails in \d+/)])
  expect(titles(findings[0]?.consequences ?? [])).toContainEqual(
    expect.stringMatching(/^maps: .* takes 1\d\d ms longer in \d+ % of the calls$/),
  )
})
