import type { JSX } from 'preact'
import { shortText } from '../../../core/shown-text.ts'
import { textWidth } from '../../charts/text-width.ts'
import { fittedText } from '../../drawing/fitted-text.ts'
import type { Ink } from '../../drawing/ink.ts'
import { type ChangeScale, type ContextColours, changeClass } from './calling-context-colours.ts'
import type { PlacedFrame } from './calling-context-layout.ts'
import { type CallingContextState, saidAmount, saidChange } from './calling-context-model.ts'
import { frameName, frameWords } from './calling-context-words.ts'

export const FRAME_HEIGHT = 22
const SIZE = 12
const PADDING = 5

/** How frames are drawn. */
export interface FrameStyle {
  readonly state: CallingContextState
  readonly scale: ChangeScale
  /** Width of the drawing, in pixels. */
  readonly width: number
  /** Whether there is an after to compare with. */
  readonly isCompared: boolean
  readonly colours: ContextColours
  readonly ink: Ink
}

interface Shown extends FrameStyle {
  readonly frame: PlacedFrame
  /** What a search made of it. */
  readonly found?: 'match' | 'other' | undefined
  readonly attributes?: JSX.SVGAttributes<SVGGElement>
}

/** One context as a rectangle with as much of its name as fits, and how it changed. */
export function CallingContextFrame({ frame, found, attributes = {}, ...style }: Shown) {
  const { state, scale, isCompared, colours, ink } = style
  const x = frame.x * style.width
  const width = Math.max(0.5, frame.width * style.width - 0.5)
  const { fill, text } =
    isCompared && frame.context !== null
      ? colours.ofClass(changeClass(scale, frame.change))
      : colours.plain
  const [name, amount] = frameTexts(frame, style, width - 2 * PADDING)
  return (
    <g
      {...attributes}
      transform={`translate(${x.toFixed(2)} ${frame.row * FRAME_HEIGHT})`}
      opacity={found === 'other' ? 0.45 : 1}
    >
      <title>{frameWords(frame, state, isCompared)}</title>
      <rect
        width={width.toFixed(2)}
        height={FRAME_HEIGHT - 1}
        fill={fill}
        stroke={found === 'match' ? ink.change : 'none'}
        stroke-width={found === 'match' ? 2 : 0}
      />
      {name === '' ? null : (
        <text x={PADDING} y="15" style={`fill:${text}`}>
          {name}
        </text>
      )}
      {amount === '' ? null : (
        <text x={width - PADDING} y="15" text-anchor="end" style={`fill:${text}`}>
          {amount}
        </text>
      )}
    </g>
  )
}

/** Longer names lose their middle, however much room there is. */
const LONGEST = 120

/** Name and amount: both where there is room, else the name; without its service where it must. */
function frameTexts(
  { context, amount, change }: PlacedFrame,
  { state: { measure }, isCompared }: FrameStyle,
  room: number,
): [name: string, amount: string] {
  const name = frameName(context)
  const said =
    isCompared && context !== null ? saidChange(measure, change) : saidAmount(measure, amount)
  const both = [name, context?.name ?? name].find(
    (text) => textWidth(text, SIZE) + textWidth(said, SIZE) + 12 <= room,
  )
  if (both !== undefined) return [shortText(both, LONGEST), said]
  return [
    textWidth(name, SIZE) <= room
      ? shortText(name, LONGEST)
      : fittedText(context?.name ?? name, room, SIZE),
    '',
  ]
}
