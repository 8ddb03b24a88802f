import type { Comparison } from '../../../compare/comparison.ts'
import { OptionError } from '../../../core/errors.ts'
import { counted } from '../../../core/words.ts'
import type { RangeUs } from '../../../flows/select-requests.ts'
import { ZOOM_STYLE } from '../../drawing/time-range.tsx'
import { defineWidget } from '../define-widget.ts'
import { TIMELINE_OPTIONS, type TimelineData, timelineData } from './timeline-model.ts'
import { TimelineView } from './timeline-view.tsx'

/**
 * When requests of both periods arrived and how long they took; a stretch selected in each is
 * counted, and written as code.
 */
export const timelineWidget = defineWidget({
  name: 'timeline',
  title: 'Timeline',
  description: ({ packed: [before, after] }: TimelineData) =>
    `When ${counted(before.gapsUs.length, 'request')} before and ` +
    `${counted(after.gapsUs.length, 'request')} after arrived and how long they took; ` +
    'drag across a period to select a stretch of time.',
  options: TIMELINE_OPTIONS,
  data: (comparison: Comparison, { category }) => {
    const { size } = comparison.categories
    if (category !== null && category >= size) {
      throw new OptionError('category', category, `a category from 0 to ${size - 1}`)
    }
    return timelineData(comparison)
  },
  initial: (_, { beforeUs, afterUs, ...options }) => ({
    ...options,
    beforeUs: wholeRange(beforeUs),
    afterUs: wholeRange(afterUs),
  }),
  view: TimelineView,
  style: `${ZOOM_STYLE}
.fd-facts thead th.fd-amount { white-space: normal; }
.fd-facts th, .fd-facts td { padding: 3px 6px; }
.fd-facts table { min-width: min(100%, 600px); }
select { max-width: 26em; }
`,
})

/** Widens a range to whole µs, as arrivals are rounded in the page. */
function wholeRange(range: RangeUs | null): RangeUs | null {
  return range === null ? null : [Math.floor(range[0]), Math.ceil(range[1])]
}
