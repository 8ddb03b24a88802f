import { tooltipText } from '../../../core/shown-text.ts'
import { formatDuration } from '../../../core/units.ts'
import { counted, percent } from '../../../core/words.ts'
import { lengthUs } from '../../drawing/stretches.ts'
import type { GanttData } from './gantt-model.ts'
import { callName, type GanttRow } from './gantt-rows.ts'

interface Shown {
  readonly data: GanttData
  readonly row: GanttRow
}

/** The times of one call, and all that was recorded of it. */
export function GanttDetails({ data, row: { call, inner } }: Shown) {
  const { startUs, endUs, work, critical, facts, host, service, isError } = call
  const criticalUs = lengthUs(critical)
  const spans = [
    [
      'began',
      startUs === 0 ? 'with the trace' : `${formatDuration(startUs)} after the trace began`,
    ],
    ['took', formatDuration(endUs - startUs)],
    ['worked', formatDuration(lengthUs(work))],
    ['waited for what it called', formatDuration(endUs - startUs - lengthUs(work))],
    [
      'itself on the critical path',
      criticalUs === 0
        ? 'none'
        : `${formatDuration(criticalUs)}, ${percent(criticalUs / data.responseTimeUs)} of the response time`,
    ],
    ['calls within', counted(inner, 'call')],
    ...(service === '' ? [] : [['service', tooltipText(service)]]),
    ...(host === '' ? [] : [['host', tooltipText(host)]]),
  ] as const
  return (
    <div class="fd-gantt-details" aria-live="polite">
      <h3 style="overflow-wrap:anywhere">
        {isError ? '✕ ' : ''}
        {tooltipText(callName(call))}
      </h3>
      <div
        class="fd-scroll"
        style="display:flex;flex-wrap:wrap;gap:8px 32px;align-items:flex-start"
      >
        <Facts label="times" rows={spans} />
        {facts.length === 0 ? null : (
          <Facts
            label="recorded"
            rows={facts.map(([name, value]) => [tooltipText(name), tooltipText(String(value))])}
          />
        )}
      </div>
    </div>
  )
}

function Facts({
  label,
  rows,
}: {
  readonly label: string
  readonly rows: readonly (readonly [string, string] | readonly string[])[]
}) {
  return (
    <table aria-label={label}>
      <tbody>
        {rows.map(([name, value], i) => (
          <tr key={i}>
            <th scope="row" style="font-weight:normal;position:static" class="fd-soft">
              {name}
            </th>
            <td>{value}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
