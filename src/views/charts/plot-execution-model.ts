import { OptionError, rejectUnknownOptions } from '../../core/errors.ts'
import { shortText } from '../../core/shown-text.ts'
import { counted, grouped, percent } from '../../core/words.ts'
import type { ExecutionModel, ExecutionModels } from '../../whatif/models/execution-models.ts'
import type { Chart } from './chart.ts'
import { framedChart, type SpecPart } from './chart-frame.ts'
import {
  type ExecutionModelDrawing,
  executionModelDrawing,
  MODEL_FONTS,
  type ModelBoxKind,
} from './execution-model-drawing.ts'
import { executionModelTimes } from './execution-model-times.ts'
import { PALETTE } from './palette.ts'
import { pixelScales, tenth, textLayer } from './pixel-layers.ts'

/** What {@link plotExecutionModel} can be told. */
export interface ExecutionModelChartOptions {
  /** How many calls, or groups of like ones, to draw, from the first on. Default 25. */
  readonly limit?: number
}

/**
 * Draws an execution model, time running down: which calls an operation makes, which of them wait for
 * which, and what its reply waits for. Beside the lines stands the median time until the next call
 * begins, in the boxes how long calls take (medians). Equal calls at the same time, or one after the
 * other, are one box.
 *
 * @param models as `learnExecutionModels` gives them
 * @param id number of the model, a column of `models.table()`
 * @param options see {@link ExecutionModelChartOptions}
 * @throws OptionError for a model that there is not or a limit below 1; FlowdeltaError for an unknown
 *   option
 *
 * Source: Ostrowski, Mann and Sandler 2011, §3.3 and Figure 1.
 *
 * @example
 * plotExecutionModel(learnExecutionModels(before), 0)
 */
export function plotExecutionModel(
  models: ExecutionModels,
  id: number,
  options: ExecutionModelChartOptions = {},
): Chart {
  rejectUnknownOptions(options, ['limit'])
  const { limit = 25 } = options
  if (!(limit >= 1)) throw new OptionError('limit', limit, 'a number of calls, 1 or more')
  const model = models.models[id]
  if (model === undefined) {
    throw new OptionError('id', id, `a model from 0 to ${models.models.length - 1}`)
  }
  const times = executionModelTimes(models, model)
  const drawing = executionModelDrawing(model, times, Math.floor(limit))
  return framedChart(
    {
      title: `Execution model ${id}: ${shortText(`${model.service} ${model.operation}`, 70)}`,
      subtitle: [explained(models, model), words(model)],
      omissions: omissions(drawing),
      width: drawing.width,
    },
    {
      ...{ width: Math.ceil(drawing.width), height: Math.ceil(drawing.height) },
      layer: [...lines(drawing), arrowheads(drawing), boxes(drawing), ...letters(drawing)],
    },
  )
}

/** How many of the operation's calls the model explains. */
function explained({ forests }: ExecutionModels, model: ExecutionModel): string {
  const { calls, probability, ownCalls, period } = model
  const when = forests.length === 2 ? (period === 0 ? ' before' : ' after') : ''
  const own =
    ownCalls === 0
      ? ''
      : `; ${grouped(ownCalls)} of these break${ownCalls === 1 ? 's' : ''} its order somewhere and ${ownCalls === 1 ? 'is' : 'are'} recomputed by ${ownCalls === 1 ? 'its' : 'their'} own`
  return `Explains ${counted(calls, 'call')} to it${when}, ${percent(probability)} of all${own}.`
}

function words({ nodes, asynchronous }: ExecutionModel): string {
  if (nodes.length + asynchronous.length === 0) return 'It calls nothing.'
  return 'Time runs down; times are medians. Beside lines: from the end of the last call waited for to the next start; in boxes: how long the call takes.'
}

function omissions({ drawn, groups, unawaitedLeft }: ExecutionModelDrawing): string[] {
  return [
    ...(drawn < groups
      ? [`The first ${grouped(drawn)} of ${counted(groups, 'call')} are drawn.`]
      : []),
    ...(unawaitedLeft > 0
      ? [`${counted(unawaitedLeft, 'kind')} of calls that nobody waits for left out.`]
      : []),
  ]
}

const LINE_LOOKS = {
  waits: { color: PALETTE.rest, dash: [1, 0] },
  unawaited: { color: PALETTE.faint, dash: [4, 3] },
  gap: { color: PALETTE.rest, dash: [1.5, 4] },
} as const

function lines(drawing: ExecutionModelDrawing): SpecPart[] {
  const scales = pixelScales(drawing)
  return (Object.keys(LINE_LOOKS) as (keyof typeof LINE_LOOKS)[]).map((kind) => ({
    data: {
      values: drawing.lines.flatMap((line, number) =>
        line.kind !== kind
          ? []
          : line.points.map(({ x, y }, order) => ({ number, order, x: tenth(x), y: tenth(y) })),
      ),
    },
    mark: {
      ...{ type: 'line', interpolate: 'monotone', orient: 'horizontal', strokeWidth: 1.5 },
      ...{ color: LINE_LOOKS[kind].color, strokeDash: [...LINE_LOOKS[kind].dash] },
      ...{ tooltip: false, aria: false },
    },
    encoding: {
      ...scales,
      order: { field: 'order', type: 'quantitative' },
      detail: { field: 'number', type: 'nominal' },
    },
  }))
}

function arrowheads(drawing: ExecutionModelDrawing): SpecPart {
  return {
    data: {
      values: drawing.lines.flatMap(({ kind, points }) => {
        const end = points.at(-1)
        if (end === undefined) return []
        return [{ x: tenth(end.x), y: tenth(end.y), colour: LINE_LOOKS[kind].color }]
      }),
    },
    mark: {
      ...{ type: 'point', shape: 'triangle-down', filled: true, size: 55, opacity: 1 },
      ...{ yOffset: -4, aria: false, tooltip: false },
    },
    encoding: {
      ...pixelScales(drawing),
      color: { field: 'colour', type: 'nominal', scale: null },
    },
  }
}

const FILLS: Readonly<Record<ModelBoxKind, string>> = {
  caller: PALETTE.band,
  call: '#FFFFFF',
  unawaited: '#FFFFFF',
}

function boxes(drawing: ExecutionModelDrawing): SpecPart {
  const { x: across, y: down } = pixelScales(drawing)
  return {
    data: {
      values: drawing.boxes.map(({ kind, x, y, width, height, full, detail }) => ({
        ...{ left: tenth(x - width / 2), right: tenth(x + width / 2) },
        ...{ top: tenth(y - height / 2), bottom: tenth(y + height / 2) },
        ...{ full, detail, fill: FILLS[kind] },
        stroke: kind === 'unawaited' ? PALETTE.faint : '#888888',
      })),
    },
    mark: { type: 'rect', strokeWidth: 1, cornerRadius: 4 },
    encoding: {
      ...{ x: { ...across, field: 'left' }, x2: { field: 'right' } },
      ...{ y: { ...down, field: 'top' }, y2: { field: 'bottom' } },
      fill: { field: 'fill', type: 'nominal', scale: null },
      stroke: { field: 'stroke', type: 'nominal', scale: null },
      tooltip: [
        { field: 'full', type: 'nominal', title: 'call' },
        { field: 'detail', type: 'nominal', title: 'median' },
      ],
    },
  }
}

function letters(drawing: ExecutionModelDrawing): SpecPart[] {
  const { boxes: all, lines: drawn } = drawing
  const centre = { align: 'center' }
  return [
    textLayer(
      all.map(({ x, y, name, full }) => ({ x, y: y - 7, text: name, whole: full })),
      drawing,
      { ...centre, fontSize: MODEL_FONTS.name, color: '#111111' },
    ),
    textLayer(
      all.map(({ x, y, detail }) => ({ x, y: y + 9, text: detail })),
      drawing,
      { ...centre, fontSize: MODEL_FONTS.detail, color: PALETTE.softText },
    ),
    textLayer(
      drawn.map(({ text, textAt }) => ({ ...textAt, text })),
      drawing,
      { fontSize: MODEL_FONTS.line, color: PALETTE.softText },
    ),
  ]
}
