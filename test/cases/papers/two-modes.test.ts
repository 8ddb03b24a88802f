import { describe, expect, test } from 'vitest'
import { categorize } from '../../../src/compare/categories/categorize.ts'
import { findVariance } from '../../../src/explain/variance/find-variance.ts'
import { modesOf } from '../../../src/explain/variance/merged-behaviors.ts'
import { buildFlows } from '../../../src/flows/build-flows.ts'
import { randomSource } from '../../../src/stats/random.ts'
import { loadTraces } from '../../../src/traces/load-traces.ts'
import { type GraphSketch, makeGraphs } from '../../make-traces.ts'
import { describeWithShared, sharedFile } from '../../shared.ts'

/** Requests through a step of several modes, and a queue in which some of them wait. */
function recording(
  modes: readonly (readonly [share: number, us: number])[],
  { waiting = 0.02, waitUs = 8000, requests = 800, seed = 1 } = {},
) {
  const random = randomSource(seed)
  const about = (us: number) => random.logNormal(Math.log(us), 0.08)
  const graphs = Array.from({ length: requests }, (_, i): GraphSketch => {
    let [at, place] = [random.next(), 0]
    while (place < modes.length - 1 && at >= (modes[place]?.[0] ?? 1))
      at -= modes[place++]?.[0] ?? 1
    const isWaiting = i % Math.round(1 / waiting) === 7
    return {
      labels: ['ASK', 'LOOK UP', 'QUEUE', 'ANSWER'],
      edges: [
        [0, 1],
        [1, 2],
        [2, 3],
      ],
      latencyUs: [about(modes[place]?.[1] ?? 0), about(isWaiting ? waitUs : 15), about(10)],
    }
  })
  return findVariance(categorize(buildFlows(makeGraphs(graphs)))).anomalies()
}

function slow(found: ReturnType<typeof recording>) {
  return found.anomalies.map(({ requests, edges }) => [requests, edges[0]?.to])
}

describe('requests far out', () => {
  test('are told beside two modes', () => {
    const found = recording([
      [0.7, 30],
      [0.3, 900],
    ])
    expect(slow(found)).toEqual([[16, 'QUEUE']])
    expect(found.text()).toContain('Slow requests, far out in their category: 16 requests')
  })

  test('are told beside three modes', () => {
    const found = recording(
      [
        [0.5, 20],
        [0.35, 300],
        [0.15, 5000],
      ],
      { waitUs: 90_000, seed: 2 },
    )
    expect(slow(found)).toEqual([[16, 'QUEUE']])
  })

  test('are told between two modes', () => {
    const found = recording(
      [
        [0.6, 50],
        [0.4, 9000],
      ],
      { waitUs: 700, requests: 1000, seed: 3 },
    )
    const [[count, step] = []] = slow(found)
    // Of those in the slower mode, nobody sees it.
    expect(count).toBeGreaterThan(8)
    expect(count).toBeLessThan(20)
    expect(step).toBe('QUEUE')
  })

  test('are none where there are modes alone', () => {
    const modes = [
      [0.6, 50],
      [0.4, 9000],
    ] as const
    expect(slow(recording(modes, { waitUs: 15 }))).toEqual([])
  })
})

describe('modes of times', () => {
  const times = (...values: number[]) => ({ values: Float64Array.from(values).toSorted() })
  const drawn = (count: number, of: (i: number) => number) =>
    Array.from({ length: count }, (_, i) => of(i))

  test('one of log-normal times, however wide', () => {
    const random = randomSource(4)
    const wide = drawn(2000, () => random.logNormal(5, 2))
    expect(modesOf(times(...wide)).length).toBe(1)
  })

  test('two that overlap, and what lies at ten times the upper one', () => {
    const random = randomSource(5)
    const about = (us: number) => random.logNormal(Math.log(us), 0.4)
    const all = drawn(3000, (i) => about(i % 33 === 0 ? 50_000 : i % 2 === 0 ? 1000 : 5000))
    const modes = modesOf(times(...all))
    expect(modes.length).toBe(2)
    const far = modes.map(({ beyond, to }) => to - beyond)
    expect(far[0]).toBe(0)
    // 91 are slow; the fastest of them are within the fence.
    expect(far[1]).toBeGreaterThan(70)
    expect(far[1]).toBeLessThan(92)
  })

  test('one of times that are rounded to few values', () => {
    const rounded = drawn(400, (i) => [3, 3, 3, 4, 4, 5][i % 6] as number)
    expect(modesOf(times(...rounded, 6, 7))).toEqual([{ from: 0, beyond: 402, to: 402 }])
  })

  test('two of constant times far apart, and what lies beyond', () => {
    const [fast, slower] = [drawn(60, () => 20), drawn(40, () => 400)]
    expect(modesOf(times(...fast, ...slower, 9000))).toEqual([
      { from: 0, beyond: 60, to: 60 },
      { from: 60, beyond: 100, to: 101 },
    ])
    expect(modesOf(times(...fast, 21, ...slower, 9000))).toMatchObject([
      { from: 0, beyond: 61 },
      { from: 61, beyond: 101, to: 102 },
    ])
  })
})

describeWithShared('the recorded case two-modes', () => {
  test('tells the 3 % that wait for the lock', async () => {
    const traces = await loadTraces(sharedFile('cases/papers/two-modes/recording.dot.gz') as string)
    const found = findVariance(categorize(buildFlows(traces))).anomalies()
    const [first] = found.anomalies
    expect(first).toMatchObject({ of: 600 })
    expect(first?.medianUs).toBeGreaterThan(3000)
    expect(first?.edges[0]).toMatchObject({ from: 'a__t__LOCK DEFAULT', to: 'b__t__DISK DEFAULT' })
  })
})
