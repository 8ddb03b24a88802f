import { calledPlace, place } from '../../compare/edges/edge-pool.ts'
import type { EdgeChange, EdgeChanges } from '../../compare/edges/find-edge-changes.ts'
import { defineOptions, flag, most, type OptionsOf, readOptions } from '../../core/options.ts'
import { changeWords, type Quantity, signedAmount } from '../../core/quantity.ts'
import { tooltipText } from '../../core/shown-text.ts'
import { counted, grouped, percent, pValue } from '../../core/words.ts'
import { linearDurationAxis } from './axes.ts'
import { colorBy, distinctTexts, on, ROW, rowNames, ruleAt, tooltip } from './channels.ts'
import { framedChart, PALETTE } from './chart-frame.ts'

export const EDGE_CHANGES_CHART_OPTIONS = defineOptions({
  limit: most(20, 'steps', 'Most steps drawn, largest contribution first'),
  small: flag({ default: false, sentence: 'Draw significant changes too small to matter as well' }),
})

const LOOKS = [
  { name: 'changed', color: PALETTE.change },
  { name: 'significant, but small', color: PALETTE.rest },
]

const TOOLTIP = {
  from: 'from',
  to: 'to',
  'shift of one call': 'shift',
  interval: 'interval',
  'a request after is slower in': 'slower',
  'requests after': ['requests', ',~r'],
  'corrected p': 'chance',
} as const

/** Draws by how much each step became slower or faster, pooled over all requests that make it. */
export function edgeChangesChart(
  edges: EdgeChanges,
  given?: Partial<OptionsOf<typeof EDGE_CHANGES_CHART_OPTIONS>>,
) {
  const { limit, small } = readOptions(EDGE_CHANGES_CHART_OPTIONS, given)
  const { significant } = edges
  const of = edges.categories.flows.quantity
  const wanted = significant
    .filter(({ changed }) => changed || small)
    .sort((a, b) => Number(b.changed) - Number(a.changed))
  const shown = wanted.slice(0, limit)
  const labels = distinctTexts(shown, 84, (edge, i) => `${i + 1}. ${stepLabel(edge)}`)
  const rows = shown.map((edge, i) => rowOf(edge, labels[i] as string, of))
  const left = significant.length - wanted.length
  const axis = linearDurationAxis({
    lowUs: Math.min(0, ...rows.map(({ lowUs }) => lowUs)),
    highUs: Math.max(0, ...rows.map(({ highUs }) => highUs)),
    title: 'shift of one call',
    of,
  })
  const row = { y: rowNames(), color: colorBy(LOOKS, rows) }
  return framedChart(
    {
      title: 'By how much one call of each step shifted',
      subtitle:
        rows.length === 0
          ? ['No step changed significantly and by enough to matter.']
          : [
              `Points are shifts, lines their ${percent(1 - edges.options.alpha)} intervals; right of 0 is ${changeWords(of, true).how}.`,
              'The steps that contribute most come first.',
            ],
      omissions: [
        rows.length < wanted.length &&
          `Shows the first ${grouped(rows.length)} of ${counted(wanted.length, 'step')}.`,
        left > 0 && `Leaves out ${counted(left, 'step')} that changed too little to matter.`,
      ],
      width: 760,
    },
    {
      width: 380,
      height: Math.max(1, rows.length) * ROW,
      data: { values: rows },
      layer: [
        ruleAt(0),
        {
          mark: { type: 'rule', strokeWidth: 2, tooltip: false },
          encoding: { x: on(axis, 'lowUs'), x2: { field: 'highUs' }, ...row },
        },
        {
          mark: { type: 'point', filled: true, opacity: 1, size: 60 },
          encoding: { x: on(axis, 'shiftUs'), ...row, tooltip: tooltip(TOOLTIP) },
        },
      ],
    },
  )
}

function rowOf(edge: EdgeChange, label: string, of: Quantity) {
  const { from, to, shiftUs, changed, probabilitySlower, afterRequests, q } = edge
  const [lowUs, highUs] = edge.interval
  return {
    label,
    kind: changed ? 'changed' : 'significant, but small',
    from: tooltipText(from),
    to: tooltipText(to),
    shiftUs,
    lowUs,
    highUs,
    shift: signedAmount(shiftUs, of),
    interval: `${signedAmount(lowUs, of)} to ${signedAmount(highUs, of)}`,
    slower: percent(probabilitySlower),
    requests: afterRequests,
    chance: pValue(q, 'q'),
  }
}

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
