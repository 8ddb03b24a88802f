import { describe, expect, test } from 'vitest'
import { buildFlows } from '../../src/flows/build-flows.ts'
import { requestsBetween, selectRequests } from '../../src/flows/select-requests.ts'
import { makeGraphs } from '../make-traces.ts'
import { chain } from '../views/charts/fixture.ts'

// Before: 0, 1000, 2000, 3000 µs (rows 0 to 3). After: 0, 1000, 2000 µs (rows 4 to 6).
const flows = buildFlows([
  makeGraphs(chain(['GET', 'REPLY'], [1, 1, 1, 1])),
  makeGraphs(chain(['GET', 'REPLY'], [1, 1, 1])),
])

describe('requests between two times', () => {
  test('begin with the first and end before the second', () => {
    expect(requestsBetween(flows, { beforeUs: [1000, 3000], afterUs: [0, 1001] })).toEqual({
      before: [1, 2],
      after: [4, 5],
    })
  })

  test('are all of a period that has no range', () => {
    expect(requestsBetween(flows)).toEqual({ before: [0, 1, 2, 3], after: [4, 5, 6] })
    expect(requestsBetween(flows, { afterUs: [5000, 6000] })).toEqual({
      before: [0, 1, 2, 3],
      after: [],
    })
  })

  test('of neighboring ranges are each request once', () => {
    const first = requestsBetween(flows, { beforeUs: [0, 2000] }).before
    const second = requestsBetween(flows, { beforeUs: [2000, Number.POSITIVE_INFINITY] }).before
    expect([...Array.from(first), ...Array.from(second)]).toEqual([0, 1, 2, 3])
  })

  test('can be narrowed by row', () => {
    const even = { where: (request: number) => request % 2 === 0 }
    expect(requestsBetween(flows, { ...even, beforeUs: [0, 3000] })).toEqual({
      before: [0, 2],
      after: [4, 6],
    })
  })

  test('are what selectRequests takes', () => {
    const selected = selectRequests(
      flows,
      requestsBetween(flows, { beforeUs: [0, 1], afterUs: [1, 1900] }),
    )
    expect([selected.count(0), selected.count(1)]).toEqual([1, 1])
  })

  test('a range is two numbers, the smaller first', () => {
    expect(() => requestsBetween(flows, { beforeUs: [2, 2] })).toThrow('Option beforeUs is [2, 2].')
    expect(() => requestsBetween(flows, { afterUs: [Number.NaN, 2] })).toThrow('afterUs')
    expect(() => requestsBetween(flows, { afterUs: 3 as never })).toThrow('Option afterUs is 3.')
    expect(() => requestsBetween(flows, { before: [0, 1] } as never)).toThrow('before')
  })
})
