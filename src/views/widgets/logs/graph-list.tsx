import type { AttentionGraph } from '../../../logs/attention/attention.ts'
import { type Feature, featureText } from '../../../logs/features/features.ts'
import { scoreText } from './logs-words.ts'

const BAR = 70

interface Shown {
  readonly graphs: readonly AttentionGraph[]
  readonly shown: AttentionGraph
  /** `null` for the best. */
  readonly onChoose: (feature: Feature | null) => void
}

/** The graphs of one kind, best first, each a click away. */
export function GraphList({ graphs, shown, onChoose }: Shown) {
  const largest = graphs.reduce((most, { score }) => Math.max(most, score), 0)
  const isMixed = graphs.some(({ sharesDenominator }) => !sharesDenominator)
  return (
    <fieldset class="fd-logs-list" aria-label="Graphs, best first">
      {graphs.map((graph, rank) => (
        <div key={graph.featureType}>
          {isMixed && startsShares(graphs, rank) ? (
            <p class="fd-soft">shares of the run, which follow its length:</p>
          ) : null}
          <button
            type="button"
            aria-pressed={graph === shown}
            onClick={() => onChoose(rank === 0 ? null : graph.featureType)}
          >
            <span>{featureText(graph.featureType)}</span>
            <span class="fd-amount">{scoreText(graph.score)}</span>
            <svg width={BAR} height="8" aria-hidden="true">
              <rect
                {...{ width: largest > 0 ? (BAR * graph.score) / largest : 0, height: 8 }}
                style="fill:var(--fd-soft)"
              />
            </svg>
          </button>
        </div>
      ))}
    </fieldset>
  )
}

function startsShares(graphs: readonly AttentionGraph[], rank: number): boolean {
  return (
    graphs[rank]?.sharesDenominator === true &&
    rank > 0 &&
    graphs[rank - 1]?.sharesDenominator === false
  )
}
