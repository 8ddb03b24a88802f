import { describe, expect, test } from 'vitest'
import {
  checkSentences,
  checkStep,
  checkStructure,
} from '../../../evaluation/suites/check-sentences.ts'
import { compare } from '../../../src/compare/comparison.ts'
import { buildFlows } from '../../../src/flows/build-flows.ts'
import type { SpanTraces } from '../../../src/traces/span-traces.ts'
import { makeGraphs, type SpanSketch } from '../../make-traces.ts'
import { requests, type Shop, shop, spread } from './traces.ts'

const shops = (times: Shop, count = 40) =>
  requests(
    spread(0, count).map((moreUs) => ({ ...times, cartUs: times.cartUs + moreUs })),
    shop,
  )

const step = (
  [before, after]: readonly [SpanTraces, SpanTraces],
  claim: Parameters<typeof checkStep>[1],
) => checkStep(buildFlows([before, after]), claim)

describe('a sentence about a step', () => {
  const usual = shops({ cartUs: 100, adsUs: 10 })

  test('is true when the work of a span takes as much longer as said, or half of it', () => {
    const slow = shops({ cartUs: 500, adsUs: 10 })
    const itself = { from: 'cart GetCart call', to: 'cart GetCart reply' }
    expect(step([usual, slow], { ...itself, shiftUs: 400 })).toEqual({
      isTrue: true,
      measured:
        'said +400 µs, the median that no other call covers +400 µs' +
        ' (120 µs → 520 µs, all of the step +400 µs; 40 and 40 requests)',
    })
    expect(step([usual, slow], { ...itself, shiftUs: 790 })?.isTrue).toBe(true)
    expect(step([usual, slow], { ...itself, shiftUs: 810 })?.isTrue).toBe(false)
    expect(step([usual, slow], { ...itself, shiftUs: -400 })?.isTrue).toBe(false)
    expect(step([slow, usual], { ...itself, shiftUs: -400 })?.isTrue).toBe(true)
  })

  test('is false when the time lies under another call of the same service', () => {
    // `front` waits from the reply of GetAds to `render`, because GetCart takes longer.
    const slow = shops({ cartUs: 500, adsUs: 10 })
    const gap = { from: 'front GetAds reply', to: 'front render call' }
    const result = step([usual, slow], { ...gap, shiftUs: 400 })
    expect(result?.isTrue).toBe(false)
    expect(result?.measured).toContain('covers 0 µs (5 µs → 5 µs, all of the step +400 µs;')
  })

  test('is true of the way of a call, whatever else is called meanwhile', () => {
    const slow = shops({ cartUs: 100, adsUs: 900, wayUs: 820 })
    const way = { from: 'front GetCart call', to: 'cart GetCart call', shiftUs: 400 }
    expect(step([usual, slow], way)?.isTrue).toBe(true)
  })

  test('is false when no request has the step', () => {
    const nowhere = { from: 'front GetCart reply', to: 'cart GetCart call', shiftUs: 1 }
    expect(step([usual, usual], nowhere)).toEqual({
      isTrue: false,
      measured: 'no request has this step (0 → 0)',
    })
  })

  test('takes the mean over the calls of a request, and the median over requests', () => {
    const loops = (lastUs: number) =>
      requests([0, 0, 9000], (more) => [
        { id: 'front', startUs: 0, endUs: 90_000 },
        { id: '1', parent: 'front', service: 'cart', startUs: 10, endUs: 110 },
        { id: '2', parent: 'front', service: 'cart', startUs: 200, endUs: 200 + lastUs + more },
      ])
    const result = step([loops(100), loops(300)], {
      ...{ from: 'cart call call', to: 'cart call reply', shiftUs: 100 },
    })
    expect(result?.measured).toContain('(100 µs → 200 µs, all of the step +100 µs; 3 and 3')
  })

  test('cannot be checked without spans', () => {
    const graphs = makeGraphs([{ labels: ['a', 'b'], edges: [[0, 1]] }])
    expect(checkStep(buildFlows([graphs, graphs]), { from: 'a', to: 'b', shiftUs: 1 })).toBe(
      undefined,
    )
  })
})

/** A root that calls these services one after the other. */
const inTurn = (root: string, ...services: readonly string[]): SpanSketch[] => [
  { id: root, startUs: 0, endUs: 1000 },
  ...services.map((service, i) => ({
    ...{ id: `call ${i}`, service, parent: root },
    ...{ startUs: 10 + 100 * i, endUs: 60 + 100 * i },
  })),
]

describe('a sentence about structure', () => {
  const draw = (forms: readonly (readonly [count: number, root: string, ...string[]])[]) =>
    requests(
      forms.flatMap(([count, ...form]) => Array<typeof form>(count).fill(form)),
      ([root, ...services]) => inTurn(root, ...services),
    )
  const before = draw([
    [20, 'web', 'cart'],
    [20, 'web', 'cart', 'ads'],
    [20, 'jobs', 'mail'],
  ])
  const after = draw([
    [20, 'web', 'cart', 'ads'],
    [20, 'web', 'ads', 'cart', 'cart'],
    [10, 'jobs', 'cart'],
  ])
  const web = new Set(['web call call'])
  const check = (
    claim: Omit<Parameters<typeof checkStructure>[1], 'roots'>,
    roots: ReadonlySet<string> | null = web,
  ) => checkStructure({ before, after }, { ...claim, roots })

  test('is true when more requests of its type have the added part', () => {
    expect(check({ change: 'added', label: 'ads call call' })).toEqual({
      isTrue: true,
      measured:
        'said added, ads call call: 20 of 40 requests, 0.5 times each' +
        ' → 40 of 40 requests, 1 times each, p < 0.001',
    })
    expect(check({ change: 'removed', label: 'ads call call' })?.isTrue).toBe(false)
  })

  test('does not count requests of another type', () => {
    const mail = { change: 'removed', label: 'mail call call' } as const
    expect(check(mail)?.isTrue).toBe(false)
    expect(check(mail, new Set(['jobs call call']))?.isTrue).toBe(true)
    expect(check(mail, null)?.measured).toContain('20 of 60 requests, 0.333 times each → 0 of 50')
  })

  test('is false when chance alone moves as many', () => {
    const few = draw([
      [2, 'web', 'cart', 'ads'],
      [2, 'web', 'cart'],
    ])
    const more = draw([[4, 'web', 'cart', 'ads']])
    const claim = { change: 'added', label: 'ads call call', roots: web } as const
    expect(checkStructure({ before: few, after: more }, claim)).toEqual({
      isTrue: false,
      measured:
        'said added, ads call call: 2 of 4 requests, 0.5 times each' +
        ' → 4 of 4 requests, 1 times each, p = 0.21',
    })
  })

  test('counts calls where every request has the part', () => {
    const cart = check({ change: 'added', label: 'cart call reply' })
    expect(cart?.measured).toContain(
      '40 of 40 requests, 1 times each → 40 of 40 requests, 1.5 times each',
    )
    expect(cart?.isTrue).toBe(true)
  })

  test('of another order looks at what a part follows', () => {
    const cart = { label: 'cart call call' }
    const first = check({ ...cart, change: 'removed', after: 'web call call' })
    expect(first?.measured).toContain('40 of 40 requests, 1 times each → 20 of 40 requests')
    expect(first?.isTrue).toBe(true)
    const second = check({ ...cart, change: 'added', after: 'ads call reply' })
    expect(second?.measured).toContain('0 of 40 requests, 0 times each → 20 of 40')
    const end = check({ label: 'web call reply', change: 'added', after: 'ads call reply' })
    expect(end?.measured).toContain('20 of 40 requests, 0.5 times each → 20 of 40')
    expect(end?.isTrue).toBe(false)
  })
})

test('the spans bear out the finding of a callee that works longer', () => {
  const before = shops({ cartUs: 100, adsUs: 10 }, 80)
  const slow = shops({ cartUs: 900, adsUs: 10 }, 80)
  const sentences = checkSentences(compare(before, slow))
  expect(sentences[0]).toMatchObject({ about: 'work', isTrue: true })
  expect(sentences[0]?.title).toContain('GetCart itself takes 800 µs longer')
})
