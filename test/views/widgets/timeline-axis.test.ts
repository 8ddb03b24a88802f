import { describe, expect, test } from 'vitest'
import { roundUp } from '../../../src/views/charts/axes.ts'
import { timeScale, timeText } from '../../../src/views/drawing/time-scale.ts'

const textsOf = ({ ticks }: { ticks: readonly { text: string }[] }) => ticks.map(({ text }) => text)

describe('scales of drawings', () => {
  test('times are evenly apart, in one unit', () => {
    expect(textsOf(timeScale([0, 84e6], 5))).toEqual(['0', '20 s', '40 s', '60 s', '80 s'])
    expect(textsOf(timeScale([0, 1680], 4))).toEqual(['0', '0.5 ms', '1 ms', '1.5 ms'])
    expect(timeText(22_050_000, [0, 84e6])).toBe('22.05 s')
  })

  test('what lies beyond an axis lies at its end', () => {
    const scale = timeScale([0, 10], 5)
    expect([scale.share(-1), scale.share(11)]).toEqual([0, 1])
  })

  test('steps are 1, 2 or 5 times a power of ten', () => {
    expect([0.03, 1, 1.1, 84_756, 600_000].map(roundUp)).toEqual([0.05, 1, 2, 100_000, 1e6])
  })
})
