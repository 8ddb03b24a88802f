import { ofText, type Segment, type Segments } from '../../compare/segments/segments.ts'
import { fromToText, type Quantity } from '../../core/quantity.ts'
import { counted, percent } from '../../core/words.ts'
import { shareAxis } from './axes.ts'
import { bars, colorBy, distinctTexts } from './builders.ts'
import { defineChart, framedChart, mostDrawn, onlyFirst, PALETTE } from './chart-frame.ts'

const SEGMENT_LOOKS = [
  { name: 'share of these requests', color: PALETTE.rest },
  { name: 'share of the change', color: PALETTE.change },
]

/** Draws each segment as two bars: its share of the requests, and of the change. */
export const segmentsChart = defineChart(
  { limit: mostDrawn(10, 'segments', 'largest first') },
  ({ segments, omitted, quantity }: Segments, { limit }) => {
    const shown = segments.slice(0, limit)
    const rows = segmentRows(shown, quantity)
    return framedChart(
      {
        title: 'Where the change is: few requests, most of the change',
        none:
          shown.length === 0 &&
          'No segment: no recorded attribute narrows down which requests changed.',
        subtitle:
          'Share of each segment in the requests that have the step, and in their change. Below its name: before → after.',
        omissions: [
          onlyFirst(limit, segments.length, 'segment'),
          omitted > 0 && `${counted(omitted, 'step')} not looked at: raise \`maxSegmentCells\`.`,
        ],
        width: 760,
      },
      bars({
        rows,
        axis: shareAxis('share', { room: 0.4 }),
        to: 'share',
        text: 'amount',
        width: 340,
        color: colorBy(SEGMENT_LOOKS, rows, { legend: null }),
        tooltip: { segment: 'segment', share: 'kind', inside: 'inside', outside: 'outside' },
      }),
    )
  },
)

export function segmentSides(
  { measure, inside, outside }: Pick<Segment, 'measure' | 'inside' | 'outside'>,
  quantity: Quantity,
) {
  const of = ({ beforeMean, afterMean }: typeof inside) =>
    measure === 'time'
      ? fromToText(beforeMean, afterMean, quantity)
      : `${percent(beforeMean)} → ${percent(afterMean)}`
  return { inside: of(inside), outside: of(outside) }
}

function segmentRows(segments: readonly Segment[], quantity: Quantity) {
  const labels = distinctTexts(segments, 72, (segment) => {
    const of = ofText(segment)
    const conditions = segment.text.split(' and ').map((one) => one.replace(`${of} `, ''))
    return `${of}${segment.measure === 'time' ? '' : ' fails'}: ${conditions.join(' and ')}`
  })
  return segments.flatMap((segment, i) => {
    const { shareOfRequests, shareOfChange, within } = segment
    const sides = segmentSides(segment, quantity)
    const shared = { segment: labels[i] as string, ...sides }
    return [
      {
        ...shared,
        kind: 'share of these requests',
        share: shareOfRequests,
        label: shared.segment,
        amount: `${percent(shareOfRequests)} of ${within === null ? 'requests' : 'calls'}`,
      },
      {
        ...shared,
        kind: 'share of the change',
        share: shareOfChange,
        // The measured values stand below the name of their segment; spaces make labels distinct.
        label: `${sides.inside} (others ${sides.outside})${' '.repeat(i)}`,
        amount: `${percent(shareOfChange)} of the change`,
      },
    ]
  })
}
