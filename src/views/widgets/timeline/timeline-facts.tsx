import { formatDuration } from '../../../core/units.ts'
import { grouped, percent, signedDuration } from '../../../core/words.ts'
import type { RangeUs } from '../../../flows/select-requests.ts'
import { timeText } from '../../drawing/axis-scale.ts'
import { rateText, type TimelineSummary } from './timeline-summary.ts'

interface Shown {
  readonly summaries: readonly [TimelineSummary, TimelineSummary]
  readonly ranges: readonly [RangeUs | null, RangeUs | null]
  readonly spanUs: RangeUs
}

/** What the selected requests of both periods amount to, and the difference. */
export function TimelineFacts({ summaries, ranges, spanUs }: Shown) {
  const [before, after] = summaries
  return (
    <div class="fd-scroll" aria-live="polite">
      <table class="fd-timeline-facts">
        <thead>
          <tr>
            <th scope="col">period</th>
            <th scope="col">arrived</th>
            {['requests', 'rate', 'mean time', 'median time'].map((name) => (
              <th key={name} scope="col" class="fd-amount">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {summaries.map(({ requests, all, perSecond, meanUs, medianUs }, period) => (
            <tr key={period}>
              <th scope="row" class="fd-name">
                <svg width="10" height="10" aria-hidden="true" style="display:inline">
                  <rect
                    width="10"
                    height="10"
                    style={`fill:var(--fd-${period === 0 ? 'before' : 'after'})`}
                  />
                </svg>{' '}
                {period === 0 ? 'before' : 'after'}
              </th>
              <td>{rangeText(ranges[period] ?? null, spanUs)}</td>
              <td class="fd-amount">
                {grouped(requests)}
                {requests === all ? '' : ` (${percent(requests / all)})`}
              </td>
              <td class="fd-amount">{rateText(perSecond)}</td>
              <td class="fd-amount">{timeOrNone(meanUs)}</td>
              <td class="fd-amount">{timeOrNone(medianUs)}</td>
            </tr>
          ))}
          <tr>
            <th scope="row" colSpan={2}>
              after − before
            </th>
            <td class="fd-amount">{signedCount(after.requests - before.requests)}</td>
            <td class="fd-amount">{rateChange(before.perSecond, after.perSecond)}</td>
            <td class="fd-amount">{differenceOrNone(after.meanUs - before.meanUs)}</td>
            <td class="fd-amount">{differenceOrNone(after.medianUs - before.medianUs)}</td>
          </tr>
        </tbody>
      </table>
    </div>
  )
}

/** A range as it is said: `from 12 s to 31 s`. */
export function rangeText(range: RangeUs | null, spanUs: RangeUs): string {
  if (range === null) return 'at any time'
  return `from ${timeText(range[0], spanUs)} to ${timeText(range[1], spanUs)}`
}

function timeOrNone(us: number): string {
  return Number.isFinite(us) ? formatDuration(us) : '–'
}

function differenceOrNone(us: number): string {
  return Number.isFinite(us) ? signedDuration(us) : '–'
}

function signedCount(count: number): string {
  return count === 0 ? '0' : `${count > 0 ? '+' : '−'}${grouped(Math.abs(count))}`
}

function rateChange(before: number, after: number): string {
  const change = after / before - 1
  if (!Number.isFinite(change)) return '–'
  if (Math.abs(change) < 0.005) return 'the same'
  return `${change > 0 ? '+' : '−'}${percent(Math.abs(change))}`
}
