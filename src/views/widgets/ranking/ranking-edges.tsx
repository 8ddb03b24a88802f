import { useState } from 'preact/hooks'
import { shortText, tooltipText } from '../../../core/shown-text.ts'
import { formatDuration } from '../../../core/units.ts'
import { counted, grouped, pValue, signedDuration } from '../../../core/words.ts'
import type { RankingEdge, RankingEntry } from './ranking-data.ts'

const FEW = 8
const LONGEST = 44

/** The edges of a mutation's flow: those that changed first, then by how far they moved. */
export function RankingEdges({ entry }: { readonly entry: RankingEntry }) {
  const { edges, edgeCount } = entry
  const [isLong, setLong] = useState(false)
  const changed = edges.filter((edge) => edge.changed).length
  const shown = isLong ? edges : edges.slice(0, FEW)
  const amount = 'fd-amount'
  const few = edges.length > FEW
  return (
    <div>
      <h3>{heading(edges, changed, edgeCount)}</h3>
      {edges.length === 0 ? <p class="fd-soft">Its flow is a single step.</p> : null}
      {edges.length === 0 ? null : (
        <div class="fd-scroll">
          <table aria-label={`Edges of category ${entry.category}`}>
            <thead>
              <tr>
                <th scope="col">from</th>
                <th scope="col">to</th>
                <th scope="col" class={amount}>
                  mean before
                </th>
                <th scope="col" class={amount}>
                  after
                </th>
                <th scope="col" class={amount}>
                  shift
                </th>
                <th scope="col">test</th>
              </tr>
            </thead>
            <tbody>
              {shown.map((edge) => (
                <EdgeRow key={`${edge.from}\n${edge.to}\n${edge.occurrence}`} edge={edge} />
              ))}
            </tbody>
          </table>
        </div>
      )}
      {few ? (
        <button
          type="button"
          class="fd-more"
          aria-expanded={isLong}
          onClick={() => setLong(!isLong)}
        >
          {isLong ? 'Only the first' : `${counted(edges.length - FEW, 'more edge')}`}
        </button>
      ) : null}
      {edgeCount > edges.length && (isLong || !few) ? (
        <p class="fd-soft">{counted(edgeCount - edges.length, 'edge')} left out.</p>
      ) : null}
    </div>
  )
}

function heading(edges: readonly RankingEdge[], changed: number, count: number): string {
  const isNew = count > 0 && edges.every(({ beforeMeanUs }) => beforeMeanUs === null)
  return isNew
    ? `Edges: ${grouped(count)}, of a flow that no request took before`
    : `Edges: ${grouped(changed)} of ${grouped(count)} changed`
}

function EdgeRow({ edge }: { readonly edge: RankingEdge }) {
  const { from, to, changed, beforeMeanUs, afterMeanUs, p, onCriticalPath } = edge
  const both = beforeMeanUs !== null && afterMeanUs !== null
  return (
    <tr class={changed ? 'fd-changed' : ''}>
      <NodeCell label={from} />
      <NodeCell label={to} />
      <td class="fd-amount">{beforeMeanUs === null ? '–' : formatDuration(beforeMeanUs)}</td>
      <td class="fd-amount">{afterMeanUs === null ? '–' : formatDuration(afterMeanUs)}</td>
      <td class="fd-amount">{both ? signedDuration(afterMeanUs - beforeMeanUs) : '–'}</td>
      <td class="fd-name">
        {changed ? <b>changed, </b> : null}
        {p !== null ? pValue(p) : onCriticalPath ? 'too few requests' : 'off the critical path'}
      </td>
    </tr>
  )
}

function NodeCell({ label }: { readonly label: string }) {
  const text = shortText(label, LONGEST)
  return (
    <td class="fd-name" {...(text === label ? {} : { title: tooltipText(label) })}>
      {text}
    </td>
  )
}
