import { useMemo, useState } from 'preact/hooks'
import { Comparison } from '../../../compare/comparison.ts'
import { codeText } from '../../../core/code-literals.ts'
import { decodeColumns, type EncodedColumns, encodeColumns } from '../../../core/columns.ts'
import { OptionError } from '../../../core/errors.ts'
import { optionsCode } from '../../../core/options.ts'
import { counted, formatDuration, grouped, percent, shortTexts } from '../../../core/words.ts'
import {
  findVariance,
  VARIANCE_OPTIONS,
  type VarianceOptions,
  type VarianceSources,
} from '../../../explain/variance/find-variance.ts'
import { waterfallChart } from '../../charts/variance.ts'
import { Button, StateCode } from '../../drawing/controls.tsx'
import { DataTable, numberColumn, textColumn } from '../../drawing/data-table.tsx'
import { Caption, PageOnly } from '../../drawing/figure.tsx'
import { defineWidget, exploreCode, useWidgetOptions, type ViewProps } from '../define-widget.ts'
import { TABLE_STYLE, TableView } from '../table/table-widget.tsx'
import { VegaChart } from '../vega-chart.tsx'
import {
  type SpreadRow,
  VARIANCE_WIDGET_OPTIONS,
  type VarianceData,
  type VarianceWidgetOptions,
  varianceData,
} from './variance-data.ts'

/** Shows how edges add up to the variance of a category. */
function VarianceDetails({ waterfall }: { readonly waterfall: VarianceData['details'][number] }) {
  const { spec } = useMemo(() => waterfallChart(waterfall), [waterfall])
  return (
    <div class="fd-variance-open">
      <VegaChart spec={spec} />
    </div>
  )
}

const VARIANCE_STYLE = `
.fd-variance-list { max-height: 330px; }
.fd-variance-open { border-top: 1px solid var(--fd-line); padding-top: 10px; }
.fd-variance-list td button { white-space: normal; text-align: left; overflow-wrap: anywhere; }
.fd-variance-list td:first-child { min-width: 220px; }
`

function VarianceView(props: ViewProps<EncodedColumns<VarianceData>, VarianceWidgetOptions>) {
  const { call } = props
  const { options, change, code } = useWidgetOptions(VARIANCE_WIDGET_OPTIONS, props)
  const data = useMemo(() => decodeColumns(props.data), [props.data])
  const [open, setOpen] = useState(data.open === null ? null : (data.spreads[data.open] ?? null))
  const { categories: isPaneOpen } = options
  const detail = open?.detail == null ? null : (data.details[open.detail] ?? null)
  return (
    <section aria-label="Variance">
      <Caption text={varianceSummary(data)} />
      <Spreads data={data} open={open} onOpen={setOpen} />
      {open === null ? (
        <PageOnly>
          <p class="fd-soft">Open a kind of request to see which edges make it unpredictable.</p>
        </PageOnly>
      ) : detail === null ? (
        <p class="fd-soft">
          Its edges are not in this page:{' '}
          <code>
            {exploreCode(VARIANCE_WIDGET_OPTIONS, { ...options, category: open.category }, call)}
          </code>
        </p>
      ) : (
        <VarianceDetails key={open.detail} waterfall={detail} />
      )}
      <StateCode code={varianceCode({ ...data, name: call.name }, open)} />
      <div class="fd-bar">
        <Button aria-expanded={isPaneOpen} onClick={() => change({ categories: !isPaneOpen })}>
          {isPaneOpen ? '▾' : '▸'} All categories: distribution of C², and a table
        </Button>
      </div>
      {isPaneOpen ? (
        <>
          <CategoriesPane data={data.all} />
          <StateCode code={code} />
        </>
      ) : null}
    </section>
  )
}

const MAX_NAME_LENGTH = { page: 120, still: 44 } as const
const FEW = 25

interface SpreadsProps {
  readonly data: VarianceData
  readonly open: SpreadRow | null
  readonly onOpen: (row: SpreadRow | null) => void
}

function Spreads({ data: { spreads, ranked }, open, onOpen }: SpreadsProps) {
  const nameOf = (longest: number) => {
    const roots = shortTexts(
      spreads.map(({ root }) => root),
      longest,
    )
    const named = new Map(spreads.map((row, i) => [row, `${roots[i]} (${row.category})`] as const))
    return (row: SpreadRow) => named.get(row) ?? ''
  }
  const name = nameOf(MAX_NAME_LENGTH.page)
  const sdUs = ({ varianceUs2 }: SpreadRow) => Math.sqrt(varianceUs2)
  return (
    <>
      <DataTable<SpreadRow>
        class="fd-variance-list"
        rows={spreads}
        few={FEW}
        rowProps={(row) => ({ 'aria-selected': row === open })}
        columns={[
          {
            title: 'kind of request (category)',
            value: ({ root }) => root,
            still: nameOf(MAX_NAME_LENGTH.still),
            cell: (row) => (
              <Button
                title={row.root}
                aria-pressed={row === open}
                onClick={() => onOpen(row === open ? null : row)}
              >
                {name(row)}
              </Button>
            ),
          },
          textColumn('period', ({ period }) => period, { value: ({ period }) => period }),
          numberColumn('requests', ({ requests }) => grouped(requests), {
            value: ({ requests }) => requests,
          }),
          numberColumn('mean', ({ meanUs }) => formatDuration(meanUs), {
            value: ({ meanUs }) => meanUs,
          }),
          {
            title: 'standard deviation',
            isNumber: true,
            value: sdUs,
            cell: (row) => (Number.isNaN(row.varianceUs2) ? 'none' : formatDuration(sdUs(row))),
          },
          {
            title: 'C²',
            isNumber: true,
            value: ({ c2 }) => c2,
            still: ({ c2 }) => ({ text: c2Text(c2), isBold: c2 >= 1 }),
            cell: ({ c2 }) => (c2 >= 1 ? <b>{c2Text(c2)}</b> : c2Text(c2)),
          },
        ]}
      />
      {ranked > spreads.length ? (
        <p class="fd-soft">
          The {grouped(spreads.length)} with the highest C² of {grouped(ranked)}.
        </p>
      ) : null}
    </>
  )
}

/** Shows C² of all categories as a distribution and in a table. */
function CategoriesPane({ data: { variation, table } }: { data: VarianceData['all'] }) {
  return (
    <div class="fd-categories">
      <VegaChart spec={variation} />
      <TableView data={table} />
    </div>
  )
}

/** Writes C² with two digits; a category of one request has none. */
export function c2Text(c2: number): string {
  if (Number.isNaN(c2)) return 'none'
  if (c2 === 0) return '0'
  if (c2 < 0.001) return 'under 0.001'
  return c2 >= 10 ? grouped(c2) : c2.toPrecision(2)
}

function varianceSummary({ periods, small, of: { large } }: VarianceData): string {
  const shares = periods.map(({ period, categories, belowOne }) =>
    Number.isNaN(belowOne)
      ? `none is large ${period}`
      : `${percent(belowOne)} of ${grouped(categories)} ${period}`,
  )
  const rest =
    small === 0
      ? ''
      : ` ${counted(small, 'category', 'categories')} of no more than ${counted(large, 'request')} ${small === 1 ? 'is' : 'are'} left out.`
  return `Kinds of request that are predictable (C² = variance ÷ mean² below 1): ${shares.join(', ')}.${rest}`
}

export function varianceCode(
  { name, isStage, of: { large, period } }: { name: string; isStage: boolean; of: VarianceOptions },
  open: SpreadRow | null,
): string {
  const options = optionsCode(VARIANCE_OPTIONS, { large, period })
  const stage = isStage
    ? name
    : `findVariance(${[name, options].filter((part) => part !== '').join(', ')})`
  if (open === null) return stage
  return `${stage}.category(${open.category}, { period: ${codeText(open.period)} })`
}

/**
 * Shows which kinds of request are unpredictable, and why: categories by C², opening into the shares of their edges;
 * below, both periods' distributions of C². Source: Sambasivan 2013, §3.2, Figures 3.2 and 3.3, and §5.4.
 */
export const varianceWidget = defineWidget({
  name: 'variance',
  title: 'Variance',
  description: () =>
    'Kinds of request by how unpredictable they are; open one to see which edges of its flow make it so.',
  options: VARIANCE_WIDGET_OPTIONS,
  data: (
    stage: Comparison | VarianceSources,
    { large, period, category, limit, name },
  ): EncodedColumns<VarianceData> => {
    const comparison = stage instanceof Comparison ? stage : null
    const variance = stage instanceof Comparison ? findVariance(stage, { large, period }) : stage
    if (category !== null && !variance.ranked.some((spread) => spread.category === category)) {
      const expected = `the number of a category of more than ${variance.options.large} requests`
      throw new OptionError('category', category, expected)
    }
    const stageName = name ?? (comparison === null ? 'variance' : 'comparison')
    return encodeColumns(varianceData(variance, comparison, { limit, category, name: stageName }))
  },
  view: VarianceView,
  style: TABLE_STYLE + VARIANCE_STYLE,
  hasCharts: true,
})
