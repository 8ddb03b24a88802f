import type { JSX } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { tooltipText } from '../../../core/shown-text.ts'
import { counted } from '../../../core/words.ts'
import { useWidth } from '../../drawing/axis-width.ts'
import { Choice } from '../../drawing/choice.tsx'
import { useDragRange } from '../../drawing/drag-range.ts'
import { PAGE_INK } from '../../drawing/ink.ts'
import { StateCode } from '../../drawing/state-code.tsx'
import type { StretchUs } from '../../drawing/stretches.ts'
import {
  drawnItems,
  MOST_TRACKS,
  PANEL_FOOT,
  PANEL_HEAD,
  type Panel,
  type SwimlaneLayout,
  swimlaneLayout,
  visitLine,
} from './swimlane-layout.ts'
import { type SwimlaneData, type SwimlaneState, swimlaneCode } from './swimlane-model.ts'
import { SWIMLANE_LEGEND, SwimlaneLegend, SwimlanePanel, TimeGrid } from './swimlane-panel.tsx'
import { LANE_WINDOW as WINDOW } from './swimlane-style.ts'
import type { LaneItem } from './swimlane-words.ts'

/** Arranges both requests, goes into a part of the time, and says what is pointed at. */
export function SwimlaneView({ data }: { readonly data: SwimlaneData }) {
  const [state, setState] = useState(data.initial)
  const [words, setWords] = useState('')
  const [place, width] = useWidth<HTMLDivElement>(760)
  const change = (changes: Partial<SwimlaneState>) => setState({ ...state, ...changes })
  const goInto = ([fromUs, toUs]: StretchUs) =>
    change({ range: [tenths(fromUs), Math.max(tenths(toUs), tenths(fromUs) + 0.1)] })
  const layout = swimlaneLayout(data, state, width)
  return (
    <section aria-label="Swimlanes">
      <h3 style="overflow-wrap:anywhere">{tooltipText(data.title)}</h3>
      <div class="fd-bar">
        {data.sides.length < 2 ? null : (
          <Choice
            name="after"
            help="One below the other, over one axis; or next to each other, on the same scale"
            value={state.arrangement}
            values={{ below: 'below before', beside: 'beside before' }}
            onChoose={(arrangement) => change({ arrangement })}
          />
        )}
        <button
          type="button"
          disabled={state.range === null}
          onClick={() => change({ range: null })}
        >
          whole time
        </button>
        {layout.folding.isLong ? (
          <button type="button" onClick={() => change({ folded: !state.folded })}>
            {state.folded ? `show all ${countOfLanes(data)}` : 'fold lanes'}
          </button>
        ) : null}
        <span class="fd-soft">
          Drag across the lanes, or press z on a line, to go into the time of both.
        </span>
      </div>
      <div class="fd-scroll">
        <svg {...SWIMLANE_LEGEND} style="max-width:none" role="img" aria-label="Legend">
          <SwimlaneLegend ink={PAGE_INK} colour={PAGE_INK.soft} />
        </svg>
      </div>
      <div ref={place} class="fd-lane-window">
        <Lanes
          {...{ data, layout }}
          onWords={setWords}
          onRange={goInto}
          onWhole={() => change({ range: null })}
        />
        {layout.height > WINDOW ? <StickyAxis layout={layout} /> : null}
      </div>
      <p class="fd-lane-words" aria-live="polite">
        {words === '' ? (
          <span class="fd-soft">
            Point at a line or go there with Tab and the arrow keys to read what it is. The dotted
            line is where the request was answered.
          </span>
        ) : (
          words
        )}
      </p>
      <StateCode code={swimlaneCode(data, state)} />
    </section>
  )
}

/** Lanes, or where there are few of them the lines in these. */
function countOfLanes({ lanes }: SwimlaneData): string {
  const tracks = lanes.reduce((sum, lane) => sum + lane.tracks, 0)
  return lanes.length > MOST_TRACKS ? counted(lanes.length, 'lane') : counted(tracks, 'line')
}

/** The times, over those that end the drawing, in sight wherever it is scrolled to. */
function StickyAxis({ layout: { width, panels, range } }: { readonly layout: SwimlaneLayout }) {
  const columns = panels.filter(({ top }) => top === (panels[0]?.top ?? 0))
  return (
    <svg
      class="fd-lane-axis"
      width={width}
      height={PANEL_FOOT}
      aria-hidden="true"
      font-family="system-ui, sans-serif"
    >
      {columns.map((panel) => (
        <g key={panel.side} transform={`translate(${panel.left} 0)`}>
          <TimeGrid range={range} width={panel.width} height={0} ink={PAGE_INK} />
        </g>
      ))}
    </svg>
  )
}

let named = 0

/** A name that no other drawing in the page has. */
function nextName(): string {
  named++
  return `fd-lanes-${named}`
}

interface LanesProps {
  readonly data: SwimlaneData
  readonly layout: SwimlaneLayout
  readonly onWords: (words: string) => void
  readonly onRange: (range: StretchUs) => void
  readonly onWhole: () => void
}

function Lanes({ data, layout, onWords, onRange, onWhole }: LanesProps) {
  const { width, height, panels, range } = layout
  const [clip] = useState(nextName)
  const drawing = useRef<SVGSVGElement>(null)
  const [reached, setReached] = useState<Readonly<Record<number, string>>>({})
  const attributesOf = (panel: Panel) => {
    const side = data.sides[panel.side] as SwimlaneData['sides'][number]
    const lineOf = (visit: number) => visitLine(layout, panel.side, visit)
    const keys = drawnItems(side, { range, width: panel.width, lineOf }).items.map(keyOf)
    const places = new Map(keys.map((key, i) => [key, i]))
    const last = reached[panel.side] ?? ''
    const current = places.has(last) ? last : keys[0]
    const focus = (key: string | undefined) =>
      drawing.current?.querySelector<SVGGElement>(`[data-item="${panel.side} ${key}"]`)?.focus()
    return (item: LaneItem, words: string): JSX.SVGAttributes<SVGGElement> => {
      const key = keyOf(item)
      const at = places.get(key) ?? 0
      return {
        class: 'fd-lane-item',
        role: 'treeitem',
        'aria-level': 1,
        'aria-selected': key === current,
        tabindex: key === current ? 0 : -1,
        'aria-label': words,
        'data-item': `${panel.side} ${key}`,
        onMouseEnter: () => onWords(words),
        onFocus: () => {
          onWords(words)
          setReached({ ...reached, [panel.side]: key })
        },
        onKeyDown: (event: KeyboardEvent) => {
          const acts: Readonly<Record<string, () => void>> = {
            ArrowRight: () => focus(keys[at + 1]),
            ArrowLeft: () => focus(keys[at - 1]),
            Home: () => focus(keys[0]),
            End: () => focus(keys.at(-1)),
            z: () => onRange(timeOf(side, item)),
            Escape: onWhole,
          }
          const act = acts[event.key]
          if (act === undefined) return
          event.preventDefault()
          act()
        },
      } as JSX.SVGAttributes<SVGGElement>
    }
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
      <title>{data.title}</title>
      {panels.map((panel) => {
        const side = data.sides[panel.side] as SwimlaneData['sides'][number]
        return (
          <g key={panel.side} role="tree" aria-label={`Request ${side.period}`}>
            <DragArea panel={panel} layout={layout} range={range} onRange={onRange} />
            <SwimlanePanel
              {...{ layout, panel, side, ink: PAGE_INK, clip: `${clip}-${panel.side}` }}
              attributesOf={attributesOf(panel)}
            />
          </g>
        )
      })}
    </svg>
  )
}

interface DragProps {
  readonly panel: Panel
  readonly layout: SwimlaneLayout
  readonly range: StretchUs
  readonly onRange: (range: StretchUs) => void
}

/** Behind the lanes of a panel: dragging across goes into a part of the time. */
function DragArea({ panel, layout, range: [fromUs, toUs], onRange }: DragProps) {
  const timeAt = (share: number) => fromUs + share * (toUs - fromUs)
  const [dragged, handlers] = useDragRange(([from, to]) => onRange([timeAt(from), timeAt(to)]))
  const box = { y: panel.top + PANEL_HEAD, height: layout.lanesHeight + 20 }
  return (
    <g>
      <rect
        {...box}
        x={panel.left}
        width={panel.width}
        fill="transparent"
        class="fd-lane-plot"
        {...(handlers as object)}
      />
      {dragged === null ? null : (
        <rect
          {...box}
          x={panel.left + dragged[0] * panel.width}
          width={(dragged[1] - dragged[0]) * panel.width}
          fill="var(--fd-focus)"
          opacity="0.3"
          pointer-events="none"
        />
      )}
    </g>
  )
}

function keyOf({ kind, number }: LaneItem): string {
  return `${kind}-${number}`
}

/** From when to when an item is, with something around it where it takes no time. */
function timeOf(
  { visits, messages }: SwimlaneData['sides'][number],
  { kind, number }: LaneItem,
): StretchUs {
  const visit = visits[number]
  const message = messages[number]
  const [fromUs, toUs] =
    kind === 'visit'
      ? [visit?.startUs ?? 0, visit?.endUs ?? 0]
      : [message?.sentUs ?? 0, message?.arrivedUs ?? 0]
  const around = Math.max(0.05 * (toUs - fromUs), 0.5)
  return [Math.max(0, fromUs - around), toUs + around]
}

/** Tenths of a microsecond read better in code. */
function tenths(us: number): number {
  return Math.round(us * 10) / 10
}
