import { sum } from 'd3-array'
import { useMemo, useState } from 'preact/hooks'
import type { Comparison } from '../../../compare/comparison.ts'
import { counted, formatDuration, grouped, tooltipText } from '../../../core/words.ts'
import { Button, Choice, StateCode, useWidth } from '../../drawing/controls.tsx'
import { Caption, Figure, useInk, useIsStill } from '../../drawing/figure.tsx'
import { Legend, marked, swatch } from '../../drawing/legend.tsx'
import { type StretchUs, TimeGrid, ZOOM_STYLE } from '../../drawing/time-range.tsx'
import { defineWidget, useWidgetOptions, type ViewProps } from '../define-widget.ts'
import { MAX_TRACKS, PANEL_FOOT, type SwimlaneLayout, swimlaneLayout } from './swimlane-layout.ts'
import {
  SWIMLANE_OPTIONS,
  type SwimlaneData,
  type SwimlaneOptions,
  type SwimlaneSide,
  shownRequests,
  swimlaneData,
} from './swimlane-model.ts'
import { SwimlanePanel } from './swimlane-panel.tsx'

const WINDOW = 640

const SWIMLANE_STYLE = `${ZOOM_STYLE}
.fd-lane-window { max-height: ${WINDOW}px; overflow-y: auto; overflow-x: hidden; position: relative; }
.fd-lane-axis { position: sticky; bottom: 0; margin-top: -24px; background: var(--fd-back); border-top: 1px solid var(--fd-line); pointer-events: none; }
.fd-lane-item { cursor: default; }
.fd-lane-item:hover .fd-lane-line, .fd-lane-item:focus .fd-lane-line { stroke-width: 3; }
.fd-lane-item:focus-visible .fd-lane-line { stroke: var(--fd-focus); stroke-width: 4; }
.fd-lane-item:hover > rect:first-of-type { fill: var(--fd-selected); }
.fd-lane-item:focus > rect:first-of-type { fill: var(--fd-selected); stroke: var(--fd-text); stroke-width: 1; }
.fd-lane-item:focus-visible > rect:first-of-type { stroke: var(--fd-focus); stroke-width: 2; }
.fd-lane-words { min-height: 3em; }
`

function SwimlaneView(props: ViewProps<SwimlaneData, SwimlaneOptions>) {
  const { data } = props
  const isStill = useIsStill()
  const ink = useInk()
  const { options: state, change, code } = useWidgetOptions(SWIMLANE_OPTIONS, props)
  const { arrangement, range, folded } = state
  const [words, setWords] = useState('')
  const [place, width] = useWidth<HTMLDivElement>()
  const zoom = (next: StretchUs | null) => change({ range: next })
  const layout = useMemo(
    () => swimlaneLayout(data, { arrangement, range, folded: isStill || folded }, width),
    [data, arrangement, range, folded, width],
  )
  const line = { x2: 24, y1: 9, y2: 9, stroke: ink.soft }
  return (
    <section aria-label="Swimlanes">
      <Caption text={tooltipText(data.title)} isHeading />
      <div class="fd-bar">
        {data.sides.length < 2 ? null : (
          <Choice
            name="after"
            help="One below the other, over one axis; or next to each other, on the same scale"
            value={arrangement}
            values={{ below: 'below before', beside: 'beside before' }}
            onChoose={(next) => change({ arrangement: next })}
          />
        )}
        <Button disabled={range === null} onClick={() => zoom(null)}>
          whole time
        </Button>
        {layout.isLong ? (
          <Button onClick={() => change({ folded: !folded })}>
            {folded ? `show all ${countOfLanes(data)}` : 'fold lanes'}
          </Button>
        ) : null}
        <span class="fd-soft">
          Drag across the lanes, or press z on a line, to go into the time of both.
        </span>
      </div>
      <Legend
        width={width}
        entries={[
          swatch('works', { y: 4, height: 8, fill: ink.soft }),
          swatch('waits', { y: 8, height: 2, fill: ink.soft }),
          marked('call', <line {...line} />),
          marked('reply', <line {...line} stroke-dasharray="3 2" />),
          swatch('on the critical path', { y: 8, height: 2.5, fill: ink.text }),
        ]}
      />
      <div ref={place} class="fd-lane-window">
        <Figure width={layout.width} height={layout.height} label={data.title}>
          {layout.panels.map((panel) => (
            <SwimlanePanel
              key={panel.side}
              {...{ layout, panel, side: data.sides[panel.side] as SwimlaneSide }}
              onWords={setWords}
              onRange={zoom}
            />
          ))}
        </Figure>
        {layout.height > WINDOW ? <StickyAxis layout={layout} /> : null}
      </div>
      <p class="fd-lane-words" aria-live="polite">
        {words === '' ? (
          <span class="fd-soft">
            Point at a line, or use Tab and the arrow keys, for details. Dotted line: the reply to
            the request.
          </span>
        ) : (
          words
        )}
      </p>
      <StateCode code={code} />
    </section>
  )
}

function countOfLanes({ lanes }: SwimlaneData): string {
  if (lanes.length > MAX_TRACKS) return counted(lanes.length, 'lane')
  return counted(
    sum(lanes, ({ tracks }) => tracks),
    'line',
  )
}

/** Draws the times, over those that end the drawing, in sight wherever it is scrolled to. */
function StickyAxis({ layout: { width, panels, range } }: { readonly layout: SwimlaneLayout }) {
  return (
    <svg
      class="fd-lane-axis"
      width={width}
      height={PANEL_FOOT}
      aria-hidden="true"
      font-family="system-ui, sans-serif"
    >
      {panels
        .filter(({ top }) => top === 0)
        .map((panel) => (
          <g key={panel.side} transform={`translate(${panel.left} 0)`}>
            <TimeGrid range={range} width={panel.width} lines={[0, 4]} textY={17} />
          </g>
        ))}
    </svg>
  )
}

/**
 * Messages between components over time, before and after on one scale, like trains of a railway;
 * of a category, the real request with the median response time, or that of its likeliest
 * precursor. Source: Sambasivan 2013, §7.5.
 */
export const swimlanesWidget = defineWidget({
  name: 'swimlanes',
  title: 'Swimlanes',
  description: ({ sides, title }: SwimlaneData) => {
    const said = sides.map(
      ({ period, responseTimeUs, messages, choice }) =>
        `${period} ${formatDuration(responseTimeUs)} with ${grouped(messages.length)} messages (${choice})`,
    )
    return `${title}: ${said.join('; ')}.`
  },
  options: SWIMLANE_OPTIONS,
  data: swimlaneData,
  initial: (comparison: Comparison, options: SwimlaneOptions) => ({
    ...options,
    ...shownRequests(comparison, options),
  }),
  view: SwimlaneView,
  style: SWIMLANE_STYLE,
})
