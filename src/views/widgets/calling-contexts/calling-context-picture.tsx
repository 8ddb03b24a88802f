import { counted } from '../../../core/words.ts'
import type { CallingContexts } from '../../../explain/calling-contexts/calling-contexts.ts'
import { PICTURE_INK } from '../../drawing/ink.ts'
import { PICTURE_COLOURS } from './calling-context-colours.ts'
import { CallingContextFrame, FRAME_HEIGHT } from './calling-context-frame.tsx'
import { layoutFrames, matchesSearch } from './calling-context-layout.ts'
import { CallingContextLegend, LEGEND } from './calling-context-legend.tsx'
import type { CallingContextState } from './calling-context-model.ts'
import { ROWS_IN_SIGHT } from './calling-context-style.ts'
import { widthTitle } from './calling-context-words.ts'

const WIDTH = 760
const MARGIN = 10
const HEAD = 30
const MORE = 20

/** The calling contexts in a state, without anything to zoom into. */
export function CallingContextPicture({
  contexts,
  state,
}: {
  readonly contexts: CallingContexts
  readonly state: CallingContextState
}) {
  const { frames, rows, scale, whole } = layoutFrames(contexts, state)
  const isCompared = contexts.requests[1] > 0
  const deeper = frames.filter(({ row }) => row >= ROWS_IN_SIGHT)
  const bottom =
    HEAD + Math.min(ROWS_IN_SIGHT, rows) * FRAME_HEIGHT + (deeper.length > 0 ? MORE : 0)
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
        {widthTitle(state, contexts.requests, whole)}
      </text>
      <g transform={`translate(${MARGIN} ${HEAD})`}>
        {frames
          .filter(({ row }) => row < ROWS_IN_SIGHT)
          .map((frame) => (
            <CallingContextFrame
              key={frame.context?.context ?? -1}
              {...style}
              {...{ frame, state, scale, isCompared }}
              found={foundIn(frame.context, state.search)}
            />
          ))}
      </g>
      {deeper.length > 0 ? (
        <text x={MARGIN} y={bottom - 5} style={`fill:${PICTURE_INK.soft}`}>
          … and {counted(rows - ROWS_IN_SIGHT, 'deeper row')} with {counted(deeper.length, 'frame')}
          .
        </text>
      ) : null}
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
