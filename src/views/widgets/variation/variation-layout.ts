import type { PlotBox } from '../../drawing/axis-lines.tsx'
import { type AxisScale, logScale, shareScale } from '../../drawing/axis-scale.ts'
import { c2Text, measureScale } from './variation-measures.ts'
import {
  type Axes,
  type CurvePoint,
  curveOf,
  measured,
  type VariationData,
} from './variation-model.ts'
import type { Spot } from './variation-picking.ts'

/** A plot, its scales, and where the categories stand in it. */
export interface VariationPlot {
  readonly width: number
  readonly height: number
  readonly box: PlotBox
  readonly x: AxisScale
  readonly y: AxisScale
  readonly spots: readonly Spot[]
}

/** The distribution, with the curves of both periods. */
export interface CurvesPlot extends VariationPlot {
  readonly curves: readonly [readonly CurvePoint[], readonly CurvePoint[]]
}

const HEIGHT = 330
const MARGIN = { right: 14, top: 50, bottom: 40 } as const

/** Lays the distribution of C² out. */
export function curvesPlot(data: VariationData, width: number): CurvesPlot {
  const curves = [curveOf(data, 0), curveOf(data, 1)] as const
  const box = boxOf(width, 48)
  const positive = curves.flat().flatMap(({ c2 }) => (c2 > 0 ? [c2] : []))
  const x = logScale({
    low: positive.reduce((least, c2) => Math.min(least, c2), 0.1),
    high: positive.reduce((most, c2) => Math.max(most, c2), 10),
    ticks: ticksIn(width),
    text: c2Text,
  })
  const y = shareScale()
  const spots = curves.flatMap((curve) =>
    curve.map(({ category, c2, share }) => spotOf({ category, box, x: x.share(c2), y: share })),
  )
  return { width, height: HEIGHT, box, x, y, curves, spots }
}

/** Lays all categories out by two measures. */
export function scatterPlot(data: VariationData, [across, up]: Axes, width: number): VariationPlot {
  const box = boxOf(width, 62)
  const x = measureScale(data, across, ticksIn(width))
  const y = measureScale(data, up, 7)
  const spots = data.nameOf.map((_, category) =>
    spotOf({
      ...{ category, box },
      x: x.share(measured(data, across, category)),
      y: y.share(measured(data, up, category)),
    }),
  )
  return { width, height: HEIGHT, box, x, y, spots }
}

function boxOf(width: number, left: number): PlotBox {
  return {
    ...{ left, top: MARGIN.top, width: Math.max(80, width - left - MARGIN.right) },
    height: HEIGHT - MARGIN.top - MARGIN.bottom,
  }
}

function spotOf({ category, box, x, y }: { category: number; box: PlotBox; x: number; y: number }) {
  return {
    category,
    x: Math.round((box.left + x * box.width) * 10) / 10,
    y: Math.round((box.top + (1 - y) * box.height) * 10) / 10,
  }
}

function ticksIn(width: number): number {
  return Math.max(3, Math.floor(width / 62))
}
