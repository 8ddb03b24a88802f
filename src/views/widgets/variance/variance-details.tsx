import { useMemo } from 'preact/hooks'
import { shortText } from '../../../core/shown-text.ts'
import { formatDuration } from '../../../core/units.ts'
import { counted, percent, pValue } from '../../../core/words.ts'
import {
  markOf,
  type VarianceKind,
  type VarianceMark,
} from '../../../explain/variance/variance-marks.ts'
import { varianceShare } from '../../charts/flow-order.ts'
import { Choice } from '../../drawing/controls.tsx'
import { CellBar, DataTable } from '../../drawing/data-table.tsx'
import { Caption } from '../../drawing/figure.tsx'
import { layOutGraph } from '../../drawing/node-link.tsx'
import type { DetailEdge, SpreadRow, VarianceDetail } from './variance-data.ts'
import { VarianceFlow } from './variance-flow.tsx'
import { withMark } from './variance-words.ts'

/** Wider drawings have the edges below them, narrower ones beside. */
const MAX_BESIDE = 460
const BAR = 44

interface DetailsProps {
  readonly row: SpreadRow
  readonly detail: VarianceDetail
  readonly marks: readonly VarianceMark[]
  readonly onMark: (marks: readonly VarianceMark[]) => void
  readonly chosen: number | null
  readonly onChoose: (edge: number | null) => void
}

/** Shows where the variance of a category comes from: its flow, its edges, and the edge chosen. */
export function VarianceDetails({ row, detail, marks, onMark, chosen, onChoose }: DetailsProps) {
  const { graph, edges, note } = detail
  const layout = useMemo(() => layOutGraph(graph.nodes, graph.links, { notes: true }), [graph])
  const edge = edges.find((each) => each.edge === chosen)
  const onPath = useMemo(() => new Set(edges.map((each) => each.edge)), [edges])
  // A second click lets go.
  const toggle = (next: number) => onChoose(next === chosen ? null : next)
  const name = `${shortText(row.root, 60)} (category ${row.category})`
  return (
    <div class="fd-variance-open">
      <Caption isHeading text={`Where the variance of ${name} comes from, ${row.period}`} />
      <Caption text={note} />
      <div class={`fd-variance-sides${layout.width > MAX_BESIDE ? ' fd-variance-wide' : ''}`}>
        <VarianceFlow name={name} {...{ detail, layout, marks, chosen, onChoose: toggle }} />
        <div>
          <Edges {...{ detail, marks, chosen, onChoose: toggle }} />
          {edge === undefined ? (
            <p class="fd-soft">
              Choose an edge, here or in the flow, to see what it varies together with and to mark
              why it varies.
            </p>
          ) : (
            <EdgePanel key={edge.edge} {...{ edge, marks, onMark, onChoose, onPath }} />
          )}
        </div>
      </div>
    </div>
  )
}

interface EdgesProps extends Pick<DetailsProps, 'detail' | 'marks' | 'chosen'> {
  readonly onChoose: (edge: number) => void
}

/** Lists the edges on the critical path by their share of the variance. */
function Edges({ detail: { edges, more }, marks, chosen, onChoose }: EdgesProps) {
  const share = (each: DetailEdge) =>
    Number.isNaN(each.share) ? 'none' : varianceShare(each.share)
  return (
    <>
      <DataTable
        class="fd-variance-edges"
        rows={edges}
        rowProps={(each) => ({ 'aria-selected': each.edge === chosen })}
        columns={[
          {
            title: 'edge on the critical path',
            still: ({ name }) => name,
            cell: (each) => {
              const kind = markOf(marks, each)?.kind
              return (
                <>
                  <button
                    type="button"
                    aria-pressed={each.edge === chosen}
                    title={each.from === '' ? each.name : `${each.from} → ${each.to}`}
                    onClick={() => onChoose(each.edge)}
                  >
                    {each.name}
                  </button>
                  {kind === undefined ? null : <i class="fd-soft"> {kind}</i>}
                </>
              )
            },
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
          {
            title: 'variance',
            isNumber: true,
            cell: ({ varianceUs2 }) => squaredDuration(varianceUs2),
          },
          { title: 'latency', isNumber: true, cell: ({ meanUs }) => formatDuration(meanUs) },
          { title: 'on path', isNumber: true, cell: (each) => percent(each.onCriticalPath) },
        ]}
      />
      {more === 0 ? null : (
        <p class="fd-soft">… and {counted(more, 'more edge')} with smaller shares.</p>
      )}
    </>
  )
}

/** Writes a variance or covariance by the duration whose square it is. */
function squaredDuration(us2: number): string {
  if (Number.isNaN(us2)) return 'none'
  return `${us2 < 0 ? '−' : ''}(${formatDuration(Math.sqrt(Math.abs(us2)))})²`
}

/** The three I's, and none. */
const KINDS: Readonly<Record<VarianceKind | 'none', string>> = {
  none: 'no mark',
  intentional: 'intentional',
  inadvertent: 'inadvertent',
  intrinsic: 'intrinsic',
}
const MARK_HELP =
  'Why it varies: a tradeoff somebody chose, an accident to be put right, or a property of the hardware or the architecture'

interface PanelProps extends Pick<DetailsProps, 'marks' | 'onMark'> {
  readonly edge: DetailEdge
  /** Chooses another edge, one of those on the critical path. */
  readonly onChoose: (edge: number) => void
  readonly onPath: ReadonlySet<number>
}

/** Shows one edge: its mark, and the edges it varies together with. */
function EdgePanel({ edge, marks, onMark, onChoose, onPath }: PanelProps) {
  const kind = markOf(marks, edge)?.kind ?? 'none'
  return (
    <div class="fd-variance-edge" aria-live="polite">
      <h3>{edge.name}</h3>
      {edge.from === '' ? (
        <p class="fd-soft">Its labels are too long to be marked here; use markVariance.</p>
      ) : (
        <Choice
          name="It varies because it is"
          help={MARK_HELP}
          value={kind}
          values={KINDS}
          onChoose={(next) => onMark(withMark(marks, edge, next === 'none' ? null : next))}
        />
      )}
      <p>{covaryingSentence(edge)}</p>
      {edge.covarying === null || edge.covarying.length === 0 ? null : (
        <DataTable
          rows={edge.covarying}
          columns={[
            {
              title: 'varies together with',
              cell: (other) =>
                onPath.has(other.edge) ? (
                  <button type="button" onClick={() => onChoose(other.edge)}>
                    {other.name}
                  </button>
                ) : (
                  `${other.name} (off the critical path)`
                ),
            },
            {
              title: 'correlation',
              isNumber: true,
              cell: ({ correlation }) => correlation.toFixed(2).replace('-', '−'),
            },
            {
              title: 'covariance',
              isNumber: true,
              cell: ({ covarianceUs2 }) => squaredDuration(covarianceUs2),
            },
            { title: 'chance', isNumber: true, cell: ({ q }) => pValue(q, 'q') },
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
  if (covarying === null) return 'The code below gives what it varies together with.'
  if (tested === 0) {
    return `Whether it varies together with others could not be tested: ${counted(requests, 'request')}, or nothing that varies.`
  }
  const others = counted(tested, 'other edge')
  return covarying.length === 0
    ? `It varies together with none of ${others}, as far as a test tells (q ≥ 0.05).`
    : `Of ${others}, these vary together with it (t-test of the correlation, q < 0.05), the strongest first:`
}
