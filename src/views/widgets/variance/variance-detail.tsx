import { useMemo } from 'preact/hooks'
import { shortText } from '../../../core/shown-text.ts'
import type { VarianceMark } from '../../../explain/variance/variance-marks.ts'
import type { SpreadRow, VarianceDetail } from './variance-data.ts'
import { VarianceEdgePanel } from './variance-edge-panel.tsx'
import { VarianceEdges } from './variance-edges.tsx'
import { VarianceFlow } from './variance-flow.tsx'

/** Wider drawings have the edges below them, narrower ones beside. */
const BESIDE = 460

interface Shown {
  readonly row: SpreadRow
  readonly detail: VarianceDetail
  readonly marks: readonly VarianceMark[]
  readonly onMark: (marks: readonly VarianceMark[]) => void
  readonly chosen: number | null
  readonly onChoose: (edge: number | null) => void
}

/** A category that is open: its flow, its edges, and the edge chosen. */
export function VarianceDetails({ row, detail, marks, onMark, chosen, onChoose }: Shown) {
  const { graph, edges, note } = detail
  const edge = edges.find((each) => each.edge === chosen)
  const onPath = useMemo(() => new Set(edges.map((each) => each.edge)), [edges])
  // A second click lets go.
  const toggle = (next: number) => onChoose(next === chosen ? null : next)
  const name = `${shortText(row.root, 60)} (category ${row.category})`
  return (
    <div class="fd-variance-open">
      <h3 title={row.root}>{`Where the variance of ${name} comes from, ${row.period}`}</h3>
      <p>{note}</p>
      <div class={`fd-variance-sides${graph.width > BESIDE ? ' fd-variance-wide' : ''}`}>
        <VarianceFlow name={name} {...{ detail, marks, chosen, onChoose: toggle }} />
        <div>
          <VarianceEdges {...{ detail, marks, chosen, onChoose: toggle }} />
          {edge === undefined ? (
            <p class="fd-soft">
              Choose an edge, here or in the flow, to see what it varies together with and to mark
              why it varies.
            </p>
          ) : (
            <VarianceEdgePanel key={edge.edge} {...{ edge, marks, onMark, onChoose, onPath }} />
          )}
        </div>
      </div>
    </div>
  )
}
