import { logTicks } from '../../charts/axes.ts'
import { movedAlong, type NumberExtent, shareAlong } from '../../charts/number-extent.ts'
import { numberText } from '../../charts/parameter-shares.ts'
import { type AxisScale, logDurationScale, roundUp, timeScale } from '../../drawing/axis-scale.ts'

/** Times whose largest is more than this many times the smallest lie on a logarithmic axis. */
const WIDE_TIMES = 8

/** Numbers as they lie in a stretch, with at most about so many ticks. */
export function numberScale(
  extent: NumberExtent,
  { ticks }: { readonly ticks: number },
): AxisScale {
  const { low, high, isLog } = extent
  return {
    share: (value) => Math.min(1, Math.max(0, shareAlong(extent, value))),
    value: (share) => movedAlong(extent, low, share),
    ticks: (isLog ? someOf(logTicks(low, high), ticks) : evenTicks(extent, ticks)).map((value) => ({
      value,
      text: numberText(value),
    })),
  }
}

/** Durations, evenly spaced unless they are of very different size. */
export function durationScale(
  timesUs: readonly number[],
  { ticks }: { readonly ticks: number },
): AxisScale {
  const low = timesUs.reduce((least, time) => Math.min(least, time), Number.POSITIVE_INFINITY)
  const high = timesUs.reduce((most, time) => Math.max(most, time), 0)
  return low > 0 && high / low > WIDE_TIMES
    ? logDurationScale({ low: low / 1.05, high: high * 1.05, ticks })
    : timeScale([Math.min(low, high), Math.max(high, low + 1)], { ticks })
}

function evenTicks({ low, high, isWhole }: NumberExtent, ticks: number): number[] {
  const step = Math.max(isWhole ? 1 : 0, roundUp((high - low) / ticks))
  const first = Math.ceil(low / step)
  const count = Math.max(0, Math.floor(high / step) - first + 1)
  return Array.from({ length: count }, (_, i) => Number(((first + i) * step).toPrecision(12)))
}

function someOf(ticks: readonly number[], most: number): number[] {
  const every = Math.ceil(ticks.length / most)
  return ticks.filter((_, i) => i % every === 0)
}
