import { describe, expect, test } from 'vitest'
import { EpochClock } from '../../src/traces/epoch-clock.ts'
import { QualityLog } from '../../src/traces/quality.ts'
import { SpanTracesBuilder } from '../../src/traces/span-traces-builder.ts'

describe('nanoseconds since 1970', () => {
  test('as digits keep every nanosecond', () => {
    const clock = new EpochClock()
    expect(clock.offsetOfNanos('1700000000123456789')).toBe(123456.789)
    expect(clock.offsetOfNanos('1700000000123456790')).toBe(123456.79)
    expect(clock.offsetOfNanos('1700000001000000001')).toBe(1_000_000.001)
    expect(clock.epochNs).toBe(1_700_000_000_000_000_000n)
  })

  test('before the first time seen are negative', () => {
    const clock = new EpochClock()
    clock.offsetOfNanos('1700000000000000000')
    expect(clock.offsetOfNanos('1699999999999999999')).toBeCloseTo(-0.001, 9)
    expect(clock.offsetOfNanos('1699999996500000000')).toBe(-3_500_000)
  })

  test('a day after the first time seen still keep every nanosecond', () => {
    const clock = new EpochClock()
    clock.offsetOfNanos('1700000000000000000')
    expect(clock.offsetOfNanos('1700086400000000001')).toBe(86_400_000_000.001)
  })

  test('as numbers are as exact as the number is', () => {
    const clock = new EpochClock()
    expect(clock.offsetOfNanos(1_500)).toBe(1.5)
    expect(clock.offsetOfNanos(1_000_000_000)).toBe(1_000_000)
  })

  test('0 is a time', () => {
    expect(new EpochClock().offsetOfNanos('0')).toBe(0)
    expect(new EpochClock().offsetOfNanos(0)).toBe(0)
  })

  test.each(['', ' 1', '-1', '1.5', '1e9', 'now', undefined, null, Number.NaN, Infinity, -1, {}])(
    '%j is no time',
    (nanos) => {
      const clock = new EpochClock()
      expect(clock.offsetOfNanos(nanos)).toBeNaN()
      expect(clock.offsetOfNanos('1700000000000000001')).toBe(0.001)
    },
  )
})

describe('microseconds since 1970', () => {
  test('count from the same epoch as nanoseconds', () => {
    const clock = new EpochClock()
    expect(clock.offsetOfNanos('1700000000000000000')).toBe(0)
    expect(clock.offsetOfMicros(1_700_000_000_000_250)).toBe(250)
    expect(clock.offsetOfMicros('1700000000000250')).toBe(250)
  })

  test('may have fractions, and lie before 1970', () => {
    const clock = new EpochClock()
    expect(clock.offsetOfMicros(0.5)).toBe(0.5)
    expect(clock.offsetOfMicros(-0.25)).toBe(-0.25)
  })

  test.each(['', 'soon', undefined, null, Number.NaN, Number.POSITIVE_INFINITY, true])(
    '%j is no time',
    (micros) => {
      expect(new EpochClock().offsetOfMicros(micros)).toBeNaN()
    },
  )
})

test('a clock that saw no time counts from 1970', () => {
  expect(new EpochClock().epochNs).toBe(0n)
})

test('loaded spans count from the earliest start, exact to the nanosecond', () => {
  const builder = new SpanTracesBuilder(new QualityLog())
  const starts = ['1700000000999999999', '1699999999000000001', '1700000123456789012']
  starts.forEach((nanos, i) => {
    builder.add(
      {
        traceId: 't',
        spanId: `span ${i}`,
        parentId: null,
        service: 's',
        operation: 'o',
        host: '',
        kind: 'internal',
        status: 'unset',
        durationUs: 1,
        followsFrom: false,
        startUs: builder.clock.offsetOfNanos(nanos),
      },
      {},
    )
  })
  const traces = builder.finish('spans')
  expect(traces.epochNs).toBe(1_699_999_999_000_000_001n)
  expect(Array.from(traces.spans.startUs)).toEqual([1_999_999.998, 0, 124_456_789.011])
})
