import { formatDuration } from '../../../core/units.ts'
import { counted, percent } from '../../../core/words.ts'
import {
  isSameEdge,
  type VarianceKind,
  type VarianceMark,
} from '../../../explain/variance/variance-marks.ts'
import { varianceShare } from '../../charts/variance-share.ts'
import { PAGE_INK } from '../../drawing/ink.ts'
import type { DetailEdge, VarianceDetail } from './variance-data.ts'
import { squaredDuration } from './variance-words.ts'

const BAR = 44

interface Shown {
  readonly detail: VarianceDetail
  readonly marks: readonly VarianceMark[]
  readonly chosen: number | null
  readonly onChoose: (edge: number) => void
}

/** Tier 2: the edges on the critical path, by their share of the variance. */
export function VarianceEdges({ detail, marks, chosen, onChoose }: Shown) {
  const { edges, more } = detail
  return (
    <>
      <div class="fd-scroll fd-variance-edges">
        <table>
          <thead>
            <tr>
              <th scope="col">edge on the critical path</th>
              {['share', 'variance', 'latency', 'on path'].map((head) => (
                <th key={head} scope="col" class="fd-amount">
                  {head}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {edges.map((each) => (
              <tr key={each.edge} aria-selected={each.edge === chosen}>
                <td>
                  <button
                    {...{
                      type: 'button',
                      'aria-pressed': each.edge === chosen,
                      title: wholeName(each),
                    }}
                    onClick={() => onChoose(each.edge)}
                  >
                    {each.name}
                  </button>
                  <Mark kind={marks.find((mark) => isSameEdge(mark, each))?.kind} />
                </td>
                <td>
                  <div class="fd-with-bar">
                    <span>{each.share === null ? 'none' : varianceShare(each.share)}</span>
                    <Bar share={each.share ?? 0} />
                  </div>
                </td>
                <td class="fd-amount">
                  {each.varianceUs2 === null ? 'none' : squaredDuration(each.varianceUs2)}
                </td>
                <td class="fd-amount">{formatDuration(each.meanUs)}</td>
                <td class="fd-amount">{percent(each.onCriticalPath)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {more === 0 ? null : (
        <p class="fd-soft">… and {counted(more, 'more edge')} with smaller shares.</p>
      )}
    </>
  )
}

function Mark({ kind }: { readonly kind: VarianceKind | undefined }) {
  return kind === undefined ? null : <i class="fd-soft"> {kind}</i>
}

/** Both labels in full, where they are carried. */
function wholeName({ from, to, name }: DetailEdge): string {
  return from === '' ? name : `${from} → ${to}`
}

function Bar({ share }: { readonly share: number }) {
  const width = Math.min(1, Math.abs(share)) * BAR
  return (
    <svg width={BAR} height="10" aria-hidden="true">
      <rect
        {...{ width, height: 10 }}
        style={`fill:${share < 0 ? PAGE_INK.after : PAGE_INK.change}`}
      />
    </svg>
  )
}
