import { expect, test } from 'vitest'
import { compare } from '../../../src/comparison/comparison.ts'
import type { GraphTraces } from '../../../src/traces/graph-traces.ts'
import { describeWithShared } from '../../shared.ts'
import { paperCase, period, type Request, type Steps, some } from './sketches.ts'

interface Told {
  readonly path: RegExp
  readonly requests: number
  readonly addedUs: number
}

function expectPath([before, after]: readonly GraphTraces[], { path, requests, addedUs }: Told) {
  const comparison = compare(before as GraphTraces, after as GraphTraces)
  const [finding, ...others] = comparison.findings.findings
  expect(others).toEqual([])
  expect(finding?.title).toMatch(path)
  expect(finding?.requests).toBe(requests)
  expect(finding?.contributionUs).toBeGreaterThan(0.95 * addedUs)
  expect(finding?.contributionUs).toBeLessThan(1.05 * addedUs)
  expect(finding?.shareOfChange).toBeGreaterThan(0.95)
  expect(new Set(finding?.moves.map(({ from }) => from)).size).toBeGreaterThan(2)
  return comparison
}

describeWithShared('the recorded case many-to-one', () => {
  test('tells that reads of all paths take the retry now, and what that costs', async () => {
    const { ranking } = expectPath(await paperCase('many-to-one'), {
      path: /^READ_CALL DEFAULT: requests now take RETRY DEFAULT$/,
      requests: 106,
      addedUs: 106 * 4755,
    })
    expect(ranking.mutations.find(({ kind }) => kind === 'structural')).toMatchObject({
      significant: true,
      noPrecursor: true,
      precursors: [],
    })
  })
})

/** Requests of several paths, every so many of which go another way. */
function lookups(
  { paths, count, again }: { paths: number; count: number; again: Steps },
  every = Number.POSITIVE_INFINITY,
): Request[] {
  return some(count, (i): Request => {
    const own: Steps = [
      ['e1__t__FIND', 0],
      [`e1__t__WAY${i % paths}`, 80],
      ['e2__t__INDEX', 120],
      ['e1__t__FOUND', 50],
    ]
    return { steps: i % every === every - 1 ? again : own }
  })
}

test('a sixteenth of seven paths that ask again is one finding', () => {
  const again: Steps = [
    ['e1__t__FIND', 0],
    ['e1__t__AGAIN', 40],
    ['e3__t__COPY', 900],
    ['e1__t__FOUND', 60],
  ]
  const of = { paths: 7, count: 1600, again }
  expectPath([period(lookups(of), 3), period(lookups(of, 16), 4)], {
    path: /^FIND: requests now take AGAIN$/,
    requests: 100,
    addedUs: 100 * 750,
  })
})

test('so is one that other services share, with a different load', () => {
  const again: Steps = [
    ['e1__t__FIND', 0],
    ['e1__t__WAIT', 3000],
    ['e2__t__INDEX', 120],
    ['e1__t__FOUND', 50],
  ]
  const of = { paths: 11, again }
  expectPath(
    [period(lookups({ ...of, count: 1200 }), 5), period(lookups({ ...of, count: 2400 }, 20), 6)],
    { path: /^FIND: requests now take WAIT$/, requests: 120, addedUs: 120 * 2920 },
  )
})
