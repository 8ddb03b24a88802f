import { useState } from 'preact/hooks'
import { counted } from '../../../core/words.ts'
import {
  serialiseVarianceMarks,
  type VarianceMark,
} from '../../../explain/variance/variance-marks.ts'
import { callCode } from '../../drawing/option-code.ts'
import { StateCode } from '../../drawing/state-code.tsx'
import { varianceCode } from './variance-code.ts'
import type { SpreadRow, VarianceData } from './variance-data.ts'
import { VarianceDetails } from './variance-detail.tsx'
import { VarianceSpreads } from './variance-spreads.tsx'
import { varianceSummary } from './variance-words.ts'

/** Which kinds of request are unpredictable, which edges make them so, and why. */
export function VarianceView({ data }: { readonly data: VarianceData }) {
  const [open, setOpen] = useState<SpreadRow | null>(
    data.open === null ? null : (data.spreads[data.open] ?? null),
  )
  const [edge, setEdge] = useState<number | null>(null)
  const [marks, setMarks] = useState<readonly VarianceMark[]>(data.marks)
  const show = (row: SpreadRow | null) => {
    setOpen(row)
    setEdge(null)
  }
  const detail = open === null || open.detail === null ? null : (data.details[open.detail] ?? null)
  return (
    <section aria-label="Variance">
      <p>{varianceSummary(data)}</p>
      <VarianceSpreads {...{ data, open, onOpen: show }} />
      {open === null ? (
        <p class="fd-soft">Open a kind of request to see which edges make it unpredictable.</p>
      ) : detail === null ? (
        <p class="fd-soft">
          Its flow is not in this page: <code>{openCode(data, open)}</code>
        </p>
      ) : (
        <VarianceDetails
          key={open.detail}
          {...{ row: open, detail, marks, onMark: setMarks, chosen: edge, onChoose: setEdge }}
        />
      )}
      {marks.length === 0 ? null : (
        <details class="fd-variance-marks">
          <summary>{counted(marks.length, 'mark')} as a file</summary>
          <pre>{serialiseVarianceMarks(marks)}</pre>
          <button type="button" onClick={() => setMarks([])}>
            Take all marks away
          </button>
        </details>
      )}
      <StateCode code={varianceCode(data, { marks, open, edge })} />
    </section>
  )
}

/** The explorer with a category open whose flow this page does not carry. */
function openCode({ name, large, period }: VarianceData, { category }: SpreadRow): string {
  return callCode('exploreVariance', [name], {
    large: { value: large, usually: 10 },
    period: { value: period, usually: 'both' },
    category: { value: category, usually: null },
  })
}
