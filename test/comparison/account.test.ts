import { sum } from 'd3-array'
import { describe, expect, test } from 'vitest'
import { accountOf, withoutSmall } from '../../src/comparison/account.ts'
import { compare } from '../../src/comparison/comparison.ts'
import { restoreComparison, takeSnapshot } from '../../src/comparison/snapshot.ts'
import { loadTraces } from '../../src/traces/load-traces.ts'
import { makeSpans, type SpanSketch } from '../make-traces.ts'
import { recordedCase } from '../recorded.ts'
import { describeWithShared, sharedFile } from '../shared.ts'

interface Kind {
  readonly root: string
  readonly requests: number
  /** Calls of the store one after the other, µs each. */
  readonly calls: readonly number[]
}

/*
 *  web   GET  |--------------------|      10 µs before, between and behind calls
 *  store read   |------| |------|
 */
function requestsOf(name: string, kinds: readonly Kind[]) {
  const spans: SpanSketch[] = []
  let startUs = 0
  for (const { root, requests, calls } of kinds) {
    for (let i = 0; i < requests; i++) {
      const trace = `${name}-${root}-${i}`
      let atUs = startUs + 10
      calls.forEach((us, call) => {
        const times = { startUs: atUs, endUs: atUs + us }
        spans.push({ id: `${trace}-${call}`, trace, parent: trace, service: 'store', ...times })
        atUs += us + 10
      })
      spans.push({ id: trace, trace, service: 'web', operation: root, startUs, endUs: atUs })
      startUs += 10_000
    }
  }
  return makeSpans(spans, name)
}

const ONE = { root: 'GET /one', requests: 30, calls: [100] }
const TWO = { root: 'GET /two', requests: 10, calls: [100, 200] }

describe('an account', () => {
  test('has what each step takes along the path of a mean request', () => {
    const before = requestsOf('before', [ONE])
    const after = requestsOf('after', [{ ...ONE, calls: [100, 50] }])
    const { account } = compare(before, after)
    expect(account.parts).toEqual({
      totalUs: 60,
      mixUs: 0,
      steps: [
        {
          ...{ kind: 'work', service: 'store', caller: 'web', operation: 'call' },
          ...{ beforeUs: 100, afterUs: 150, startUs: 140 / 3 },
        },
        {
          ...{ kind: 'work', service: 'web', caller: null, operation: 'GET /one' },
          ...{ beforeUs: 20, afterUs: 30, startUs: 0 },
        },
      ],
    })
    expect(account.table().objects()[0]).toMatchObject({ changeUs: 50, share: 50 / 60 })
  })

  test('tells a change of the mix from a change within kinds of requests', () => {
    const before = requestsOf('before', [ONE, TWO])
    const slower = { ...TWO, requests: 30, calls: [100, 240] }
    const { totalUs, mixUs, restUs } = compare(before, requestsOf('after', [ONE, slower])).account
    // Requests of two calls take 330 µs instead of 120, 40 µs longer after, and are half instead of a quarter.
    expect([totalUs, mixUs, restUs]).toEqual([72.5, 52.5, 20])
  })

  test('turns around where the periods are swapped, but for the mix', () => {
    const [a, b] = [requestsOf('a', [ONE, TWO]), requestsOf('b', [{ ...ONE, calls: [130] }])]
    const [there, back] = [compare(a, b).account, compare(b, a).account]
    expect(back.totalUs).toBeCloseTo(-there.totalUs, 9)
    const stepsOf = ({ steps }: typeof there) =>
      new Map(
        steps.map(({ beforeUs, afterUs, startUs: _, ...role }) => [
          JSON.stringify(role),
          [beforeUs, afterUs],
        ]),
      )
    for (const [role, [beforeUs, afterUs]] of stepsOf(there)) {
      expect(stepsOf(back).get(role)).toEqual([afterUs, beforeUs])
    }
  })

  test('can be made of some requests only', () => {
    const before = requestsOf('before', [ONE, TWO])
    const { categories } = compare(
      before,
      requestsOf('after', [ONE, { ...TWO, calls: [100, 240] }]),
    )
    const { totalUs, steps } = accountOf(
      categories,
      (request) => categories.flows.responseTimeUs[request] !== 120,
    )
    expect(totalUs).toBe(40)
    expect(sum(steps, ({ beforeUs }) => beforeUs)).toBe(330)
  })

  test('of few steps adds the others up', () => {
    const { account } = compare(requestsOf('before', [ONE, TWO]), requestsOf('after', [ONE]))
    const brief = withoutSmall(account.steps, 2)
    expect(brief).toHaveLength(2)
    expect(brief[1]?.kind).toBe('other')
    for (const period of ['beforeUs', 'afterUs'] as const) {
      const total = sum(account.steps, (step) => step[period])
      expect(sum(brief, (step) => step[period])).toBeCloseTo(total, 9)
    }
  })
})

describe.each([
  { name: 'delay-1ms', tags: [] },
  { name: 'mds-config', tags: ['full'] },
  { name: 'mds-prefetch', tags: ['full'] },
])('the recorded case $name', ({ name, tags }) => {
  test('has an account whose sums add up to a nanosecond, also in a page', { tags }, async () => {
    const comparison = await recordedCase(name)
    const { account, flows } = comparison
    const { before, after } = flows.responseTimes
    const meanUs = (times: Float64Array) => sum(times) / times.length
    expect(sum(account.steps, ({ beforeUs }) => beforeUs)).toBeCloseTo(meanUs(before), 3)
    expect(sum(account.steps, ({ afterUs }) => afterUs)).toBeCloseTo(meanUs(after), 3)
    expect(account.mixUs + account.restUs).toBeCloseTo(meanUs(after) - meanUs(before), 3)
    const carried = JSON.parse(JSON.stringify(takeSnapshot(comparison)))
    expect(restoreComparison(carried).account.parts).toEqual(account.parts)
  })
})

describeWithShared("Nezha's slow network of the frontend", () => {
  test('is calls of the frontend to others, in the account as in the first finding', async () => {
    const folder = sharedFile('data/nezha-faults/220822-035354') as string
    const [before, after] = await Promise.all(
      ['before', 'after'].map((period) => loadTraces(`${folder}/${period}.csv.gz`)),
    )
    const { account, findings } = compare(before!, after!)
    const [finding] = findings.findings
    const calls = account.steps.filter(
      ({ kind, caller }) => kind === 'call' && caller === 'frontend',
    )
    const callsUs = sum(calls, ({ beforeUs, afterUs }) => afterUs - beforeUs)
    expect(callsUs / account.totalUs).toBeGreaterThan(0.9)
    expect(finding?.title).toContain('frontend')
    expect(Math.abs((finding?.shareOfChange as number) - callsUs / account.totalUs)).toBeLessThan(
      0.1,
    )
    expect(account.steps.slice(0, 3).map(({ kind }) => kind)).toEqual(Array(3).fill('call'))
  })
})
