import { rollup, sum } from 'd3-array'
import { describe, expect, test } from 'vitest'
import type { SpanTraces } from '../../src/traces/span-traces.ts'
import { makeSpans, type SpanSketch } from '../make-traces.ts'
import { call, record } from '../worlds.ts'

/** 1,000 requests of four structures, a second apart; the rarest comes four times. */
const TRACES = record({ seed: 1, requests: 1000, name: 't' }, ({ index: i }) => {
  const calls = i % 300 === 7 ? 3 : i % 10 === 1 ? 2 : i % 2
  const query = call('front query', 1)
  return call('front get', [0, 1000 + i - calls], {}, Array(calls).fill(query))
})
const sumOf = (weight: Float64Array | undefined) =>
  Array.from(weight ?? []).reduce((a, b) => a + b, 0)

describe('a sample', () => {
  const some = TRACES.sample(100)

  test('has as many traces as asked for, give or take a rare one, whole, and stands for all', () => {
    expect(Math.abs(some.size - 100)).toBeLessThanOrEqual(1)
    expect(sumOf(some.weight)).toBeCloseTo(1000, 9)
    const spans = new Map(
      TRACES.table()
        .objects()
        .map((one) => [Object(one).trace, one]),
    )
    for (const one of some.table().objects()) expect(one).toEqual(spans.get(Object(one).trace))
  })

  test('is spread over time: no tenth of it is far from its share', () => {
    const { startUs } = { startUs: some.table().array('startUs') as ArrayLike<number> }
    const tenths = new Array(10).fill(0)
    for (const us of Array.from(startUs)) tenths[Math.floor(us / 1e8)]++
    expect(Math.min(...tenths)).toBeGreaterThanOrEqual(8)
    expect(Math.max(...tenths)).toBeLessThanOrEqual(12)
  })

  test('says exactly how many requests of each structure there are, however rare', () => {
    const { groups } = some.quality()
    expect(groups.map(({ requests }) => requests)).toEqual([500, 396, 100, 4])
    expect(groups.map(({ sampled }) => sampled).at(-1)).toBe(1)
  })

  test('is another by another seed, and the same by the same', () => {
    expect(TRACES.sample(100).ids).toEqual(some.ids)
    expect(TRACES.sample(100, { seed: 2 }).ids).not.toEqual(some.ids)
  })

  test('draws traces that are linked to each other together, and counts those of each root exactly', () => {
    // 2 of 3 requests send a message, which a mailer takes, and every fifth time an index as well.
    const at = (trace: string, startUs: number) => ({ trace, startUs, endUs: startUs + 500 })
    const sent = Array.from({ length: 900 }, (_, i): SpanSketch[] => {
      const links = [{ trace: `r${i}`, id: 'web' }]
      const receives = (id: string) => ({
        ...{ id, kind: 'consumer' as const, links },
        ...at(`${id}${i}`, i * 1e6 + 1000),
      })
      const kind = i % 3 === 0 ? 'server' : 'producer'
      const request = { id: 'web', kind, ...at(`r${i}`, i * 1e6) } as const
      return [
        request,
        ...(kind === 'producer' ? [receives('mailer')] : []),
        ...(kind === 'producer' && i % 5 === 0 ? [receives('index')] : []),
      ]
    }).flat()
    const all = makeSpans(sent)
    const drawn = all.sample(300)
    expect(Math.abs(drawn.size - 300)).toBeLessThanOrEqual(3)
    const counts = { web: 0, mailer: 0, index: 0 }
    const weightOf = new Map<string, Set<number>>()
    drawn.ids.forEach((id, trace) => {
      const [, root = '', number = ''] = /^(\D+)(\d+)$/.exec(id) ?? []
      const weight = drawn.weight?.[trace] as number
      counts[root === 'r' ? 'web' : (root as 'mailer' | 'index')] += weight
      weightOf.set(number, (weightOf.get(number) ?? new Set()).add(weight))
    })
    expect(counts.web).toBeCloseTo(900, 6)
    expect(counts.mailer).toBeCloseTo(600, 6)
    expect(counts.index).toBeCloseTo(120, 6)
    for (const weights of weightOf.values()) expect(weights.size).toBe(1)
    expect(drawn.links).toHaveLength(2 * drawn.ids.filter((id) => !id.startsWith('r')).length)
    const { groups } = drawn.quality()
    expect(
      Object.fromEntries(
        rollup(
          groups,
          (own) => sum(own, ({ requests }) => requests),
          ({ root }) => root,
        ),
      ),
    ).toEqual({ 'web call': 900, 'mailer call': 600, 'index call': 120 })
    expect(sum(groups, ({ sampled }) => sampled)).toBe(drawn.size)
  })

  test('counts what each trace stood for before', () => {
    const weight = new Float64Array(TRACES.size).fill(5)
    const thinned = Object.assign(TRACES.pick([...TRACES.ids.keys()]), { weight }) as SpanTraces
    expect(sumOf(thinned.sample(100).weight)).toBeCloseTo(5000, 6)
  })

  test('is all there is where that is no more, each of which stands for itself', () => {
    const all = TRACES.sample(1000)
    expect(all.ids).toEqual(TRACES.ids)
    expect(new Set(all.weight)).toEqual(new Set([1]))
  })

  test('is refused where it cannot stand for others', () => {
    expect(() => some.sample(10)).toThrow(/^Option size is 10\. Give 101 or more: .* is a sample/)
    expect(() => TRACES.sample(0)).toThrow('Option size is 0. Give a whole number')
  })
})
