import type { EdgeChange, EdgeChanges } from '../../compare/edges/edge-changes.ts'
import { calledPlace, place } from '../../compare/edges/edge-pool.ts'
import { OptionError } from '../../core/errors.ts'
import { shortText, tooltipText } from '../../core/shown-text.ts'
import { formatDuration } from '../../core/units.ts'
import { counted, grouped, percent, pValue } from '../../core/words.ts'
import type { Chart } from './chart.ts'
import { framedChart, type SpecPart } from './chart-frame.ts'
import { linearDurationAxis } from './duration-axis.ts'
import { PALETTE } from './palette.ts'

/** What {@link plotEdgeChanges} can be told. */
export interface EdgeChangesOptions {
  /** How many steps to draw, the largest contributions first. Default 20. */
  readonly limit?: number
  /** Draw steps that changed significantly but by too little to matter, too. Default false. */
  readonly small?: boolean
}

const WIDTH = 360
const ROW = 22
const LONGEST = 84

const LOOKS = [
  { kind: 'changed', color: PALETTE.change },
  { kind: 'significant, but small', color: PALETTE.rest },
]

/**
 * Draws by how much each step of the flows became slower or faster, with the interval of that: the
 * shift of one call, pooled over all kinds of requests that make it.
 *
 * @param edges a stage of `findEdgeChanges`, or `comparison.edges`
 * @param options see {@link EdgeChangesOptions}
 * @throws OptionError for a limit that is no number, or below 1
 *
 * @example
 * plotEdgeChanges(comparison.edges)
 */
export function plotEdgeChanges(
  edges: EdgeChanges,
  { limit = 20, small = false }: EdgeChangesOptions = {},
): Chart {
  if (!(limit >= 1)) throw new OptionError('limit', limit, 'a number of steps, 1 or more')
  const significant = edges.edges.filter((edge) => edge.significant)
  const wanted = significant
    .filter(({ changed }) => changed || small)
    .sort((a, b) => Number(b.changed) - Number(a.changed))
  const rows = wanted.slice(0, limit).map(rowOf)
  const level = percent(1 - edges.options.alpha)
  return framedChart(
    {
      title: 'By how much one call of each step shifted',
      subtitle:
        rows.length === 0
          ? ['No step changed beyond what chance does, and by enough to matter.']
          : [
              `The point is the shift, the line its interval at ${level}: right of 0 is slower. ` +
                'The largest contributions to all response times come first.',
            ],
      omissions: omissions({ drawn: rows.length, wanted: wanted.length, all: significant.length }),
      width: WIDTH + 380,
    },
    { width: WIDTH, height: Math.max(1, rows.length) * ROW, layer: layers(rows) },
  )
}

function omissions({ drawn, wanted, all }: { drawn: number; wanted: number; all: number }) {
  return [
    ...(drawn < wanted ? [`The first ${grouped(drawn)} of ${counted(wanted, 'step')}.`] : []),
    ...(wanted < all
      ? [`${counted(all - wanted, 'more step')} changed by too little to matter, and not drawn.`]
      : []),
  ]
}

interface Row {
  readonly label: string
  readonly kind: string
  readonly from: string
  readonly to: string
  readonly shiftUs: number
  readonly lowUs: number
  readonly highUs: number
  readonly shift: string
  readonly interval: string
  readonly slower: string
  readonly requests: number
  readonly chance: string
}

function rowOf(edge: EdgeChange, i: number): Row {
  const { from, to, shiftUs, changed, probabilitySlower, afterRequests, q } = edge
  const [lowUs, highUs] = edge.interval
  return {
    label: shortText(`${i + 1}. ${stepLabel(edge)}`, LONGEST),
    kind: changed ? 'changed' : 'significant, but small',
    ...{ from: tooltipText(from), to: tooltipText(to), shiftUs, lowUs, highUs },
    shift: signed(shiftUs),
    interval: `${signed(lowUs)} to ${signed(highUs)}`,
    slower: percent(probabilitySlower),
    requests: afterRequests,
    chance: pValue(q, 'q'),
  }
}

/** What happens, and where. */
function stepLabel(edge: EdgeChange): string {
  const { fromNode, toNode, kind } = edge
  if (fromNode.phase === 'point') return `${edge.from} → ${edge.to}`
  if (kind === 'network') {
    const called = calledPlace(edge) === place(fromNode) ? fromNode : toNode
    return `${place(fromNode)} → ${place(toNode)}: ${called.operation} ${called.phase}`
  }
  const [from, to] = [fromNode, toNode].map(({ operation, phase }) => `${operation} ${phase}`)
  return `${place(fromNode)}: ${from} → ${to}`
}

function signed(us: number): string {
  return `${us > 0 ? '+' : us < 0 ? '−' : ''}${formatDuration(Math.abs(us))}`
}

function layers(rows: readonly Row[]): SpecPart[] {
  const { scale, axis } = linearDurationAxis({
    lowUs: Math.min(0, ...rows.map(({ lowUs }) => lowUs)),
    highUs: Math.max(0, ...rows.map(({ highUs }) => highUs)),
    ...{ ticks: 7, title: 'shift of one call' },
  })
  const y = {
    ...{ field: 'label', type: 'nominal', sort: null },
    axis: { title: null, labelLimit: 600, domain: false, ticks: false, labelPadding: 6 },
  }
  const looks = LOOKS.filter((look) => rows.some(({ kind }) => kind === look.kind))
  const color = {
    ...{ field: 'kind', type: 'nominal', legend: { title: null } },
    scale: { domain: looks.map(({ kind }) => kind), range: looks.map((look) => look.color) },
  }
  const x = (field: string) => ({ field, type: 'quantitative', scale, axis })
  return [
    {
      data: { values: rows },
      mark: { type: 'rule', strokeWidth: 2 },
      encoding: { x: x('lowUs'), x2: { field: 'highUs' }, y, color },
    },
    {
      mark: { type: 'rule', color: '#555555' },
      encoding: { x: { datum: 0, type: 'quantitative' } },
    },
    {
      data: { values: rows },
      mark: { type: 'point', filled: true, opacity: 1, size: 55 },
      encoding: {
        ...{ x: x('shiftUs'), y, color },
        tooltip: [
          { field: 'from', type: 'nominal', title: 'from' },
          { field: 'to', type: 'nominal', title: 'to' },
          { field: 'shift', type: 'nominal', title: 'shift of one call' },
          { field: 'interval', type: 'nominal', title: 'interval' },
          { field: 'slower', type: 'nominal', title: 'a request after is slower in' },
          { field: 'requests', type: 'quantitative', title: 'requests after', format: ',~r' },
          { field: 'chance', type: 'nominal', title: 'corrected p' },
        ],
      },
    },
  ]
}
