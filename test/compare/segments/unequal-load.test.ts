import { expect, test } from 'vitest'
import { compare } from '../../../src/comparison/comparison.ts'
import type { RandomSource } from '../../../src/stats/random.ts'
import { call, record } from '../../worlds.ts'

interface Balance {
  /** Share of the calls that pod 0 of five gets. */
  readonly share: number
  /** Calls that a pod serves at once. */
  readonly threads?: number
  readonly meanUs?: number
}

/** Requests of `home` that ask `recs`, whose pods serve one call after the other. */
function balanced(seed: number, { share, threads = 1, meanUs = 8000 }: Balance) {
  const freeAt = Array.from({ length: 5 }, () => new Array<number>(threads).fill(0))
  const everyUs = ({ next }: RandomSource) => -15_000 * Math.log(1 - next())
  return record({ seed, requests: 1200, everyUs }, (r) => {
    const pod = r.is(share) ? 0 : 1 + r.integer(4)
    const [wayUs, us] = [r.about(600, 0.3), r.about(meanUs)]
    const free = freeAt[pod]!
    const first = Math.min(...free)
    const arrivedUs = r.seconds * 1e6 + 1000 + wayUs
    const queuedUs = Math.max(0, first - arrivedUs)
    free[free.indexOf(first)] = arrivedUs + queuedUs + us
    const client = { us: [wayUs + queuedUs, wayUs] } as const
    const rank = call('recs Rank', us, { kind: 'server', host: `pod-${pod}`, client })
    return call('home GET /', [1000, 2000], {}, [rank])
  })
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
