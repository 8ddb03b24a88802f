import { describe, expect, test } from 'vitest'
import { compare } from '../../../src/comparison/comparison.ts'
import { comparisonText } from '../../../src/views/text/comparison-text.ts'
import { makeSpans, type SpanSketch } from '../../make-traces.ts'
import { coded } from './coded.ts'

/** So many requests of each type, spread over 1 ms; each takes as many ms as its name says. */
function mix(
  counts: Readonly<Record<string, number>>,
  probabilities: Readonly<Record<string, number>> = {},
): SpanSketch[] {
  return Object.entries(counts).flatMap(([type, count]) =>
    Array.from({ length: count }, (_, i) => (1000 * i) / count).map((startUs, i) => ({
      id: 'root',
      trace: `${type}-${i}`,
      service: 'web',
      operation: type,
      ...(probabilities[type] !== undefined && { probability: probabilities[type] }),
      startUs,
      endUs: startUs + 1000 * Number.parseInt(type, 10),
    })),
  )
}

describe('request-mix', () => {
  test('names the types that differ, the largest change first, and what the mix does to the mean', () => {
    const [found] = coded(
      'request-mix',
      mix({ '1 list': 800, '10 search': 200, '5 buy': 1000 }),
      mix({ '1 list': 400, '10 search': 600, '5 buy': 1000 }),
    )
    expect(found?.finding).toBe(
      'The request mix changed, which alone makes requests take 1.8 ms longer on average: web 1 list 40 % → 20 %, web 10 search 10 % → 30 % of requests.',
    )
    // From 0.4·1 + 0.1·10 + 0.5·5 = 3.9 ms to 0.2·1 + 0.3·10 + 0.5·5 = 5.7 ms.
    expect(found?.effect).toMatch(
      /^The mix alone moves the mean response time of all requests by \+1\.8 ms \(\+46 % of 3\.9 ms\), and/,
    )
    expect(found?.answer).toContain("`smPThreshold: 'auto'`")
    expect(found?.advice).toEqual({ smPThreshold: 'auto' })
  })

  test('its line on a screen is cut after a whole type', () => {
    const [list, search, buy] = [
      '1 list of all the things',
      '10 search of things',
      '5 buy a thing',
    ] as const
    const comparison = compare(
      makeSpans(mix({ [list]: 800, [search]: 200, [buy]: 1000 })),
      makeSpans(mix({ [list]: 400, [search]: 600, [buy]: 800, '1 x': 200 })),
    )
    const text = comparisonText({ comparison, limit: 10, explained: null }, { verbose: false })
    const line = /! (request-mix: .*(\n {2}.*)*)/.exec(text)?.[1]?.replace(/\n +/g, ' ')
    expect(line).toMatch(
      /: web 1 list of all the things 40 % → 20 %, web 10 search of things 10 % → 30 % …$/,
    )
  })

  test('kinds in whose place others of their service come, as many, are no other mix but cannot be compared', () => {
    const [before, after] = [
      mix({ '1 list': 300, '9 search': 700, '5 buy': 100 }),
      mix({ '2 all': 650, '12 find': 320, '5 buy': 100 }),
    ]
    expect(coded('request-mix', before, after)).toEqual([])
    expect(coded('recorded-otherwise', before, after).map(({ finding }) => finding)).toEqual([
      'Only 100 of 1,070 requests after can be compared. Probably renamed: web 1 list, web 9 search to web 2 all, web 12 find.',
    ])
    expect(compare(makeSpans(before), makeSpans(after)).findings.mixUs).toBe(0)
    // Fewer than those that went, or none: these are others.
    for (const come of [{ '2 all': 500 }, {}]) {
      const other = mix({ ...come, '5 buy': 500 })
      expect(coded('request-mix', before, other)).toHaveLength(1)
      expect(coded('recorded-otherwise', before, other)).toEqual([])
    }
  })

  test('swapped periods move the mean the other way', () => {
    const [found] = coded(
      'request-mix',
      mix({ '1 list': 400, '10 search': 600, '5 buy': 1000 }),
      mix({ '1 list': 800, '10 search': 200, '5 buy': 1000 }),
    )
    expect(found?.effect).toContain('requests by -1.8 ms (-32 % of 5.7 ms)')
  })

  test('weighted counts: shares and what they cost are of the requests stood for', () => {
    const kept = { '1 list': 0.1, '10 search': 1 }
    const [found] = coded(
      'request-mix',
      mix({ '1 list': 100, '10 search': 200 }, kept),
      mix({ '1 list': 100, '10 search': 1000 }, kept),
      { counts: 'weighted' },
    )
    expect(found?.finding).toBe(
      'The request mix changed, which alone makes requests take 3 ms longer on average: web 1 list 83 % → 50 %, web 10 search 17 % → 50 % of requests.',
    )
    expect(found?.effect).toContain('requests by +3 ms (+120 % of 2.5 ms)')
  })

  test('weighted counts: another sampling of a type is no other mix', () => {
    const before = mix({ '1 list': 400, '10 search': 400 }, { '1 list': 0.5, '10 search': 1 })
    const after = mix({ '1 list': 100, '10 search': 400 }, { '1 list': 0.125, '10 search': 1 })
    expect(coded('request-mix', before, after, { counts: 'raw' })).toHaveLength(1)
    expect(coded('request-mix', before, after, { counts: 'weighted' })).toEqual([])
  })

  test('a type that is new has the mean it has after', () => {
    const [found] = coded(
      'request-mix',
      mix({ '1 list': 1000 }),
      mix({ '1 list': 500, '3 new': 500 }),
    )
    expect(found?.finding).toContain('web 3 new 0 % → 50 %')
    expect(found?.effect).toContain('requests by +1 ms (+100 % of 1 ms)')
  })

  test('what it changes in all stands beside what findings account for, and is not said to be unexplained', () => {
    const [before, after] = [
      mix({ '1 list': 800, '10 search': 200, '5 buy': 1000 }),
      mix({ '1 list': 400, '10 search': 600, '5 buy': 1000 }),
    ]
    const { findings } = compare(makeSpans(before, 'monday'), makeSpans(after, 'tuesday'))
    expect(findings.mixUs).toBeCloseTo(2000 * 1800, -3)
    expect(findings.summary()).toContain(': the changed request mix explains 100 % of it.')
    const with5 = (spans: readonly SpanSketch[], moreUs: number) =>
      spans.map((span) => ({
        ...span,
        endUs: span.endUs + (span.operation === '5 buy' ? moreUs : 0),
      }))
    // Too little faster to be a finding.
    const faster = compare(makeSpans(before, 'monday'), makeSpans(with5(after, -100), 'tuesday'))
    expect(faster.findings.summary()).toMatch(
      /^Requests took 1\.75 ms longer on average .*: the changed request mix alone makes it 1\.8 ms longer, everything else 50 µs less\. /,
    )
    const slower = with5(after, 4000)
    const found = compare(makeSpans(before, 'monday'), makeSpans(slower, 'tuesday')).findings
    expect(found.summary()).toMatch(
      /[Ff]indings? explains? 5\d % of it, the changed request mix 47 %\.$/,
    )
    expect(compare(makeSpans(before, 'monday'), makeSpans(before, 'monday')).findings.mixUs).toBe(0)
    // The other way round, requests that take less are more: they hide 3.6 of 14 s.
    const longer = with5(before, 14_000)
    const hidden = compare(makeSpans(after, 'monday'), makeSpans(longer, 'tuesday')).findings
    expect(hidden.summary()).toMatch(
      /The finding adds 14 s, the changed request mix saves 3\.\d+ s(, everything else (add|save)s \d+ ms)?\.$/,
    )
  })

  test('silent when requests of one type only became slower, or took another structure', () => {
    const slower = mix({ '1 list': 500, '5 buy': 500 }).map((span) => ({
      ...span,
      endUs: span.endUs + 5000,
    }))
    expect(coded('request-mix', mix({ '1 list': 500, '5 buy': 500 }), slower)).toEqual([])
    const deeper = slower.flatMap((span) => [span, { ...span, id: 'db', parent: 'root' }])
    expect(coded('request-mix', mix({ '1 list': 500, '5 buy': 500 }), deeper)).toEqual([])
  })

  test('silent when shares differ by chance: 40 % and 44 % of 300', () => {
    expect(
      coded('request-mix', mix({ '1 a': 120, '2 b': 180 }), mix({ '1 a': 132, '2 b': 168 })),
    ).toEqual([])
  })

  test('silent when the change is certain but too small to matter: 50 % and 50.9 %', {
    tags: 'full',
    timeout: 60_000,
  }, () => {
    const before = mix({ '1 a': 50_000, '2 b': 50_000 })
    const found = (a: number) =>
      coded('request-mix', before, mix({ '1 a': a, '2 b': 100_000 - a }), { sample: 'all' })
    expect(found(50_900)).toEqual([])
    expect(found(51_100)).toHaveLength(1)
  })

  test('silent about many rare types, none of which comes twice', () => {
    const rare = (from: number) =>
      Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`1 rare ${from + i}`, 1]))
    expect(
      coded('request-mix', mix({ '1 a': 300, ...rare(0) }), mix({ '1 a': 300, ...rare(40) })),
    ).toEqual([])
  })

  test('rare types are told as one when together they are not rare', () => {
    // Numbers would be ids of one operation.
    const words = Array.from({ length: 60 }, (_, i) =>
      String.fromCharCode(98 + (i % 20), 98 + i / 20),
    )
    const rare = Object.fromEntries(words.map((word) => [`1 ${word}`, 1]))
    const [found] = coded('request-mix', mix({ '1 a': 300 }), mix({ '1 a': 240, ...rare }))
    expect(found?.finding).toContain('60 rare types together 0 % → 20 %')
  })

  test('hosts do not make types', () => {
    const on = (host: string) => mix({ '1 a': 200 }).map((span) => ({ ...span, host }))
    expect(coded('request-mix', on('web-1'), on('web-2'))).toEqual([])
  })
})
