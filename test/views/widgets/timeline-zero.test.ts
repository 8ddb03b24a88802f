import { describe, expect, test } from 'vitest'
import { compare } from '../../../src/comparison/comparison.ts'
import { explore } from '../../../src/views/explore.ts'
import {
  type TimelineData,
  timelineModel,
} from '../../../src/views/widgets/timeline/timeline-model.tsx'
import { timelineLayout } from '../../../src/views/widgets/timeline/timeline-widget.tsx'
import { makeSpans } from '../../make-traces.ts'

/** Requests that take these times. */
function taking(...timesUs: number[]) {
  return makeSpans(
    timesUs.map((timeUs, i) => ({
      trace: `t${i}`,
      id: 'web',
      startUs: i * 1000,
      endUs: i * 1000 + timeUs,
    })),
  )
}

function axisOf(before: readonly number[], after: readonly number[]) {
  const widget = explore(compare(taking(...before), taking(...after)), 'timeline')
  const { y } = timelineLayout(timelineModel((widget.data as { data: TimelineData }).data), 760)
  return { ...y, svg: widget.svg() }
}

describe('response times of 0 on the logarithmic axis', () => {
  test('have a place of their own below the smallest other one, that says so', () => {
    const { ticks, share, value } = axisOf([0, 5], [0, 80])
    expect(ticks[0]).toEqual({ value: 0, text: '0' })
    expect(share(0)).toBe(0)
    expect(share(5)).toBeGreaterThan(0.1)
    expect(share(5)).toBeLessThan(share(80))
    expect(value(share(80))).toBeCloseTo(80)
    expect(value(0.05)).toBe(0)
  })

  test('stand at 0 where there are no others', () => {
    const { ticks, share, svg } = axisOf([0, 0], [0])
    expect(ticks[0]).toEqual({ value: 0, text: '0' })
    expect(share(0)).toBe(0)
    expect(share(1)).toBeGreaterThan(0.1)
    expect(svg).not.toMatch(/NaN|Infinity/)
  })

  test('need no place where there are none', () => {
    const { ticks, share } = axisOf([5, 7], [80])
    expect(ticks.every(({ value }) => value > 0)).toBe(true)
    expect(share(5)).toBe(0)
  })
})
