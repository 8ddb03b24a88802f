import { describe, expect, test } from 'vitest'
import { logDurationScale, roundUp, timeScale, timeText } from '../../../src/views/drawing/axes.tsx'

const textsOf = ({ ticks }: { ticks: readonly { text: string }[] }) => ticks.map(({ text }) => text)

describe('scales of drawings', () => {
  test('times are evenly apart, in one unit', () => {
    expect(textsOf(timeScale([0, 84e6], { ticks: 5 }))).toEqual([
      '0',
      '20 s',
      '40 s',
      '60 s',
      '80 s',
    ])
    expect(textsOf(timeScale([0, 1680], { ticks: 4 }))).toEqual(['0', '0.5 ms', '1 ms', '1.5 ms'])
    expect(timeText(22_050_000, [0, 84e6])).toBe('22.05 s')
  })

  test('durations begin and end at round numbers, each in its own unit', () => {
    const scale = logDurationScale({ low: 12.2, high: 27_793, ticks: 6 })
    expect(textsOf(scale)).toEqual(['10 µs', '100 µs', '1 ms', '10 ms'])
    expect([scale.share(10), scale.share(50_000)]).toEqual([0, 1])
    expect(scale.value(scale.share(700))).toBeCloseTo(700)
    expect(textsOf(logDurationScale({ low: 900, high: 4000, ticks: 6 }))).toEqual([
      '500 µs',
      '1 ms',
      '2 ms',
      '5 ms',
    ])
  })

  test('a single duration has room on either side', () => {
    const scale = logDurationScale({ low: 100, high: 100, ticks: 6 })
    expect(textsOf(scale).length).toBeGreaterThan(1)
  })

  test('what lies beyond an axis lies at its end', () => {
    const scale = timeScale([0, 10], { ticks: 5 })
    expect([scale.share(-1), scale.share(11)]).toEqual([0, 1])
  })

  test('steps are 1, 2 or 5 times a power of ten', () => {
    expect([0.03, 1, 1.1, 84_756, 600_000].map(roundUp)).toEqual([0.05, 1, 2, 100_000, 1e6])
  })
})
