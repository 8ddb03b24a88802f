import { useMemo } from 'preact/hooks'
import type { Comparison } from '../../../compare/comparison.ts'
import { OptionError } from '../../../core/errors.ts'
import { counted, formatDuration, grouped, percent, signedDuration } from '../../../core/words.ts'
import type { RangeUs } from '../../../flows/select-requests.ts'
import {
  type ArrivalsData,
  type ArrivedRequest,
  arrivalsData,
  arrivalsModel,
} from '../../charts/arrivals.ts'
import { timeMarks } from '../../charts/time-marks.ts'
import { Button, StateCode } from '../../drawing/controls.tsx'
import { DataTable } from '../../drawing/data-table.tsx'
import { timeText } from '../../drawing/time-scale.ts'
import { defineWidget, useWidgetOptions, type ViewProps } from '../define-widget.ts'
import { FINDINGS_STYLE } from '../findings/findings-list.tsx'
import { RIBBON_STYLE } from '../findings/ribbon-pane.tsx'
import { traceLinks } from '../findings/trace-link.tsx'
import { carriedRequests, type StretchData, StretchPane, useStretch } from './stretch.tsx'
import { TIMELINE_STYLE, Timeline } from './timeline-drawing.tsx'
import {
  rateText,
  summarizeRange,
  TIMELINE_OPTIONS,
  type TimelineOptions,
  timelineCode,
} from './timeline-model.ts'

function TimelineView(props: ViewProps<ArrivalsData & StretchData, TimelineOptions>) {
  const { data, call } = props
  const model = useMemo(() => arrivalsModel(data), [data])
  const { options, change } = useWidgetOptions(TIMELINE_OPTIONS, props)
  const { beforeUs, afterUs, category } = options
  const ranges = [beforeUs, afterUs] as const
  const requests = useMemo(() => {
    const kept = (all: readonly ArrivedRequest[]) =>
      all.filter((one) => category === null || one.category === category)
    return [kept(model.requests[0]), kept(model.requests[1])] as const
  }, [model, category])
  const stretch = useStretch(data, { ranges, category })
  return (
    <section aria-label="Timeline">
      <Timeline
        {...{ model, requests, ranges }}
        onRange={(period, range) => change(period === 0 ? { beforeUs: range } : { afterUs: range })}
      />
      <Button
        disabled={beforeUs === null && afterUs === null}
        onClick={() => change({ beforeUs: null, afterUs: null })}
      >
        Select everything
      </Button>
      <Facts
        ranges={ranges}
        spanUs={model.spanUs}
        summaries={[
          summarizeRange(requests[0], ranges[0], model.requests[0]),
          summarizeRange(requests[1], ranges[1], model.requests[1]),
        ]}
      />
      <StretchPane stretch={stretch} name={call.name} linkOf={traceLinks(options.traceUrl)} />
      <StateCode code={timelineCode(options, call.name)} />
    </section>
  )
}

type Summary = ReturnType<typeof summarizeRange>

interface FactsProps {
  readonly summaries: readonly [Summary, Summary]
  readonly ranges: readonly [RangeUs | null, RangeUs | null]
  readonly spanUs: RangeUs
}

const FACTS = ['period', 'arrived', 'requests', 'rate', 'mean time', 'median time']

function Facts({ summaries: [before, after], ranges, spanUs }: FactsProps) {
  const known = (us: number, text: (us: number) => string) => (Number.isFinite(us) ? text(us) : '–')
  const facts = ({ requests, all, perSecond, meanUs, medianUs }: Summary) => [
    requests === all ? grouped(all) : `${grouped(requests)} (${percent(requests / all)})`,
    rateText(perSecond),
    known(meanUs, formatDuration),
    known(medianUs, formatDuration),
  ]
  const more = after.requests - before.requests
  const rows = [
    ['before', rangeText(ranges[0], spanUs), ...facts(before)],
    ['after', rangeText(ranges[1], spanUs), ...facts(after)],
    [
      'after − before',
      '',
      signed(more, grouped(Math.abs(more))),
      rateChange(before.perSecond, after.perSecond),
      known(after.meanUs - before.meanUs, signedDuration),
      known(after.medianUs - before.medianUs, signedDuration),
    ],
  ]
  const columns = FACTS.map((title, i) => ({
    title,
    isHead: i === 0,
    isNumber: i > 1,
    cell: (row: readonly string[]) => row[i],
  }))
  return (
    <div aria-live="polite">
      <DataTable class="fd-facts" columns={columns} rows={rows} />
    </div>
  )
}

function rangeText(range: RangeUs | null, spanUs: RangeUs): string {
  if (range === null) return 'at any time'
  return `from ${timeText(range[0], spanUs)} to ${timeText(range[1], spanUs)}`
}

function signed(change: number, size: string): string {
  return change === 0 ? size : `${change > 0 ? '+' : '−'}${size}`
}

function rateChange(before: number, after: number): string {
  const change = after / before - 1
  if (!Number.isFinite(change)) return '–'
  return Math.abs(change) < 0.005 ? 'the same' : signed(change, percent(Math.abs(change)))
}

/**
 * When requests of both periods arrived and how long they took; a stretch selected in each is
 * counted, and written as code.
 */
export const timelineWidget = defineWidget({
  name: 'timeline',
  title: 'Timeline',
  description: ({ packed: [before, after] }: ArrivalsData & StretchData) =>
    `When ${counted(before.gapsUs.length, 'request')} before and ` +
    `${counted(after.gapsUs.length, 'request')} after arrived and how long they took; ` +
    'drag across a period to compare a stretch of time.',
  options: TIMELINE_OPTIONS,
  data: (comparison: Comparison, { category }) => {
    const { size } = comparison.categories
    if (category !== null && category >= size) {
      throw new OptionError('category', category, `a category from 0 to ${size - 1}`)
    }
    return {
      ...arrivalsData(comparison.categories, timeMarks(comparison)),
      carried: carriedRequests(comparison),
    }
  },
  initial: (_, { beforeUs, afterUs, ...options }) => ({
    ...options,
    beforeUs: wholeRange(beforeUs),
    afterUs: wholeRange(afterUs),
  }),
  view: TimelineView,
  hasCharts: true,
  style: `${TIMELINE_STYLE}${FINDINGS_STYLE}${RIBBON_STYLE}
.fd-facts thead th.fd-amount { white-space: normal; }
.fd-facts th, .fd-facts td { padding: 3px 6px; }
.fd-facts table { min-width: min(100%, 600px); }
`,
})

/** Widens a range to whole µs, as arrivals are rounded in the page. */
function wholeRange(range: RangeUs | null): RangeUs | null {
  return range === null ? null : [Math.floor(range[0]), Math.ceil(range[1])]
}
