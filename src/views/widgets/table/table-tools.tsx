import { shortText } from '../../../core/shown-text.ts'
import { counted, grouped } from '../../../core/words.ts'
import type { TableData } from './table-data.ts'
import type { UsedTable } from './table-use.ts'

interface Shown {
  readonly table: UsedTable
  readonly data: TableData
  /** Whether filters and summaries are shown. */
  readonly isOpen: boolean
  readonly onOpen: (isOpen: boolean) => void
}

/** What stands above a table: a search, how much stays of it, and what is shown of it. */
export function TableTools({ table, data, isOpen, onOpen }: Shown) {
  const { state, kept, change } = table
  const all =
    data.rows < data.totalRows
      ? `the first ${grouped(data.rows)} rows (of ${grouped(data.totalRows)})`
      : counted(data.rows, 'row')
  return (
    <div class="fd-bar">
      {isOpen ? (
        <input
          {...{ type: 'search', value: state.search, 'aria-label': 'Only rows with' }}
          placeholder="search, or > 100"
          title="text or a number in any column; > 100 for any number above"
          onInput={({ currentTarget }) => change({ search: currentTarget.value })}
        />
      ) : null}
      <span aria-live="polite">
        {kept.length === data.rows ? all : `${grouped(kept.length)} of ${all}`}
      </span>
      <button type="button" aria-pressed={isOpen} onClick={() => onOpen(!isOpen)}>
        Filters and summaries
      </button>
      <ColumnChoice table={table} />
      {table.isUntouched ? null : (
        <button type="button" onClick={table.reset}>
          Start over
        </button>
      )}
    </div>
  )
}

/** Which columns are shown; one at least. */
function ColumnChoice({ table: { columns, state, change } }: { readonly table: UsedTable }) {
  const { hidden } = state
  const left = columns.length - hidden.length
  if (columns.length < 2) return null
  return (
    <details class="fd-columns">
      <summary>{hidden.length === 0 ? 'Columns' : `${left} of ${columns.length} columns`}</summary>
      <div class="fd-choices">
        {columns.map(({ name }, at) => (
          <label key={name}>
            <input
              {...{ type: 'checkbox', checked: !hidden.includes(at) }}
              disabled={left === 1 && !hidden.includes(at)}
              onInput={({ currentTarget: { checked } }) =>
                change({
                  hidden: checked ? hidden.filter((other) => other !== at) : [...hidden, at],
                })
              }
            />
            {shortText(name, 40)}
          </label>
        ))}
      </div>
    </details>
  )
}
