import { describe, expect, test } from 'vitest'
import { compare } from '../../../src/comparison/comparison.ts'
import { comparisonWarnings } from '../../../src/comparison/fairness/comparison-warnings.ts'
import type { TraceSet } from '../../../src/traces/trace-set.ts'
import { around, chains, every, makeGraphs, makeSpans, type SpanSketch } from '../../make-traces.ts'
import { coded } from './coded.ts'

const HIT = ['READ', 'HIT', 'REPLY']

describe('small-periods', () => {
  test('of periods too small to find anything in', () => {
    const few = coded(
      'small-periods',
      makeGraphs(chains(HIT, [1])),
      makeGraphs(chains(HIT, [5, 6])),
    )
    expect(few.map(({ message }) => message)).toEqual([
      'With 1 request before and 2 after, no category has enough requests in both periods to ' +
        'test its times, and no category can change by more than the threshold of 50 requests.',
    ])
    expect(few.map(({ detail }) => detail)).toEqual([
      'A change may go unnoticed. Load longer periods, or lower `smPThreshold`.',
    ])
  })

  test('silent when one category can be tested and one more than the threshold can change', () => {
    const requests = () => makeGraphs(chains(HIT, around(1, 51)))
    expect(coded('small-periods', requests(), requests())).toEqual([])
  })
})

describe('nothing-in-common', () => {
  test('of periods whose requests are all of other structures', () => {
    const other = makeGraphs(chains(['READ', 'MISS', 'REPLY'], around(1, 60)))
    const [found] = coded('nothing-in-common', makeGraphs(chains(HIT, around(1, 60))), other)
    expect(found?.finding).toBe(
      'The periods share no category: every request after has a new structure.',
    )
  })

  test('silent when a single request is like one before', () => {
    const other = [...chains(['READ', 'MISS', 'REPLY'], around(1, 60)), ...chains(HIT, [1])]
    expect(
      coded('nothing-in-common', makeGraphs(chains(HIT, around(1, 60))), makeGraphs(other)),
    ).toEqual([])
  })
})

/** Requests that call `a`, which is over after 8 ms, and `b` after 10 ms; of some, `a` takes 30 ms. */
function callers(count: number, isLate: (request: number) => boolean, name: string): SpanSketch[] {
  return every(1e6, count).flatMap((startUs, i) => {
    const span = (id: string, fromMs: number, toMs: number) => ({
      trace: `${name}-${i}`,
      id,
      startUs: startUs + 1000 * fromMs,
      endUs: startUs + 1000 * toMs,
    })
    return [
      span('web', 0, isLate(i) ? 32 : 20),
      { ...span('a', 1, isLate(i) ? 31 : 8), parent: 'web' },
      { ...span('b', 10, 15), parent: 'web' },
    ]
  })
}

describe('nothing-in-common, of spans', () => {
  const fewLate = callers(400, (i) => i % 134 === 133, 'all')

  test('where one export was filtered by duration, says that only the order of calls differs', () => {
    const slow = makeSpans(callers(40, () => true, 'slow'))
    const [found] = coded('nothing-in-common', makeSpans(fewLate), slow)
    expect(found?.finding).toBe(
      'No category has requests in both periods. They make the same calls, but in another order or with other overlaps.',
    )
    expect(found?.advice).toEqual({ concurrency: 'none' })
    const options = { concurrency: 'none' } as const
    expect(coded('nothing-in-common', makeSpans(fewLate), slow, options)).toEqual([])
  })

  test('of several runs, the order of siblings is that of all of them together', () => {
    const after = makeSpans(
      callers(200, (i) => i % 10 === 0, 'after'),
      'after',
    )
    const [first, second] = [() => false, (i: number) => i % 7 === 0].map((isLate, run) =>
      makeSpans(callers(200, isLate, `run-${run}`)),
    ) as [TraceSet, TraceSet]
    // By itself, the first run has an order of its own.
    expect(coded('nothing-in-common', first, after)).toHaveLength(1)
    const comparison = compare([first, second], after)
    expect(comparison.categories.size).toBe(1)
    expect(comparison.warnings().map(({ code }) => code)).not.toContain('nothing-in-common')
  })
})

test('undecided-structures: of structures too symmetric to compare', () => {
  const { before, after, flows, options } = compare(
    makeGraphs(chains(HIT, [1])),
    makeGraphs(chains(HIT, [1])),
  )
  const withUndecided = (undecided: number) =>
    comparisonWarnings({
      before,
      after,
      flows,
      options,
      categories: { undecided, size: 1, count: () => 100 },
    }).map(({ finding }) => finding)
  expect(withUndecided(1)).toContain(
    '1 pair of flows is too symmetric to compare within the step budget.',
  )
  expect(withUndecided(0).join()).not.toContain('symmetric')
})
