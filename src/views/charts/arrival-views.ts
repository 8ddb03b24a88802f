import { tooltipText } from '../../core/shown-text.ts'
import { formatDuration } from '../../core/units.ts'
import { counted, grouped } from '../../core/words.ts'
import type { FlowSet, Period } from '../../flows/flow-set.ts'
import type { ArrivalWindow } from './arrival-window.ts'
import { linearDurationAxis } from './axes.ts'
import type { SpecPart } from './chart-frame.ts'
import { lanesOf } from './lanes.ts'
import { PALETTE, PERIOD_NAMES } from './palette.ts'

/** Width of the drawing of a timeline, in pixels. */
export const TIMELINE_WIDTH = 720
const HIGHEST = 240
const LANE = 12
const LOWEST = 28
const OVERVIEW_HEIGHT = 36
/** Bars of an overview: one every three pixels. */
const BINS = 240
const COLOURS = [PALETTE.before, PALETTE.after] as const

/** The requests of one period in the window, each a rectangle in a lane. */
export function detailView(flows: FlowSet, window: ArrivalWindow, period: Period): SpecPart {
  const arrivals = window.inside[period]
  const { lanes, count } = lanesOf(arrivals)
  const laneHeight = Math.min(LANE, HIGHEST / Math.max(1, count))
  const values = arrivals.map(({ request, startUs, endUs }, i) => ({
    ...{ startUs, endUs, lane: lanes[i] as number, laneEnd: (lanes[i] as number) + 0.85 },
    ...{ trace: tooltipText(flows.ids[request] ?? ''), took: formatDuration(endUs - startUs) },
    arrived: formatDuration(startUs),
  }))
  const time = linearDurationAxis({
    ...{ lowUs: window.fromUs, highUs: window.toUs, ticks: 9, nice: false },
    title: 'time since the start of the period',
  })
  const words =
    values.length === 0
      ? 'no requests'
      : `${counted(values.length, 'request')}, at most ${grouped(count)} at once`
  return {
    ...{ width: TIMELINE_WIDTH, height: Math.max(LOWEST, Math.ceil(laneHeight * count)) },
    title: panelTitle(`${PERIOD_NAMES[period]}: ${words}`),
    data: { values },
    mark: {
      ...{ type: 'rect', color: COLOURS[period], stroke: COLOURS[period], clip: true },
      ...{ aria: false, strokeWidth: laneHeight > 3 ? 0.5 : 0 },
    },
    encoding: {
      x: {
        ...{ field: 'startUs', type: 'quantitative', scale: time.scale },
        axis: period === 1 ? time.axis : unlabelled(time.axis),
      },
      x2: { field: 'endUs' },
      y: {
        ...{ field: 'lane', type: 'quantitative', axis: null },
        scale: { domain: [0, Math.max(LOWEST / LANE, count)], nice: false, zero: true },
      },
      y2: { field: 'laneEnd' },
      tooltip: [
        { field: 'trace', type: 'nominal', title: 'trace' },
        { field: 'arrived', type: 'nominal', title: 'arrived' },
        { field: 'took', type: 'nominal', title: 'took' },
      ],
    },
  }
}

/** How many requests of one period arrived when, over all of it, and which part is the window. */
export function overviewView(window: ArrivalWindow, period: Period): SpecPart {
  const { firstUs, lastUs, fromUs, toUs, all } = window
  const { binUs, counts } = arrivalCounts(window)
  const values = Array.from(counts[period], (arrivals, bin) => ({
    ...{ fromUs: firstUs + bin * binUs, toUs: firstUs + (bin + 1) * binUs, arrivals },
    when: `${formatDuration(firstUs + bin * binUs)} and the ${formatDuration(binUs)} after`,
  })).filter(({ arrivals }) => arrivals > 0)
  const extent = { lowUs: firstUs, highUs: lastUs, ticks: 9, nice: false, title: '' }
  const { scale, axis } = linearDurationAxis(extent)
  const most = counts.flat().reduce((largest, count) => Math.max(largest, count), 1)
  const x = {
    ...{ field: 'fromUs', type: 'quantitative', scale },
    axis: period === 1 ? { ...axis, title: null } : unlabelled(axis),
  }
  const frame = { fromUs: Math.max(fromUs, firstUs), toUs: Math.min(toUs, lastUs) }
  const total = counted(all[period].length, 'request')
  return {
    ...{ width: TIMELINE_WIDTH, height: OVERVIEW_HEIGHT },
    title: panelTitle(
      `${PERIOD_NAMES[period]}, overview: ${total}, by arrival in each ${formatDuration(binUs)}`,
    ),
    layer: [
      {
        data: { values },
        mark: { type: 'rect', color: COLOURS[period], aria: false },
        encoding: {
          ...{ x, x2: { field: 'toUs' }, y2: { datum: 0 } },
          y: {
            ...{ field: 'arrivals', type: 'quantitative', axis: null },
            scale: { domain: [0, most], nice: false },
          },
          tooltip: [
            { field: 'when', type: 'nominal', title: 'time' },
            { field: 'arrivals', type: 'quantitative', title: 'arrivals', format: ',d' },
          ],
        },
      },
      {
        data: { values: [frame] },
        mark: { type: 'rect', filled: false, stroke: PALETTE.text, strokeWidth: 1.5 },
        encoding: { x, x2: { field: 'toUs' } },
      },
    ],
  }
}

/** Arrivals in each of `BINS` equal parts of the whole time, by period. */
function arrivalCounts({ firstUs, lastUs, all }: ArrivalWindow) {
  const binUs = (lastUs - firstUs) / BINS || 1
  const counts = all.map((arrivals) => {
    const inBin = new Array<number>(BINS).fill(0)
    for (const { startUs } of arrivals) {
      const bin = Math.min(BINS - 1, Math.floor((startUs - firstUs) / binUs))
      inBin[bin] = (inBin[bin] as number) + 1
    }
    return inBin
  }) as [number[], number[]]
  return { binUs, counts }
}

function panelTitle(text: string): SpecPart {
  return { text, anchor: 'start', fontSize: 12, fontWeight: 'normal', offset: 4, frame: 'group' }
}

function unlabelled(axis: SpecPart): SpecPart {
  return { ...axis, title: null, labels: false, ticks: false }
}
