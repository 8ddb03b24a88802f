import { formatAmount, type Quantity } from '../../../core/quantity.ts'
import { Figure, type Ink } from '../../drawing/figure.tsx'
import { type LegendEntry, LegendRows, layOutLegend } from '../../drawing/legend.tsx'
import type { LineLook } from '../../drawing/node-link.tsx'
import { tenth } from '../../drawing/path.ts'
import { type FlowDrawing, hasLeads } from './flow-drawing.ts'
import { Badge, type BadgeProps, DOUBT_SIGN, FAILURE_SIGN, ORDER_SIGN } from './flow-graph.tsx'
import { CORRESPONDENCE_DASH, LEAD_DASH, OUTLINE, QUIET_DASH, STROKE } from './flow-lines.tsx'
import { edgeLength } from './flow-placement.ts'
import { type FlowMode, type FlowScene, isQuietInside } from './flow-scene.ts'

const WIDTH = 34

interface LegendInput {
  readonly isPinned: boolean
  readonly scene: FlowScene
  readonly mode: FlowMode
  readonly drawings: readonly FlowDrawing[]
}

interface FlowLegendProps extends LegendInput {
  readonly width: number
  /** Scale of the drawing. */
  readonly scale?: number
}

export function FlowLegend({ width, scale = 1, ...input }: FlowLegendProps) {
  let height = 0
  const lengths = lengthsOf(input.scene.links[0]?.quantity, scale)
  const blocks = [signsOf(input), ...lengths].map((entries) => {
    const y = height
    height += layOutLegend(entries, width).height
    return (
      <g key={y} transform={`translate(0 ${y})`}>
        <LegendRows entries={entries} width={width} />
      </g>
    )
  })
  return (
    <Figure class="fd-flow-legend" width={width} height={height} label="What colors and lines mean">
      {blocks}
    </Figure>
  )
}

/** Explains how long lines are for some amounts; nothing without lines. */
function lengthsOf(of: Quantity | undefined, scale: number): LegendEntry[][] {
  if (of === undefined) return []
  const [what, it] = of.unit === null ? ['Time', 'time'] : [of.name, 'it']
  const text = `${what} runs down; lengths grow slowly with ${it}, not in proportion:`
  const samples = [10, 1_000, 1_000_000].map((amount): LegendEntry => {
    const width = scale * edgeLength(amount)
    const d = `M0 -4V4M0 0H${tenth(width)}M${tenth(width)} -4V4`
    const sign = (ink: Ink) => <path d={d} stroke={ink.soft} fill="none" />
    return { text: formatAmount(amount, of), width, sign }
  })
  return [[{ text, width: 0 }], samples]
}

function signsOf({ scene, mode, drawings, isPinned }: LegendInput): LegendEntry[] {
  const { steps, links } = scene
  const isShared = links.some(({ inBefore, inAfter }) => inBefore && inAfter)
  const isGone = ({ inAfter }: { inAfter: boolean }) => !inAfter
  const isNew = ({ inBefore }: { inBefore: boolean }) => !inBefore
  const waits = links.some((link) => link.waits.before || link.waits.after)
  const isQuiet = links.some(({ reason }) => reason !== null) || steps.some(isQuietInside)
  const isChanged = links.some(({ verdict }) => verdict === 'changed')
  const isChangedInside = steps.some(({ group }) => (group?.changedEdges ?? 0) > 0)
  const found: readonly (readonly [isThere: boolean, text: string, LineLook | Sign])[] = [
    [mode === 'diff' && isShared, 'time before and after, in proportion to each other', pair],
    [
      mode !== 'diff' && links.length > 0,
      'time from step to step',
      { color: 'text', width: STROKE.work, opacity: 0.75 },
    ],
    [links.some(isGone), 'only before', { color: 'before', width: STROKE.work }],
    [links.some(isNew), 'only after', { color: 'after', width: STROKE.work }],
    [waits, 'done, and waits for another branch', { color: 'text', width: STROKE.wait }],
    [drawings.some(hasLeads), 'takes no time; leads to where branches meet', LEAD],
    [
      isChanged,
      'latency changed significantly, and enough to matter',
      (ink) => outlined(ink, ink.change),
    ],
    [isQuiet, 'large change that may be chance', (ink) => outlined(ink, ink.soft, QUIET_DASH)],
    [steps.some(({ hasGone }) => hasGone), 'steps only before', badge('before', '−')],
    [steps.some(({ hasCome }) => hasCome), 'steps only after', badge('after', '+')],
    [
      steps.some(({ orderChanges }) => orderChanges > 0),
      'same step, other order',
      badge('text', ORDER_SIGN),
    ],
    [
      steps.some(({ isFailing }) => isFailing),
      'failed in some requests (how many: tooltip)',
      badge('text', FAILURE_SIGN),
    ],
    [
      steps.some(({ isDoubtful }) => isDoubtful),
      'steps that may be matched wrongly',
      badge('text', DOUBT_SIGN),
    ],
    [isPinned && mode === 'side-by-side', 'pinned: both flows at one height', badge('text', 'pin')],
    [steps.some(({ group }) => group !== null), 'several steps drawn as one', pile],
    [isChangedInside, 'number of significant changes inside', badge('changeText', '2')],
    [mode === 'side-by-side' && isShared, 'the same step', LIKE],
  ]
  return found
    .filter(([isThere]) => isThere)
    .map(([, text, sign]) => ({
      text,
      width: WIDTH,
      ...(typeof sign === 'function' ? { sign } : { look: sign }),
    }))
}

type Sign = NonNullable<LegendEntry['sign']>

const LEAD: LineLook = { color: 'soft', width: STROKE.lead, dash: LEAD_DASH }
const LIKE: LineLook = { color: 'soft', width: 1.1, dash: CORRESPONDENCE_DASH }

function pair(ink: Ink) {
  return (
    <>
      <path d="M0 -2.1H18" stroke={ink.before} stroke-width={STROKE.half} />
      <path d={`M0 2.1H${WIDTH}`} stroke={ink.after} stroke-width={STROKE.half} />
    </>
  )
}

function outlined(ink: Ink, color: string, dash?: string) {
  const d = `M0 0H${WIDTH}`
  return (
    <>
      <path d={d} stroke={color} stroke-width={OUTLINE.outer} stroke-dasharray={dash} />
      <path d={d} stroke={ink.back} stroke-width={OUTLINE.inner} />
      <path d={d} stroke={ink.soft} stroke-width={STROKE.work} />
    </>
  )
}

const BOX = { x: 6, y: -7, width: 22, height: 14, rx: 3 }
const badge = (color: BadgeProps['color'], text: string) => () => (
  <Badge {...{ x: WIDTH / 2, y: 0, color, text }} />
)

function pile(ink: Ink) {
  return (
    <>
      <rect {...BOX} x={9} y={-4} fill={ink.raised} stroke={ink.soft} />
      <rect {...BOX} fill={ink.raised} stroke={ink.soft} stroke-width={1.2} />
    </>
  )
}
