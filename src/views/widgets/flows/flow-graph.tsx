import { Text, useInk } from '../../drawing/figure.tsx'
import { type BoxLook, NodeBox } from '../../drawing/node-link.tsx'
import { tenth } from '../../drawing/path.ts'
import type { ShownNotes, StepNotes } from './flow-details.tsx'
import {
  type DrawnLink,
  type DrawnStep,
  type FlowDrawing,
  type FlowPart,
  HEAD_SIGN,
  HEAD_SIZE,
} from './flow-drawing.ts'
import {
  CORRESPONDENCE_DASH,
  dashesAlong,
  FlowLinkLabel,
  FlowLinkLine,
  type Hands,
  QUIET_DASH,
} from './flow-lines.tsx'
import { type FlowData, isQuietInside, type SceneStep } from './flow-scene.ts'
import { linkWords, stepWords } from './flow-words.ts'

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
  return (
    <>
      {part.links.map((drawn) => {
        const { link, opacity } = drawn
        return (
          <g key={`${link.from} ${link.to}`} opacity={opacity === 1 ? undefined : opacity}>
            <FlowLinkLine
              {...{ part, drawn }}
              words={[linkWords(data, link), ...(notes.links.get(link)?.comments ?? [])].join('\n')}
              isSelected={link.edges.includes(selectedEdge ?? -1)}
              hands={hands?.link(drawn, number)}
            />
            <NoteBadge notes={notes.links.get(link)} x={drawn.columnX - 18} y={drawn.labelY - 4} />
          </g>
        )
      })}
      {part.links.map((drawn) => (
        <g
          key={`${drawn.link.from} ${drawn.link.to}`}
          opacity={drawn.opacity === 1 ? undefined : drawn.opacity}
        >
          <FlowLinkLabel drawn={drawn} onClick={hands?.link(drawn, number)?.onClick} />
        </g>
      ))}
      {part.steps.map((drawn, place) => {
        const { step, opacity } = drawn
        return (
          <g key={step.key} opacity={opacity === 1 ? undefined : opacity}>
            <StepBox
              drawn={drawn}
              words={[stepWords(data, step), ...(notes.steps.get(step.id)?.comments ?? [])].join(
                '\n',
              )}
              notes={notes.steps.get(step.id)}
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

export const ORDER_SIGN = '⇄'

export const FAILURE_SIGN = '!'

export const DOUBT_SIGN = '?'

const BADGE = 8
const ON_BEFORE = '#222222'

export interface BadgeProps {
  readonly x: number
  readonly y: number
  readonly color: 'before' | 'after' | 'changeText' | 'text'
  readonly text: string
}

export function Badge({ x, y, color, text }: BadgeProps) {
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
