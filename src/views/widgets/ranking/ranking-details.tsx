import type { Comparison } from '../../../compare/comparison.ts'
import { shortText, tooltipText } from '../../../core/shown-text.ts'
import { formatDuration } from '../../../core/units.ts'
import { counted, grouped, percent, pValue, signedDuration } from '../../../core/words.ts'
import { rootName } from '../../charts/node-names.ts'
import { CellBar, DataTable } from '../../drawing/data-table.tsx'
import { ExplanationView } from '../explanation/explanation-view.tsx'
import { FlowView } from '../flows/flow-view.tsx'
import type { MutationDetails, RankingEdge, RankingEntry } from './ranking-model.ts'
import { medianUs, TimesPlot } from './times-plot.tsx'

interface DetailsProps {
  readonly entry: RankingEntry
  readonly comparison: Comparison
  /** Details that the page carries; undefined for mutations that it does not know. */
  readonly details: MutationDetails | undefined
  /** Name of the comparison in code. */
  readonly name: string
}

/** Shows what a mutation opens into. */
export function RankingDetails({ entry, comparison, details, name }: DetailsProps) {
  const { rank, category, kind } = entry
  const edges = details?.edges ?? []
  // Its edges can be compared only with those of its flow before.
  const isNew = edges.every(({ beforeMeanUs }) => beforeMeanUs === null)
  return (
    <div class="fd-mutation">
      <div class="fd-side">
        <div>
          <h3>{`Response times of category ${category}`}</h3>
          <p>{summary(entry)}</p>
          <TimesPlot entry={entry} width={420} height={180} isLarge />
          <p class="fd-soft">
            <span class="fd-key fd-key-before" /> before
            {entry.before.category === category ? '' : ` (category ${entry.before.category})`}{' '}
            <span class="fd-key fd-key-after" /> after
          </p>
        </div>
        <div>
          {kind === 'structural' ? <Precursors entry={entry} comparison={comparison} /> : null}
          {details === undefined ? null : (
            <>
              <h3>Typical requests</h3>
              <Exemplars details={details} period="before" />
              <Exemplars details={details} period="after" />
            </>
          )}
        </div>
      </div>
      {details?.flows ? (
        <FlowView key={rank} {...details.flows} />
      ) : (
        <p class="fd-soft">
          Its flow before and after:{' '}
          <code>{`explore(${name}, 'flows', { category: ${category} })`}</code>
        </p>
      )}
      {details?.explanation ? (
        <ExplanationView
          key={rank}
          data={details.explanation}
          options={{ question: null }}
          call={{ name: `explain(${name}, ${category})`, kind: null }}
        />
      ) : (
        <p class="fd-soft">
          Its parameters: <code>{`explain(${name}, ${category})`}</code>
        </p>
      )}
      {details === undefined || (details.flows !== null && isNew) ? null : (
        <Edges key={rank} details={details} isNew={isNew} />
      )}
      <p class="fd-soft">
        Its edges in code: <code>{`${name}.responseTime.edgeTable(${category})`}</code>
      </p>
    </div>
  )
}

function summary({ kind, requests, contributionUs, before, after, p }: RankingEntry): string {
  const all = `${counted(requests, 'request')}${kind === 'structural' ? ' more than before' : ''}`
  const verb = contributionUs < 0 ? 'save' : 'add'
  const adds = `${all} ${requests === 1 ? `${verb}s` : verb} ${formatDuration(Math.abs(contributionUs))} in all.`
  if (before.count === 0 || after.count === 0) return adds
  const [from, to] = [medianUs(before), medianUs(after)]
  const test = Number.isFinite(p) ? `; ${pValue(p)}` : ''
  return (
    `${adds} The median goes from ${formatDuration(from)} to ${formatDuration(to)} ` +
    `(${signedDuration(to - from)})${test}.`
  )
}

const MAX_PRECURSORS = 20
const BAR = 50

function Precursors({ entry, comparison }: Pick<DetailsProps, 'entry' | 'comparison'>) {
  const { precursors } = entry
  const { categories, structural } = comparison
  return (
    <div>
      <h3>What these requests may have been before</h3>
      {precursors.length === 0 ? (
        <p class="fd-soft">No kind of request lost as many.</p>
      ) : (
        <DataTable
          label="Precursors"
          class="fd-few"
          rows={precursors}
          few={MAX_PRECURSORS}
          columns={[
            {
              title: 'kind of request (category)',
              cell: ({ category }) => (
                <>
                  <Name text={rootName(categories, category, 80)} longest={28} />{' '}
                  <span class="fd-soft">({category})</span>
                </>
              ),
            },
            { title: 'weight', isNumber: true, cell: ({ weight }) => percent(weight) },
            {
              title: '',
              cell: ({ weight }) => <CellBar share={weight} width={BAR} color="var(--fd-before)" />,
            },
            {
              title: 'edit distance',
              hint: '0: alike; 1: nothing in common',
              isNumber: true,
              cell: ({ nsed }) => nsed.toFixed(3),
            },
            {
              title: 'lost',
              hint: 'requests it lost',
              isNumber: true,
              cell: ({ category }) => grouped(-(structural.changes[category] ?? 0)),
            },
          ]}
        />
      )}
    </div>
  )
}

interface ExemplarsProps {
  readonly details: MutationDetails
  readonly period: 'before' | 'after'
}

function Exemplars({ details, period }: ExemplarsProps) {
  const traces = details.exemplars[period]
  return (
    <div class="fd-exemplars">
      <span class={`fd-key fd-key-${period}`} /> {period}:{' '}
      {traces.length === 0 ? <span class="fd-soft">none</span> : null}
      <ul>
        {traces.map(({ id, link }) => {
          const text = <code title={tooltipText(id)}>{shortText(id, 40)}</code>
          return (
            <li key={id}>
              {link === null ? (
                text
              ) : (
                <a href={link} target="_blank" rel="noopener noreferrer">
                  {text}
                </a>
              )}
            </li>
          )
        })}
      </ul>
    </div>
  )
}

/** Edges that are shown before a reader asks for all. */
const FEW = 8

interface EdgesProps {
  readonly details: MutationDetails
  readonly isNew: boolean
}

/** Lists the edges of a mutation's flow: changed ones first, then by how far they moved. */
function Edges({ details: { category, edges, edgeCount }, isNew }: EdgesProps) {
  const changed = edges.filter((edge) => edge.changed).length
  const duration = (us: number | null) => (us === null ? '–' : formatDuration(us))
  return (
    <div>
      <h3>
        {isNew && edgeCount > 0
          ? `Edges: ${grouped(edgeCount)}, of a flow that no request took before`
          : `Edges: ${grouped(changed)} of ${grouped(edgeCount)} changed`}
      </h3>
      {edges.length === 0 ? (
        <p class="fd-soft">Its flow is a single step.</p>
      ) : (
        <DataTable
          label={`Edges of category ${category}`}
          rows={edges}
          few={FEW}
          rowProps={(edge) => ({ class: edge.changed ? 'fd-changed' : '' })}
          columns={[
            { title: 'from', cell: ({ from }) => <Name text={from} longest={44} /> },
            { title: 'to', cell: ({ to }) => <Name text={to} longest={44} /> },
            { title: 'mean before', isNumber: true, cell: (edge) => duration(edge.beforeMeanUs) },
            { title: 'after', isNumber: true, cell: (edge) => duration(edge.afterMeanUs) },
            { title: 'shift', isNumber: true, cell: shiftText },
            { title: 'test', cell: testText },
          ]}
        />
      )}
      {edgeCount > edges.length ? (
        <p class="fd-soft">{counted(edgeCount - edges.length, 'edge')} left out.</p>
      ) : null}
    </div>
  )
}

function shiftText({ beforeMeanUs, afterMeanUs }: RankingEdge): string {
  if (beforeMeanUs === null || afterMeanUs === null) return '–'
  return signedDuration(afterMeanUs - beforeMeanUs)
}

function testText({ changed, p, onCriticalPath }: RankingEdge): string {
  if (p === null) return onCriticalPath ? 'too few requests' : 'off the critical path'
  return `${changed ? 'changed, ' : ''}${pValue(p)}`
}

interface NameProps {
  readonly text: string
  readonly longest: number
}

function Name({ text, longest }: NameProps) {
  return (
    <span class="fd-name" title={tooltipText(text)}>
      {shortText(text, longest)}
    </span>
  )
}
