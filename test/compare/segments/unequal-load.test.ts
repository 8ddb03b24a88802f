import { expect, test } from 'vitest'
import { compare } from '../../../src/compare/comparison.ts'
import { randomSource } from '../../../src/stats/random.ts'
import { makeSpans, type SpanSketch } from '../../make-traces.ts'

interface Balance {
  /** Share of the calls that pod 0 of five gets. */
  readonly share: number
  /** Calls that a pod serves at once. */
  readonly threads?: number
  readonly meanUs?: number
}

/** Requests of `home` that ask `recs`, whose pods serve one call after the other. */
function balanced(seed: number, { share, threads = 1, meanUs = 8000 }: Balance) {
  const random = randomSource(seed)
  const freeAt = Array.from({ length: 5 }, () => new Array<number>(threads).fill(0))
  const spans: SpanSketch[] = []
  let startUs = 0
  for (let i = 0; i < 1200; i++) {
    startUs += Math.round(-15_000 * Math.log(1 - random.next()))
    const pod = random.next() < share ? 0 : 1 + random.integer(4)
    const [from, ways] = [startUs + 1000, Math.round(600 * random.logNormal(0, 0.3))]
    const free = freeAt[pod] as number[]
    const [first] = free.toSorted((a, b) => a - b) as [number]
    const began = Math.max(from + ways, first)
    const ended = began + Math.round(meanUs * random.logNormal(0, 0.2))
    free[free.indexOf(first)] = ended
    const times = { trace: `${seed}-${i}`, operation: 'Rank', startUs: from, endUs: ended + ways }
    spans.push(
      { ...times, id: 'r', service: 'home', operation: 'GET /', startUs, endUs: ended + 2000 },
      { ...times, id: 'c', parent: 'r', service: 'home', kind: 'client' },
      {
        ...times,
        ...{ id: 's', parent: 'c', service: 'recs', kind: 'server' },
        ...{ startUs: began, endUs: ended, host: `pod-${pod}` },
      },
    )
  }
  return makeSpans(spans)
}

test.each([1])(
  'calls that queue at a pod which gets most of them name it and its load, seed %d',
  (seed) => {
    const { findings } = compare(
      balanced(2 * seed, { share: 0.2 }),
      balanced(2 * seed + 1, { share: 0.85 }),
    ).findings
    expect(findings).toHaveLength(1)
    const [{ title, text, look, requests, segment } = {}] = findings
    expect(title).toMatch(
      /^home → recs: Rank takes \S+ ms longer in transit, only where recs host = pod-0$/,
    )
    expect(requests).toBe(segment?.inside.after)
    expect(text).toMatch(/it gets 8\d % of the calls, (19|2\d) % before: calls may queue there/)
    expect(look).toMatch(
      /^recs \(how calls are spread over its hosts, queues, threads, connections\)/,
    )
  },
)

test('where load moved and nothing queues, there is no finding', () => {
  for (const seed of [11, 21, 31]) {
    const [before, after] = [0.2, 0.85].map((share, i) =>
      balanced(seed + i, { share, threads: 8 }),
    ) as [ReturnType<typeof balanced>, ReturnType<typeof balanced>]
    expect(compare(before, after).findings.findings.map(({ title }) => title)).toEqual([])
  }
})

test('a service that got slower on all hosts names none, though one has more of the load', () => {
  const { findings } = compare(
    balanced(41, { share: 0.2, threads: 8 }),
    balanced(42, { share: 0.85, threads: 8, meanUs: 16_000 }),
  ).findings
  expect(findings.map(({ title }) => title)).toEqual([
    expect.stringMatching(/^recs: Rank itself takes (7|8)(\.\d+)? ms longer$/),
  ])
})
