import { sort } from 'd3-array'
import { calledPlace } from '../../compare/edges/edge-times.ts'
import type { EdgeChange, EdgeChanges } from '../../compare/edges/find-edge-changes.ts'
import { stepTitle } from '../../compare/findings/names.ts'
import { isOfStep } from '../../compare/findings/step-findings.ts'
import type { StepChange } from '../../compare/steps/step-changes.ts'
import type { Comparison } from '../../comparison/comparison.ts'
import { inFew } from '../../comparison/words/finding-facts.ts'
import { defineOptions, flag, type OptionsOf } from '../../core/options.ts'
import { changeWords, type Quantity, signedAmount } from '../../core/quantity.ts'
import { counted, percent, pValue, tooltipText } from '../../core/words.ts'
import { place } from '../../flows/node-labels.ts'
import { linearDurationAxis } from './axes.ts'
import { colorBy, distinctTexts, on, ROW, rowNames, ruleAt, tooltip } from './builders.ts'
import { defineChart, framedChart, mostDrawn, onlyFirst, PALETTE } from './chart-frame.ts'

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

const SHIFT_OPTIONS = defineOptions({
  limit: mostDrawn(20, 'steps', 'largest contribution first'),
  small: flag({
    default: false,
    sentence: 'Draw significant changes too small to matter as well',
  }),
})

/** Draws by how much each edge became slower or faster, pooled over all requests that have it. */
export const edgeChangesChart = defineChart(SHIFT_OPTIONS, (edges: EdgeChanges, options) =>
  drawShifts(edges, [], options),
)

/** Draws the shifts of a comparison, including steps from findings of which no edge changed. */
export const shiftsChart = defineChart(SHIFT_OPTIONS, (comparison: Comparison, options) => {
  const { edges } = comparison
  return drawShifts(edges, stepsWithoutEdges(comparison), options)
})

/** Returns changed steps of which no edge changed: edges also hold concurrent work, so a step may be surer. */
function stepsWithoutEdges({ findings, edges, steps }: Comparison): StepChange[] {
  const told = findings.findings.flatMap((finding) => finding.steps)
  const { changes } = edges
  return steps.changes.filter(
    (step) =>
      told.some(
        ({ kind, service, caller }) =>
          kind === step.kind && service === step.service && caller === step.caller,
      ) && !changes.some((edge) => isOfStep(edge, step) && edge.shiftUs * step.shiftUs > 0),
  )
}

type Shift = Pick<
  EdgeChange,
  'shiftUs' | 'interval' | 'changed' | 'probabilitySlower' | 'afterRequests' | 'q'
> & { readonly contributionUs: number; readonly from: string; readonly to: string; name: string }

function drawShifts(
  edges: EdgeChanges,
  steps: readonly StepChange[],
  { limit, small }: OptionsOf<typeof SHIFT_OPTIONS>,
) {
  const { significant } = edges
  const of = edges.categories.flows.quantity
  const wantedEdges = significant
    .filter(({ changed }) => changed || small)
    .map((edge): Shift => ({ ...edge, name: edgeName(edge) }))
  const wantedSteps = steps.map((step): Shift => {
    const name = `${stepTitle(step)}${inFew(step, 'the calls')}`
    return { ...step, name, from: step.caller ?? step.service, to: step.service }
  })
  const wanted = sort(
    [...wantedEdges, ...wantedSteps],
    ({ changed }) => !changed,
    ({ contributionUs }) => -Math.abs(contributionUs),
  )
  const shown = wanted.slice(0, limit)
  const labels = distinctTexts(shown, 84, ({ name }, i) => `${i + 1}. ${name}`)
  const rows = shown.map((shift, i) => rowOf(shift, labels[i] as string, of))
  const left = significant.length - wantedEdges.length
  const axis = linearDurationAxis({
    lowUs: Math.min(0, ...rows.map(({ lowUs }) => lowUs)),
    highUs: Math.max(0, ...rows.map(({ highUs }) => highUs)),
    title: 'shift of one call',
    of,
  })
  const legend = small ? { title: null } : null
  const row = { y: rowNames(), color: colorBy(LOOKS, rows, { legend }) }
  return framedChart(
    {
      title: 'By how much one call of each step shifted',
      none: rows.length === 0 && 'No step changed significantly and by enough to matter.',
      subtitle: [
        `Points are shifts, lines their ${percent(1 - edges.options.alpha)} intervals; right of 0 is ${changeWords(of, true).how}.`,
        'The steps that contribute most come first.',
      ],
      omissions: [
        onlyFirst(limit, wanted.length, 'step'),
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

function rowOf(shift: Shift, label: string, of: Quantity) {
  const { from, to, shiftUs, changed, probabilitySlower, afterRequests, q } = shift
  const [lowUs, highUs] = shift.interval
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
    // If only some calls of a step changed, the typical call says nothing.
    slower: Number.isNaN(probabilitySlower) ? 'unknown' : percent(probabilitySlower),
    requests: afterRequests,
    chance: pValue(q, 'q'),
  }
}

function edgeName(edge: EdgeChange): string {
  const { fromNode, toNode, kind } = edge
  if (fromNode.phase === 'point') return `${edge.from} → ${edge.to}`
  if (kind === 'network') {
    const called = calledPlace(edge) === place(fromNode) ? fromNode : toNode
    return `${place(fromNode)} → ${place(toNode)}: ${called.operation} ${called.phase}`
  }
  const [from, to] = [fromNode, toNode].map(({ operation, phase }) => `${operation} ${phase}`)
  return `${place(fromNode)}: ${from} → ${to}`
}
