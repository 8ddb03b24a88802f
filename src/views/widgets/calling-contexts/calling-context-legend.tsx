import { textWidth } from '../../charts/text-width.ts'
import type { Ink } from '../../drawing/ink.ts'
import { CHANGE_CLASSES, type ChangeScale, type ContextColours } from './calling-context-colours.ts'
import { type CallingContextState, saidAmount } from './calling-context-model.ts'
import { colourTitle } from './calling-context-words.ts'

interface Shown {
  readonly state: CallingContextState
  readonly scale: ChangeScale
  readonly colours: ContextColours
  readonly ink: Ink
}

const BOX = 52
const SIZE = 11
/** What stands to the left and right of the boxes. */
const SIDE = 34
export const LEGEND = { width: SIDE * 2 + BOX * CHANGE_CLASSES.length, height: 46 } as const

/** The colours of changes, with the amounts where each begins. */
export function CallingContextLegend({ state, scale, colours, ink }: Shown) {
  const amounts = [...scale.bounds.toReversed().map((bound) => -bound), ...scale.bounds]
  const hasScale = scale.bounds.length > 0
  const title = hasScale ? colourTitle(state) : 'no change: nothing took any time'
  const width = Math.max(LEGEND.width, Math.ceil(textWidth(title, SIZE)) + 4)
  return (
    <svg
      width={width}
      height={LEGEND.height}
      viewBox={`0 0 ${width} ${LEGEND.height}`}
      role="img"
      aria-label={`Colours: ${title}${hasScale ? '; from green for less over grey to purple for more' : ''}.`}
      font-family="system-ui, sans-serif"
      font-size={SIZE}
    >
      <text x="0" y="10" style={`fill:${ink.text}`}>
        {title}
      </text>
      {hasScale ? (
        <>
          <text x="0" y="26" style={`fill:${ink.soft}`}>
            less
          </text>
          <text x={LEGEND.width} y="26" text-anchor="end" style={`fill:${ink.soft}`}>
            more
          </text>
        </>
      ) : null}
      {(hasScale ? CHANGE_CLASSES : ([0] as const)).map((number, i) => (
        <rect
          key={number}
          x={(hasScale ? SIDE : 0) + BOX * i}
          y="16"
          width={BOX}
          height="12"
          fill={colours.ofClass(number).fill}
          stroke={ink.back}
        />
      ))}
      {amounts.map((amount, i) => (
        <text
          key={amount}
          x={SIDE + BOX * (i + 1)}
          y="41"
          text-anchor="middle"
          style={`fill:${ink.soft}`}
        >
          {amount < 0 ? '−' : '+'}
          {saidAmount(state.measure, Math.abs(amount)).replace('under 1 %', '<1 %')}
        </text>
      ))}
    </svg>
  )
}
