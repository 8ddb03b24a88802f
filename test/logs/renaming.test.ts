import { describe, expect, test } from 'vitest'
import { compareLogs } from '../../src/logs/compare-logs.ts'
import { LogBuilder } from '../../src/logs/features/log-builder.ts'
import { randomSource } from '../../src/stats/random.ts'

/** cause → middle → finish, each a little later than the one before: their splits are the same. */
function dependencies(seed: number, cause: string, middle: string): string[] {
  const random = randomSource(seed)
  const builder = new LogBuilder()
  for (let i = 0; i < 60; i++) {
    const isBad = i >= 30
    const first = 20_000 + (isBad ? 30_000 : 0) + 20_000 * random.next()
    const second = first + 2_000 + 2_000 * random.next()
    builder.setInstance(isBad ? 'after' : 'before', `n${i}`)
    builder.logEvent(0, 'start')
    builder.logEvent(first, cause)
    builder.logEvent(second, middle)
    builder.logEvent(second + 2_000 + 2_000 * random.next(), 'finish')
  }
  const { edges } = compareLogs(builder.build(), { metric: 'finish' }).networks.network({
    kind: 'event',
    class: 'after',
    featureType: 'lastAbsolute',
  })
  const roles = new Map([
    [cause, 'cause'],
    [middle, 'middle'],
  ])
  const role = (name: string) => roles.get(name) ?? name
  return edges.map(({ from, to }) => `${role(from)} → ${role(to)}`).sort()
}

describe('what variables are called does not decide what depends on what', () => {
  test('a chain is the same under any names', { tags: 'full' }, () => {
    for (let seed = 1; seed <= 30; seed++) {
      expect(dependencies(seed, 'b', 'a')).toEqual(dependencies(seed, 'a', 'b'))
      expect(dependencies(seed, 'zz', 'm')).toEqual(dependencies(seed, 'a', 'b'))
    }
  })

  test('of splits equally before the variable counts that goes along with the target', () => {
    const runs = Array.from({ length: 30 }, (_, i) => dependencies(i + 1, 'a', 'b'))
    const chains = runs.filter((edges) => edges.join() === 'cause → middle,middle → finish')
    expect(chains.length).toBeGreaterThan(15)
  })
})
