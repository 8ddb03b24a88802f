import { describe, expect, test } from 'vitest'
import { compare } from '../../../src/comparison/comparison.ts'
import { makeSpans, type SpanSketch } from '../../make-traces.ts'
import { call, spansOf } from '../../worlds.ts'
import { coded } from './coded.ts'

const TYPICAL_MS = { list: 30, search: 60, buy: 90, login: 50 }

interface Sampling {
  readonly seed: number
  readonly keep?: (ms: number, random: () => number) => boolean
  readonly slower?: (type: string, random: () => number) => number
}

/** 2,400 requests of four types, whose times spread by half; those that `keep` takes. */
function period({ seed, keep = () => true, slower = () => 1 }: Sampling): SpanSketch[] {
  return spansOf({ seed, requests: 2400, everyUs: 5e4, name: `${seed}` }, (r) => {
    const types = Object.entries(TYPICAL_MS)
    const [type, typicalMs] = types[r.index % types.length]!
    const ms = r.about(typicalMs, 0.45) * slower(type, r.next)
    return keep(ms, r.next) && call(type, 1000 * ms)
  })
}

const few = (_: number, random: () => number) => random() < 0.25

type Extra = (random: () => number, normal: () => number) => number
type Keep = (request: { ms: number; fails: boolean }, random: () => number) => boolean

interface Sampled {
  readonly seed: number
  readonly count?: number
  readonly keep?: Keep
  readonly extraMs?: Extra
}

/** Requests of one type that ask a database, in half of their time; 0.5 % of them fail. */
function oneType({ seed, count = 12_000, keep, extraMs = () => 0 }: Sampled): SpanSketch[] {
  return spansOf({ seed, requests: count, everyUs: 5e4, name: `${seed}` }, (r) => {
    const [ownMs, queryMs] = [r.about(20, 0.9), r.about(25, 0.9)]
    const inMs = queryMs + extraMs(r.next, r.normal)
    const fails = r.is(0.005)
    if (keep?.({ ms: ownMs + inMs, fails }, r.next) === false) return false
    const query = call('feed SELECT posts', 1000 * inMs, { kind: 'client' })
    return call('feed GET /feed', 1000 * ownMs, { fails }, [query])
  })
}

describe('another sampler of one type of requests', () => {
  const share =
    (kept: number) =>
    (_: unknown, random: () => number): boolean =>
      random() < kept
  const tail =
    (limitMs: number, kept: number, keepsFailing = true): Keep =>
    ({ ms, fails }, random) =>
      ms >= limitMs || (keepsFailing && fails) || random() < kept

  const SAMPLERS: readonly (readonly [what: string, before: Keep, after: Keep, text: RegExp])[] = [
    [
      'slow and failing ones',
      share(0.05),
      tail(200, 0.03),
      /^Slow and failing .* (18|19|20|21)\d ms/,
    ],
    ['slow ones', share(0.08), tail(150, 0.05, false), /^Slow requests .* (13|14|15|16)\d ms/],
  ]
  describe.each([
    { seeds: [1], atLeast: 1, tags: [] },
    { seeds: [2, 3, 4], atLeast: 2, tags: ['full'] },
  ])('of seeds $seeds', ({ seeds, atLeast, tags }) => {
    test.each(SAMPLERS)('that keeps %s is told', { tags }, (_, one, other, text) => {
      let told = 0
      for (const seed of seeds) {
        const before = makeSpans(oneType({ seed, keep: one }), 'monday')
        const after = makeSpans(oneType({ seed: seed + 50, keep: other }), 'tuesday')
        const comparison = compare(before, after)
        const [warning] = comparison.warnings()
        if (warning?.code !== 'sampling-differs') continue
        told++
        expect(warning.finding).toMatch(text)
        expect(comparison.findings.findings.map(({ title }) => title)).toEqual([])
      }
      expect(told).toBeGreaterThanOrEqual(atLeast)
    })
  })

  const hit =
    (shareOf: number, ms: Extra): Extra =>
    (random, normal) =>
      random() < shareOf ? ms(random, normal) : 0
  test.each<[string, Sampled, Sampled]>([
    [
      'more retries',
      { seed: 1, extraMs: hit(0.02, () => 200) },
      { seed: 2, extraMs: hit(0.2, () => 200) },
    ],
    [
      'more misses of a cache',
      { seed: 1, extraMs: hit(0.05, (_, normal) => 150 + 30 * Math.abs(normal())) },
      { seed: 2, extraMs: hit(0.4, (_, normal) => 150 + 30 * Math.abs(normal())) },
    ],
    [
      'more waits for a lock, with less load',
      { seed: 1, extraMs: hit(0.02, (random) => 200 + 200 * random()) },
      { seed: 2, extraMs: hit(0.2, (random) => 200 + 200 * random()), count: 900 },
    ],
  ])('is not what %s look like', (_, before, after) => {
    for (const seed of [0]) {
      const of = (period: Sampled) => oneType({ count: 3000, ...period, seed: period.seed + seed })
      const { findings } = compare(
        makeSpans(of(before), 'monday'),
        makeSpans(of(after), 'tuesday'),
      ).findings
      expect(findings[0]?.title).toMatch(/^feed: SELECT posts .* takes [\d.]+ ms longer/)
    }
  })
})

describe('a sample that prefers slow requests', () => {
  const tail = (ms: number, random: () => number) => ms > 100 || random() < 0.2

  test('is told with the limit from which on they were kept, of either period', () => {
    const [found] = coded('sampling-differs', period({ seed: 1 }), period({ seed: 2, keep: tail }))
    expect(found?.finding).toMatch(
      /^Slow requests seem to have been kept preferentially after: per type, 0\.\d+ times the requests faster than (9\d\.\d|10\d) ms before, but (0\.9\d?|1|1\.\d) times the slower ones\.$/,
    )
    expect(found?.answer).toContain('with `where` and `duration`')
    const [back] = coded('sampling-differs', period({ seed: 2, keep: tail }), period({ seed: 1 }))
    expect(back?.finding).toContain('kept preferentially before')
  })

  test('is told beside a slowdown of other sizes', () => {
    const slower = (type: string) => ({ list: 1.25, buy: 1.1 })[type] ?? 1
    for (const seed of [2]) {
      const after = period({ seed, keep: tail, slower })
      const [found] = coded('sampling-differs', period({ seed: 1 }), after)
      expect(found?.finding).toMatch(/^Slow requests seem to have been kept preferentially after/)
    }
  })

  test('has more of what slow requests are and call, which is no change', () => {
    const calling = (spans: readonly SpanSketch[]) =>
      spans.flatMap((span): SpanSketch[] => {
        const isMiss = span.endUs - span.startUs > 60_000 && span.service === 'list'
        const own = { ...span, service: 'web', operation: `${span.service}` }
        const inner = { startUs: span.startUs + 1000, endUs: span.endUs - 1000 }
        return isMiss
          ? [own, { ...own, ...inner, id: 'm', parent: span.id, service: 'maps' }]
          : [own]
      })
    const before = calling(period({ seed: 1 }))
    for (const seed of [2]) {
      const after = calling(period({ seed, keep: tail }))
      expect(coded('request-mix', before, after)).toEqual([])
      const { findings } = compare(
        makeSpans(before, 'monday'),
        makeSpans(after, 'tuesday'),
      ).findings
      expect(findings.map(({ title }) => title)).toEqual([])
    }
  })

  const one = (type: string, random: () => number) => (type === 'list' && random() < 0.3 ? 5 : 1)
  const rare = (_: string, random: () => number) => (random() < 0.1 ? 4 : 1)
  test.each<[string, Omit<Sampling, 'seed'>]>([
    ['chance', {}],
    ['a sample that knows no times', { keep: few }],
    ['a slowdown', { slower: () => 1.5 }],
    ['a slowdown while there is a quarter of the load', { keep: few, slower: () => 1.5 }],
    ['one type that is slow in part, with less load', { keep: few, slower: one }],
    ['stalls of all types, with less load', { keep: few, slower: rare }],
  ])('is not what %s looks like', (_, sampling) => {
    for (const seed of [2, 3]) {
      const after = period({ seed, ...sampling })
      expect(coded('sampling-differs', period({ seed: 1 }), after)).toEqual([])
    }
  })

  test('is not what short requests of types that one period has look like', () => {
    const short = (type: string) =>
      period({ seed: 7, slower: () => 0.1 }).map((span) => ({
        ...span,
        service: `${span.service} ${type}`,
        trace: `${span.trace} ${type}`,
      }))
    const after = [...period({ seed: 2 }), ...short('a'), ...short('b')]
    expect(coded('sampling-differs', period({ seed: 1 }), after)).toEqual([])
  })
})
