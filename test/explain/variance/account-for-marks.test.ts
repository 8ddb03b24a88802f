import { describe, expect, test } from 'vitest'
import { compare } from '../../../src/compare/comparison.ts'
import { accountForMarks } from '../../../src/explain/variance/account-for-marks.ts'
import type { VarianceMark } from '../../../src/explain/variance/variance-marks.ts'
import { randomSource } from '../../../src/stats/random.ts'
import { makeGraphs } from '../../make-traces.ts'

const DISK: VarianceMark = { from: 'start', to: 'disk', kind: 'intrinsic' }
const CODE: VarianceMark = { from: 'disk', to: 'end', kind: 'inadvertent' }

/** Requests through a disk that takes `diskUs` ± `spreadUs` and code that takes `codeUs` ± 1. */
function period(
  { diskUs = 100, spreadUs = 10, codeUs = 50 },
  { seed, root = 'start' }: { seed: number; root?: string },
) {
  const random = randomSource(seed)
  return Array.from({ length: 100 }, () => ({
    labels: [root, 'disk', 'end'],
    edges: [
      [0, 1],
      [1, 2],
    ] as const,
    latencyUs: [diskUs + spreadUs * random.next(), codeUs + random.next()],
  }))
}

const compared = (before: Parameters<typeof period>[0], after: Parameters<typeof period>[0]) =>
  compare(makeGraphs(period(before, { seed: 1 })), makeGraphs(period(after, { seed: 2 })))

describe('a mutation', () => {
  const slowDisk = compared({}, { diskUs: 150 })

  test('whose changed edges are all marked intrinsic or intentional is set apart', () => {
    const marked = accountForMarks(slowDisk, [DISK])
    expect(marked.setApart.map(({ mutation }) => mutation.rank)).toEqual([1])
    expect(marked.remaining).toEqual([])
    expect(marked.findings.map(({ verdict }) => verdict)).toEqual(['set apart'])
    expect(marked.rest[0]?.test.rejected).toBe(false)
    const intentional = accountForMarks(slowDisk, [{ ...DISK, kind: 'intentional' }])
    expect(intentional.setApart.length).toBe(1)
  })

  test('stays when the edge is marked inadvertent, or not at all', () => {
    expect(accountForMarks(slowDisk, [{ ...DISK, kind: 'inadvertent' }]).remaining.length).toBe(1)
    expect(accountForMarks(slowDisk, []).mutations[0]?.verdict).toBe('open')
  })

  test('stays, in part, when another edge changed as well', () => {
    const marked = accountForMarks(compared({}, { diskUs: 150, codeUs: 60 }), [DISK])
    expect(marked.mutations[0]?.verdict).toBe('in part')
    expect(marked.table().array('restChanged')).toEqual([true])
  })

  test('is not touched in the comparison itself', () => {
    const before = slowDisk.ranking.mutations
    accountForMarks(slowDisk, [DISK])
    expect(slowDisk.ranking.mutations).toBe(before)
  })
})

describe('variance', () => {
  const noisy = { diskUs: 0, spreadUs: 100_000 }
  const hidden = compared(noisy, { ...noisy, codeUs: 60 })

  test('of a marked edge no longer hides what changed beside it', () => {
    expect(hidden.responseTime.mutations).toEqual([])
    const marked = accountForMarks(hidden, [DISK])
    expect(marked.uncovered.map(({ category }) => category)).toEqual([0])
    expect(marked.uncovered[0]?.test.direction).toBe('slower')
    expect(marked.restTable().array('restChanged')).toEqual([true])
  })

  test('of an inadvertent source is not taken out', () => {
    expect(accountForMarks(hidden, [{ ...DISK, kind: 'inadvertent' }]).rest).toEqual([])
  })
})

test('a mark on an edge that no category has is called unused', () => {
  const gone: VarianceMark = { from: 'start', to: 'tape', kind: 'intrinsic' }
  const marked = accountForMarks(compared({}, {}), [gone, DISK, CODE])
  expect(marked.unused).toEqual([gone])
  expect(marked.markTable().array('known')).toEqual([false, true, true])
  expect(marked.markTable().array('categories')).toEqual([0, 1, 0])
})

test('two marks on one edge are refused', () => {
  expect(() => accountForMarks(compared({}, {}), [DISK, DISK])).toThrow(
    'marks[0] and marks[1] are both on the edge from "start" to "disk".',
  )
})
