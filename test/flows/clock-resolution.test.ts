import { describe, expect, test } from 'vitest'
import { buildFlows } from '../../src/flows/build-flows.ts'
import { makeSpans, type SpanSketch } from '../make-traces.ts'

interface Clock {
  /** Requests begin this long after a whole millisecond. */
  readonly phaseUs?: number
  readonly childUs?: number
  readonly count?: number
}

/** Requests of 5.3 ms whose child ends 0.4 ms after them. */
function requests({ phaseUs = 0, childUs = 4700, count = 40 }: Clock) {
  const sketches = Array.from({ length: count }, (_, i): SpanSketch[] => {
    const startUs = 20_000 * i + phaseUs
    return [
      { trace: `t${i}`, id: 'r', host: 'h', startUs, endUs: startUs + 5300 },
      {
        trace: `t${i}`,
        id: 'a',
        parent: 'r',
        host: 'h',
        startUs: startUs + 1000,
        endUs: startUs + 1000 + childUs,
      },
    ]
  })
  return makeSpans(sketches.flat())
}

const reportOf = (clock: Clock) => buildFlows(requests(clock)).report.counts

describe('starts that were cut to milliseconds', () => {
  test('a child that ends up to 1 ms after its parent is waited for', () => {
    expect(reportOf({})).toMatchObject({ coarseClocks: 1, asynchronousSpans: 0 })
  })

  test('one that ends later than that is not', () => {
    expect(reportOf({ childUs: 5400 })).toMatchObject({ coarseClocks: 1, asynchronousSpans: 40 })
  })

  test('a clock that ticks finer is believed', () => {
    expect(reportOf({ phaseUs: 0.5 })).toMatchObject({ coarseClocks: 0, asynchronousSpans: 40 })
  })

  test('19 different starts are too few to tell', () => {
    expect(reportOf({ count: 19 })).toMatchObject({ coarseClocks: 0, asynchronousSpans: 19 })
    expect(reportOf({ count: 20 })).toMatchObject({ coarseClocks: 1, asynchronousSpans: 0 })
  })

  test('calls of a service whose ends are whole milliseconds, too, overlap as recorded', () => {
    const { resolution } = buildFlows(requests({ childUs: 5000 }))
    expect(Object.fromEntries(resolution ?? [])).toEqual({
      a: { tickUs: 1000, overlapUs: 0 },
    })
  })

  test('both periods are told apart from the epoch, not from the first span', () => {
    const { counts } = buildFlows([requests({}), requests({ phaseUs: 0.25 })]).report
    expect(counts.coarseClocks).toBe(0)
  })
})
