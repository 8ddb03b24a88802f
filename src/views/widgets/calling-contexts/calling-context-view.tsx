import type { JSX } from 'preact'
import { useMemo, useRef, useState } from 'preact/hooks'
import { counted, grouped, percent } from '../../../core/words.ts'
import { useWidth } from '../../drawing/axis-width.ts'
import { PAGE_INK } from '../../drawing/ink.ts'
import { StateCode } from '../../drawing/state-code.tsx'
import { isSelectingText } from '../../drawing/text-selection.ts'
import { PAGE_COLOURS } from './calling-context-colours.ts'
import { CallingContextControls } from './calling-context-controls.tsx'
import { CallingContextCrumbs } from './calling-context-crumbs.tsx'
import { CallingContextDetails } from './calling-context-details.tsx'
import { CallingContextFrame, FRAME_HEIGHT } from './calling-context-frame.tsx'
import { frameAfterKey } from './calling-context-keys.ts'
import {
  type FrameLayout,
  layoutFrames,
  matchesSearch,
  missingFrames,
} from './calling-context-layout.ts'
import { CallingContextLegend } from './calling-context-legend.tsx'
import {
  type CallingContextData,
  type CallingContextState,
  callingContextCode,
  restoreContexts,
  saidAmount,
} from './calling-context-model.ts'
import { foundIn } from './calling-context-picture.tsx'
import { ROWS_IN_SIGHT } from './calling-context-style.ts'
import { frameWords, widthTitle } from './calling-context-words.ts'

/** Goes into calling contexts, turns the direction of the difference, and searches. */
export function CallingContextView({ data }: { readonly data: CallingContextData }) {
  const contexts = useMemo(() => restoreContexts(data), [data])
  const [state, setState] = useState(data.initial)
  const [pointed, setPointed] = useState<number | null>(null)
  const [place, width] = useWidth<HTMLDivElement>(760)
  const layout = useMemo(() => layoutFrames(contexts, state), [contexts, state])
  const change = (changes: Partial<CallingContextState>) => setState({ ...state, ...changes })
  const zoom = (focus: number | null) => {
    change({ focus })
    setPointed(focus)
    if (place.current !== null) place.current.scrollTop = 0
  }
  const isCompared = data.requests[1] > 0
  const shown = contexts.contexts.find(({ context }) => context === (pointed ?? state.focus))
  return (
    <section aria-label="Calling contexts">
      <CallingContextControls state={state} isCompared={isCompared} onChange={change} />
      <p class="fd-soft">
        {widthTitle(state, data.requests, layout.whole)} Blank below a frame is its own work. Click
        or Enter goes into a frame, Escape back out.
        {layout.rows > ROWS_IN_SIGHT
          ? ` ${grouped(layout.rows)} rows: scroll down to the deeper ones.`
          : ''}
        {data.omitted > 0 ? ` ${grouped(data.omitted)} of the smallest are left out.` : ''}
      </p>
      <CallingContextCrumbs contexts={contexts.contexts} focus={state.focus} onZoom={zoom} />
      <div ref={place} class="fd-frames">
        <Icicle
          {...{ layout, state, width, isCompared, pointed }}
          onPoint={setPointed}
          onZoom={zoom}
        />
      </div>
      {isCompared ? (
        <div class="fd-scroll" style="margin-top:8px">
          <CallingContextLegend
            {...{ state, scale: layout.scale, colours: PAGE_COLOURS, ink: PAGE_INK }}
          />
        </div>
      ) : null}
      <Remarks {...{ contexts, state, layout, isCompared }} />
      <CallingContextDetails contexts={contexts} measure={state.measure} context={shown ?? null} />
      <StateCode code={callingContextCode(data, state)} />
    </section>
  )
}

interface IcicleProps {
  readonly layout: FrameLayout
  readonly state: CallingContextState
  readonly width: number
  readonly isCompared: boolean
  readonly pointed: number | null
  readonly onPoint: (context: number | null) => void
  readonly onZoom: (context: number | null) => void
}

function Icicle({ layout, state, width, isCompared, pointed, onPoint, onZoom }: IcicleProps) {
  const { frames, rows, scale } = layout
  const drawing = useRef<SVGSVGElement>(null)
  const height = rows * FRAME_HEIGHT
  const numbers = frames.map(({ context }) => context?.context ?? -1)
  // One frame can be reached by Tab; from there arrows go on.
  const reached = pointed !== null && numbers.includes(pointed) ? pointed : numbers[0]
  const onKeyDown = (event: KeyboardEvent, number: number) => {
    if (event.key === 'Enter' || event.key === ' ') onZoom(number < 0 ? null : number)
    else if (event.key === 'Escape' || event.key === 'Backspace') {
      const out = frames[0]?.context?.parent ?? -1
      onZoom(out < 0 ? null : out)
    } else {
      const next = frameAfterKey(frames, numbers.indexOf(number), event.key)
      if (next === undefined) return
      const to = numbers[next] as number
      drawing.current?.querySelector<SVGGElement>(`[data-frame="${to}"]`)?.focus()
    }
    event.preventDefault()
  }
  return (
    <svg
      ref={drawing}
      width={width}
      height={height}
      viewBox={`0 0 ${width} ${height}`}
      font-family="system-ui, sans-serif"
      font-size="12"
    >
      <title>Calling contexts</title>
      <g role="tree" aria-label="Calling contexts, callers above what they call">
        {frames.map((frame, i) => {
          const number = numbers[i] as number
          const isFocus = number === (state.focus ?? -1)
          return (
            <CallingContextFrame
              key={number}
              {...{ frame, state, scale, width, isCompared }}
              colours={PAGE_COLOURS}
              ink={PAGE_INK}
              found={foundIn(frame.context, state.search)}
              attributes={
                {
                  class: 'fd-frame',
                  role: 'treeitem',
                  tabindex: number === reached ? 0 : -1,
                  'aria-level': frame.row + 1,
                  'aria-selected': isFocus,
                  'aria-label': frameWords(frame, state, isCompared),
                  'data-frame': number,
                  onClick: ({ currentTarget }: JSX.TargetedMouseEvent<SVGGElement>) => {
                    if (!isSelectingText(currentTarget)) onZoom(number < 0 ? null : number)
                  },
                  onFocus: () => onPoint(number < 0 ? null : number),
                  onMouseEnter: () => onPoint(number < 0 ? null : number),
                  onKeyDown: (event: KeyboardEvent) => onKeyDown(event, number),
                } as object
              }
            />
          )
        })}
      </g>
    </svg>
  )
}

/** What the search found, and what this direction of the difference does not show. */
function Remarks({
  contexts,
  state,
  layout,
  isCompared,
}: {
  readonly contexts: ReturnType<typeof restoreContexts>
  readonly state: CallingContextState
  readonly layout: FrameLayout
  readonly isCompared: boolean
}) {
  const missing = isCompared ? missingFrames(contexts, state) : { count: 0, amount: 0 }
  const other = state.widths === 'after' ? 'before' : 'after'
  const found = layout.frames.filter(
    ({ context }) => context !== null && matchesSearch(context, state.search),
  )
  // Matches below other matches are part of these.
  const outermost = found.filter(
    ({ row, x }) =>
      !found.some(
        (above) => above.row < row && above.x <= x + 1e-9 && x < above.x + above.width - 1e-9,
      ),
  )
  const share = outermost.reduce((sum, { width }) => sum + width, 0)
  return (
    <>
      {state.search.trim() === '' ? null : (
        <p aria-live="polite">
          {found.length === 0
            ? 'Nothing drawn matches.'
            : `${counted(found.length, 'frame matches', 'frames match')}, ${percent(share)} of the width.`}
        </p>
      )}
      {missing.count === 0 ? null : (
        <p class="fd-soft">
          {counted(missing.count, 'chain')} of calls {missing.count === 1 ? 'is' : 'are'} only there{' '}
          {other} ({saidAmount(state.measure, missing.amount)} a request): see widths {other}.
        </p>
      )}
    </>
  )
}
