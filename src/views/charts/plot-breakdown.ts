import type { EdgeChanges } from '../../compare/edges/edge-changes.ts'
import { OptionError } from '../../core/errors.ts'
import { shortText } from '../../core/shown-text.ts'
import { formatDuration } from '../../core/units.ts'
import { signedDuration } from '../../core/words.ts'
import { AFTER, BEFORE } from '../../flows/flow-set.ts'
import { type Breakdown, breakdownRows, KIND_NAMES, type PlaceTime } from './breakdown-rows.ts'
import type { Chart } from './chart.ts'
import { framedChart, type SpecPart } from './chart-frame.ts'
import { linearDurationAxis } from './duration-axis.ts'
import { PALETTE, PERIOD_NAMES, periodColour } from './palette.ts'

/** What {@link plotBreakdown} can be told. */
export interface BreakdownOptions {
  /** How many places to draw, the largest change first; one bar more for the others. Default 12. */
  readonly limit?: number
}

const WIDTH = 420
const ROW = 38
const BAR = 13

/**
 * Draws where the time of a mean request goes, before and after: for every service its own work and
 * the network, which is the way to it and back with all queues and connections. Only time on
 * critical paths counts, so that the bars of a period add up to its mean response time.
 *
 * @param edges a stage of `findEdgeChanges`
 * @param options see {@link BreakdownOptions}
 * @throws OptionError for a limit that is no number, or below 1
 *
 * @example
 * plotBreakdown(comparison.edges, { limit: 8 })
 */
export function plotBreakdown(edges: EdgeChanges, { limit = 12 }: BreakdownOptions = {}): Chart {
  if (!(limit >= 1)) throw new OptionError('limit', limit, 'a number of places, 1 or more')
  const breakdown = breakdownRows(edges, limit)
  const labels = uniqueLabels(breakdown.rows)
  return framedChart(
    {
      title: 'Where the time of a mean request goes',
      subtitle: [sums(edges, breakdown), largest(breakdown)].filter((text) => text !== ''),
      width: WIDTH + 160,
    },
    {
      ...{ width: WIDTH, height: Math.max(1, breakdown.rows.length) * ROW },
      layer: layers(breakdown.rows, labels),
    },
  )
}

function sums({ categories: { flows } }: EdgeChanges, { beforeUs, afterUs }: Breakdown): string {
  const [before, after] = [flows.count(BEFORE), flows.count(AFTER)]
  if (before + after === 0) return 'There are no requests.'
  if (before === 0) return `There are no requests before; a mean one takes ${said(afterUs)} after.`
  if (after === 0) return `There are no requests after; a mean one took ${said(beforeUs)} before.`
  return (
    `It took ${said(beforeUs)} before and ${said(afterUs)} after. ` +
    'Work is inside a service; network is the way to it and back, with what waits there.'
  )
}

function said(us: number): string {
  return formatDuration(us).replace('-', '−')
}

function largest({ rows: [first] }: Breakdown): string {
  if (first === undefined || first.changeUs === 0) return ''
  return `The largest change: ${labelOf(first)}, ${signedDuration(first.changeUs)}.`
}

function labelOf({ service, kind }: PlaceTime): string {
  const name = KIND_NAMES[kind]
  return `${shortText(service, 34)}${name === '' ? '' : ` · ${name}`}`
}

/** Shortened names can be the same, and each row needs its own. */
function uniqueLabels(rows: readonly PlaceTime[]): string[] {
  const seen = new Map<string, number>()
  return rows.map((row) => {
    const label = labelOf(row)
    const count = (seen.get(label) ?? 0) + 1
    seen.set(label, count)
    return count === 1 ? label : `${label} (${count})`
  })
}

function layers(rows: readonly PlaceTime[], labels: readonly string[]): SpecPart[] {
  const ends = rows.flatMap(({ beforeUs, afterUs }) => [beforeUs, afterUs])
  const lowUs = Math.min(0, ...ends)
  const highUs = Math.max(0, ...ends)
  // Room for the changes beside the bars.
  const { scale, axis } = linearDurationAxis({
    ...{ lowUs, highUs: highUs + (highUs - lowUs) * 0.2 },
    ...{ nice: false, title: 'mean time a request, on critical paths' },
  })
  const x = { field: 'timeUs', type: 'quantitative', scale, axis }
  const y = {
    ...{ field: 'label', type: 'nominal', sort: null, scale: { paddingInner: 0.2 } },
    axis: { title: null, labelLimit: 600, domain: false, ticks: false, labelPadding: 6 },
  }
  return [
    {
      data: { values: rows.flatMap((row, i) => barsOf(row, labels[i] as string)) },
      mark: { type: 'bar', height: BAR },
      encoding: {
        ...{ x, y, color: periodColour() },
        yOffset: {
          ...{ field: 'period', type: 'nominal', scale: { domain: [...PERIOD_NAMES] } },
        },
        tooltip: [
          { field: 'label', type: 'nominal', title: 'place' },
          { field: 'period', type: 'nominal', title: 'period' },
          { field: 'time', type: 'nominal', title: 'mean time a request' },
        ],
      },
    },
    {
      mark: { type: 'rule', color: '#555555' },
      encoding: { x: { datum: 0, type: 'quantitative' } },
    },
    {
      data: { values: rows.map((row, i) => changeOf(row, labels[i] as string)) },
      mark: {
        ...{ type: 'text', fontSize: 11, baseline: 'middle', align: 'left', dx: 5 },
        color: PALETTE.text,
      },
      encoding: { x: { field: 'endUs', type: 'quantitative' }, y, text: { field: 'change' } },
    },
  ]
}

function barsOf({ beforeUs, afterUs }: PlaceTime, label: string) {
  return [beforeUs, afterUs].map((us, period) => ({
    ...{ label, period: PERIOD_NAMES[period], timeUs: rounded(us), time: said(us) },
  }))
}

/** Beside the longer of the two bars. */
function changeOf({ beforeUs, afterUs, changeUs }: PlaceTime, label: string) {
  const endUs = rounded(Math.max(0, beforeUs, afterUs))
  return { label, endUs, change: signedDuration(changeUs) }
}

function rounded(us: number): number {
  return Number(us.toPrecision(6))
}
