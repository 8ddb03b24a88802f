import { extent } from 'd3-array'
import { defineOptions, most, type OptionsOf, readOptions } from '../../core/options.ts'
import { tooltipText } from '../../core/shown-text.ts'
import { formatDuration } from '../../core/units.ts'
import { counted, grouped, signedDuration } from '../../core/words.ts'
import type { ProfileSummary } from '../../whatif/recompute/latency-profile.ts'
import type { SingleChange, SingleChanges } from '../../whatif/scenarios/single-changes.ts'
import { linearDurationAxis } from './axes.ts'
import { bars } from './builders.ts'
import { colorBy, distinctTexts, rowNames, ruleAt } from './channels.ts'
import { framedChart, PALETTE, type SpecPart } from './chart-frame.ts'

export const SINGLE_CHANGES_CHART_OPTIONS = defineOptions({
  limit: most(15, 'services', 'Most services drawn, those that move the mean furthest first'),
})

const MEASURES = ['p50Us', 'p99Us'] as const
type Measure = (typeof MEASURES)[number]

const PARTS = {
  server: 'time in it, including its calls,',
  network: 'network time to it',
  preprocessing: 'time of its own work',
} as const

/**
 * Draws p50 and p99 of all requests if one service alone took so many times as long. Source:
 * Ostrowski, Mann and Sandler 2011, §4.2; the drawing is our own.
 */
export function singleChangesChart(
  changes: SingleChanges,
  given?: Partial<OptionsOf<typeof SINGLE_CHANGES_CHART_OPTIONS>>,
) {
  const { limit } = readOptions(SINGLE_CHANGES_CHART_OPTIONS, given)
  const { by, factors, part, period } = changes.options
  const moving = changes.changes.filter((each) => isMoving(each, changes.before))
  const drawn = moving.slice(0, limit)
  const still = changes.changes.length - moving.length
  // A line must not end between the two.
  const times = factors.map((factor) => `×\u00a0${factor}`)
  return framedChart(
    {
      title: `What if one ${by} were faster or slower?`,
      subtitle:
        drawn.length === 0
          ? [`No ${by} moves the response times by the ${PARTS[part].replace(/,$/, '')}.`]
          : [
              `Bars run from the value recorded ${period === 0 ? 'before' : 'after'} (line) to the value if only the ${PARTS[part]} changed by ${listed(times)}.`,
            ],
      omissions: [
        drawn.length < moving.length &&
          `Shows the ${grouped(drawn.length)} of ${counted(moving.length, by)} that move the mean furthest.`,
        still > 0 && moving.length > 0 && `Leaves out ${counted(still, by)} without any effect.`,
      ],
      width: 800,
    },
    { spacing: 18, hconcat: MEASURES.map((measure) => panel(changes, drawn, measure)) },
  )
}

function listed(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`
}

function isMoving({ effects }: SingleChange, before: ProfileSummary): boolean {
  return effects.some(
    (effect) => effect.meanUs !== before.meanUs || MEASURES.some((m) => effect[m] !== before[m]),
  )
}

function panel(
  { before, options }: SingleChanges,
  drawn: readonly SingleChange[],
  measure: Measure,
): SpecPart {
  const names = drawn.map(
    ({ service, operation }, i) =>
      `${i + 1}. ${operation === '' ? service : `${service} ${operation}`}`,
  )
  const labels = distinctTexts(names, 44)
  const fromUs = before[measure]
  const rows = drawn.flatMap(({ effects }, at) =>
    effects.map((effect, i) => ({
      label: labels[at] as string,
      full: tooltipText(names[at] as string),
      factor: `× ${options.factors[i]}`,
      fromUs,
      toUs: effect[measure],
      change: `${formatDuration(fromUs)} → ${formatDuration(effect[measure])} (${signedDuration(effect[measure] - fromUs)})`,
    })),
  )
  const name = measure === 'p50Us' ? 'p50' : 'p99'
  const [lowUs = fromUs, highUs = fromUs] = extent([fromUs, ...rows.map(({ toUs }) => toUs)])
  const view = bars({
    rows,
    axis: linearDurationAxis({ lowUs, highUs, ticks: 4, title: `${name} of the response times` }),
    from: 'fromUs',
    to: 'toUs',
    color: colorBy(
      options.factors.map((factor, i, all) => ({
        name: `× ${factor}`,
        color: colorOf(factor, i, all),
      })),
      rows,
      { field: 'factor' },
    ),
    tooltip: { [options.by]: 'full', takes: 'factor', [name]: 'change' },
    y: rowNames({ hidden: measure !== 'p50Us' }),
    width: 270,
  })
  const line = ruleAt(fromUs, { color: PALETTE.before, strokeWidth: 2.5 })
  return {
    ...view,
    height: Math.max(1, drawn.length) * 24,
    layer: [...(view['layer'] as SpecPart[]), line],
  }
}

function colorOf(factor: number, i: number, all: readonly number[]): string {
  const earlier = all.filter((other, j) => j < i && other < 1 === factor < 1).length
  const colors = factor < 1 ? [PALETTE.rest, PALETTE.faint] : [PALETTE.change, PALETTE.text]
  return colors[earlier % colors.length] as string
}
