import { useMemo } from 'preact/hooks'
import { counted, formatDuration, percent, pValue } from '../../../core/words.ts'
import { squaredDuration, varianceShare } from '../../charts/flow-order.ts'
import { waterfallChart } from '../../charts/variance.ts'
import { Button } from '../../drawing/controls.tsx'
import { CellBar, DataTable, numberColumn, textColumn } from '../../drawing/data-table.tsx'
import { VegaChart } from '../vega-chart.tsx'
import type { DetailEdge, VarianceDetail } from './variance-data.ts'

const BAR = 44

interface DetailsProps {
  readonly detail: VarianceDetail
  readonly chosen: number | null
  readonly onChoose: (edge: number | null) => void
}

/** Shows how edges add up to the variance of a category, and what the chosen one varies with. */
export function VarianceDetails({ detail, chosen, onChoose }: DetailsProps) {
  const { waterfall, edges } = detail
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
        <Edges {...{ detail, chosen, onChoose: toggle }} />
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

interface EdgesProps extends Pick<DetailsProps, 'detail' | 'chosen'> {
  readonly onChoose: (edge: number) => void
}

function Edges({ detail: { edges, more }, chosen, onChoose }: EdgesProps) {
  const share = (each: DetailEdge) =>
    Number.isNaN(each.share) ? 'none' : varianceShare(each.share)
  return (
    <>
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
                onClick={() => onChoose(each.edge)}
              >
                {each.name}
              </Button>
            ),
          },
          {
            title: 'share',
            isNumber: true,
            still: share,
            cell: (each) => (
              <div class="fd-with-bar">
                <span>{share(each)}</span>
                <CellBar
                  share={Math.min(1, Math.abs(each.share || 0))}
                  width={BAR}
                  color={`var(--fd-${each.share < 0 ? 'after' : 'change'})`}
                />
              </div>
            ),
          },
          numberColumn('variance', ({ varianceUs2 }) => squaredDuration(varianceUs2)),
          numberColumn('latency', ({ meanUs }) => formatDuration(meanUs)),
          numberColumn('on path', (each) => percent(each.onCriticalPath)),
        ]}
      />
      {more === 0 ? null : (
        <p class="fd-soft">… and {counted(more, 'more edge')} with smaller shares.</p>
      )}
    </>
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
      {edge.covarying === null || edge.covarying.length === 0 ? null : (
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
      {edge.moreCovarying === 0 ? null : (
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
