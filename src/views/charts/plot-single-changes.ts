import { OptionError, rejectUnknownOptions } from '../../core/errors.ts'
import { shortText, tooltipText } from '../../core/shown-text.ts'
import { formatDuration } from '../../core/units.ts'
import { counted, grouped, signedDuration } from '../../core/words.ts'
import type {
  ProfileSummary,
  SingleChange,
  SingleChanges,
} from '../../whatif/scenarios/single-changes.ts'
import { linearDurationAxis } from './axes.ts'
import type { Chart } from './chart.ts'
import { framedChart, type SpecPart } from './chart-frame.ts'
import { PALETTE } from './palette.ts'

/** What {@link plotSingleChanges} can be told. */
export interface SingleChangesChartOptions {
  /** How many services to draw, those that move the mean furthest first. Default 15. */
  readonly limit?: number
}

const MEASURES = ['p50Us', 'p99Us'] as const
type Measure = (typeof MEASURES)[number]

const WIDTH = 270
const ROW = 24
const BAR = 15
const LONGEST_NAME = 40
const PART_WORDS = {
  server: 'time in it, with all that it calls',
  network: 'network time to it',
  preprocessing: 'time it spends itself',
} as const

/**
 * Draws what single changes would do to the response times of all requests, a tornado: for each service
 * p50 and p99 if it alone took so many times as long. Bars begin at what was recorded.
 *
 * @param changes of `findSingleChanges`
 * @param options see {@link SingleChangesChartOptions}
 * @throws OptionError for a limit below 1; FlowdeltaError for an unknown option
 *
 * Source: Ostrowski, Mann and Sandler 2011, §4.2; the drawing is flowdelta's own.
 *
 * @example
 * plotSingleChanges(findSingleChanges(learnExecutionModels(before)), { limit: 10 })
 */
export function plotSingleChanges(
  changes: SingleChanges,
  options: SingleChangesChartOptions = {},
): Chart {
  rejectUnknownOptions(options, ['limit'])
  const { limit = 15 } = options
  if (!(limit >= 1)) throw new OptionError('limit', limit, 'a number of services, 1 or more')
  const { by, factors, part, period } = changes.options
  const moving = changes.changes.filter((each) => isMoving(each, changes.before))
  const drawn = moving.slice(0, Math.floor(limit))
  const things = by === 'service' ? 'service' : 'operation'
  // A line must not end between the two.
  const times = factors.map((factor) => `×\u00a0${factor}`)
  return framedChart(
    {
      title: `What if one ${things} were faster or slower?`,
      subtitle: [
        drawn.length === 0
          ? `No ${things}’s ${PART_WORDS[part]} moves the response times.`
          : `Bars lead from what was recorded ${period === 0 ? 'before' : 'after'} (line) to what it would be if the ${PART_WORDS[part]}, and nothing else, were ${listed(times)}. Long bars: time to be won or lost.`,
      ],
      omissions: omissions(changes, { moving: moving.length, drawn: drawn.length }),
      width: 2 * WIDTH + 260,
    },
    {
      spacing: 18,
      hconcat: MEASURES.map((measure, i) => panel(changes, drawn, { measure, named: i === 0 })),
    },
  )
}

function listed(words: readonly string[]): string {
  return words.length < 2
    ? words.join('')
    : `${words.slice(0, -1).join(', ')} or ${words[words.length - 1]}`
}

function isMoving({ effects }: SingleChange, before: ProfileSummary): boolean {
  return effects.some(
    (effect) => effect.meanUs !== before.meanUs || MEASURES.some((m) => effect[m] !== before[m]),
  )
}

function omissions(
  { changes, options }: SingleChanges,
  { moving, drawn }: { readonly moving: number; readonly drawn: number },
): string[] {
  const one = options.by
  const still = changes.length - moving
  return [
    ...(drawn < moving
      ? [`The ${grouped(drawn)} of ${counted(moving, one)} that move the mean furthest are drawn.`]
      : []),
    ...(still > 0 && moving > 0
      ? [`${counted(still, one)} without any effect ${still === 1 ? 'is' : 'are'} left out.`]
      : []),
  ]
}

function panel(
  { before, options }: SingleChanges,
  drawn: readonly SingleChange[],
  { measure, named }: { readonly measure: Measure; readonly named: boolean },
): SpecPart {
  const values = drawn.flatMap(({ service, operation, effects }, at) => {
    const name = operation === '' ? service : `${service} ${operation}`
    return effects.map((effect, i) => ({
      at,
      label: `${at + 1}. ${shortText(name, LONGEST_NAME)}`,
      full: tooltipText(name),
      factor: `× ${options.factors[i]}`,
      fromUs: before[measure],
      toUs: effect[measure],
      change: `${formatDuration(before[measure])} → ${formatDuration(effect[measure])} (${signedDuration(effect[measure] - before[measure])})`,
    }))
  })
  const name = measure === 'p50Us' ? 'p50' : 'p99'
  const ends = values.map(({ toUs }) => toUs).concat(before[measure])
  const { scale, axis } = linearDurationAxis({
    lowUs: Math.min(...ends),
    highUs: Math.max(...ends),
    ticks: 4,
    title: `${name} of the response times`,
  })
  const y = {
    ...{ field: 'label', type: 'nominal', sort: null },
    axis: named
      ? { title: null, labelLimit: 500, domain: false, ticks: false, labelPadding: 8 }
      : null,
  }
  return {
    ...{ width: WIDTH, height: Math.max(1, drawn.length) * ROW },
    layer: [
      {
        data: { values },
        mark: { type: 'bar', height: BAR },
        encoding: {
          x: { field: 'fromUs', type: 'quantitative', scale, axis },
          ...{ x2: { field: 'toUs' }, y },
          color: {
            ...{ field: 'factor', type: 'nominal' },
            scale: {
              domain: options.factors.map((factor) => `× ${factor}`),
              range: options.factors.map(factorColour),
            },
            legend: { title: null },
          },
          tooltip: [
            { field: 'full', type: 'nominal', title: options.by },
            { field: 'factor', type: 'nominal', title: 'takes' },
            { field: 'change', type: 'nominal', title: name },
          ],
        },
      },
      {
        data: { values: [{ value: before[measure] }] },
        mark: { type: 'rule', color: PALETTE.before, strokeWidth: 2.5, tooltip: false },
        encoding: { x: { field: 'value', type: 'quantitative' } },
      },
    ],
  }
}

/** Faster in greys, slower in the colour of change and darker. */
function factorColour(factor: number, i: number, all: readonly number[]): string {
  const earlier = all.filter((other, j) => j < i && other < 1 === factor < 1).length
  const colours = factor < 1 ? [PALETTE.rest, PALETTE.faint] : [PALETTE.change, PALETTE.text]
  return colours[earlier % colours.length] as string
}
