import { range } from 'd3-array'
import { most } from '../../core/options.ts'
import { counted, formatDuration, shortNumber, shortText } from '../../core/words.ts'
import type { SamplingPlan } from '../../explain/plan-sampling.ts'
import { SERIES } from '../page/palette.ts'
import { logAxis, logDurationAxis } from './axes.ts'
import { curves, ruleAt } from './builders.ts'
import { defineChart, framedChart, PALETTE } from './chart-frame.ts'

const MAX_NAME_LENGTH = 44
/** Shifts drawn, from a part of the one asked for to as many times it. */
const TIMES = 10
const POINTS = 24
const PERCENT = "format(100 * datum.value, ',~r') + ' %'"

/** Draws which share of requests finds which shift of each step, for {@link planSampling}. */
export const samplingPlanChart = defineChart(
  {
    limit: most(
      4,
      'steps',
      'Maximum number of steps drawn, those of the most requests first; at most 6',
    ),
  },
  (plan: SamplingPlan, { limit }) => {
    const { shiftUs, steps, periodUs, allRequests } = plan
    const drawn = steps.slice(0, Math.min(limit, SERIES.length))
    const shifts = range(POINTS).map((i) => shiftUs * TIMES ** ((2 * i) / (POINTS - 1) - 1))
    const lines = drawn.map(({ step }, i) => ({
      name: shortText(step, MAX_NAME_LENGTH),
      color: SERIES[i] as string,
      points: shifts.flatMap((shift) => {
        const rate = plan.rate(i, shift)
        return rate <= 1 ? [[shift, rate] as const] : []
      }),
    }))
    const rates = lines.flatMap(({ points }) => points.map(([, rate]) => rate))
    const x = logDurationAxis({
      lowUs: Math.min(...shifts),
      highUs: Math.max(...shifts),
      title: 'how much longer a call takes',
    })
    const y = logAxis([Math.min(...rates, 0.1), 1], 'share of requests to keep')
    const [first] = drawn
    const rate = first === undefined ? Number.NaN : plan.rate(0)
    const answer =
      first === undefined
        ? 'There is no step to plan for.'
        : rate <= 1
          ? `${formatDuration(shiftUs)} more in ${shortText(first.step, 60)}: keep ${shortNumber(100 * rate)} %.`
          : `${formatDuration(shiftUs)} more in ${shortText(first.step, 60)}: not found even with all requests, as the periods are too short.`
    return framedChart(
      {
        title: 'Requests needed to find a slowdown',
        subtitle: [
          answer,
          `Two periods of ${formatDuration(periodUs)} with ${counted(allRequests, 'request')} each; four of five comparisons find it.`,
        ],
        omissions:
          drawn.length < steps.length &&
          `Shows the ${drawn.length} of ${counted(steps.length, 'step')} that most requests have.`,
        width: 640,
      },
      curves({
        x,
        y: { ...y, axis: { title: y.axis['title'], values: y.axis['values'], labelExpr: PERCENT } },
        legend: { columns: 2, labelLimit: 0 },
        curves: lines,
        fields: ['step', 'shift', 'share'],
        interpolate: 'linear',
        under: [ruleAt(shiftUs, { color: PALETTE.rest, strokeDash: [4, 3] })],
      }),
    )
  },
)
