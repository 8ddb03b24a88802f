import { useMemo, useState } from 'preact/hooks'
import type { RangeUs } from '../../../flows/select-requests.ts'
import { useWidth } from '../../drawing/axis-width.ts'
import { PAGE_INK } from '../../drawing/ink.ts'
import { StateCode } from '../../drawing/state-code.tsx'
import { TimelineBrush } from './timeline-brush.tsx'
import { timelineCode } from './timeline-code.ts'
import { TimelineDrawing } from './timeline-drawing.tsx'
import { TimelineFacts } from './timeline-facts.tsx'
import { TimelineFilterSelect } from './timeline-filter.tsx'
import { timelineLayout } from './timeline-layout.ts'
import {
  filteredRequests,
  shownCategories,
  type TimelineData,
  type TimelineState,
  timelineModel,
} from './timeline-model.ts'
import { arrivalSpan, summarizeRange } from './timeline-summary.ts'

const CELL = 3

/** Arrivals and response times of both periods, to select a stretch of time in each. */
export function TimelineView({ data }: { readonly data: TimelineData }) {
  const model = useMemo(() => timelineModel(data), [data])
  const [state, setState] = useState<TimelineState>(data.initial)
  const [isLinked, setLinked] = useState(false)
  const [place, width] = useWidth<HTMLDivElement>(760)
  const { filter, ranges } = state
  const requests = useMemo(() => {
    const shown = shownCategories(data.categories, filter)
    return [
      filteredRequests(model.requests[0], shown),
      filteredRequests(model.requests[1], shown),
    ] as const
  }, [data, model, filter])
  const layout = useMemo(() => timelineLayout(model, width), [model, width])
  // Kept while a range is dragged: only what lies on top of it changes.
  const drawing = useMemo(
    () => <TimelineDrawing {...{ model, requests, layout, cell: CELL, ink: PAGE_INK }} />,
    [model, requests, layout],
  )
  const setRange = (period: 0 | 1, range: RangeUs | null) => {
    const [before, after] = ranges
    const both = isLinked ? ([range, range] as const) : ([range, after] as const)
    setState({ filter, ranges: period === 0 || isLinked ? both : [before, range] })
  }
  return (
    <section aria-label="Timeline">
      <div class="fd-bar">
        <TimelineFilterSelect
          {...{ data, filter }}
          onChange={(next) => setState({ ranges, filter: next })}
        />
        <label>
          <input
            type="checkbox"
            checked={isLinked}
            onInput={({ currentTarget: { checked } }) => {
              setLinked(checked)
              const range = ranges[0] ?? ranges[1]
              if (checked) setState({ filter, ranges: [range, range] })
            }}
          />
          same range in both
        </label>
        <button
          type="button"
          disabled={ranges[0] === null && ranges[1] === null}
          onClick={() => setState({ filter, ranges: [null, null] })}
        >
          Select everything
        </button>
      </div>
      <div ref={place}>
        <svg
          {...{ width, height: layout.height, viewBox: `0 0 ${width} ${layout.height}` }}
          {...{ 'font-size': '11', role: 'group' }}
          aria-label="When requests arrived and how long they took, before and after"
        >
          {drawing}
          {([0, 1] as const).map((period) => (
            <TimelineBrush
              key={period}
              {...{ period, model, layout, range: ranges[period] }}
              onChange={(range) => setRange(period, range)}
            />
          ))}
        </svg>
      </div>
      <p class="fd-soft">
        Drag across a period to select a stretch of time, drag the stretch or its ends, or move the
        ends with the arrow keys (with Shift: further; Escape: everything).
      </p>
      <TimelineFacts
        {...{ ranges, spanUs: model.spanUs }}
        summaries={[
          summarizeRange(requests[0], ranges[0], arrivalSpan(model, 0)),
          summarizeRange(requests[1], ranges[1], arrivalSpan(model, 1)),
        ]}
      />
      <StateCode code={timelineCode(data, state)} />
    </section>
  )
}
