import { sort } from 'd3-array'
import { useMemo, useState } from 'preact/hooks'
import type { Categories } from '../../../compare/categories/categories.ts'
import { Comparison } from '../../../comparison/comparison.ts'
import { codeText } from '../../../core/code-literals.ts'
import { decodeColumns, type EncodedColumns, encodeColumns } from '../../../core/columns.ts'
import { OptionError } from '../../../core/errors.ts'
import {
  defineOptions,
  flag,
  most,
  type OptionsOf,
  optionalNumber,
  optionsCode,
} from '../../../core/options.ts'
import {
  counted,
  formatDuration,
  grouped,
  percent,
  pValue,
  shortText,
  shortTexts,
} from '../../../core/words.ts'
import type { CategoryVariance, EdgeVariance } from '../../../explain/variance/category-variance.ts'
import {
  type CategorySpread,
  findVariance,
  VARIANCE_OPTIONS,
  type VarianceOptions,
  type VarianceSources,
} from '../../../explain/variance/find-variance.ts'
import { periodOfName } from '../../../traces/period.ts'
import { rootName } from '../../charts/node-names.ts'
import {
  edgeName,
  squaredDuration,
  squaredVariationChart,
  varianceShare,
  waterfallChart,
  waterfallOf,
} from '../../charts/variance.ts'
import { Button, StateCode } from '../../drawing/controls.tsx'
import { barColumn, DataTable, numberColumn, textColumn } from '../../drawing/data-table.tsx'
import { Caption, PageOnly, useInk } from '../../drawing/figure.tsx'
import {
  defineWidget,
  exploreCode,
  STAGE_NAME,
  useWidgetOptions,
  type ViewProps,
} from '../define-widget.ts'
import { tableData } from '../table/table-columns.ts'
import { TABLE_STYLE, TableView } from '../table/table-widget.tsx'
import { VegaChart } from '../vega-chart.tsx'

export type VarianceData = ReturnType<typeof varianceData>

export type SpreadRow = VarianceData['spreads'][number]

export type VarianceDetail = VarianceData['details'][number]

export type DetailEdge = VarianceDetail['edges'][number]

/** Options of the explorer of variance, and its state; `large` and `period` are those of `findVariance`. */
export const VARIANCE_WIDGET_OPTIONS = defineOptions({
  ...VARIANCE_OPTIONS,
  category: optionalNumber('Category that is open at first; null for none'),
  limit: most(12, 'categories', 'Categories that carry their edges, the highest C² first', 0),
  categories: flag({
    default: false,
    sentence: 'Whether the plots of all categories are open at first',
  }),
  name: STAGE_NAME,
})

export type VarianceWidgetOptions = OptionsOf<typeof VARIANCE_WIDGET_OPTIONS>

const MAX_SPREADS = 300
const MAX_EDGES = 40
const MAX_PARTNERED = 16
const MAX_BARS = 20
const MAX_PARTNERS = 12
const MAX_EDGE_NAME = 40
const MAX_LABEL_LENGTH = 400
export const BINS = { perMean: 8, means: 3 } as const

export function varianceData(
  variance: VarianceSources,
  comparison: Comparison | null,
  { limit, category, name }: { limit: number; category: number | null; name: string },
) {
  const { categories, options, ranked, small } = variance
  const asked = ranked.findIndex((spread) => spread.category === category)
  const shown = ranked.filter((_, place) => place < MAX_SPREADS || place === asked)
  const detailed = shown.filter((spread, place) => place < limit || spread.category === category)
  const periods = options.period === 'both' ? (['before', 'after'] as const) : [options.period]
  return {
    of: options,
    /** Whether the stage is of `findVariance`, and not the comparison. */
    isStage: comparison === null,
    all: categoriesData(categories, { comparison, large: options.large, name }),
    small,
    ranked: ranked.length,
    periods: periods.map((period) => ({
      period,
      categories: ranked.filter((spread) => spread.period === period).length,
      /** Share of these with C² below 1; `NaN` for no category. */
      belowOne: variance.shareBelowOne(period),
    })),
    spreads: shown.map((spread) => {
      const detail = detailed.indexOf(spread)
      return {
        ...spread,
        root: rootName(categories, spread.category, 200),
        bins: binsOf(categories, spread),
        detail: detail === -1 ? null : detail,
      }
    }),
    details: detailed.map((spread) => varianceDetail(variance.category(spread))),
    open: category === null ? null : shown.findIndex((spread) => spread.category === category),
  }
}

/** Requests by response time over mean, a bin for every eighth; the last one holds all above 3. */
function binsOf(categories: Categories, { category, period, meanUs }: CategorySpread): number[] {
  const which = periodOfName(period)
  const times = categories.responseTimes(category, which)
  const weights = categories.weights(category, which)
  const bins = new Array<number>(BINS.perMean * BINS.means + 1).fill(0)
  for (const [i, timeUs] of times.entries()) {
    // A mean of 0 has only times of 0, which stand at the mean.
    const place = Math.floor(BINS.perMean * (meanUs > 0 ? timeUs / meanUs : 1))
    const bin = Math.min(bins.length - 1, Math.max(0, place))
    bins[bin] = (bins[bin] ?? 0) + (weights?.[i] ?? 1)
  }
  return bins
}

function varianceDetail(found: CategoryVariance) {
  const byShare = sort(
    found.edges,
    ({ share }) => -Math.abs(share || 0),
    ({ edge }) => edge,
  )
  const shown = byShare.slice(0, MAX_EDGES)
  return {
    waterfall: waterfallOf(found, MAX_BARS),
    edges: shown.map((edge, place) => detailEdge(found, edge, place < MAX_PARTNERED)),
    more: byShare.length - shown.length,
  }
}

function detailEdge(found: CategoryVariance, edge: EdgeVariance, isPartnered: boolean) {
  const { edge: number, from, to, requests, onCriticalPath, meanUs, varianceUs2, share } = edge
  const isCarried = from.length <= MAX_LABEL_LENGTH && to.length <= MAX_LABEL_LENGTH
  const covariances = isPartnered ? found.covariances(number) : null
  const covarying = covariances?.others.filter(({ covaries }) => covaries) ?? null
  return {
    /** Whole labels; empty where they are too long to be carried. */
    ...(isCarried ? { from, to } : { from: '', to: '' }),
    edge: number,
    requests,
    onCriticalPath,
    meanUs,
    varianceUs2,
    share,
    name: edgeName(edge, MAX_EDGE_NAME),
    /** Edges that it varies together with, strongest first; `null` if that was not computed. */
    covarying:
      covarying?.slice(0, MAX_PARTNERS).map((other) => ({
        edge: other.edge,
        name: edgeName(other, MAX_EDGE_NAME),
        correlation: Number(other.correlation.toFixed(4)),
        covarianceUs2: Number(other.covarianceUs2.toPrecision(6)),
        q: Number(other.q.toPrecision(3)),
      })) ?? null,
    moreCovarying: Math.max(0, (covarying?.length ?? 0) - MAX_PARTNERS),
    tested: covariances?.others.filter(({ q }) => !Number.isNaN(q)).length ?? 0,
  }
}

const MAX_ROWS = 20_000
const MAX_ROOT_LENGTH = 200
const MEASURES = ['before', 'after', 'beforeMeanUs', 'afterMeanUs', 'beforeC2', 'afterC2'] as const
const TESTS = [
  ['structural', ['change', 'label']],
  ['responseTime', ['q', 'mutation']],
] as const

/** Returns what is shown of all categories: the distribution of C², and a table with their tests. */
export function categoriesData(
  categories: Categories,
  { comparison, large, name }: { comparison: Comparison | null; large: number; name: string },
) {
  const tests = comparison === null ? [] : TESTS
  const table = tests.reduce(
    (joined, [stage, columns]) =>
      joined.join(
        (comparison as Comparison)[stage].table().select('category', ...columns),
        'category',
      ),
    categories
      .table()
      .select('category', 'root', ...MEASURES)
      .assign({
        root: Array.from(categories.table().array('root') as Iterable<unknown>, (root) =>
          shortText(String(root), MAX_ROOT_LENGTH),
        ),
      }),
  )
  const shown = ['category', 'root', ...MEASURES].map((column) => `'${column}'`).join(', ')
  const joins = tests.map(
    ([stage, columns]) =>
      `.join(${name}.${stage}.table().select('category', '${columns.join("', '")}'), 'category')`,
  )
  return {
    variation: squaredVariationChart(categories, { large }).spec,
    table: tableData(table, {
      name: `${name}.categories.table().select(${shown})${joins.join('')}`,
      title: 'All categories',
      pageSize: 10,
      limit: MAX_ROWS,
    }),
  }
}

interface DetailsProps {
  readonly detail: VarianceDetail
  readonly chosen: number | null
  readonly onChoose: (edge: number | null) => void
}

function VarianceDetails({ detail, chosen, onChoose }: DetailsProps) {
  const { waterfall, edges, more } = detail
  const { spec } = useMemo(() => waterfallChart(waterfall), [waterfall])
  const edge = edges.find((each) => each.edge === chosen)
  const onPath = new Set<unknown>(edges.map((each) => each.edge))
  // A second click lets go.
  const toggle = (next: number) => onChoose(next === chosen ? null : next)
  return (
    <div class="fd-variance-open fd-beside">
      <div>
        <VegaChart
          spec={spec}
          onPick={({ edge: picked }) => onPath.has(picked) && toggle(picked as number)}
        />
      </div>
      <div>
        <DataTable<DetailEdge>
          class="fd-variance-edges"
          rows={edges}
          rowProps={(each) => ({ 'aria-selected': each.edge === chosen })}
          columns={[
            {
              title: 'edge on the critical path',
              still: ({ name }) => name,
              cell: (each) => (
                <Button
                  aria-pressed={each.edge === chosen}
                  title={each.from === '' ? each.name : `${each.from} → ${each.to}`}
                  onClick={() => toggle(each.edge)}
                >
                  {each.name}
                </Button>
              ),
            },
            barColumn(
              'share',
              (each) => (Number.isNaN(each.share) ? 'none' : varianceShare(each.share)),
              (each) => Math.abs(each.share || 0),
              (each) => `var(--fd-${each.share < 0 ? 'after' : 'change'})`,
            ),
            numberColumn('variance', ({ varianceUs2 }) => squaredDuration(varianceUs2)),
            numberColumn('latency', ({ meanUs }) => formatDuration(meanUs)),
            numberColumn('on path', (each) => percent(each.onCriticalPath)),
          ]}
        />
        {more > 0 && <p class="fd-soft">… and {counted(more, 'more edge')} with smaller shares.</p>}
        {edge === undefined ? (
          <p class="fd-soft">
            Choose an edge, here or in the chart, to see which edges vary with it.
          </p>
        ) : (
          <EdgePanel key={edge.edge} {...{ edge, onChoose, onPath }} />
        )}
      </div>
    </div>
  )
}

interface PanelProps {
  readonly edge: DetailEdge
  readonly onChoose: (edge: number) => void
  readonly onPath: ReadonlySet<unknown>
}

function EdgePanel({ edge, onChoose, onPath }: PanelProps) {
  return (
    <div class="fd-variance-edge" aria-live="polite">
      <h3>{edge.name}</h3>
      <p>{covaryingSentence(edge)}</p>
      {edge.covarying !== null && edge.covarying.length > 0 && (
        <DataTable<NonNullable<DetailEdge['covarying']>[number]>
          rows={edge.covarying}
          columns={[
            textColumn('varies together with', (other) =>
              onPath.has(other.edge) ? (
                <Button onClick={() => onChoose(other.edge)}>{other.name}</Button>
              ) : (
                `${other.name} (off the critical path)`
              ),
            ),
            numberColumn('correlation', ({ correlation }) =>
              correlation.toFixed(2).replace('-', '−'),
            ),
            numberColumn('covariance', ({ covarianceUs2 }) => squaredDuration(covarianceUs2)),
            numberColumn('chance', ({ q }) => pValue(q, 'q')),
          ]}
        />
      )}
      {edge.moreCovarying > 0 && (
        <p class="fd-soft">
          … and {counted(edge.moreCovarying, 'more edge')}, less strongly: all are in the code
          below.
        </p>
      )}
    </div>
  )
}

function covaryingSentence({ covarying, tested, requests }: DetailEdge): string {
  if (covarying === null) return 'The code below lists the edges that vary with it.'
  if (tested === 0) {
    return `Too little data to test which edges vary with it: ${counted(requests, 'request')}, or no edge that varies.`
  }
  const others = counted(tested, 'other edge')
  return covarying.length === 0
    ? `None of ${others} varies significantly with it (q ≥ 0.05).`
    : `These of ${others} vary with it (t-test of the correlation, q < 0.05), the strongest first:`
}

const VARIANCE_STYLE = `
.fd-variance-list { max-height: 330px; }
.fd-variance-open { border-top: 1px solid var(--fd-line); padding-top: 10px; }
.fd-variance-list td button, .fd-variance-open td button { white-space: normal; text-align: left; }
.fd-variance-list td button { overflow-wrap: anywhere; }
.fd-variance-list td:first-child, .fd-variance-open td:first-child { min-width: 220px; }
.fd-variance-open > :last-child { flex: 1.5 1 540px; }
.fd-variance-edges { max-height: 360px; }
.fd-variance-edge { margin-top: 10px; }
.fd-variance-edge h3 { font-size: 13px; }
`

function VarianceView(props: ViewProps<EncodedColumns<VarianceData>, VarianceWidgetOptions>) {
  const { call } = props
  const { options, change, code } = useWidgetOptions(VARIANCE_WIDGET_OPTIONS, props)
  const data = useMemo(() => decodeColumns(props.data), [props.data])
  const [open, setOpen] = useState(data.open === null ? null : (data.spreads[data.open] ?? null))
  const [edge, setEdge] = useState<number | null>(null)
  const { categories: isPaneOpen } = options
  const show = (row: SpreadRow | null) => {
    setOpen(row)
    setEdge(null)
  }
  const detail = open?.detail == null ? null : (data.details[open.detail] ?? null)
  return (
    <section aria-label="Variance">
      <Caption text={varianceSummary(data)} />
      <Spreads {...data} open={open} onOpen={show} />
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
        <VarianceDetails key={open.detail} {...{ detail, chosen: edge, onChoose: setEdge }} />
      )}
      <StateCode code={varianceCode({ ...data, name: call.name }, { open, edge })} />
      <div class="fd-bar">
        <Button aria-expanded={isPaneOpen} onClick={() => change({ categories: !isPaneOpen })}>
          {isPaneOpen ? '▾' : '▸'} All categories: distribution of C², and a table
        </Button>
      </div>
      {isPaneOpen && (
        <>
          <div class="fd-categories">
            <VegaChart spec={data.all.variation} />
            <TableView data={data.all.table} />
          </div>
          <StateCode code={code} />
        </>
      )}
    </section>
  )
}

const BINS_SIZE = { width: 110, height: 20 }
const MAX_NAME_LENGTH = { page: 120, still: 44 } as const
const FEW = 25

interface SpreadsProps extends Pick<VarianceData, 'spreads' | 'ranked'> {
  readonly open: SpreadRow | null
  readonly onOpen: (row: SpreadRow | null) => void
}

function Spreads({ spreads, ranked, open, onOpen }: SpreadsProps) {
  const nameOf = (longest: number) => {
    const all = spreads.map(({ root }) => root)
    const roots = shortTexts(all, longest)
    return (row: SpreadRow) => `${roots[spreads.indexOf(row)]} (${row.category})`
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
          numberColumn(
            'standard deviation',
            (row) => (Number.isNaN(row.varianceUs2) ? 'none' : formatDuration(sdUs(row))),
            { value: sdUs },
          ),
          numberColumn('C²', ({ c2 }) => (c2 >= 1 ? <b>{c2Text(c2)}</b> : c2Text(c2)), {
            value: ({ c2 }) => c2,
            still: ({ c2 }) => ({ text: c2Text(c2), isBold: c2 >= 1 }),
          }),
          {
            title: 'times, 0 to 3× mean',
            hint: 'Response times over their mean; the last bar is all beyond 3×',
            still: (row) => ({ width: BINS_SIZE.width, drawing: <TimeBins row={row} /> }),
            cell: (row) => (
              <svg
                {...BINS_SIZE}
                role="img"
                aria-label={`Response times of category ${row.category}`}
              >
                <TimeBins row={row} />
              </svg>
            ),
          },
        ]}
      />
      {ranked > spreads.length && (
        <p class="fd-soft">
          The {grouped(spreads.length)} with the highest C² of {grouped(ranked)}.
        </p>
      )}
    </>
  )
}

/** Draws response times over their mean, on one scale for all categories: the wider, the less predictable. */
function TimeBins({ row: { bins, period } }: { readonly row: SpreadRow }) {
  const ink = useInk()
  const { width, height } = BINS_SIZE
  const most = Math.max(1, ...bins)
  const step = width / bins.length
  const mean = BINS.perMean * step
  const bars = bins.map((count, place) => {
    const bar = Math.max(1.5, (count / most) * (height - 2)).toFixed(1)
    return count === 0
      ? ''
      : `M${(place * step).toFixed(1)} ${height}v-${bar}h${(step - 0.5).toFixed(1)}v${bar}z`
  })
  return (
    <g>
      <path d={`M0 ${height}h${width}`} stroke={ink.line} />
      <path d={bars.join('')} style={`fill:${ink[period]}`} />
      <path d={`M${mean} 0v${height}`} stroke={ink.soft} stroke-dasharray="2 2" />
    </g>
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
  { open, edge }: { readonly open: SpreadRow | null; readonly edge: number | null },
): string {
  const options = optionsCode(VARIANCE_OPTIONS, { large, period })
  const stage = isStage
    ? name
    : `findVariance(${[name, options].filter((part) => part !== '').join(', ')})`
  if (open === null) return stage
  const category = `${stage}.category(${open.category}, { period: ${codeText(open.period)} })`
  return edge === null ? category : `${category}.covariances(${edge})`
}

/**
 * Shows which kinds of request are unpredictable, and why: categories by C², opening into edges, each with its share and
 * the edges it varies with; below, both periods' distributions of C². Source: Sambasivan 2013, §3.2, Figures 3.2 and 3.3, and §5.4.
 */
export const varianceWidget = defineWidget({
  name: 'variance',
  title: 'Variance',
  description: () =>
    'Kinds of request by how unpredictable they are; open one to see which edges of its flow ' +
    'make it so, and what these vary together with.',
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
