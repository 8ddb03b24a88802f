import { expect, test } from 'vitest'
import type { StepChange } from '../../../src/compare/steps/step-changes.ts'
import { compare } from '../../../src/comparison/comparison.ts'
import { Findings } from '../../../src/comparison/words/findings.ts'
import { headline } from '../../../src/explain/headline.ts'
import { call, record, recordWithSum } from '../../worlds.ts'

interface Change {
  readonly buying?: number
  readonly isSlow?: (size: number) => boolean
}

/** Requests of a shop that ask its stock; those that buy take twice as long. */
function shop(seed: number, { buying = 0.3, isSlow = () => false }: Change = {}) {
  return record({ seed, requests: 400, everyUs: 5e4 }, (r) => {
    const [size, isBuying] = [r.integer(1000), r.is(buying)]
    const stock = call('stock LOOKUP', r.about(800, 0.3) + (isSlow(size) ? 6000 : 0))
    const ownUs = r.about(isBuying ? 2000 : 500)
    const attributes = { 'cart.size': size }
    return call(`shop ${isBuying ? 'POST /buy' : 'GET /list'}`, [0, ownUs], { attributes }, [stock])
  })
}

test('calls that a segment tells apart are counted once: all that meet it, in every fact', () => {
  const slow = shop(24, { isSlow: (size) => size < 150 })
  const comparison = compare(shop(23), slow)
  const [finding] = comparison.findings.findings
  const requests = finding?.requests ?? 0
  expect(finding?.title).toMatch(
    /^stock: LOOKUP itself takes [\d.]+ ms longer, only where cart\.size < 1\d\d$/,
  )
  expect(finding?.facts[0]).toContain(`${requests} of 400 requests take `)
  expect(finding?.text).toContain(
    `${requests} of 400 requests with stock LOOKUP meet this condition`,
  )
  expect(finding?.concerned[1]).toBe(requests)
  expect(finding?.segment?.inside.after).toBe(requests)
})

test('a title tells what one call of a segment takes longer, though requests wait for another beside it', () => {
  const period = (seed: number, slowUs: number) =>
    record({ seed, requests: 600, everyUs: 5e4 }, (r) => {
      const host = `pod-${r.index % 5}`
      const stockUs = r.about(1000) + (host === 'pod-2' ? slowUs : 0)
      const price = call('price QUOTE', r.about(12_000, 0.5), { beside: true })
      return call('shop GET', [100, 400], {}, [call('stock LOOKUP', stockUs, { host }), price])
    })
  const { findings } = compare(period(31, 0), period(32, 6000)).findings
  expect(findings).toHaveLength(1)
  expect(findings[0]?.title).toMatch(
    /^stock: LOOKUP itself takes (5\.9|6\.0)\d* ms longer, only where stock host = pod-2$/,
  )
  expect(Math.abs(findings[0]?.size.value ?? 0)).toBeLessThan(1000)
})

test('where the mix of requests changed, text and report say that it accounts for the change', () => {
  const comparison = compare(shop(3), shop(4, { buying: 0.7 }))
  const { findings } = comparison
  expect(findings.findings).toEqual([])
  const moved =
    /^Requests took \d+ µs longer on average \(95 % CI [^)]*\): the changed request mix explains \d+ % of it\. /
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
    'itself, 13 µs less (95 % CI −2 µs to 28 µs), 1 % of the mean of these requests, times changed, though perhaps not their mean: p = 0.024.',
  )
  expect(told([-28, -2])).toContain(
    'itself, 13 µs less (95 % CI 2–28 µs), 1 % of the mean of these requests, p = 0.024.',
  )
})

test('a step is told alone where a segment of requests is of others and of those that have it', () => {
  const rides = (seed: number, addedUs = 0) =>
    record({ seed, requests: 600, everyUs: 5e4 }, (r) => {
      const kind = r.index % 5
      const operation = kind < 2 ? 'POST /rides' : kind < 4 ? 'GET /eta' : 'POST /complete'
      const us = r.about(3000) + (kind === 4 ? addedUs : 0)
      const attributes: Record<string, number> = kind < 2 ? { candidates: r.index } : {}
      const called = call(kind === 4 ? 'trips DO' : 'geo DO', us)
      return call(`rider ${operation}`, [0, r.about(20_000)], { attributes }, [called])
    })
  const { findings } = compare(rides(31), rides(32, 30_000))
  expect(findings.findings.map(({ where }) => where)).toEqual(['trips'])
  expect(findings.summary()).not.toContain('all else')
})

test('of parallel calls of one request of which one is slow, what this call takes is told', () => {
  const fanOut = (seed: number, addedUs = 0) =>
    record({ seed, requests: 400, everyUs: 2e5 }, (r) => {
      const asked = [0, 1, 2, 3].map((shard) => {
        const slowUs = shard === 2 && r.index % 4 === 0 ? addedUs : 0
        return call('shard QUERY', r.about(4000, 0.3) + slowUs, { beside: true })
      })
      return call('geo FIND', [0, 1000], {}, asked)
    })
  const { findings } = compare(fanOut(41), fanOut(42, 40_000))
  expect(findings.findings.map(({ title }) => title)).toEqual([
    expect.stringMatching(
      /^shard: QUERY itself takes (39|4\d)(\.\d)? ms longer per call in [67](\.\d)? % of the calls$/,
    ),
  ])
})

test('a call in parallel with another accounts for what requests take longer, not for what it does', () => {
  const period = (seed: number, { slowerUs = 0, cachedUs = 0 } = {}) =>
    recordWithSum({ seed, requests: 600, everyUs: 2e5 }, (r) => {
      const price = call('price DO', r.about(10_000) + slowerUs)
      const geo = call('geo DO', r.about(14_000), { beside: true })
      return call('web GET', [0, r.about(2000) + 8000 - cachedUs], {}, [price, geo])
    })
  const before = period(51).traces
  for (const cachedUs of [0, 5000]) {
    const after = period(52, { slowerUs: 15_000, cachedUs })
    const trulyUs = after.totalUs - period(52, { cachedUs }).totalUs
    const { findings } = compare(before, after.traces)
    const price = findings.findings.find(({ where }) => where === 'price')
    // Taken alone, its calls take 15 ms longer, a third more than anybody waits for.
    expect(price?.title).toMatch(/^price: DO itself takes 1[45](\.\d)? ms longer$/)
    expect(Math.abs((price?.contributionUs ?? 0) / trulyUs - 1)).toBeLessThan(0.05)
    const [low = 0, high = 0] = price?.eachInterval ?? []
    expect(trulyUs / 600).toBeGreaterThan(low)
    expect(trulyUs / 600).toBeLessThan(high)
    if (cachedUs === 0) expect(findings.summary()).toMatch(/The finding explains all of it\.$/)
    else {
      // That web takes 5 ms less is true.
      expect(findings.findings.map(({ title }) => title)[1]).toMatch(
        /^web: GET itself takes (4\.9\d|5(\.\d+)?) ms less$/,
      )
      expect(findings.text()).toMatch(/all else takes (2\.[89]\d?|3(\.\d+)?) s less/)
    }
  }
})
