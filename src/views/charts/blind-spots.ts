import { placeTitle } from '../../compare/findings/names.ts'
import { percent, shortText, tooltipText } from '../../core/words.ts'
import { type BlindSpot, type BlindSpots, recordText } from '../../explain/blind-spots.ts'
import { openShareAxis } from './axes.ts'
import { bars } from './builders.ts'
import { defineChart, framedChart, mostDrawn, PALETTE } from './chart-frame.ts'

const MAX_NAME_LENGTH = 60

/** Draws how much of the variance of response times each step leaves unexplained, for `findBlindSpots`. */
export const blindSpotsChart = defineChart(
  { limit: mostDrawn(10, 'steps', 'the largest gain first') },
  ({ spots, period }: BlindSpots, { limit }) => {
    const drawn = spots.filter(({ gain }) => gain > 0).slice(0, limit)
    const rows = drawn.map((spot, i) => ({
      label: `${i + 1}. ${shortText(placeTitle(spot, spot.operation), MAX_NAME_LENGTH)}`,
      gain: spot.gain,
      gainText: percent(spot.gain),
      step: tooltipText(placeTitle(spot, spot.operation)),
      record: recordText(spot),
      time: percent(spot.timeShare),
      variance: percent(spot.varianceShare),
      toldBy: spot.toldBy === null ? 'none' : tooltipText(spot.toldBy),
    }))
    const largest = Math.max(0.01, ...drawn.map(({ gain }) => gain))
    const [first] = drawn as [BlindSpot?]
    return framedChart(
      {
        title: `Where to record more (${period})`,
        subtitle:
          first === undefined
            ? 'Recorded data explains all variance of response times.'
            : [
                'Share of the variance of response times that nothing recorded explains.',
                `First: ${shortText(recordText(first), 120)}.`,
              ],
        width: 760,
      },
      bars({
        rows,
        axis: openShareAxis([0, largest * 1.15], 'share of the variance'),
        to: 'gain',
        text: 'gainText',
        color: { value: PALETTE.after },
        tooltip: {
          step: 'step',
          record: 'record',
          gain: 'gainText',
          'share of all time': 'time',
          'share of the variance': 'variance',
          'explained in part by': 'toldBy',
        },
      }),
    )
  },
)
