import { describe, expect, test } from 'vitest'
import { focusAttention } from '../../src/logs/attention/focus-attention.ts'
import { compareLogs } from '../../src/logs/compare-logs.ts'
import { learnDependencies } from '../../src/logs/dependencies/learn-dependencies.ts'
import { findDivergence } from '../../src/logs/divergence/find-divergence.ts'
import { LogBuilder } from '../../src/logs/features/log-builder.ts'
import type { LogSet } from '../../src/logs/features/log-set.ts'
import { randomSource } from '../../src/stats/random.ts'
import { chainBenchmark } from './chain-benchmark.ts'
import { logsOf } from './make-logs.ts'

const chain = chainBenchmark(7, 60)

describe('focusAttention', () => {
  const comparison = compareLogs(logsOf(chain))

  test('the score is the sum, or the mean, of what variables add', () => {
    const best = comparison.attention.best('event')
    const terms = best?.nodes.reduce((sum, { term }) => sum + term, 0)
    expect(best?.score).toBeCloseTo(Number(terms), 12)
    const mean = comparison.with({ score: 'mean' }).attention.best('event')
    expect(mean?.score).toBeCloseTo(Number(terms) / (Number(best?.nodes.length) - 1), 12)
  })

  test('a balance of 1 goes only by divergence, of 0 only by dependencies', () => {
    const terms = (balance: number) =>
      comparison
        .with({ balance })
        .attention.best('event')
        ?.nodes.slice(1)
        .map(({ term, divergence }) => [term, divergence])
    for (const [term, divergence] of terms(1) ?? [])
      expect(term).toBeCloseTo((divergence as number) ** 2, 12)
    expect(terms(0)?.every(([term]) => Number(term) > 0 && Number(term) <= 1)).toBe(true)
  })

  test('shares of the run come last where performance is a time', () => {
    // The announcement has nothing to do with the end: only its share of the run has.
    const random = randomSource(4)
    const builder = new LogBuilder()
    for (let i = 0; i < 120; i++) {
      const work = 1_000 + (i < 60 ? 0 : 3_000) + 500 * random.next()
      builder.setInstance(i < 60 ? 'before' : 'after', `n${i}`)
      builder.logEvent(0, 'start')
      builder.logEvent(100 + random.next(), 'announce')
      builder.logEvent(work, 'work')
      builder.logEvent(work + 50 + 10 * random.next(), 'done')
    }
    const found = compareLogs(builder.build(), { metric: 'done' })
    const namesOf = (graph = found.attention.best('event')) => graph?.nodes.map(({ name }) => name)
    expect(namesOf()).toEqual(['done', 'work'])
    const last = found.attention.of('event').map(({ sharesDenominator }) => sharesDenominator)
    expect(last).toEqual([false, false, false, false, true, true, true])
  })

  test('takes a balance from 0 to 1', () => {
    expect(() =>
      focusAttention(comparison.divergence, comparison.networks, { balance: 2 }),
    ).toThrow('Option balance is 2. Give a share from 0 to 1.')
  })

  test('shows a graph a row', () => {
    const { attention } = comparison
    expect(attention.table().get('first', 0)).toBe(attention.best('event')?.nodes[1]?.name)
    expect(attention.best('state')).toBeUndefined()
  })
})

describe('compareLogs', () => {
  const comparison = compareLogs(logsOf(chain))

  test('shares the stages that a change does not reach', () => {
    const other = comparison.with({ balance: 0.3 })
    expect(other.divergence).toBe(comparison.divergence)
    expect(other.networks).toBe(comparison.networks)
    expect(other.attention).not.toBe(comparison.attention)
    const level = comparison.with({ alpha: 0.01 })
    expect(level.networks).toBe(comparison.networks)
    expect(level.divergence).not.toBe(comparison.divergence)
  })

  test('an option that cannot be is named when it is given', () => {
    expect(() => comparison.with({ minSplit: 2 })).toThrow('Option minSplit is 2.')
  })

  test('gives what the stages give one by one', () => {
    const { logs, attention } = comparison
    const own = focusAttention(findDivergence(logs), learnDependencies(logs))
    expect(attention.graphs).toEqual(own.graphs)
  })

  test('takes logs, not a promise of them', () => {
    expect(() => compareLogs(Promise.resolve() as unknown as LogSet)).toThrow(
      'Write `await` before it.',
    )
    expect(() => compareLogs(comparison.logs, { minsplit: 1 } as object)).toThrow(
      'There is no option minsplit.',
    )
  })
})
