import { counted, pValue } from '../../../core/words.ts'
import type { VarianceKind, VarianceMark } from '../../../explain/variance/variance-marks.ts'
import { Choice } from '../../drawing/choice.tsx'
import { withMark } from './variance-code.ts'
import type { Covarying, DetailEdge } from './variance-data.ts'
import { squaredDuration } from './variance-words.ts'

/** The three I's, and none. */
const KINDS: Readonly<Record<VarianceKind | 'none', string>> = {
  none: 'no mark',
  intentional: 'intentional',
  inadvertent: 'inadvertent',
  intrinsic: 'intrinsic',
}

const MARK_HELP =
  'Why it varies: a tradeoff somebody chose, an accident to be put right, or a property of the hardware or the architecture'

interface Shown {
  readonly edge: DetailEdge
  readonly marks: readonly VarianceMark[]
  readonly onMark: (marks: readonly VarianceMark[]) => void
  /** Chooses another edge; of those that are on the critical path. */
  readonly onChoose: (edge: number) => void
  readonly onPath: ReadonlySet<number>
}

/** One edge: what it is marked as, and what it varies together with. */
export function VarianceEdgePanel({ edge, marks, onMark, onChoose, onPath }: Shown) {
  const kind = marks.find(({ from, to }) => from === edge.from && to === edge.to)?.kind ?? 'none'
  return (
    <div class="fd-variance-edge" aria-live="polite">
      <h3>{edge.name}</h3>
      {edge.from === '' ? (
        <p class="fd-soft">Its labels are too long to be marked here; use markVariance.</p>
      ) : (
        <Choice
          {...{ name: 'It varies because it is', help: MARK_HELP, value: kind, values: KINDS }}
          onChoose={(next) => onMark(withMark(marks, edge, next === 'none' ? null : next))}
        />
      )}
      <p>{covaryingSentence(edge)}</p>
      {edge.covarying === null || edge.covarying.length === 0 ? null : (
        <div class="fd-scroll">
          <table>
            <thead>
              <tr>
                <th scope="col">varies together with</th>
                {['correlation', 'covariance', 'chance'].map((head) => (
                  <th key={head} scope="col" class="fd-amount">
                    {head}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {edge.covarying.map((other) => (
                <Partner
                  key={other.edge}
                  {...{ other, onChoose, isOnPath: onPath.has(other.edge) }}
                />
              ))}
            </tbody>
          </table>
        </div>
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

function Partner({
  other,
  isOnPath,
  onChoose,
}: {
  readonly other: Covarying
  readonly isOnPath: boolean
  readonly onChoose: (edge: number) => void
}) {
  const { name } = other
  return (
    <tr>
      <td>
        {isOnPath ? (
          <button type="button" onClick={() => onChoose(other.edge)}>
            {name}
          </button>
        ) : (
          `${name} (off the critical path)`
        )}
      </td>
      <td class="fd-amount">{other.correlation.toFixed(2).replace('-', '−')}</td>
      <td class="fd-amount">{squaredDuration(other.covarianceUs2)}</td>
      <td class="fd-amount">{pValue(other.q, 'q')}</td>
    </tr>
  )
}

function covaryingSentence({ covarying, tested, requests }: DetailEdge): string {
  if (covarying === null) return 'What it varies together with is in the code below.'
  if (tested === 0) {
    return `Whether it varies together with others could not be tested: ${counted(requests, 'request')}, or nothing that varies.`
  }
  const others = counted(tested, 'other edge')
  return covarying.length === 0
    ? `It varies together with none of ${others}, as far as a test tells (q ≥ 0.05).`
    : `Of ${others}, these vary together with it (t-test of the correlation, q < 0.05), the strongest first:`
}
