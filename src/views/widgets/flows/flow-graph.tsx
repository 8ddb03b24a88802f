import { useInk } from '../../drawing/ink.ts'
import type { ShownNotes } from './flow-details.tsx'
import { type FlowDrawing, type FlowPart, HEAD_SIGN, HEAD_SIZE } from './flow-drawing.ts'
import type { PlacedLink } from './flow-layouts.ts'
import { dashesAlong, FlowLinkLine, rounded } from './flow-lines.tsx'
import type { FlowData, SceneStep } from './flow-scene.ts'
import { FlowStepBox, type Hands } from './flow-step.tsx'
import { linkWords, stepWords } from './flow-words.ts'

/** What a page makes of boxes and lines. */
export interface FlowHands {
  readonly step: (step: SceneStep, part: number, place: number) => Hands
  readonly link: (placed: PlacedLink, part: number) => Hands
}

export interface FlowGraphProps {
  readonly data: FlowData
  readonly drawing: FlowDrawing
  readonly notes: ShownNotes
  /** The box that stands for the pinned step, and what is selected, by ids of the scene. */
  readonly pinned?: number | null
  readonly selectedStep?: number | null
  readonly selectedEdge?: number | null
  readonly hands?: FlowHands
}

export const CORRESPONDENCE_DASH = '6 4'

/** Graphs, their headings, and the lines between them. */
export function FlowGraph(props: FlowGraphProps) {
  const ink = useInk()
  const { drawing, selectedStep = null, pinned = null } = props
  return (
    <>
      {drawing.heads.map(({ x, text, side }) => (
        <g key={x} transform={`translate(${rounded(x)} 0)`}>
          {side === null ? null : <rect y={2} width={12} height={12} rx={2} fill={ink[side]} />}
          <text
            x={HEAD_SIGN}
            y={13}
            font-size={HEAD_SIZE}
            font-weight="bold"
            style={`fill:${ink.text}`}
          >
            {text}
          </text>
        </g>
      ))}
      {drawing.correspondences.map(({ step, from, to, isEnd }) => {
        const isClose = step === selectedStep || step === pinned
        if (!isEnd && !isClose) return null
        return (
          <g key={step} class="fd-flow-like" stroke={isClose ? ink.text : ink.soft}>
            <line
              {...{ x1: from.x, y1: from.y, x2: to.x, y2: to.y }}
              stroke-width={isClose ? 2 : 1.1}
              stroke-dasharray={dashesAlong(CORRESPONDENCE_DASH, [from, to])}
            />
            {[from, to].map(({ x, y }) => (
              <circle key={x} cx={x} cy={y} r={2.2} fill={isClose ? ink.text : ink.soft} />
            ))}
          </g>
        )
      })}
      {drawing.parts.map((part, number) => (
        <Part key={part.side} {...props} part={part} number={number} />
      ))}
    </>
  )
}

function Part({
  part,
  number,
  data,
  notes,
  pinned = null,
  selectedStep = null,
  selectedEdge = null,
  hands,
}: FlowGraphProps & { readonly part: FlowPart; readonly number: number }) {
  const ink = useInk()
  const { steps, links, placement } = part.placed
  return (
    <g transform={`translate(${rounded(part.x)} ${rounded(part.y)})`}>
      {links.map((placedLink, line) => {
        const { link } = placedLink
        const opacity = part.opacity(link)
        if (opacity <= 0) return null
        return (
          <g key={`${link.from} ${link.to}`} opacity={opacity === 1 ? undefined : opacity}>
            <FlowLinkLine
              {...{ part, placedLink, number: line, ink }}
              words={linkWords(data, link)}
              notes={notes.links.get(link)}
              isSelected={selectedEdge !== null && link.edges.includes(selectedEdge)}
              hands={hands?.link(placedLink, number)}
            />
          </g>
        )
      })}
      {steps.map((step, place) => {
        const opacity = part.opacity(step)
        if (opacity <= 0) return null
        return (
          <g key={step.key} opacity={opacity === 1 ? undefined : opacity}>
            <FlowStepBox
              {...{ step, ink }}
              x={rounded(placement.middles[place] as number)}
              y={rounded(part.tops[place] as number)}
              words={stepWords(data, step)}
              notes={notes.steps.get(step.id)}
              isPinned={step.id === pinned}
              isSelected={step.id === selectedStep}
              hands={hands?.step(step, number, place)}
            />
          </g>
        )
      })}
    </g>
  )
}
