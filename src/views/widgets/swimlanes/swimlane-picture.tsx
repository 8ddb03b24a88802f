import { shortText } from '../../../core/shown-text.ts'
import { PICTURE_INK } from '../../drawing/ink.ts'
import { swimlaneLayout } from './swimlane-layout.ts'
import type { SwimlaneData } from './swimlane-model.ts'
import { SwimlaneLegend, SwimlanePanel } from './swimlane-panel.tsx'

const WIDTH = 760
const MARGIN = 10
const HEAD = 56

/** Both requests on their lanes, as they are at first. */
export function SwimlanePicture({ data }: { readonly data: SwimlaneData }) {
  const layout = swimlaneLayout(data, { ...data.initial, folded: true }, WIDTH - 2 * MARGIN)
  const height = HEAD + layout.height + MARGIN
  return (
    <svg
      width={WIDTH}
      height={height}
      viewBox={`0 0 ${WIDTH} ${height}`}
      font-size="12"
      font-family="system-ui, sans-serif"
    >
      <title>Swimlanes</title>
      <rect width={WIDTH} height={height} fill={PICTURE_INK.back} />
      <text x={MARGIN} y="19" font-weight="600" style={`fill:${PICTURE_INK.text}`}>
        {shortText(data.title, 90)}
      </text>
      <g transform={`translate(${MARGIN} 28)`}>
        <SwimlaneLegend ink={PICTURE_INK} colour={PICTURE_INK.soft} />
      </g>
      <g transform={`translate(${MARGIN} ${HEAD})`}>
        {layout.panels.map((panel) => (
          <SwimlanePanel
            key={panel.side}
            {...{ layout, panel, ink: PICTURE_INK, clip: `panel-${panel.side}` }}
            side={data.sides[panel.side] as SwimlaneData['sides'][number]}
          />
        ))}
      </g>
    </svg>
  )
}
