import { useMemo } from 'preact/hooks'
import type { Comparison } from '../../../compare/comparison.ts'
import { formatAmount, signedAmount, TIME } from '../../../core/quantity.ts'
import { counted, grouped, percent, pValue } from '../../../core/words.ts'
import { rootName } from '../../charts/node-names.ts'
import { categoryTimesChart } from '../../charts/response-times.ts'
import { Fold } from '../../drawing/controls.tsx'
import { CellBar, DataTable, numberColumn, textColumn } from '../../drawing/data-table.tsx'
import { ExplanationView } from '../explanation/explanation-widget.tsx'
import { Exemplars, type TraceLinks } from '../findings/trace-link.tsx'
import { FlowView } from '../flows/flow-view.tsx'
import { TableView } from '../table/table-widget.tsx'
import { VegaChart } from '../vega-chart.tsx'
import type { MutationDetails, RankingEntry } from './ranking-model.ts'

/** Height of curves above a flow: both fit a screen. */
const HEIGHT = 140

interface DetailsProps {
  readonly entry: RankingEntry
  readonly comparison: Comparison
  readonly details: MutationDetails | undefined
  readonly name: string
  readonly linkOf: TraceLinks
}

export function RankingDetails({ entry, comparison, details, name, linkOf }: DetailsProps) {
  const { rank, category, kind } = entry
  const isTime = entry.quantity === TIME
  const spec = useMemo(
    () => ({
      ...categoryTimesChart(comparison.responseTime, category, entry.origin).spec,
      height: HEIGHT,
    }),
    [comparison, category, entry.origin],
  )
  return (
    <div class="fd-mutation">
      <div class="fd-beside">
        <div>
          <p>{summary(entry)}</p>
          <VegaChart spec={spec} />
        </div>
        <div class="fd-beside">
          {kind === 'structural' ? <Precursors entry={entry} comparison={comparison} /> : null}
          {details === undefined ? null : (
            <div>
              <h3>Typical requests</h3>
              <Exemplars exemplars={details.exemplars} linkOf={linkOf} />
            </div>
          )}
        </div>
      </div>
      {details?.flows ? (
        <FlowView key={rank} {...details.flows} />
      ) : !isTime ? null : (
        <InCode
          what="Its flow before and after"
          code={`explore(${name}, 'flows', { category: ${category} })`}
        />
      )}
      {details?.explanation ? (
        <Fold key={`${rank} parameters`} title="Parameters: which values go with it">
          <ExplanationView
            data={details.explanation}
            options={{ question: null }}
            call={{ name: `explain(${name}, ${category})`, kind: null }}
          />
        </Fold>
      ) : (
        <InCode what="Its parameters" code={`explain(${name}, ${category})`} />
      )}
      {/* Edges that are new can be compared only with those of the flow before, which is drawn. */}
      {details === undefined || (details.flows !== null && details.isNew) ? (
        <InCode what="Its edges in code" code={`${name}.responseTime.edgeTable(${category})`} />
      ) : (
        <Edges key={rank} {...details} />
      )}
    </div>
  )
}

function InCode({ what, code }: { readonly what: string; readonly code: string }) {
  return (
    <p class="fd-soft">
      {what}: <code>{code}</code>
    </p>
  )
}

function summary(entry: RankingEntry): string {
  const { kind, requests, contributionUs, beforeUs, afterUs, p, quantity } = entry
  const all = `${counted(requests, 'request')}${kind === 'structural' ? ' more than before' : ''}`
  const verb = contributionUs < 0 ? 'save' : 'add'
  const adds = `${all} ${requests === 1 ? `${verb}s` : verb} ${formatAmount(Math.abs(contributionUs), quantity)} in total.`
  if (Number.isNaN(beforeUs) || Number.isNaN(afterUs)) return adds
  const test = Number.isFinite(p) ? `; ${pValue(p)}` : ''
  return (
    `${adds} The median goes from ${formatAmount(beforeUs, quantity)} to ${formatAmount(afterUs, quantity)} ` +
    `(${signedAmount(afterUs - beforeUs, quantity)})${test}.`
  )
}

const MAX_NAME_LENGTH = 120
const MAX_PRECURSORS = 20
const BAR = 50

function Precursors({ entry, comparison }: Pick<DetailsProps, 'entry' | 'comparison'>) {
  const { precursors } = entry
  const { categories, structural } = comparison
  return (
    <div>
      <h3>What these requests may have been before</h3>
      {precursors.length === 0 ? (
        <p class="fd-soft">No kind of request lost that many.</p>
      ) : (
        <DataTable<RankingEntry['precursors'][number]>
          label="Precursors"
          class="fd-few"
          rows={precursors}
          few={MAX_PRECURSORS}
          columns={[
            textColumn('kind of request (category)', ({ category }) => (
              <>
                {rootName(categories, category, MAX_NAME_LENGTH)}{' '}
                <span class="fd-soft">({category})</span>
              </>
            )),
            numberColumn('weight', ({ weight }) => percent(weight)),
            textColumn('', ({ weight }) => (
              <CellBar share={weight} width={BAR} color="var(--fd-before)" />
            )),
            numberColumn('edit distance', ({ nsed }) => nsed.toFixed(3), {
              hint: '0: equal; 1: nothing in common',
            }),
            numberColumn('lost', ({ category }) => grouped(-(structural.changes[category] ?? 0)), {
              hint: 'requests it lost',
            }),
          ]}
        />
      )}
    </div>
  )
}

/** Lists the edges of a mutation's flow: changed ones first, then by how far they moved. */
function Edges({ edges, changedEdges, isNew }: MutationDetails) {
  if (edges.totalRows === 0) return <p class="fd-soft">Its flow is a single step.</p>
  const title = isNew
    ? `Edges: ${grouped(edges.totalRows)}, of a flow that no request took before`
    : `Edges: ${grouped(changedEdges)} of ${grouped(edges.totalRows)} changed`
  return (
    <Fold title={title}>
      <TableView data={edges} />
    </Fold>
  )
}
