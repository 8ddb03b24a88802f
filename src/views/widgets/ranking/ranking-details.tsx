import { shortText, tooltipText } from '../../../core/shown-text.ts'
import { formatDuration } from '../../../core/units.ts'
import { counted, grouped, percent, pValue, signedDuration } from '../../../core/words.ts'
import { PAGE_INK } from '../../drawing/ink.ts'
import { ExplanationView } from '../explanation/explanation-view.tsx'
import { FlowView } from '../flows/flow-view.tsx'
import type { RankingEntry, RankingExemplar } from './ranking-data.ts'
import { RankingEdges } from './ranking-edges.tsx'
import { medianUs, TimesPlot } from './ranking-times.tsx'

interface Shown {
  readonly entry: RankingEntry
  /** What the comparison is called in code. */
  readonly name: string
}

const PLOT = { width: 420, height: 180 }

/** What a mutation opens into. */
export function RankingDetails({ entry, name }: Shown) {
  const { rank, category, kind, flows, explanation } = entry
  // Its edges have nothing to be compared with but those of the flow it was.
  const isNew = entry.edges.every(({ beforeMeanUs }) => beforeMeanUs === null)
  return (
    <div class="fd-mutation">
      <div class="fd-side">
        <div>
          <h3>{`Response times of category ${category}`}</h3>
          <p>{summary(entry)}</p>
          <TimesPlot {...{ entry, ink: PAGE_INK, ...PLOT, isLarge: true }} />
          <p class="fd-soft">
            <span class="fd-key fd-key-before" /> before
            {entry.before.category === category ? '' : ` (category ${entry.before.category})`}{' '}
            <span class="fd-key fd-key-after" /> after
          </p>
        </div>
        <div>
          {kind === 'structural' ? <Precursors entry={entry} /> : null}
          <h3>Typical requests</h3>
          <Exemplars {...{ entry, period: 'before' }} />
          <Exemplars {...{ entry, period: 'after' }} />
        </div>
      </div>
      {flows === null ? (
        <p class="fd-soft">
          Its flow before and after:{' '}
          <code>{`explore(${name}, 'flows', { category: ${category} })`}</code>
        </p>
      ) : (
        <FlowView key={rank} {...flows} />
      )}
      {explanation === null ? (
        <p class="fd-soft">
          Its parameters: <code>{`explainMutation(${name}, ${category})`}</code>
        </p>
      ) : (
        <ExplanationView
          key={rank}
          data={explanation}
          options={{ question: null }}
          call={{ name: `explainMutation(${name}, ${category})`, kind: null }}
        />
      )}
      {flows !== null && isNew ? null : <RankingEdges key={rank} entry={entry} />}
      <p class="fd-soft">
        In code: <code>{`${name}.responseTime.edgeTable(${category})`}</code>
      </p>
    </div>
  )
}

function summary({ kind, requests, contributionUs, before, after, p }: RankingEntry): string {
  const all =
    kind === 'structural'
      ? `${counted(requests, 'request')} more than before`
      : counted(requests, 'request')
  const verb = contributionUs < 0 ? 'save' : 'add'
  const adds = `${all} ${requests === 1 ? `${verb}s` : verb} ${formatDuration(Math.abs(contributionUs))} in all.`
  if (before.count === 0 || after.count === 0) return adds
  const shift = medianUs(after) - medianUs(before)
  const medians =
    `The median goes from ${formatDuration(medianUs(before))} to ` +
    `${formatDuration(medianUs(after))} (${signedDuration(shift)})`
  return `${adds} ${medians}${p === null ? '' : `; ${pValue(p)}`}.`
}

function Precursors({ entry: { precursors, precursorCount } }: { readonly entry: RankingEntry }) {
  return (
    <div>
      <h3>What these requests may have been before</h3>
      {precursors.length === 0 ? <p class="fd-soft">No kind of request lost as many.</p> : null}
      {precursors.length === 0 ? null : (
        <div class="fd-scroll fd-few">
          <table aria-label="Precursors">
            <thead>
              <tr>
                <th scope="col">kind of request (category)</th>
                <th scope="col" class="fd-amount">
                  weight
                </th>
                <th scope="col" />
                <th scope="col" class="fd-amount" title="0: alike; 1: nothing in common">
                  edit distance
                </th>
                <th scope="col" class="fd-amount" title="requests it lost">
                  lost
                </th>
              </tr>
            </thead>
            <tbody>
              {precursors.map(({ category, name, weight, nsed, lost }) => (
                <tr key={category}>
                  <td class="fd-name" title={tooltipText(name)}>
                    {shortText(name, 28)} <span class="fd-soft">({category})</span>
                  </td>
                  <td class="fd-amount">{percent(weight)}</td>
                  <td>
                    <svg width="50" height="10" aria-hidden="true">
                      <rect width={50 * weight} height="10" style="fill:var(--fd-before)" />
                    </svg>
                  </td>
                  <td class="fd-amount">{nsed.toFixed(3)}</td>
                  <td class="fd-amount">{grouped(lost)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {precursorCount > precursors.length ? (
        <p class="fd-soft">… and {grouped(precursorCount - precursors.length)} more.</p>
      ) : null}
    </div>
  )
}

interface ExemplarsShown {
  readonly entry: RankingEntry
  readonly period: 'before' | 'after'
}

function Exemplars({ entry, period }: ExemplarsShown) {
  const traces = entry.exemplars[period]
  return (
    <div class="fd-exemplars">
      <span class={`fd-key fd-key-${period}`} /> {period}:{' '}
      {traces.length === 0 ? <span class="fd-soft">none</span> : null}
      <ul>
        {traces.map((trace) => (
          <li key={trace.id}>
            <TraceId trace={trace} />
          </li>
        ))}
      </ul>
    </div>
  )
}

function TraceId({ trace: { id, link } }: { readonly trace: RankingExemplar }) {
  const text = <code title={tooltipText(id)}>{shortText(id, 40)}</code>
  if (link === null) return text
  return (
    <a href={link} target="_blank" rel="noopener noreferrer">
      {text}
    </a>
  )
}
