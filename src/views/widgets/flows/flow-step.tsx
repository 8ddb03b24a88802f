import type { JSX } from 'preact'
import type { Ink } from '../../drawing/ink.ts'
import { isQuietInside, NAME_SIZE, type SceneStep, WHERE_SIZE } from './flow-scene.ts'

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
/** White is too faint on the color of before, dark letters are not, in both themes. */
const ON_BEFORE = '#222222'

/** A step as a box; a group of steps as a pile of boxes. */
export function FlowStepBox({
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
  const color = both
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
          stroke={color}
          stroke-width={1}
        />
      )}
      <rect
        class="fd-flow-box"
        width={width}
        height={height}
        rx={5}
        fill={group === null ? ink.back : ink.raised}
        stroke={color}
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
      {both ? null : <Badge x={0} y={0} color={color} ink={ink} text={inBefore ? '−' : '+'} />}
      {changedInside > 0 ? (
        <Badge
          {...{ x: width, y: height, color: ink.changeText, ink }}
          text={String(changedInside)}
        />
      ) : null}
      {isPinned ? <Badge x={0} y={height} color={ink.text} ink={ink} text="pin" /> : null}
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
  return <Badge x={x} y={0} color={ink.text} ink={ink} text={text} />
}

function Badge({
  x,
  y,
  color,
  ink,
  text,
}: {
  readonly x: number
  readonly y: number
  readonly color: string
  readonly ink: Ink
  readonly text: string
}) {
  const width = Math.max(2 * BADGE, 8 + 7 * text.length)
  return (
    <g transform={`translate(${x} ${y})`} pointer-events="none">
      <rect
        {...{ x: -width / 2, y: -BADGE, width, height: 2 * BADGE, rx: BADGE }}
        fill={color}
        stroke={ink.back}
        stroke-width={1.5}
      />
      <text
        y={4.5}
        text-anchor="middle"
        font-size={text === '−' || text === '+' ? 14 : 11}
        font-weight="bold"
        style={`fill:${color === ink.before ? ON_BEFORE : ink.back}`}
      >
        {text}
      </text>
    </g>
  )
}
