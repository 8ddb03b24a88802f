import { counted, grouped, percent, signedDuration } from '../../../core/words.ts'
import type { ThresholdResult, ThresholdRow } from './threshold-model.ts'

interface Shown {
  readonly result: ThresholdResult
  readonly selected: number | null
  readonly onSelect: (category: number | null) => void
}

/** The ranking in the state that is set, and the precursor candidates of one mutation. */
export function ThresholdRanking({ result, selected, onSelect }: Shown) {
  const { rows, structural, responseTime, precursors } = result
  const largest = Math.max(...rows.map(({ contributionUs }) => Math.abs(contributionUs)), 0)
  const all = structural + responseTime
  const chosen = rows.find(({ category, kind }) => category === selected && kind === 'structural')
  return (
    <div>
      <p class="fd-summary" aria-live="polite">
        <b>{counted(all, 'mutation')}</b>: {grouped(structural)} structural, {grouped(responseTime)}{' '}
        response-time · {counted(precursors, 'precursor')}
      </p>
      {rows.length === 0 ? (
        <p class="fd-soft">Nothing is ranked in this state. Lower the threshold or raise α.</p>
      ) : (
        <div class="fd-scroll">
          <table>
            <thead>
              <tr>
                <th scope="col" class="fd-amount">
                  rank
                </th>
                <th scope="col">kind of request (category)</th>
                <th scope="col">change</th>
                <th scope="col" class="fd-amount">
                  requests
                </th>
                <th scope="col" class="fd-amount">
                  adds in all
                </th>
                <th scope="col" />
                <th scope="col">likeliest precursor</th>
              </tr>
            </thead>
            <tbody>
              {rows.map((row) => (
                <Row
                  key={`${row.category} ${row.kind}`}
                  row={row}
                  largest={largest}
                  selected={row === chosen}
                  onSelect={onSelect}
                />
              ))}
            </tbody>
          </table>
        </div>
      )}
      {all > rows.length ? <p class="fd-soft">… and {grouped(all - rows.length)} more.</p> : null}
      {chosen === undefined ? null : <Candidates row={chosen} />}
    </div>
  )
}

const BAR = 90

function Row({
  row,
  largest,
  selected,
  onSelect,
}: {
  readonly row: ThresholdRow
  readonly largest: number
  readonly selected: boolean
  readonly onSelect: (category: number | null) => void
}) {
  const { rank, category, kind, name, requests, contributionUs, candidates } = row
  const [first, ...others] = candidates
  const width = largest > 0 ? (BAR * Math.abs(contributionUs)) / largest : 0
  const colour = contributionUs < 0 ? 'var(--fd-before)' : 'var(--fd-after)'
  return (
    <tr aria-selected={selected}>
      <td class="fd-amount">{rank}</td>
      <td style="min-width:13em">
        {name} <span class="fd-soft">({category})</span>
      </td>
      <td class="fd-name">{kind === 'structural' ? 'other work' : 'other time'}</td>
      <td class="fd-amount">
        {kind === 'structural' ? '+' : ''}
        {grouped(requests)}
      </td>
      <td class="fd-amount">{signedDuration(contributionUs)}</td>
      <td>
        <svg width={BAR} height="10" aria-hidden="true">
          <rect width={Math.max(1, width)} height="10" style={`fill:${colour}`} />
        </svg>
      </td>
      <td>
        {kind === 'response-time' ? (
          <span class="fd-soft">same work as before</span>
        ) : first === undefined ? (
          <span class="fd-soft">none</span>
        ) : (
          <button
            type="button"
            aria-expanded={selected}
            onClick={() => onSelect(selected ? null : category)}
          >
            {first.category} ({percent(first.weight)})
            {others.length > 0 ? ` and ${others.length} more` : ''}
          </button>
        )}
      </td>
    </tr>
  )
}

const MOST_CANDIDATES = 10

function Candidates({ row: { category, candidates } }: { readonly row: ThresholdRow }) {
  return (
    <div>
      <h3>What the requests of category {category} may have been before</h3>
      <div class="fd-scroll">
        <table>
          <thead>
            <tr>
              <th scope="col" class="fd-amount">
                category
              </th>
              <th scope="col" class="fd-amount">
                weight
              </th>
              <th scope="col" class="fd-amount">
                edit distance (0 alike, 1 nothing in common)
              </th>
              <th scope="col" class="fd-amount">
                requests lost
              </th>
            </tr>
          </thead>
          <tbody>
            {candidates.slice(0, MOST_CANDIDATES).map((candidate) => (
              <tr key={candidate.category}>
                <td class="fd-amount">{candidate.category}</td>
                <td class="fd-amount">{percent(candidate.weight)}</td>
                <td class="fd-amount">{candidate.nsed.toFixed(3)}</td>
                <td class="fd-amount">{grouped(candidate.lost)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {candidates.length > MOST_CANDIDATES ? (
        <p class="fd-soft">… and {grouped(candidates.length - MOST_CANDIDATES)} more.</p>
      ) : null}
    </div>
  )
}
