import { OptionError, rejectUnknownOptions } from '../../core/errors.ts'
import { shortText, tooltipText } from '../../core/shown-text.ts'
import { counted, grouped, shortNumber } from '../../core/words.ts'
import { type FoldedFlows, foldedSizes } from '../../flows/fold/folded-flows.ts'
import { logTicks } from './axes.ts'
import type { Chart } from './chart.ts'
import { framedChart, type SpecPart } from './chart-frame.ts'
import { PALETTE } from './palette.ts'

/** How sizes of collapsed flows are drawn. */
export interface CollapsedSizesOptions {
  /** Kinds of flow that are drawn, those with the largest flows. Default 20. */
  readonly limit?: number
}

interface Row {
  readonly kind: string
  readonly name: string
  readonly requests: string
  readonly recorded: number
  readonly collapsed: number
  readonly recordedText: string
  readonly collapsedText: string
  /** What stands beside the dot; nothing where both are the same. */
  readonly collapsedLabel: string
}

const WIDTH = 420
const ROW = 24
const LONGEST = 44

/**
 * Draws how many nodes flows have as they were recorded and collapsed, one row a kind of collapsed
 * flow, the largest first; on a logarithmic axis.
 *
 * @param flows a stage of `foldFlows`
 * @param options see {@link CollapsedSizesOptions}
 * @throws OptionError for a limit below 1, FlowdeltaError for an unknown option
 *
 * Source: the figures of Sambasivan 2013, Table 3.6; the drawing is flowdelta's own.
 *
 * @example
 * plotCollapsedSizes(foldFlows(flows)).title // 'Nodes of flows, as recorded and collapsed'
 */
export function plotCollapsedSizes(flows: FoldedFlows, options: CollapsedSizesOptions = {}): Chart {
  rejectUnknownOptions(options, ['limit'])
  const { limit = 20 } = options
  if (!Number.isInteger(limit) || limit < 1) {
    throw new OptionError('limit', limit, 'a number of kinds of flow, 1 or more')
  }
  const all = rowsOf(flows)
  const rows = all.slice(0, limit)
  const left = all.length - rows.length
  const largest = rows[0]
  return framedChart(
    {
      title: 'Nodes of flows, as recorded and collapsed',
      subtitle:
        largest === undefined
          ? ['There are no requests.']
          : [
              'Grey: the mean as recorded; blue: collapsed. What repeats within a flow is drawn as one.',
              `The largest: ${shortText(largest.name, 100)}, ${largest.recordedText} nodes, collapsed ${largest.collapsedText}.`,
            ],
      omissions: left === 0 ? [] : [`${counted(left, 'smaller kind')} left out.`],
      width: WIDTH + 240,
    },
    panel(rows),
  )
}

function rowsOf(flows: FoldedFlows): Row[] {
  const sizes = foldedSizes(flows).objects() as Record<string, number | string>[]
  return sizes
    .map((size, i) => ({ ...size, i, recorded: Number(size['nodesMean']) }))
    .sort((a, b) => b.recorded - a.recorded || a.i - b.i)
    .map((size): Row => {
      const { root, requests, nodesMean, foldedMean } = size as unknown as Record<string, never>
      return {
        kind: String(size.i),
        name: tooltipText(String(root)),
        requests: grouped(Number(requests)),
        recorded: Number(Number(nodesMean).toPrecision(6)),
        collapsed: Number(Number(foldedMean).toPrecision(6)),
        recordedText: shortNumber(Number(nodesMean)),
        collapsedText: shortNumber(Number(foldedMean)),
        collapsedLabel: nodesMean === foldedMean ? '' : shortNumber(Number(foldedMean)),
      }
    })
}

function panel(rows: readonly Row[]): SpecPart {
  const values = rows.flatMap(({ recorded, collapsed }) => [recorded, collapsed])
  const least = Math.min(...values, 10)
  const most = Math.max(...values, 10 * least)
  const domain = [least / 1.6, most * 2]
  const x = (field: string) => ({
    ...{ field, type: 'quantitative', scale: { type: 'log', domain, nice: false } },
    axis: { title: 'nodes', values: logTicks(least / 1.5, most * 1.5), format: ',~r' },
  })
  const names = Object.fromEntries(rows.map(({ kind, name }) => [kind, shortText(name, LONGEST)]))
  const y = {
    ...{ field: 'label', type: 'nominal', sort: null },
    axis: {
      title: null,
      domain: false,
      ticks: false,
      labelPadding: 6,
      labelLimit: 320,
      grid: true,
    },
  }
  // Two kinds may have one name: a number tells their rows apart.
  const counts = new Map<string, number>()
  const labelled = rows.map((row) => {
    const name = names[row.kind] as string
    const count = (counts.get(name) ?? 0) + 1
    counts.set(name, count)
    return { ...row, label: count === 1 ? name : `${name} (${count})` }
  })
  const tooltip = [
    { field: 'name', type: 'nominal', title: 'kind of flow' },
    { field: 'requests', type: 'nominal', title: 'requests' },
    { field: 'recordedText', type: 'nominal', title: 'nodes, as recorded' },
    { field: 'collapsedText', type: 'nominal', title: 'nodes, collapsed' },
  ]
  const dots = (field: 'recorded' | 'collapsed', color: string) => ({
    mark: { type: 'point', filled: true, size: 70, opacity: 1, color },
    encoding: { x: x(field), y, tooltip },
  })
  const numbers = (field: 'recorded' | 'collapsed', text: string, align: 'left' | 'right') => ({
    mark: {
      ...{ type: 'text', align, baseline: 'middle', dx: align === 'left' ? 8 : -8, fontSize: 11 },
      ...{ color: PALETTE.text, tooltip: false },
    },
    encoding: { x: x(field), y, text: { field: text } },
  })
  return {
    ...{ width: WIDTH, height: Math.max(1, rows.length) * ROW, data: { values: labelled } },
    layer: [
      {
        mark: { type: 'rule', color: PALETTE.after, strokeWidth: 2, tooltip: false },
        encoding: { x: x('recorded'), x2: { field: 'collapsed' }, y },
      },
      dots('recorded', PALETTE.rest),
      dots('collapsed', PALETTE.after),
      numbers('recorded', 'recordedText', 'left'),
      numbers('collapsed', 'collapsedLabel', 'right'),
    ],
  }
}
