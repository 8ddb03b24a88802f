import { formatDuration } from '../../../core/units.ts'
import { counted } from '../../../core/words.ts'
import { PICTURE_INK } from '../../drawing/ink.ts'
import { RangeShade, TimelineDrawing } from './timeline-drawing.tsx'
import { rangeText } from './timeline-facts.tsx'
import { timelineLayout } from './timeline-layout.ts'
import {
  filteredRequests,
  shownCategories,
  type TimelineData,
  timelineModel,
} from './timeline-model.ts'
import { arrivalSpan, rateText, summarizeRange } from './timeline-summary.ts'

const WIDTH = 760
const LINE = 18
/** Larger dots than in the page: a picture cannot be compressed. */
const CELL = 4

/** The timeline in its first state, without anything to drag. */
export function TimelinePicture({ data }: { readonly data: TimelineData }) {
  const model = timelineModel(data)
  const layout = timelineLayout(model, WIDTH)
  const { ranges, filter } = data.initial
  const shown = shownCategories(data.categories, filter)
  const requests = [
    filteredRequests(model.requests[0], shown),
    filteredRequests(model.requests[1], shown),
  ] as const
  const height = layout.height + 2 * LINE + 12
  const ink = PICTURE_INK
  return (
    <svg
      {...{ width: WIDTH, height, viewBox: `0 0 ${WIDTH} ${height}` }}
      {...{ 'font-size': '11', 'font-family': 'system-ui, sans-serif' }}
    >
      <title>Timeline</title>
      <rect width={WIDTH} height={height} fill={ink.back} />
      <TimelineDrawing {...{ model, requests, layout, cell: CELL, ink }} />
      {([0, 1] as const).map((period) => (
        <RangeShade
          key={period}
          {...{ range: ranges[period], box: layout.panels[period].whole, x: layout.x, ink }}
        />
      ))}
      {([0, 1] as const).map((period) => {
        const {
          requests: count,
          perSecond,
          meanUs,
          medianUs,
        } = summarizeRange(requests[period], ranges[period], arrivalSpan(model, period))
        const times =
          count === 0 ? '' : `; mean ${formatDuration(meanUs)}, median ${formatDuration(medianUs)}`
        return (
          <text
            key={period}
            {...{ x: layout.left, y: layout.height + 12 + LINE * period }}
            style={`fill:${ink.text}`}
          >
            <tspan font-weight="600">{period === 0 ? 'before' : 'after'}</tspan>
            {` ${rangeText(ranges[period], model.spanUs)}: ${counted(count, 'request')}, ${rateText(perSecond)}${times}`}
          </text>
        )
      })}
    </svg>
  )
}
