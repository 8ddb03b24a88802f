import type { JSX } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { tooltipText } from '../../../core/shown-text.ts'
import { counted } from '../../../core/words.ts'
import { Choice, StateCode, useDragRange, useWidth } from '../../drawing/controls.tsx'
import { Caption, Figure } from '../../drawing/figure.tsx'
import { useIsStill } from '../../drawing/medium.ts'
import type { StretchUs } from '../../drawing/stretches.ts'
import { useWidgetOptions, type ViewProps } from '../define-widget.ts'
import { SWIMLANE_OPTIONS, type SwimlaneOptions } from './options.ts'
import {
  drawnItems,
  MAX_TRACKS,
  PANEL_FOOT,
  PANEL_HEAD,
  type Panel,
  type SwimlaneLayout,
  swimlaneLayout,
  visitLine,
} from './swimlane-layout.ts'
import type { SwimlaneData } from './swimlane-model.ts'
import { SwimlaneLegend, SwimlanePanel, TimeGrid } from './swimlane-panel.tsx'
import type { LaneItem } from './swimlane-words.ts'

/** Height of the lanes in a page at most, in pixels; beyond, they scroll. */
const WINDOW = 640

/** How swimlanes answer to pointer and keyboard. */
export const SWIMLANE_STYLE = `
.fd-lane-window { max-height: ${WINDOW}px; overflow-y: auto; overflow-x: hidden; position: relative; }
.fd-lane-axis { position: sticky; bottom: 0; margin-top: -24px; background: var(--fd-back); border-top: 1px solid var(--fd-line); pointer-events: none; }
.fd-lane-item { cursor: default; }
.fd-lane-item:focus { outline: none; }
.fd-lane-item:hover .fd-lane-line, .fd-lane-item:focus .fd-lane-line { stroke-width: 3; }
.fd-lane-item:focus-visible .fd-lane-line { stroke: var(--fd-focus); stroke-width: 4; }
.fd-lane-item:hover > rect:first-of-type { fill: var(--fd-selected); }
.fd-lane-item:focus > rect:first-of-type { fill: var(--fd-selected); stroke: var(--fd-text); stroke-width: 1; }
.fd-lane-item:focus-visible > rect:first-of-type { stroke: var(--fd-focus); stroke-width: 2; }
.fd-lane-plot { cursor: crosshair; touch-action: pan-y; }
.fd-lane-words { min-height: 3em; }
`

/** Arranges both requests, goes into a part of the time, and says what is pointed at. */
export function SwimlaneView(props: ViewProps<SwimlaneData, SwimlaneOptions>) {
  const { data } = props
  const isStill = useIsStill()
  const { options: state, change, code } = useWidgetOptions(SWIMLANE_OPTIONS, props)
  const [words, setWords] = useState('')
  const [place, width] = useWidth<HTMLDivElement>()
  const goInto = ([fromUs, toUs]: StretchUs) =>
    change({ range: [tenths(fromUs), Math.max(tenths(toUs), tenths(fromUs) + 0.1)] })
  const layout = swimlaneLayout(data, isStill ? { ...state, folded: true } : state, width)
  return (
    <section aria-label="Swimlanes">
      <Caption text={tooltipText(data.title)} isHeading />
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
        <SwimlaneLegend />
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
      <StateCode code={code} />
    </section>
  )
}

/** Lanes, or where there are few of them the lines in these. */
function countOfLanes({ lanes }: SwimlaneData): string {
  const tracks = lanes.reduce((sum, lane) => sum + lane.tracks, 0)
  return lanes.length > MAX_TRACKS ? counted(lanes.length, 'lane') : counted(tracks, 'line')
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
          <TimeGrid range={range} width={panel.width} height={0} />
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
  const isStill = useIsStill()
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
    <Figure svgRef={drawing} width={width} height={height} label={data.title}>
      {panels.map((panel) => {
        const side = data.sides[panel.side] as SwimlaneData['sides'][number]
        return (
          <g key={panel.side} role="tree" aria-label={`Request ${side.period}`}>
            {isStill ? null : (
              <DragArea panel={panel} layout={layout} range={range} onRange={onRange} />
            )}
            <SwimlanePanel
              {...{ layout, panel, side, clip: `${clip}-${panel.side}` }}
              {...(isStill ? {} : { attributesOf: attributesOf(panel) })}
            />
          </g>
        )
      })}
    </Figure>
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
