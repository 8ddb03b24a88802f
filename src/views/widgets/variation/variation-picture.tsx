import { PICTURE_INK } from '../../drawing/ink.ts'
import { VariationCurves } from './variation-curves.tsx'
import { curvesPlot, scatterPlot } from './variation-layout.ts'
import type { VariationData } from './variation-model.ts'
import { VariationScatter } from './variation-scatter.tsx'

const WIDTH = 460
const GAP = 20
const PADDING = 8

/** Both plots, without anything to point at. */
export function VariationPicture({ data }: { readonly data: VariationData }) {
  const { axes } = data
  const curves = curvesPlot(data, WIDTH)
  const scatter = scatterPlot(data, axes, WIDTH)
  const ink = PICTURE_INK
  const width = 2 * WIDTH + GAP + 2 * PADDING
  const height = curves.height + 2 * PADDING
  return (
    <svg
      {...{ width, height, viewBox: `0 0 ${width} ${height}` }}
      {...{ 'font-size': '11', 'font-family': 'system-ui, sans-serif' }}
    >
      <title>Variation</title>
      <rect width={width} height={height} fill={ink.back} />
      <g transform={`translate(${PADDING} ${PADDING})`}>
        <VariationCurves {...{ plot: curves, large: data.large, ink }} />
      </g>
      <g transform={`translate(${PADDING + WIDTH + GAP} ${PADDING})`}>
        <VariationScatter {...{ data, plot: scatter, axes, ink }} />
      </g>
    </svg>
  )
}
