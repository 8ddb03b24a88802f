import { describe, expect, test } from 'vitest'
import { randomSource } from '../../src/stats/random.ts'
import { diagnoseLatency } from '../../src/whatif/diagnosis/diagnose-latency.ts'
import { every, makeSpans, NOON_US, requestsAt } from '../make-traces.ts'

const changeP = (
  ...periods: readonly [ReturnType<typeof makeSpans>, ReturnType<typeof makeSpans>]
) => diagnoseLatency(...periods, { depth: 1 }).changeP

interface Sampled {
  readonly slow: number
  readonly keeps: { readonly slow: number; readonly fast: number }
}

/** Requests of 1 ms, and a share `slow` that takes ten times as long; each kind is sampled by itself. */
function sampled(seed: number, { slow, keeps }: Sampled) {
  const random = randomSource(seed)
  const spans = Array.from({ length: 1500 }, (_, i) => {
    const isSlow = random.next() < slow
    const probability = isSlow ? keeps.slow : keeps.fast
    const us = random.logNormal(Math.log(isSlow ? 10_000 : 1000), 0.2)
    const startUs = NOON_US + seed * 1e9 + 50_000 * i
    const span = { id: 'web', trace: `t${i}`, startUs, endUs: startUs + us, probability }
    return random.next() < probability ? [span] : []
  })
  return makeSpans(spans.flat())
}

describe('requests count by their sampling weights', () => {
  const SLOW_ONES = { slow: 1, fast: 0.2 }
  const ALIKE = { slow: 0.3, fast: 0.3 }
  const ps = (slow: number) =>
    Array.from({ length: 20 }, (_, seed) =>
      changeP(
        sampled(2 * seed, { slow: 0.1, keeps: SLOW_ONES }),
        sampled(2 * seed + 1, { slow, keeps: ALIKE }),
      ),
    )

  test('one population that was sampled in two ways is nearly never called different', () => {
    expect(ps(0.1).filter((p) => p < 0.05).length).toBeLessThanOrEqual(3)
  })

  test('three times as many slow requests are seen, though fewer of them were kept', () => {
    expect(ps(0.3).filter((p) => p < 0.05).length).toBeGreaterThanOrEqual(18)
  })
})

test('periods whose requests all take as long do not differ', () => {
  const period = (count: number) => makeSpans(requestsAt(every(1000, count)))
  expect(changeP(period(200), period(150))).toBe(1)
})

test('two recordings whose clocks begin at 0 are not of the same time', () => {
  const wave = (fromUs: number, slower = 1) =>
    makeSpans(
      Array.from({ length: 400 }, (_, i) => {
        // Whole µs, which doubles hold exactly at any time of day.
        const us = Math.round(slower * (1000 + 400 * Math.sin(i / 40)))
        const startUs = fromUs + 1000 * i
        return { id: 'web', trace: `t${i}`, startUs, endUs: startUs + us }
      }),
    )
  const p = (before: number, after: number) => changeP(wave(before), wave(after, 1.15))
  expect(p(0, 0)).toBe(p(NOON_US, NOON_US + 1e9))
  // Of the same time, they wander together.
  expect(p(NOON_US, NOON_US)).toBeLessThan(p(0, 0) / 10)
})

describe('what builds up over the after period', () => {
  /** 600 requests whose level wanders; from a fifth of the period on stock takes up to `risesUs` more. */
  const period = (seed: number, risesUs: number) => {
    const random = randomSource(seed)
    let level = random.normal()
    return makeSpans(
      Array.from({ length: 600 }, (_, i) => i).flatMap((i) => {
        level = 0.95 * level + 0.3 * random.normal()
        const startUs = NOON_US + seed * 1e9 + 100_000 * i
        const us = random.logNormal(Math.log(20_000) + 0.05 * level, 0.3)
        const endUs = startUs + us + risesUs * Math.max(0, (i - 120) / 480)
        const trace = `t${i}`
        return [
          { id: 'web', trace, startUs, endUs: endUs + 1000 },
          { id: 'stock', parent: 'web', trace, startUs, endUs },
        ]
      }),
    )
  }
  const found = (risesUs: number) =>
    Array.from({ length: 20 }, (_, seed) =>
      diagnoseLatency(period(2 * seed, 0), period(2 * seed + 1, risesUs), { depth: 1 }),
    )

  test('is a difference, though the level of after moves more than that of before', () => {
    const all = found(30_000)
    expect(all.filter(({ changeP }) => changeP < 0.05).length).toBeGreaterThanOrEqual(19)
    const isFound = all.filter(({ best }) => best?.significant && /stock/.test(best.scenario.title))
    expect(isFound.length).toBeGreaterThanOrEqual(19)
  })

  test('levels that wander alike in both periods are no difference', () => {
    expect(found(0).filter(({ changeP }) => changeP < 0.05).length).toBeLessThanOrEqual(2)
  })
})

describe('requests of kinds that take 4 to 700 ms', () => {
  const KINDS = [
    { share: 0.4, name: 'locate', us: 4000 },
    { share: 0.43, name: 'home', us: 25_000 },
    { share: 0.15, name: 'ride', us: 70_000 },
    { share: 0.02, name: 'bill', us: 700_000 },
  ]
  /** Each kind calls a service of its own; `quote`, which rides call, takes so much longer. */
  const period = (seed: number, moreUs: number) => {
    const random = randomSource(seed)
    return makeSpans(
      Array.from({ length: 1000 }, (_, i) => i).flatMap((i) => {
        let drawn = random.next()
        const { name, us: usualUs } =
          KINDS.find(({ share }) => {
            drawn -= share
            return drawn < 0
          }) ?? KINDS[0]!
        const startUs = NOON_US + seed * 1e9 + 100_000 * i
        const us = random.logNormal(Math.log(usualUs), 0.25) + (name === 'ride' ? moreUs : 0)
        const own = { trace: `t${i}`, startUs, operation: name }
        const service = name === 'ride' ? 'quote' : 'store'
        return [
          { ...own, id: 'web', endUs: startUs + us + 1000 },
          { ...own, id: 'below', service, parent: 'web', endUs: startUs + us },
        ]
      }),
    )
  }
  const found = (moreUs: number) =>
    Array.from({ length: 10 }, (_, seed) =>
      diagnoseLatency(period(2 * seed, 0), period(2 * seed + 1, moreUs), { depth: 1 }),
    )

  test('hide a change of one that few are of, but not from who looks at those that make a call', () => {
    const callers = found(12_000).map(({ changedCallers }) => changedCallers?.service)
    expect(callers.filter((service) => service === 'quote').length).toBeGreaterThanOrEqual(9)
  })

  test('hide nothing where none changed', () => {
    expect(found(0).filter(({ changedCallers }) => changedCallers).length).toBeLessThanOrEqual(1)
  })
})
