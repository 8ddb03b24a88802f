import { describe, expect, test } from 'vitest'
import { burstsOf } from '../../../src/compare/onset/onset.ts'
import { compare } from '../../../src/comparison/comparison.ts'
import { randomSource } from '../../../src/stats/random.ts'
import { NOON_US } from '../../make-traces.ts'
import { MINUTES, type Shop, shop } from './shop.ts'

/** A request a second; 1 where slow, 0 where not. */
const seriesOf = (isSlow: (second: number) => boolean, count = 600) =>
  Array.from({ length: count }, (_, i) => ({ timeUs: i * 1e6, value: Number(isSlow(i)) }))

describe('slow requests', () => {
  test('of three seconds in every minute come in ten bursts, a minute apart', () => {
    const bursts = burstsOf(seriesOf((second) => second % 60 >= 20 && second % 60 < 23))
    expect(bursts).toMatchObject({ count: 10, apartUs: 60e6 })
    expect(bursts?.p).toBeLessThan(1e-9)
  })

  test.each([
    ['at random come in none', () => random.next() < 0.1],
    ['that are alone, though regular, come in none', (second: number) => second % 30 === 0],
    ['of two stretches are too few bursts', (second: number) => second % 300 < 5],
    ['that are every other one are no bursts', (second: number) => second % 4 < 2],
    ['are none', () => false],
  ])('%s', (_, isSlow) => {
    expect(burstsOf(seriesOf(isSlow))).toBeNull()
  })

  test('that follow each other by chance are seldom significant', () => {
    const sure = Array.from({ length: 300 }, () =>
      burstsOf(seriesOf(() => random.next() < 0.15, 100)),
    ).filter((bursts) => bursts !== null && bursts.p < 0.05)
    expect(sure.length).toBeLessThanOrEqual(15)
  })
  const random = randomSource(8)
})

describe('a finding says in which bursts its slow requests come', () => {
  const factsOf = (after: Omit<Shop, 'seed'>) => {
    const { findings } = compare(
      shop('before', NOON_US, { seed: 1 }),
      shop('after', NOON_US + MINUTES * 60e6, { ...after, seed: 2 }),
    ).findings
    expect(findings.length).toBeGreaterThan(0)
    return findings[0]!.facts.filter((fact) => fact.includes('bursts'))
  }

  test('of pauses every 20 s: 12 in four minutes', () => {
    expect(factsOf({ slowFrom: 0, slowUs: 40_000, slowEvery: 20 })).toEqual([
      'the slow ones come in 12 bursts, typically 20 s apart',
    ])
  })

  test('of a step that is slower throughout, or until some time: nothing', () => {
    expect(factsOf({ slowFrom: 0, slowUs: 4000 })).toEqual([])
    expect(factsOf({ slowFrom: 0, slowUntil: 30, slowUs: 40_000 })).toEqual([])
  })
})
