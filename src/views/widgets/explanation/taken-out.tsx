import { shortText, tooltipText } from '../../../core/shown-text.ts'
import { counted, grouped } from '../../../core/words.ts'
import { LEFT_OUT_WORDS } from '../../../explain/parameters/parameter.ts'
import type { ExplanationData } from './explanation-data.ts'

/** Parameters that were taken out, each with a button that puts it back. */
export function TakenOut({
  columns,
  onPutBack,
}: {
  readonly columns: readonly string[]
  readonly onPutBack: (column: string) => void
}) {
  if (columns.length === 0) return null
  return (
    <div>
      <h3>Taken out</h3>
      <ul class="fd-taken" aria-label="Taken out">
        {columns.map((column) => (
          <li key={column}>
            <button
              type="button"
              aria-label={`Put back ${tooltipText(column)}`}
              title={`Put back ${tooltipText(column)}`}
              onClick={() => onPutBack(column)}
            >
              {shortText(column, 60)} ↩
            </button>
          </li>
        ))}
      </ul>
    </div>
  )
}

/** Parameters that never took part, and those that the page had no room for. */
export function LeftOut({ data }: { readonly data: ExplanationData }) {
  const { leftOut, leftOutCount, rows, name } = data
  const dropped = Math.max(rows.differs?.dropped ?? 0, rows.slow?.dropped ?? 0)
  return (
    <>
      {dropped === 0 ? null : (
        <p role="note">
          This page had no room for {counted(dropped, 'parameter')} that differ least: trees are
          grown without them, and may differ from those of <code>{name}</code>.
        </p>
      )}
      {leftOutCount === 0 ? null : (
        <details class="fd-left-out">
          <summary>
            {counted(leftOutCount, 'parameter does', 'parameters do')} not take part
          </summary>
          <ul>
            {leftOut.map(({ column, reason }) => (
              <li key={column}>
                <span title={tooltipText(column)}>{shortText(column, 70)}</span>{' '}
                <span class="fd-soft">{LEFT_OUT_WORDS[reason]}</span>
              </li>
            ))}
          </ul>
          {leftOutCount > leftOut.length ? (
            <p class="fd-soft">
              … and {grouped(leftOutCount - leftOut.length)} more: {name}.leftOutTable()
            </p>
          ) : null}
        </details>
      )}
    </>
  )
}
