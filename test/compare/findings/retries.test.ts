import fc from 'fast-check'
import { expect, test } from 'vitest'
import { printedFindings } from '../../../src/cli/finding-document.ts'
import { compare } from '../../../src/compare/comparison.ts'
import { AFTER, BEFORE } from '../../../src/flows/flow-set.ts'
import { randomSource } from '../../../src/stats/random.ts'
import { reportMarkdown } from '../../../src/views/report/report-markdown.ts'
import { makeSpans, type SpanSketch } from '../../make-traces.ts'

interface Shop {
  readonly offset: number
  /** Share of attempts that fail. */
  readonly failing: number
  /** Most attempts of each call of `pay`, and of each call of `order`. */
  readonly attempts: readonly [pay: number, order: number]
  readonly requests?: number
  /** Requests that did not fail are kept by this chance. */
  readonly kept?: number
}

/** `web BUY` calls `order PLACE`, which calls `pay CHARGE`, each again after a failure. */
function shop({ offset, failing, attempts, requests = 150, kept = 1 }: Shop) {
  const random = randomSource(offset + 1)
  const spans: SpanSketch[] = []
  const calls = { web: 0, order: 0 }
  const failures = { web: 0, order: 0 }
  for (let request = 0; request < requests; request++) {
    const trace = `${offset} ${request}`
    const own: SpanSketch[] = []
    let nowUs = offset * 1e9 + request * 1e5
    const span = (service: string, parent: string | null, inner: (id: string) => boolean) => {
      const sketch = { trace, id: `${trace} ${own.length}`, parent, service, startUs: nowUs }
      const at = own.push({ ...sketch, endUs: nowUs }) - 1
      nowUs += 50 + random.integer(20)
      const isFailing = inner(sketch.id)
      nowUs += 50 + random.integer(20)
      const status = isFailing ? ('error' as const) : ('ok' as const)
      own[at] = { ...sketch, endUs: nowUs, status }
      return isFailing
    }
    const tried = (most: number, attempt: () => boolean) => {
      for (let i = 0; i < most; i++) if (!attempt()) return false
      return true
    }
    const counted = { web: 1, order: 0 }
    const failed = { web: 0, order: 0 }
    const isFailing = span('web', null, (web) =>
      tried(attempts[1], () => {
        counted.order++
        const isOrder = span('order', web, (order) =>
          tried(attempts[0], () => span('pay', order, () => random.next() < failing)),
        )
        failed.order += Number(isOrder)
        return isOrder
      }),
    )
    failed.web = Number(isFailing)
    const probability = isFailing ? 1 : kept
    if (random.next() >= probability) continue
    spans.push(...own.map((one) => ({ ...one, probability })))
    for (const service of ['web', 'order'] as const) {
      calls[service] += counted[service] / probability
      failures[service] += failed[service] / probability
    }
  }
  return { traces: makeSpans(spans), calls, failures }
}

const compared = (before: Omit<Shop, 'offset'>, after: Omit<Shop, 'offset'>) => {
  const [first, second] = [shop({ ...before, offset: 0 }), shop({ ...after, offset: 1 })]
  return { comparison: compare(first.traces, second.traces), periods: [first, second] as const }
}

test('a caller fails once for each of its calls, however many of its attempts fail, and shares are at most 1', () => {
  let told = 0
  const share = fc.constantFrom(0, 0.05, 0.6, 0.9, 1)
  const most = fc.integer({ min: 1, max: 4 })
  const shops = fc.record({
    failing: share,
    attempts: fc.tuple(most, most),
    kept: fc.constantFrom(1, 0.3),
  })
  fc.assert(
    fc.property(shops, shops, (before, after) => {
      const { comparison, periods } = compared(before, after)
      const { findings } = comparison.findings
      for (const { calls } of findings.flatMap((one) => [one, ...one.consequences])) {
        // Of repeats, all that are made are counted, not whether any is.
        for (const { kind, of, made, chances } of calls.filter((one) => one.kind !== 'repeats')) {
          for (const period of [BEFORE, AFTER]) {
            expect(made[period]).toBeGreaterThanOrEqual(0)
            expect(made[period]).toBeLessThanOrEqual(chances[period])
            if (kind !== 'fails with' || (of.service !== 'web' && of.service !== 'order')) continue
            told++
            const { calls, failures } = periods[period]
            expect(Math.abs(chances[period] - calls[of.service])).toBeLessThanOrEqual(0.5)
            expect(Math.abs(made[period] - failures[of.service])).toBeLessThanOrEqual(0.5)
          }
        }
      }
      for (const one of printedFindings(comparison)) {
        if (one.kind !== 'errors') continue
        expect(Math.abs(one.size.value as number)).toBeLessThanOrEqual(1)
      }
      expect(reportMarkdown(comparison)).not.toMatch(/NaN|undefined/)
    }),
    { numRuns: 15 },
  )
  expect(told).toBeGreaterThan(20)
})

test('of a total outage, each calling request is told once', () => {
  const usual = { failing: 0, attempts: [3, 1] } as const
  const { comparison } = compared(usual, { ...usual, failing: 1 })
  const [first] = comparison.findings.findings
  expect(first?.title).toBe('pay: call fails in 450 of 450 calls (0 of 150 before)')
  expect(first?.consequences.slice(0, 2).map(({ title }) => title)).toEqual([
    'order: call fails with it in 150 of 150 calls (0 of 150 before)',
    'web: call fails with it in 150 of 150 calls (0 of 150 before)',
  ])
})
