import type { JSX } from 'preact'
import type { Ink } from '../../drawing/ink.ts'
import type { ShownNotes } from './flow-details.tsx'
import { type FlowDrawing, type FlowPart, HEAD_SIGN, HEAD_SIZE } from './flow-drawing.ts'
import type { PlacedLink } from './flow-layouts.ts'
import { dashesAlong, FlowLinkLine, rounded } from './flow-lines.tsx'
import {
  type FlowData,
  isQuietInside,
  NAME_SIZE,
  type SceneStep,
  WHERE_SIZE,
} from './flow-scene.ts'
import { linkWords, stepWords } from './flow-words.ts'

/** What a page adds to an element: handlers, roles, labels. */
export type Hands = JSX.SVGAttributes<SVGGElement>

/** The reader's notes on what a box stands for, by their numbers. */
export interface StepNotes {
  readonly numbers: readonly number[]
  readonly isMarked: boolean
}

/** The outline of a large change that is not significant. */
export const QUIET_DASH = '4 3'
const BADGE = 8
/** White is too faint on the colour of before, dark letters are not, in both themes. */
const ON_BEFORE = '#222222'

/** A step as a box; a group of steps as a pile of boxes. */
function FlowStepBox({
  step,
  x,
  y,
  words,
  notes,
  isPinned = false,
  isSelected = false,
  ink,
  hands,
}: {
  readonly step: SceneStep
  /** Its middle from left to right, and its upper end. */
  readonly x: number
  readonly y: number
  readonly words: string
  readonly notes?: StepNotes | undefined
  readonly isPinned?: boolean
  readonly isSelected?: boolean
  readonly ink: Ink
  readonly hands?: Hands | undefined
}) {
  const { width, height, lines, group, inBefore, inAfter, changedInside } = step
  const both = inBefore && inAfter
  const colour = both
    ? changedInside > 0
      ? ink.change
      : ink.soft
    : inBefore
      ? ink.before
      : ink.after
  const stroke = both && changedInside === 0 ? 1.2 : 2.6
  return (
    <g transform={`translate(${x - width / 2} ${y})`} {...hands}>
      <title>{words}</title>
      {isSelected ? (
        <rect
          {...{ x: -5, y: -5, width: width + 10, height: height + 10, rx: 9 }}
          fill="none"
          stroke={ink.text}
          stroke-width={2}
        />
      ) : null}
      {group === null ? null : (
        <rect
          {...{ x: 4, y: 4, width, height, rx: 5 }}
          fill={ink.raised}
          stroke={colour}
          stroke-width={1}
        />
      )}
      <rect
        class="fd-flow-box"
        width={width}
        height={height}
        rx={5}
        fill={group === null ? ink.back : ink.raised}
        stroke={colour}
        stroke-width={isQuietInside(step) ? 2 : stroke}
        stroke-dasharray={isQuietInside(step) ? QUIET_DASH : undefined}
      />
      {lines.map((line, i) => (
        <text
          key={i === 0 ? 'name' : 'where'}
          x={width / 2}
          y={lines.length > 1 ? (i === 0 ? 16 : 30) : 17}
          text-anchor="middle"
          font-size={i === 0 ? NAME_SIZE : WHERE_SIZE}
          style={`fill:${i === 0 ? ink.text : ink.soft}`}
        >
          {line}
        </text>
      ))}
      {both ? null : <Badge x={0} y={0} colour={colour} ink={ink} text={inBefore ? '−' : '+'} />}
      {changedInside > 0 ? (
        <Badge
          {...{ x: width, y: height, colour: ink.changeText, ink }}
          text={String(changedInside)}
        />
      ) : null}
      {isPinned ? <Badge x={0} y={height} colour={ink.text} ink={ink} text="pin" /> : null}
      <NoteBadge notes={notes} x={width} ink={ink} />
    </g>
  )
}

/** The reader's notes: a star where there is a mark, the number where there is a comment. */
export function NoteBadge({
  notes,
  x,
  ink,
}: {
  readonly notes: StepNotes | undefined
  readonly x: number
  readonly ink: Ink
}) {
  if (notes === undefined) return null
  const text = [notes.isMarked ? '★' : '', notes.numbers.join(' ')].filter(Boolean).join(' ')
  return <Badge x={x} y={0} colour={ink.text} ink={ink} text={text} />
}

function Badge({
  x,
  y,
  colour,
  ink,
  text,
}: {
  readonly x: number
  readonly y: number
  readonly colour: string
  readonly ink: Ink
  readonly text: string
}) {
  const width = Math.max(2 * BADGE, 8 + 7 * text.length)
  return (
    <g transform={`translate(${x} ${y})`} pointer-events="none">
      <rect
        {...{ x: -width / 2, y: -BADGE, width, height: 2 * BADGE, rx: BADGE }}
        fill={colour}
        stroke={ink.back}
        stroke-width={1.5}
      />
      <text
        y={4.5}
        text-anchor="middle"
        font-size={text === '−' || text === '+' ? 14 : 11}
        font-weight="bold"
        style={`fill:${colour === ink.before ? ON_BEFORE : ink.back}`}
      >
        {text}
      </text>
    </g>
  )
}

/** What a page makes of boxes and lines. */
export interface FlowHands {
  readonly step: (step: SceneStep, part: number, place: number) => Hands
  readonly link: (placed: PlacedLink, part: number) => Hands
}

interface FlowGraphProps {
  readonly data: FlowData
  readonly drawing: FlowDrawing
  readonly notes: ShownNotes
  /** The box that stands for the pinned step, and what is selected, by ids of the scene. */
  readonly pinned?: number | null
  readonly selectedStep?: number | null
  readonly selectedEdge?: number | null
  readonly ink: Ink
  readonly hands?: FlowHands
}

export const CORRESPONDENCE_DASH = '6 4'

/** Graphs, their headings, and the lines between them. */
export function FlowGraph(props: FlowGraphProps) {
  const { drawing, ink, selectedStep = null, pinned = null } = props
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
  ink,
  hands,
}: FlowGraphProps & { readonly part: FlowPart; readonly number: number }) {
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
