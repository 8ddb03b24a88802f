import { pairs, sum } from 'd3-array'
import type { JSX } from 'preact'
import { formatAmount, type Quantity } from '../../../core/quantity.ts'
import { Figure, type Ink, Text, useInk } from '../../drawing/figure.tsx'
import { type LegendEntry, LegendRows, layOutLegend } from '../../drawing/legend.tsx'
import { type BoxLook, type LineLook, NodeBox } from '../../drawing/node-link.tsx'
import { type Point, tenth } from '../../drawing/path.ts'
import {
  BEND,
  type DrawnLink,
  type DrawnStep,
  type FlowDrawing,
  type FlowPart,
  HEAD_SIGN,
  HEAD_SIZE,
  hasLeads,
  isLeadingOn,
  LABEL_GAP,
  LABEL_SIZE,
  sideLength,
} from './flow-placement.ts'
import {
  edgeLength,
  type FlowData,
  type FlowMode,
  type FlowScene,
  isQuietInside,
  linkWords,
  type SceneLink,
  type SceneStep,
  type ShownNotes,
  SIDES,
  type StepNotes,
  stepWords,
} from './flow-scene.ts'

type Hands = JSX.SVGAttributes<SVGGElement>

const PIECES = 6

export function flowRoute(start: Point, end: Point, columnX: number): Point[] {
  const room = Math.max(0, end.y - start.y)
  const isBentTwice = columnX !== start.x && columnX !== end.x
  const bend = Math.min(BEND, isBentTwice ? room / 2 : room)
  return [
    ...(columnX === start.x ? [start] : bendBetween(start, { x: columnX, y: start.y + bend })),
    ...(columnX === end.x ? [end] : bendBetween({ x: columnX, y: end.y - bend }, end)),
  ]
}

function bendBetween(start: Point, end: Point): Point[] {
  return Array.from({ length: PIECES + 1 }, (_, piece) => {
    const share = piece / PIECES
    const eased = share * share * (3 - 2 * share)
    return { x: start.x + eased * (end.x - start.x), y: start.y + share * (end.y - start.y) }
  })
}

export function routeBetween(points: readonly Point[], fromY: number, toY: number): Point[] {
  const [first, last] = [points[0], points.at(-1)]
  if (first === undefined || last === undefined) return []
  const [top, bottom] = [Math.max(fromY, first.y), Math.min(toY, last.y)]
  if (bottom <= top) return []
  const between = points.filter(({ y }) => y > top && y < bottom)
  return [pointAt(points, top), ...between, pointAt(points, bottom)]
}

function pointAt(points: readonly Point[], y: number): Point {
  const next = Math.max(
    1,
    points.findIndex((point) => point.y >= y),
  )
  const [above, below] = [points[next - 1] as Point, points[next] as Point]
  const share = below.y > above.y ? (y - above.y) / (below.y - above.y) : 0
  return { x: above.x + share * (below.x - above.x), y }
}

/** Most dashes on one line: more cannot be distinguished, and browsers draw each of them. */
const MAX_DASHES = 120

/** Returns a pattern of dashes, stretched for a way so long that there would be too many. */
export function dashesAlong(pattern: string, points: readonly Point[]): string {
  const parts = pattern.split(' ').map(Number)
  const length = sum(pairs(points), ([from, to]) => Math.hypot(to.x - from.x, to.y - from.y))
  const stretch = Math.max(1, length / (sum(parts) * MAX_DASHES))
  return parts.map((part) => tenth(part * stretch)).join(' ')
}

export function pathData(points: readonly Point[], aside = 0): string {
  return points
    .map((point, i) => {
      const [last, next] = [points[i - 1] ?? point, points[i + 1] ?? point]
      const [alongX, alongY] = [next.x - last.x, next.y - last.y]
      const length = Math.hypot(alongX, alongY) || 1
      const x = point.x + (aside * alongY) / length
      return `${i === 0 ? 'M' : 'L'}${tenth(x)} ${tenth(point.y - (aside * alongX) / length)}`
    })
    .join('')
}

/** Widths of lines, in pixels: work, half of a pair, waiting, and mere connections. */
const STROKE = { work: 4, half: 3.6, wait: 1.3, lead: 1.6 } as const
const LEAD_DASH = '2 4'
const QUIET_DASH = '4 3'
const CORRESPONDENCE_DASH = '6 4'
const OUTLINE = { outer: 14, inner: 9.5 } as const
/** Width of an outline on both sides of a line, by the share of the change; and from which share its label is bold. */
const RIM = { least: 1.6, most: 9 } as const
const BOLD_SHARE = 0.1

interface LineProps extends Omit<StepProps, 'drawn' | 'notes' | 'isPinned'> {
  readonly part: FlowPart
  readonly drawn: DrawnLink
}

/** Draws a link: thick for work, thin for waiting, dotted for a mere connection. */
function FlowLinkLine({ part, drawn, words, isSelected, hands }: LineProps) {
  const ink = useInk()
  const { link, start, end, columnX, workEnd } = drawn
  const rim = OUTLINE.inner + RIM.least + (RIM.most - RIM.least) * link.share
  const route = flowRoute(start, end, columnX)
  const whole = pathData(route)
  const isChanged = link.verdict === 'changed'
  const lead = routeBetween(route, workEnd, end.y)
  return (
    <g fill="none" {...hands}>
      <title>{words}</title>
      <path d={whole} stroke="transparent" stroke-width={16} />
      {isChanged || link.reason !== null || isSelected ? (
        <>
          <path
            d={whole}
            stroke={isChanged ? ink.change : isSelected ? ink.text : ink.soft}
            stroke-width={isSelected ? rim + 3 : rim}
            stroke-dasharray={isChanged || isSelected ? undefined : dashesAlong(QUIET_DASH, route)}
          />
          <path d={whole} stroke={ink.back} stroke-width={OUTLINE.inner} />
        </>
      ) : null}
      {isLeadingOn(drawn) ? (
        <path
          d={pathData(lead)}
          stroke={ink.soft}
          stroke-width={STROKE.lead}
          stroke-dasharray={dashesAlong(LEAD_DASH, lead)}
        />
      ) : null}
      <Strands {...{ part, drawn, route }} />
    </g>
  )
}

function FlowLinkLabel({ drawn, onClick }: { drawn: DrawnLink; onClick: Hands['onClick'] }) {
  const { link, columnX, label, labelY } = drawn
  const ink = useInk()
  const isChanged = link.verdict === 'changed'
  return (
    <text
      class="fd-flow-label"
      x={columnX + LABEL_GAP}
      y={labelY}
      font-size={LABEL_SIZE}
      font-weight={isChanged && link.share >= BOLD_SHARE ? 'bold' : 'normal'}
      style={`fill:${isChanged ? ink.changeText : ink.soft}`}
      stroke={ink.back}
      stroke-width={4}
      stroke-linejoin="round"
      paint-order="stroke"
      {...{ onClick }}
    >
      {label}
    </text>
  )
}

function Strands({ part, drawn, route }: Pick<LineProps, 'part' | 'drawn'> & { route: Point[] }) {
  const ink = useInk()
  const { side, isDiff } = part
  const { link, start, end, waits, workEnd } = drawn
  const isShared = link.inBefore && link.inAfter
  if (isShared && isDiff && !waits) {
    const both = diffEnds(link)
    return (
      <>
        {SIDES.map((each) => (
          <path
            key={each}
            d={pathData(
              routeBetween(route, start.y, start.y + both[each]),
              each === 'before' ? -2.1 : 2.1,
            )}
            stroke={ink[each]}
            stroke-width={link.waits[each] ? STROKE.wait : STROKE.half}
          />
        ))}
      </>
    )
  }
  const own = side === 'after' || !link.inBefore ? 'after' : 'before'
  return (
    <path
      d={pathData(routeBetween(route, start.y, waits ? end.y : workEnd))}
      stroke={isShared ? ink.text : ink[own]}
      stroke-opacity={isShared ? 0.75 : 1}
      stroke-width={waits ? STROKE.wait : STROKE.work}
    />
  )
}

/** Returns how far both lines of a pair reach: the longer in full, the other in proportion. */
export function diffEnds(link: SceneLink): { before: number; after: number } {
  const { beforeUs, afterUs, waits } = link
  const lengths = { before: sideLength(link, 'before'), after: sideLength(link, 'after') }
  if (beforeUs === null || afterUs === null || waits.before || waits.after) return lengths
  const longer = Math.max(beforeUs, afterUs)
  if (!(longer > 0)) return lengths
  const length = Math.max(lengths.before, lengths.after)
  return { before: (length * beforeUs) / longer, after: (length * afterUs) / longer }
}

export interface FlowHands {
  readonly step: (drawn: DrawnStep, part: number, place: number) => Hands
  readonly link: (drawn: DrawnLink, part: number) => Hands
}

interface FlowGraphProps {
  readonly data: FlowData
  readonly drawing: FlowDrawing
  readonly notes: ShownNotes
  readonly pinned?: readonly number[]
  /** Ids of those that are ringed. */
  readonly selectedSteps?: readonly number[]
  readonly selectedEdge?: number | null
  readonly hands?: FlowHands
}

/** On a longer line between the same steps, dashes would be so long that it seemed broken. */
const MAX_DASHED = 2400

export function FlowGraph(props: FlowGraphProps) {
  const ink = useInk()
  const { drawing, selectedSteps = [], pinned = [] } = props
  return (
    <>
      {drawing.heads.map(({ x, text, side }) => (
        <g key={x} transform={`translate(${tenth(x)} 0)`}>
          {side === null ? null : <rect y={2} width={12} height={12} rx={2} fill={ink[side]} />}
          <Text x={HEAD_SIGN} y={13} size={HEAD_SIZE} font-weight="bold">
            {text}
          </Text>
        </g>
      ))}
      {drawing.correspondences.map(({ step, from, to, isEnd }) => {
        const isClose = selectedSteps.includes(step) || pinned.includes(step)
        if (!isEnd && !isClose) return null
        const color = isClose ? ink.text : ink.soft
        return (
          <g key={step} class="fd-flow-like" stroke={color} fill={color}>
            <line
              {...{ x1: from.x, y1: from.y, x2: to.x, y2: to.y }}
              stroke-width={isClose ? 2 : 1.1}
              stroke-dasharray={
                Math.hypot(to.x - from.x, to.y - from.y) > MAX_DASHED
                  ? undefined
                  : dashesAlong(CORRESPONDENCE_DASH, [from, to])
              }
            />
            <circle cx={from.x} cy={from.y} r={2.2} />
            <circle cx={to.x} cy={to.y} r={2.2} />
          </g>
        )
      })}
      {drawing.parts.map((part, number) => (
        <Part key={part.side} {...props} part={part} number={number} />
      ))}
    </>
  )
}

function Part({ part, number, ...props }: FlowGraphProps & { part: FlowPart; number: number }) {
  const { data, notes, pinned = [], selectedSteps = [], selectedEdge, hands } = props
  const told = (words: string, note: StepNotes | undefined) =>
    [words, ...(note?.comments ?? [])].join('\n')
  const seen = (opacity: number) => ({ opacity: opacity === 1 ? undefined : opacity })
  const keyOf = ({ link }: DrawnLink) => `${link.from} ${link.to}`
  return (
    <>
      {part.links.map((drawn) => (
        <g key={keyOf(drawn)} {...seen(drawn.opacity)}>
          <FlowLinkLine
            {...{ part, drawn }}
            words={told(linkWords(data, drawn.link), notes.links.get(drawn.link))}
            isSelected={drawn.link.edges.includes(selectedEdge ?? -1)}
            hands={hands?.link(drawn, number)}
          />
          <NoteBadge
            notes={notes.links.get(drawn.link)}
            x={drawn.columnX - 18}
            y={drawn.labelY - 4}
          />
        </g>
      ))}
      {part.links.map((drawn) => (
        <g key={keyOf(drawn)} {...seen(drawn.opacity)}>
          <FlowLinkLabel drawn={drawn} onClick={hands?.link(drawn, number)?.onClick} />
        </g>
      ))}
      {part.steps.map((drawn, place) => {
        const { step, opacity } = drawn
        const own = notes.steps.get(step.id)
        return (
          <g key={step.key} {...seen(opacity)}>
            <StepBox
              drawn={drawn}
              words={told(stepWords(data, step), own)}
              notes={own}
              isPinned={pinned.includes(step.id)}
              isSelected={selectedSteps.includes(step.id)}
              hands={hands?.step(drawn, number, place)}
            />
          </g>
        )
      })}
    </>
  )
}

interface StepProps {
  readonly drawn: DrawnStep
  readonly words: string
  readonly notes: StepNotes | undefined
  readonly isPinned: boolean
  readonly isSelected: boolean
  readonly hands: Hands | undefined
}

function StepBox({ drawn: { step, x, y }, words, notes, isPinned, isSelected, hands }: StepProps) {
  const ink = useInk()
  const { width, height, lines, group, orderChanges, hasGone, hasCome } = step
  const changes = group?.changedEdges ?? 0
  const look = stepLook(step)
  return (
    <g transform={`translate(${tenth(x - width / 2)} ${tenth(y)})`} {...hands}>
      {isSelected ? (
        <rect
          {...{ x: -5, y: -5, width: width + 10, height: height + 10, rx: 9 }}
          class="fd-flow-ring"
          fill="none"
          stroke={ink.text}
          stroke-width={2}
        />
      ) : null}
      {group === null ? null : (
        <rect
          {...{ x: 4, y: 4, width, height, rx: 5 }}
          fill={ink.raised}
          stroke={ink[look.stroke]}
        />
      )}
      <NodeBox
        box={{ name: lines[0], detail: lines[1], tooltip: words, look }}
        {...{ x: width / 2, y: height / 2, width, height }}
      />
      {hasGone ? <Badge x={0} y={0} color="before" text="−" /> : null}
      {hasCome ? <Badge x={hasGone ? 2 * BADGE + 2 : 0} y={0} color="after" text="+" /> : null}
      {orderChanges > 0 ? <Badge x={0} y={height / 2} color="text" text={ORDER_SIGN} /> : null}
      {step.isFailing ? <Badge x={width} y={height / 2} color="text" text={FAILURE_SIGN} /> : null}
      {changes > 0 ? <Badge x={width} y={height} color="changeText" text={`${changes}`} /> : null}
      {isPinned ? <Badge x={0} y={height} color="text" text="pin" /> : null}
      {step.isDoubtful ? (
        <Badge x={isPinned ? 28 : 0} y={height} color="text" text={DOUBT_SIGN} />
      ) : null}
      <NoteBadge notes={notes} x={width} y={0} />
    </g>
  )
}

function stepLook(step: SceneStep) {
  const { group, inBefore, inAfter } = step
  const fill = group === null ? 'back' : 'raised'
  if (inBefore !== inAfter) {
    return { fill, stroke: inBefore ? 'before' : 'after', width: 1.4 + 4 * step.share } as const
  }
  if ((group?.changedEdges ?? 0) > 0) return { fill, stroke: 'change', width: 2.6 } as const
  const quiet = isQuietInside(step) ? { width: 2, dash: QUIET_DASH } : { width: 1.2 }
  return { fill, stroke: 'soft', ...quiet } as const satisfies BoxLook
}

/** Shows notes of the reader: a star where there is a mark, the number where there is a comment. */
function NoteBadge({ notes, x, y }: { notes: StepNotes | undefined; x: number; y: number }) {
  if (notes === undefined) return null
  const text = [notes.isMarked ? '★' : '', notes.numbers.join(' ')].filter(Boolean).join(' ')
  return <Badge {...{ x, y, text }} color="text" />
}

const ORDER_SIGN = '⇄'
const FAILURE_SIGN = '!'
const DOUBT_SIGN = '?'
const BADGE = 8
const ON_BEFORE = '#222222'

interface BadgeProps {
  readonly x: number
  readonly y: number
  readonly color: 'before' | 'after' | 'changeText' | 'text'
  readonly text: string
}

function Badge({ x, y, color, text }: BadgeProps) {
  const ink = useInk()
  const width = Math.max(2 * BADGE, 8 + 7 * text.length)
  return (
    <g transform={`translate(${x} ${y})`} pointer-events="none">
      <rect
        {...{ x: -width / 2, y: -BADGE, width, height: 2 * BADGE, rx: BADGE }}
        fill={ink[color]}
        stroke={ink.back}
        stroke-width={1.5}
      />
      <text
        y={4.5}
        text-anchor="middle"
        font-size={text === '−' || text === '+' ? 14 : 11}
        font-weight="bold"
        style={`fill:${color === 'before' ? ON_BEFORE : ink.back}`}
      >
        {text}
      </text>
    </g>
  )
}

const WIDTH = 34

interface LegendProps {
  readonly isPinned: boolean
  readonly scene: FlowScene
  readonly mode: FlowMode
  readonly drawings: readonly FlowDrawing[]
  readonly width: number
  /** Scale of the drawing. */
  readonly scale?: number
}

export function FlowLegend(props: LegendProps) {
  const { width, scale = 1, scene } = props
  let height = 0
  const lengths = lengthsOf(scene.links[0]?.quantity, scale)
  const blocks = [signsOf(props), ...lengths].map((entries) => {
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

function signsOf({ scene, mode, drawings, isPinned }: LegendProps): LegendEntry[] {
  const { steps, links } = scene
  const isShared = links.some(({ inBefore, inAfter }) => inBefore && inAfter)
  const waits = links.some((link) => link.waits.before || link.waits.after)
  const isQuiet = links.some(({ reason }) => reason !== null) || steps.some(isQuietInside)
  const isChanged = links.some(({ verdict }) => verdict === 'changed')
  const isReordered = steps.some(({ orderChanges }) => orderChanges > 0)
  const isFailing = steps.some((step) => step.isFailing)
  const isDoubtful = steps.some((step) => step.isDoubtful)
  const isChangedInside = steps.some(({ group }) => (group?.changedEdges ?? 0) > 0)
  const found: readonly (readonly [isThere: boolean, text: string, LineLook | Sign])[] = [
    [mode === 'diff' && isShared, 'time before and after, in proportion to each other', pair],
    [
      mode !== 'diff' && links.length > 0,
      'time from step to step',
      { color: 'text', width: STROKE.work, opacity: 0.75 },
    ],
    [links.some(({ inAfter }) => !inAfter), 'only before', { color: 'before', width: STROKE.work }],
    [links.some(({ inBefore }) => !inBefore), 'only after', { color: 'after', width: STROKE.work }],
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
    [isReordered, 'same step, other order', badge('text', ORDER_SIGN)],
    [isFailing, 'failed in some requests (how many: tooltip)', badge('text', FAILURE_SIGN)],
    [isDoubtful, 'steps that may be matched wrongly', badge('text', DOUBT_SIGN)],
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
