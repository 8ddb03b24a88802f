import { expect, test } from 'vitest'
import { compare } from '../../../src/compare/comparison.ts'
import { Findings } from '../../../src/compare/findings/findings.ts'
import type { StepChange } from '../../../src/compare/steps/step-changes.ts'
import { randomSource } from '../../../src/stats/random.ts'
import { headline } from '../../../src/views/report/headline.ts'
import { makeSpans, type SpanSketch } from '../../make-traces.ts'

interface Change {
  readonly buying?: number
  readonly isSlow?: (size: number) => boolean
}

/** Requests of a shop that ask its stock; those that buy take twice as long. */
function shop(seed: number, { buying = 0.3, isSlow = () => false }: Change = {}) {
  const random = randomSource(seed)
  const spans: SpanSketch[] = []
  for (let i = 0; i < 400; i++) {
    const [trace, startUs, size] = [`t${i}`, i * 50_000, random.integer(1000)]
    const isBuying = random.next() < buying
    const stockUs = 800 * random.logNormal(0, 0.3) + (isSlow(size) ? 6000 : 0)
    const workUs = (isBuying ? 2000 : 500) * random.logNormal(0, 0.2)
    const operation = isBuying ? 'POST /buy' : 'GET /list'
    const endUs = startUs + stockUs + workUs
    const root = { trace, id: `r${i}`, service: 'shop', operation, startUs, endUs }
    spans.push(
      { ...root, attributes: { 'cart.size': size } },
      {
        ...root,
        id: `s${i}`,
        parent: `r${i}`,
        service: 'stock',
        operation: 'LOOKUP',
        endUs: startUs + stockUs,
      },
    )
  }
  return makeSpans(spans)
}

test('calls that a segment tells apart are counted once: all that meet it, in every fact', () => {
  const slow = shop(24, { isSlow: (size) => size < 150 })
  const comparison = compare(shop(23), slow)
  const [finding] = comparison.findings.findings
  const requests = finding?.requests ?? 0
  expect(finding?.title).toMatch(
    /^stock: LOOKUP itself takes [\d.]+ ms longer, only where cart\.size < 1\d\d$/,
  )
  expect(finding?.facts[0]).toBe(`${requests} of 400 requests`)
  expect(finding?.text).toContain(`${requests} of 400 requests with stock LOOKUP meet it: `)
  expect(finding?.concerned[1]).toBe(requests)
  expect(finding?.segment?.inside.after).toBe(requests)
})

test('where the mix of requests changed, text and report say that it accounts for the change', () => {
  const comparison = compare(shop(3), shop(4, { buying: 0.7 }))
  const { findings } = comparison
  expect(findings.findings).toEqual([])
  const moved =
    /^Requests took \d+ µs longer on average \(95 % CI [^)]*\): the changed mix of requests accounts for \d+ % of it\. /
  expect(findings.nothingText()).toMatch(moved)
  expect(headline(comparison).sentences[1]).toMatch(moved)
})

test('an interval of what is too little to matter that holds 0 is not told as a sure size', () => {
  const { findings } = compare(shop(5), shop(6))
  const step = { kind: 'work', service: 'stock', caller: null, operations: [], minority: null }
  const told = (interval: readonly [number, number]) => {
    const sizes = { shiftUs: -13, interval, effect: -0.01, probabilitySlower: 0.46, q: 0.024 }
    return new Findings({
      ...findings,
      nearest: { ...step, ...sizes } as unknown as StepChange,
    }).nothingText()
  }
  expect(told([-28, 2])).toContain(
    'itself, 13 µs less, which may be chance (95 % CI −2 µs to 28 µs), 1 % of what such requests take, that it changed: p = 0.024.',
  )
  expect(told([-28, -2])).toContain(
    'itself, 13 µs less (95 % CI 2–28 µs), 1 % of what such requests take, p = 0.024.',
  )
})
