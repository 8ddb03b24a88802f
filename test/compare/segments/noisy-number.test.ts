import { describe, expect, test } from 'vitest'
import { compare } from '../../../src/comparison/comparison.ts'
import { call, record } from '../../worlds.ts'

interface Shares {
  readonly idle: readonly [from: number, to: number]
  readonly busy: readonly [from: number, to: number]
  readonly share: number
}

//  web, with `use`  |pool 5 ms, after × slower where it is busy| |price 8 ms|
function period(seed: number, { idle, busy, share }: Shares, slower: number) {
  return record({ seed, requests: 2000, everyUs: 1e5 }, (r) => {
    const isBusy = r.is(share)
    const [from, to] = isBusy ? busy : idle
    const use = Math.round(10 * (from + r.next() * (to - from))) / 10
    return call('web', [500, 400], { attributes: { use } }, [
      call('pool', r.about(5000, 0.3) * (isBusy ? slower : 1)),
      call('price', r.about(8000, 0.3), { gapUs: 100 }),
    ])
  })
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
