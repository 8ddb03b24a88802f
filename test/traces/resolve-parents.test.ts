import { describe, expect, test } from 'vitest'
import { QualityLog } from '../../src/traces/quality.ts'
import { NO_PARENT, PARENT_MISSING } from '../../src/traces/span-columns.ts'
import type { SpanTraces } from '../../src/traces/span-traces.ts'
import { makeSpans, type SpanSketch } from '../make-traces.ts'

function span(trace: string, id: string, parent: string | null, more: Partial<SpanSketch> = {}) {
  return { trace, id, parent, startUs: 0, endUs: 10, ...more }
}

/** Service of each span and of its parent. */
function parents(traces: SpanTraces): [string, string | number][] {
  const { spans, services } = traces
  const service = (row: number) => services.value(spans.service[row] as number)
  return Array.from(spans.parent, (parent, row) => [
    service(row),
    parent < 0 ? parent : service(parent),
  ])
}

function issues(traces: SpanTraces) {
  return traces.quality().issues.map(({ code, effect, place, message }) => ({
    code,
    effect,
    trace: place.trace,
    message,
  }))
}

describe('spans that arrive in any order, traces mixed', () => {
  const traces = makeSpans([
    span('t2', 'c', 'b'),
    span('t1', 'b', 'a'),
    span('t2', 'a', null),
    span('t1', 'a', null),
    span('t2', 'b', 'a'),
  ])

  test('are grouped by trace, in order of first appearance', () => {
    expect(traces.ids).toEqual(['t2', 't1'])
    expect(Array.from(traces.spanOffsets)).toEqual([0, 3, 5])
  })

  test('find their parents within their own trace', () => {
    expect(parents(traces)).toEqual([
      ['c', 'b'],
      ['a', NO_PARENT],
      ['b', 'a'],
      ['b', 'a'],
      ['a', NO_PARENT],
    ])
    expect(issues(traces)).toEqual([])
  })
})

describe('a second span with the same id', () => {
  const twice = [
    span('t', 'a', null),
    span('t', 'b', 'a', { startUs: 1 }),
    span('t', 'b', 'a', { startUs: 5 }),
  ]

  test('is left out and noted', () => {
    const traces = makeSpans(twice)
    expect(parents(traces)).toEqual([
      ['a', NO_PARENT],
      ['b', 'a'],
    ])
    expect(Array.from(traces.spans.startUs)).toEqual([0, 1])
    expect(issues(traces)).toEqual([
      {
        code: 'duplicate-span',
        effect: 'span skipped',
        trace: 't',
        message: 'Span span b is there twice; the later one is left out',
      },
    ])
    expect(traces.quality().skippedTraces).toBe(0)
  })

  test('stops a strict load', () => {
    expect(() => makeSpans(twice, 'spans', new QualityLog({ strict: true }))).toThrow(
      'trace t: Span span b is there twice; the later one is left out. ' +
        'Remove the copy, or load without `strict`',
    )
  })

  test('in another trace is another span', () => {
    expect(issues(makeSpans([span('t', 'a', null), span('u', 'a', null)]))).toEqual([])
  })
})

describe('a span whose parent is missing', () => {
  test('becomes a root of its own, and is noted once a trace', () => {
    const traces = makeSpans([
      span('t', 'a', null),
      span('t', 'b', 'gone'),
      span('t', 'c', 'lost'),
      span('t', 'd', 'b'),
    ])
    expect(parents(traces)).toEqual([
      ['a', NO_PARENT],
      ['b', PARENT_MISSING],
      ['c', PARENT_MISSING],
      ['d', 'b'],
    ])
    expect(issues(traces)).toEqual([
      {
        code: 'orphan-span',
        effect: 'kept',
        trace: 't',
        message:
          '2 spans with a parent that is not in the files, each taken as a request of its own',
      },
    ])
  })

  test('does not stop a strict load', () => {
    expect(
      makeSpans([span('t', 'b', 'gone')], 'spans', new QualityLog({ strict: true })).size,
    ).toBe(1)
  })
})

describe('parents that run in a circle', () => {
  const circle = [
    span('bad', 'a', 'c'),
    span('good', 'a', null),
    span('bad', 'b', 'a'),
    span('bad', 'c', 'b'),
    span('bad', 'root', null),
    span('good', 'b', 'a'),
  ]

  test('leave the whole trace out, and no other', () => {
    const traces = makeSpans(circle)
    expect(traces.ids).toEqual(['good'])
    expect(parents(traces)).toEqual([
      ['a', NO_PARENT],
      ['b', 'a'],
    ])
    expect(issues(traces)).toEqual([
      {
        code: 'parent-circle',
        effect: 'trace skipped',
        trace: 'bad',
        message: 'Following parent ids leads back to the same span',
      },
    ])
    expect(traces.quality()).toMatchObject({ traces: 1, skippedTraces: 1 })
  })

  test('also when a span is its own parent', () => {
    expect(makeSpans([span('t', 'a', 'a')]).size).toBe(0)
  })

  test('stop a strict load', () => {
    expect(() => makeSpans(circle, 'spans', new QualityLog({ strict: true }))).toThrow(
      'trace bad: Following parent ids leads back to the same span. ' +
        'Correct the parent ids, or load without `strict` to leave the trace out',
    )
  })
})

test('a chain of 100,000 spans is followed without recursion', () => {
  const traces = makeSpans(
    Array.from({ length: 100_000 }, (_, i) =>
      span('t', `${i}`, i === 0 ? null : `${i - 1}`, { service: 's' }),
    ),
  )
  expect(traces.spans.parent[99_999]).toBe(99_998)
})
