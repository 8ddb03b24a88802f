import type { PlotBox } from '../../drawing/axis-lines.tsx'
import { type AxisScale, logDurationScale, timeScale } from '../../drawing/axis-scale.ts'
import type { TimelineModel } from './timeline-model.ts'

const LEFT = 58
const RIGHT = 16
const LEGEND = 24
const TITLE = 24
const BARS = 30
const GAP = 6
const DOTS = 130
const BETWEEN = 14
const AXIS = 38

/** The place of one period: a title, bars for arrivals, dots for response times. */
export interface TimelinePanel {
  readonly titleY: number
  readonly bars: PlotBox
  readonly dots: PlotBox
  /** Bars and dots: what a range is selected in. */
  readonly whole: PlotBox
}

/** Where everything stands in a timeline of some width, in pixels. */
export interface TimelineLayout {
  readonly width: number
  readonly height: number
  readonly left: number
  readonly panels: readonly [TimelinePanel, TimelinePanel]
  readonly x: AxisScale
  readonly y: AxisScale
}

/** Lays both periods out one above the other, on the same scales. */
export function timelineLayout(
  { spanUs, extentUs: [low, high], zeroUs }: TimelineModel,
  width: number,
): TimelineLayout {
  const plot = Math.max(100, width - LEFT - RIGHT)
  const panel = (top: number): TimelinePanel => {
    const box = { left: LEFT, width: plot }
    const barsTop = top + TITLE
    return {
      titleY: top + TITLE - 9,
      bars: { ...box, top: barsTop, height: BARS },
      dots: { ...box, top: barsTop + BARS + GAP, height: DOTS },
      whole: { ...box, top: barsTop, height: BARS + GAP + DOTS },
    }
  }
  const panelHeight = TITLE + BARS + GAP + DOTS
  return {
    width,
    left: LEFT,
    height: LEGEND + 2 * panelHeight + BETWEEN + AXIS,
    panels: [panel(LEGEND), panel(LEGEND + panelHeight + BETWEEN)],
    x: timeScale(spanUs, { ticks: Math.max(3, Math.floor(plot / 70)) }),
    y: withZero(logDurationScale({ low, high, ticks: 6 }), zeroUs),
  }
}

/** The share of a logarithmic axis that is kept below it for what took no time. */
const ZERO_SHARE = 0.11

/** A logarithmic axis with a place below it for 0, where anything is there. */
function withZero(scale: AxisScale, zeroUs: number | null): AxisScale {
  if (zeroUs === null) return scale
  const rest = 1 - ZERO_SHARE
  return {
    share: (value) => (value > 0 ? ZERO_SHARE + rest * scale.share(value) : 0),
    value: (share) => (share < ZERO_SHARE ? 0 : scale.value((share - ZERO_SHARE) / rest)),
    ticks: [{ value: 0, text: zeroUs < 0 ? '≤ 0' : '0' }, ...scale.ticks],
  }
}
