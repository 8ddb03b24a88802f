import { extent } from 'd3-array'
import type { Comparison } from '../../compare/comparison.ts'
import { expectedAtLoad, loadWindows, predictor } from '../../compare/load/expected-at-load.ts'
import { defineOptions, type OptionsOf, readOptions } from '../../core/options.ts'
import { formatDuration } from '../../core/units.ts'
import { percent } from '../../core/words.ts'
import { AFTER, BEFORE } from '../../flows/flow-set.ts'
import { logAxis } from './axes.ts'
import { colorBy, on, tooltip } from './channels.ts'
import { framedChart, PALETTE } from './chart-frame.ts'

export const LOAD_CHART_OPTIONS = defineOptions({})

const LOOKS = [
  { name: 'before', color: PALETTE.before },
  { name: 'after', color: PALETTE.after },
]

/**
 * Draws how long requests take at which load, around a line learned from before: points of after
 * above it are slow for another reason.
 */
export function loadChart(
  { flows }: Comparison,
  given?: Partial<OptionsOf<typeof LOAD_CHART_OPTIONS>>,
) {
  readOptions(LOAD_CHART_OPTIONS, given)
  const learned = loadWindows(flows, BEFORE)
  const predict = predictor(learned)
  const rows = [learned, loadWindows(flows, AFTER)].flatMap((windows, period) =>
    windows.map((window) => ({
      ...{ rate: window.rate, share: 1 + window.excess, kind: LOOKS[period]?.name ?? '' },
      took: percent(1 + window.excess),
      ...(period === BEFORE && { expected: 1 + predict(window) }),
    })),
  )
  const rangeOf = (values: readonly number[]) => {
    const [low = 1, high = 1] = extent(values.filter((value) => value > 0))
    return [low / 1.1, high * 1.1] as const
  }
  const [rates, shares] = [rows.map(({ rate }) => rate), rows.map(({ share }) => share)]
  const x = on(logAxis(rangeOf(rates), 'requests a second'), 'rate')
  const y = logAxis(rangeOf(shares), 'response time, of what such requests took before')
  const axis = { ...y.axis, labelExpr: "format(datum.value * 100, ',~r') + ' %'" }
  return framedChart(
    {
      title: 'How long requests take at which load',
      subtitle: [
        rows.length === 0
          ? 'Too few requests arrive to tell how many a second there are.'
          : 'Each point is a stretch of time. The line: what to expect at a load, learned from before.',
        verdictText(expectedAtLoad(flows)),
      ],
      width: 560,
    },
    {
      width: 520,
      height: 300,
      layer: [
        {
          data: { values: rows },
          mark: { type: 'point', filled: true, opacity: 0.7 },
          encoding: {
            ...{ x, y: on({ ...y, axis }, 'share'), color: colorBy(LOOKS, rows) },
            tooltip: tooltip({
              period: 'kind',
              'requests a second': ['rate', ',.3~r'],
              time: 'took',
            }),
          },
        },
        {
          data: { values: rows.slice(0, learned.length) },
          mark: { type: 'line', color: PALETTE.text, strokeWidth: 1.5, interpolate: 'step-after' },
          encoding: { x, y: on({ ...y, axis }, 'expected') },
        },
      ],
    },
  )
}

function verdictText({ verdict, contributionUs }: ReturnType<typeof expectedAtLoad>): string {
  const much = `${formatDuration(Math.abs(contributionUs))} ${contributionUs < 0 ? 'less' : 'more'}`
  return {
    unseen: 'Before never had the load of after, so what it explains cannot be told.',
    independent: 'Before, times do not depend on the load.',
    few: 'Too few stretches to learn from: the line is a guess.',
    known: `At the load of after, requests should take ${much} in all.`,
  }[verdict]
}
