import type { SpecPart } from './chart-frame.ts'

/** Room below 0, so that points at 0 stand clear of the axis. */
const BELOW_ZERO = -0.4

/** A scale for numbers of requests: nearly logarithmic, but with a place for 0. */
export interface CountScale {
  readonly domain: readonly [number, number]
  readonly ticks: readonly number[]
  /** Share of the axis at which a count stands, 0 to 1. */
  readonly position: (count: number) => number
  /** The Vega-Lite scale and axis, the latter with `title`. */
  readonly encoding: (title: string) => SpecPart
}

/** The scale for counts from 0 to `largest`. */
export function countScale(largest: number): CountScale {
  const high = Math.max(2, largest) * 1.25
  const domain = [BELOW_ZERO, high] as const
  const ticks = countTicks(high)
  const low = bend(BELOW_ZERO)
  const position = (count: number) => (bend(count) - low) / (bend(high) - low)
  const encoding = (title: string) => ({
    scale: { type: 'symlog', constant: 1, domain: [...domain], nice: false },
    axis: { title, values: ticks, format: ',d' },
  })
  return { domain, ticks, position, encoding }
}

function countTicks(high: number): number[] {
  const ticks = [0]
  const steps = high > 2000 ? [1] : [1, 2, 5]
  for (let decade = 1; decade <= high; decade *= 10) {
    ticks.push(...steps.map((step) => step * decade))
  }
  return ticks.filter((tick) => tick <= high)
}

/** What Vega's symlog scale does to a number. */
function bend(count: number): number {
  return Math.sign(count) * Math.log1p(Math.abs(count))
}
