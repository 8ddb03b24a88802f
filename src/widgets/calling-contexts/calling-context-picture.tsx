import type { CallingContexts } from '../../calling-contexts/calling-contexts.ts'
import { PICTURE_INK } from '../drawing/ink.ts'
import { PICTURE_COLOURS } from './calling-context-colours.ts'
import { CallingContextFrame, FRAME_HEIGHT } from './calling-context-frame.tsx'
import { layoutFrames, matchesSearch } from './calling-context-layout.ts'
import { CallingContextLegend, LEGEND } from './calling-context-legend.tsx'
import type { CallingContextState } from './calling-context-model.ts'
import { widthTitle } from './calling-context-words.ts'

const WIDTH = 760
const MARGIN = 10
const HEAD = 30

/** The calling contexts in a state, without anything to zoom into. */
export function CallingContextPicture({
  contexts,
  state,
}: {
  readonly contexts: CallingContexts
  readonly state: CallingContextState
}) {
  const { frames, rows, scale } = layoutFrames(contexts, state)
  const isCompared = contexts.requests[1] > 0
  const bottom = HEAD + rows * FRAME_HEIGHT
  const height = bottom + (isCompared ? LEGEND.height + MARGIN : 0) + MARGIN
  const style = { colours: PICTURE_COLOURS, ink: PICTURE_INK, width: WIDTH - 2 * MARGIN }
  return (
    <svg
      width={WIDTH}
      height={height}
      viewBox={`0 0 ${WIDTH} ${height}`}
      font-size="12"
      font-family="system-ui, sans-serif"
    >
      <title>Calling contexts</title>
      <rect width={WIDTH} height={height} fill={PICTURE_INK.back} />
      <text x={MARGIN} y="19" style={`fill:${PICTURE_INK.text}`}>
        {widthTitle(state, contexts.requests)}
      </text>
      <g transform={`translate(${MARGIN} ${HEAD})`}>
        {frames.map((frame) => (
          <CallingContextFrame
            key={frame.context?.context ?? -1}
            {...style}
            {...{ frame, state, scale, isCompared }}
            found={foundIn(frame.context, state.search)}
          />
        ))}
      </g>
      {isCompared ? (
        <g transform={`translate(${MARGIN} ${bottom + MARGIN})`}>
          <CallingContextLegend {...{ state, scale, colours: PICTURE_COLOURS, ink: PICTURE_INK }} />
        </g>
      ) : null}
    </svg>
  )
}

/** What a search makes of a frame: nothing, where nothing is searched for. */
export function foundIn(
  context: Parameters<typeof matchesSearch>[0] | null,
  search: string,
): 'match' | 'other' | undefined {
  if (search.trim() === '') return undefined
  return context !== null && matchesSearch(context, search) ? 'match' : 'other'
}
