import type { AxisTick } from '../../drawing/axis-scale.ts'
import { useDragRange } from '../../drawing/drag-range.ts'
import { PAGE_INK } from '../../drawing/ink.ts'
import type { StretchUs } from '../../drawing/stretches.ts'
import type { GanttData } from './gantt-model.ts'

interface Shown {
  readonly data: GanttData
  readonly range: StretchUs
  readonly ticks: readonly AxisTick[]
  readonly onRange: (range: StretchUs) => void
}

/** The time axis above the rows; dragging across it goes into a part of the time. */
export function GanttAxis({ data, range, ticks, onRange }: Shown) {
  const [fromUs, toUs] = range
  const timeAt = (share: number) => fromUs + share * (toUs - fromUs)
  const [dragged, handlers] = useDragRange(([from, to]) => onRange([timeAt(from), timeAt(to)]))
  return (
    <div class="fd-gantt-row fd-gantt-head">
      <span class="fd-soft">{data.calls.length === 1 ? 'call' : 'calls'}</span>
      <div class="fd-gantt-axis" title="Drag to go into a part of the time" {...handlers}>
        <svg height="22" font-size="11" aria-hidden="true" style="width:100%;overflow:visible">
          <rect width="100%" height="22" fill="transparent" />
          {ticks.map(({ value, text }) => {
            const share = (value - fromUs) / (toUs - fromUs)
            const x = percentOf(share)
            return (
              <g key={value}>
                <line x1={x} x2={x} y1="17" y2="22" stroke={PAGE_INK.line} />
                <text x={x} y="13" text-anchor={anchor(share)} class="fd-soft">
                  {text}
                </text>
              </g>
            )
          })}
          {dragged === null ? null : (
            <rect
              x={percentOf(dragged[0])}
              width={percentOf(dragged[1] - dragged[0])}
              height="22"
              fill="var(--fd-focus)"
              opacity="0.35"
            />
          )}
        </svg>
      </div>
      <span class="fd-gantt-length">takes</span>
    </div>
  )
}

function percentOf(share: number): string {
  return `${(100 * share).toFixed(3)}%`
}

/** Texts at the ends stay within. */
function anchor(share: number): 'start' | 'middle' | 'end' {
  return share < 0.03 ? 'start' : share > 0.97 ? 'end' : 'middle'
}
