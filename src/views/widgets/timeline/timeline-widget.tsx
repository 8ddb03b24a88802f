import { rollup, sort } from 'd3-array'
import { useMemo, useState } from 'preact/hooks'
import type { Comparison } from '../../../compare/comparison.ts'
import { OptionError } from '../../../core/errors.ts'
import {
  counted,
  formatDuration,
  grouped,
  percent,
  shortText,
  signedDuration,
} from '../../../core/words.ts'
import type { RangeUs } from '../../../flows/select-requests.ts'
import { timeText } from '../../drawing/axes.tsx'
import { Button, Checkbox, StateCode } from '../../drawing/controls.tsx'
import { DataTable } from '../../drawing/data-table.tsx'
import { defineWidget, useWidgetOptions, type ViewProps } from '../define-widget.ts'
import { FINDINGS_STYLE } from '../findings/findings-list.tsx'
import { RIBBON_STYLE } from '../findings/ribbon-pane.tsx'
import { traceLinks } from '../findings/trace-link.tsx'
import { carriedRequests, type StretchData, StretchPane, useStretch } from './stretch.tsx'
import { TIMELINE_STYLE, Timeline } from './timeline-drawing.tsx'
import {
  filteredRequests,
  rateText,
  summarizeRange,
  TIMELINE_OPTIONS,
  type TimelineData,
  type TimelineFilter,
  type TimelineOptions,
  timelineCode,
  timelineData,
  timelineModel,
} from './timeline-model.ts'

function TimelineView(props: ViewProps<TimelineData & StretchData, TimelineOptions>) {
  const { data, call } = props
  const model = useMemo(() => timelineModel(data), [data])
  const { options, change } = useWidgetOptions(TIMELINE_OPTIONS, props)
  const { beforeUs, afterUs, category } = options
  const ranges = [beforeUs, afterUs] as const
  const [root, setRoot] = useState<number | null>(null)
  const [isLinked, setLinked] = useState(false)
  const requests = useMemo(() => {
    const [before, after] = model.requests
    const kept = (all: typeof before) => filteredRequests(all, data.categories, { category, root })
    return [kept(before), kept(after)] as const
  }, [data, model, category, root])
  const setRange = (period: 0 | 1, range: RangeUs | null) =>
    change({
      ...(period === 0 || isLinked ? { beforeUs: range } : {}),
      ...(period === 1 || isLinked ? { afterUs: range } : {}),
    })
  const stretch = useStretch(data, { ranges, filter: { category, root } })
  return (
    <section aria-label="Timeline">
      <div class="fd-bar">
        <FilterSelect
          data={data}
          filter={{ category, root }}
          onChange={(next) => {
            change({ category: next.category })
            setRoot(next.root)
          }}
        />
        <Checkbox
          label="same range in both"
          isChecked={isLinked}
          onChange={(isOn) => {
            setLinked(isOn)
            const range = beforeUs ?? afterUs
            if (isOn) change({ beforeUs: range, afterUs: range })
          }}
        />
        <Button
          disabled={beforeUs === null && afterUs === null}
          onClick={() => change({ beforeUs: null, afterUs: null })}
        >
          Select everything
        </Button>
      </div>
      <Timeline {...{ model, requests, ranges }} onRange={setRange} />
      <Facts
        ranges={ranges}
        spanUs={model.spanUs}
        summaries={[
          summarizeRange(requests[0], ranges[0], model.requests[0]),
          summarizeRange(requests[1], ranges[1], model.requests[1]),
        ]}
      />
      <StretchPane stretch={stretch} name={call.name} linkOf={traceLinks(options.traceUrl)} />
      <StateCode code={timelineCode(data, { ...options, root }, call.name)} />
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

const MAX_CHOICES = 200
const MAX_NAME_LENGTH = 60

interface FilterProps {
  readonly data: TimelineData
  readonly filter: TimelineFilter
  readonly onChange: (filter: TimelineFilter) => void
}

function FilterSelect({ data: { packed, categories, roots }, filter, onChange }: FilterProps) {
  const requests = useMemo(() => packed.flatMap((period) => period.categories), [packed])
  const groups = [
    {
      kind: 'root',
      label: 'that begin with',
      numberOf: (category: number) => categories[category]?.[0] ?? -1,
      nameOf: (root: number) => shortText(roots[root] ?? '', MAX_NAME_LENGTH),
    },
    {
      kind: 'category',
      label: 'of a category',
      numberOf: (category: number) => category,
      nameOf: (category: number) => `${categories[category]?.[1]} (${category})`,
    },
  ] as const
  const chosen = groups.find(({ kind }) => filter[kind] !== null)
  return (
    <label>
      requests
      <select
        value={chosen === undefined ? 'all' : `${chosen.kind} ${filter[chosen.kind]}`}
        onInput={({ currentTarget }) => {
          const [kind, of] = currentTarget.value.split(' ')
          onChange({ category: null, root: null, [kind as string]: Number(of) })
        }}
      >
        <option value="all">all</option>
        {groups.map(({ kind, label, numberOf, nameOf }) => (
          <optgroup key={kind} label={label}>
            {sort(
              rollup(requests, ({ length }) => length, numberOf),
              ([, count]) => -count,
              ([number]) => number,
            )
              .filter(([number], place) => place < MAX_CHOICES || filter[kind] === number)
              .map(([number, count]) => (
                <option key={number} value={`${kind} ${number}`}>
                  {nameOf(number)}: {grouped(count)}
                </option>
              ))}
          </optgroup>
        ))}
      </select>
    </label>
  )
}

/**
 * When requests of both periods arrived and how long they took; a stretch selected in each is
 * counted, and written as code.
 */
export const timelineWidget = defineWidget({
  name: 'timeline',
  title: 'Timeline',
  description: ({ packed: [before, after] }: TimelineData & StretchData) =>
    `When ${counted(before.gapsUs.length, 'request')} before and ` +
    `${counted(after.gapsUs.length, 'request')} after arrived and how long they took; ` +
    'drag across a period to compare a stretch of time.',
  options: TIMELINE_OPTIONS,
  data: (comparison: Comparison, { category }) => {
    const { size } = comparison.categories
    if (category !== null && category >= size) {
      throw new OptionError('category', category, `a category from 0 to ${size - 1}`)
    }
    return { ...timelineData(comparison), carried: carriedRequests(comparison) }
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
select { max-width: 26em; }
`,
})

/** Widens a range to whole µs, as arrivals are rounded in the page. */
function wholeRange(range: RangeUs | null): RangeUs | null {
  return range === null ? null : [Math.floor(range[0]), Math.ceil(range[1])]
}
