import { describe, expect, test } from 'vitest'
import { compare } from '../../../src/compare/comparison.ts'
import { randomSource } from '../../../src/stats/random.ts'
import { makeSpans, type SpanSketch } from '../../make-traces.ts'

interface Shares {
  readonly idle: readonly [from: number, to: number]
  readonly busy: readonly [from: number, to: number]
  readonly share: number
}

//  web, with `use`  |pool 5 ms, after × slower where it is busy| |price 8 ms|
function period(seed: number, { idle, busy, share }: Shares, slower: number) {
  const random = randomSource(seed)
  const about = (us: number) => random.logNormal(Math.log(us), 0.3)
  const spans: SpanSketch[] = []
  for (let request = 0; request < 2000; request++) {
    const trace = `t${request}`
    const startUs = request * 100_000
    const isBusy = random.next() < share
    const [from, to] = isBusy ? busy : idle
    const use = Math.round(10 * (from + random.next() * (to - from))) / 10
    const pooled = startUs + 500 + about(5000) * (isBusy ? slower : 1)
    const priced = pooled + 100 + about(8000)
    const inside = { trace, parent: 'web' }
    spans.push(
      { trace, id: 'web', startUs, endUs: priced + 400, attributes: { use } },
      { ...inside, id: 'pool', startUs: startUs + 500, endUs: pooled },
      { ...inside, id: 'price', startUs: pooled + 100, endUs: priced },
    )
  }
  return makeSpans(spans)
}

describe('a number is cut between what changed and what did not', () => {
  test.each<[string, Shares, slower: number]>([
    ['a tenth are busy', { idle: [20, 30], busy: [80, 90], share: 0.1 }, 3],
    ['half are busy', { idle: [20, 30], busy: [80, 90], share: 0.5 }, 1.5],
    ['states that meet', { idle: [1, 60], busy: [60, 90], share: 0.27 }, 2],
    ['few idle ones', { idle: [100, 300], busy: [301, 900], share: 0.8 }, 1.6],
  ])('%s', (_, world, slower) => {
    const { segments } = compare(period(1, world, 1), period(2, world, slower)).segments
    const [told, ...others] = segments.filter(({ measure }) => measure === 'time')
    expect(others).toEqual([])
    const [, cut] = /^use ≥ ([\d.]+)$/.exec(told?.text ?? '') ?? []
    const [low, high] = [world.idle[1], world.busy[0]]
    // One cut in 64 lies within the slow ones.
    const bin = (world.busy[1] - high) / (64 * world.share)
    expect(Number(cut)).toBeGreaterThanOrEqual(low - bin)
    expect(Number(cut)).toBeLessThanOrEqual(high + bin)
  })
})
