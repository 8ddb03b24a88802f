import { describe, expect, test } from 'vitest'
import { checkCall, checkSentences, checkStep } from '../../../evaluation/suites/check-sentences.ts'
import type { FindingCall, FindingStep } from '../../../src/compare/findings/finding.ts'
import { compare } from '../../../src/comparison/comparison.ts'
import { makeGraphs, type SpanSketch } from '../../make-traces.ts'
import { requests, type Shop, shop, spread } from './traces.ts'

const shops = (times: Shop, count = 40) =>
  requests(
    spread(0, count).map((moreUs) => ({ ...times, cartUs: times.cartUs + moreUs })),
    shop,
  )

describe('a sentence about a step', () => {
  const usual = shops({ cartUs: 100, adsUs: 10 })
  const cart = {
    kind: 'work',
    service: 'cart',
    caller: null,
    operation: 'GetCart',
  } satisfies Partial<FindingStep>

  test('is true when a service works as much longer as said, or half of it', () => {
    const slow = shops({ cartUs: 500, adsUs: 10 })
    expect(checkStep([usual, slow], { ...cart, shiftUs: 400 })).toEqual({
      isTrue: true,
      measured:
        'cart GetCart: said +400 µs, measured +400 µs (120 µs → 520 µs; 40 and 40 requests)',
    })
    expect(checkStep([usual, slow], { ...cart, shiftUs: 790 }).isTrue).toBe(true)
    expect(checkStep([usual, slow], { ...cart, shiftUs: 810 }).isTrue).toBe(false)
    expect(checkStep([usual, slow], { ...cart, shiftUs: -400 }).isTrue).toBe(false)
    expect(checkStep([slow, usual], { ...cart, shiftUs: -400 }).isTrue).toBe(true)
  })

  test('is false when the service only waits longer for what it calls', () => {
    const slow = shops({ cartUs: 500, adsUs: 10 })
    const front = { ...cart, service: 'front', operation: 'GET', shiftUs: 400 }
    const waits = checkStep([usual, slow], front)
    expect(waits.isTrue).toBe(false)
    expect(waits.measured).toContain('measured 0 µs (70 µs → 70 µs;')
    const works = shops({ cartUs: 100, adsUs: 10, workUs: 450 })
    expect(checkStep([usual, works], front).isTrue).toBe(true)
    expect(checkStep([usual, slow], { ...front, kind: 'request' }).isTrue).toBe(true)
  })

  test('about a part of the work leaves out the other part', () => {
    const own = { ...cart, service: 'front', operation: 'GET', shiftUs: 400 }
    const renders = shops({ cartUs: 100, adsUs: 10, workUs: 450 })
    const within = checkStep([usual, renders], { ...own, part: 'within' })
    expect(within.measured).toContain('measured +400 µs (50 µs → 450 µs;')
    const itself = checkStep([usual, renders], { ...own, part: 'itself' })
    expect(itself.measured).toContain('measured 0 µs (20 µs → 20 µs;')
    expect([within.isTrue, itself.isTrue]).toEqual([true, false])
  })

  test('about the way of a call leaves out the time at the called service', () => {
    const way = { ...cart, kind: 'call', caller: 'front', shiftUs: 400 } as const
    const slow = shops({ cartUs: 500, adsUs: 900, wayUs: 420 })
    expect(checkStep([usual, slow], way)).toEqual({
      isTrue: true,
      measured:
        'front → cart GetCart: said +400 µs, measured +400 µs (20 µs → 420 µs; 40 and 40 requests)',
    })
    expect(checkStep([usual, shops({ cartUs: 500, adsUs: 10 })], way).isTrue).toBe(false)
  })

  test('is false when no request has the step', () => {
    const nowhere = { ...cart, operation: 'Checkout', shiftUs: 1 }
    expect(checkStep([usual, usual], nowhere)).toEqual({
      isTrue: false,
      measured: 'cart Checkout: said +1 µs, in 0 and 0 requests',
    })
  })

  test('takes the mean over the calls of a request, and the median over requests', () => {
    const loops = (lastUs: number) =>
      requests([0, 0, 9000], (more) => [
        { id: 'front', startUs: 0, endUs: 90_000 },
        { id: '1', parent: 'front', service: 'cart', startUs: 10, endUs: 110 },
        { id: '2', parent: 'front', service: 'cart', startUs: 200, endUs: 200 + lastUs + more },
      ])
    const call = { ...cart, operation: 'call', shiftUs: 100 }
    const { measured } = checkStep([loops(100), loops(300)], call)
    expect(measured).toContain('(100 µs → 200 µs; 3 and 3 requests)')
  })
})

/** A root that calls these services one after the other. */
const inTurn = (...services: readonly string[]): SpanSketch[] => [
  { id: 'client', startUs: 0, endUs: 1000 },
  { id: 'web', parent: 'client', startUs: 0, endUs: 1000 },
  ...services.map((service, i) => ({
    id: `call ${i}`,
    service,
    parent: 'web',
    startUs: 10 + 100 * i,
    endUs: 60 + 100 * i,
  })),
]

describe('a sentence about calls', () => {
  const draw = (...forms: readonly (readonly [count: number, ...string[]])[]) =>
    requests(
      forms.flatMap(([count, ...form]) => Array<typeof form>(count).fill(form)),
      (services) => inTurn(...services),
    )
  const operation = (service: string) => ({ service, operation: 'call' })
  const before = draw([20, 'cart'], [20, 'cart', 'ads'])
  const after = draw([20, 'cart', 'ads'], [18, 'ads', 'cart', 'cart'], [2, 'cart'])
  const ads: FindingCall = {
    kind: 'calls',
    of: operation('web'),
    previous: null,
    call: operation('ads'),
    made: [20, 38],
    chances: [40, 40],
  }

  test('is true when an operation makes the call as much more often as said, or half of it', () => {
    expect(checkCall([before, after], ads)).toEqual({
      isTrue: true,
      measured:
        'web call calls ads call: said 20 of 40 → 38 of 40, counted 20 of 40 → 38 of 40, p < 0.001',
    })
    expect(checkCall([after, before], ads).isTrue).toBe(false)
    expect(checkCall([before, after], { ...ads, made: [0, 38] }).isTrue).toBe(false)
  })

  test('is false when chance alone moves as many', () => {
    const few = draw([2, 'cart', 'ads'], [2, 'cart'])
    const more = draw([4, 'cart', 'ads'])
    const { isTrue, measured } = checkCall([few, more], { ...ads, made: [2, 4], chances: [4, 4] })
    expect(isTrue).toBe(false)
    expect(measured).toContain('counted 2 of 4 → 4 of 4, p = 0.43')
  })

  test('of what comes next counts only answers of the call before, and ends', () => {
    const next = { ...ads, kind: 'next', previous: operation('cart') } as const
    expect(checkCall([before, after], next).measured).toContain(
      'web call next ads call after cart call: said 20 of 40 → 38 of 40, counted 20 of 40 → 20 of 40',
    )
    const end = { ...next, call: null, made: [20, 20], chances: [40, 40] } as const
    expect(checkCall([before, after], end).measured).toContain('counted 20 of 40 → 20 of 40')
    const atOnce = { ...end, of: operation('cart'), previous: null }
    expect(checkCall([before, after], atOnce).measured).toContain('counted 40 of 40 → 58 of 58')
  })

  test('of repeated calls counts how many times requests make them', () => {
    const repeats: FindingCall = {
      ...ads,
      kind: 'repeats',
      call: operation('cart'),
      made: [40, 58],
      chances: [40, 40],
    }
    const { isTrue, measured } = checkCall([before, after], repeats)
    expect(measured).toContain('said 40 of 40 → 58 of 40, counted 40 of 40 → 58 of 40, p < 0.001')
    expect(isTrue).toBe(true)
  })
})

describe('the spans bear out findings', () => {
  test('of a callee that works longer', () => {
    const before = shops({ cartUs: 100, adsUs: 10 }, 80)
    const slow = shops({ cartUs: 900, adsUs: 10 }, 80)
    const [sentence] = checkSentences(compare(before, slow))
    expect(sentence).toMatchObject({ about: 'work', isTrue: true })
    expect(sentence?.title).toContain('GetCart itself takes 800 µs longer')
    expect(sentence?.parts[0]?.measured).toContain('cart GetCart: said +800 µs')
  })

  test('of a call that is made instead of another, with the counts they say', () => {
    // Of another operation, as a service that does the same is renamed.
    const all = (service: string) =>
      requests(spread(0, 80), () =>
        inTurn('cart', service).map((one) =>
          one.service === service ? { ...one, operation: service } : one,
        ),
      )
    const [sentence] = checkSentences(compare(all('ads'), all('news')))
    expect(sentence).toMatchObject({ about: 'structure', isTrue: true })
    expect(sentence?.parts[0]?.measured).toContain('0 of 80 → 80 of 80, counted 0 of 80 → 80 of 80')
  })

  test('only of traces with spans', () => {
    const graphs = (latencyUs: number) =>
      makeGraphs(
        spread(latencyUs, 60).map((us) => ({
          labels: ['a', 'b'],
          edges: [[0, 1] as const],
          latencyUs: [us],
        })),
      )
    const comparison = compare(graphs(100), graphs(900))
    expect(comparison.findings.findings).toHaveLength(1)
    expect(checkSentences(comparison)).toEqual([])
  })
})
