import { useState } from 'preact/hooks'
import { counted, grouped } from '../../../core/words.ts'
import { StateCode } from '../../drawing/state-code.tsx'
import { valueAt } from '../table/table-columns.ts'
import { FilterRow, HeadCell } from '../table/table-head.tsx'
import { useTable } from '../table/use-table.ts'
import type { RankingData } from './ranking-data.ts'
import { RankingDetails } from './ranking-details.tsx'
import { RankingRow } from './ranking-row.tsx'

interface Shown {
  readonly data: RankingData
}

/** Mutations to sort, to filter, and to open into what is known of each. */
export function RankingView({ data }: Shown) {
  const table = useTable(data.table)
  const [open, setOpen] = useState(data.opened === null ? null : data.opened - 1)
  const { columns, state, sorted } = table
  const places = columns.map((_, at) => at)
  const text = (name: string, row: number) => {
    const column = columns.find((each) => each.name === name)
    return column === undefined ? '' : String(valueAt(column, row) ?? '')
  }
  const largestUs = Math.max(
    ...data.entries.map(({ contributionUs }) => Math.abs(contributionUs)),
    0,
  )
  const { rows: known, totalRows } = data.table
  return (
    <section aria-label="Ranking browser">
      <div class="fd-bar">
        <input
          {...{ type: 'search', value: state.search, 'aria-label': 'Only mutations with' }}
          placeholder="search, or > 100"
          onInput={({ currentTarget }) => table.change({ search: currentTarget.value })}
        />
        <span aria-live="polite">
          {sorted.length === known ? '' : `${grouped(sorted.length)} of `}
          {known < totalRows
            ? `the first ${grouped(known)} of ${counted(totalRows, 'mutation')}`
            : counted(known, 'mutation')}
        </span>
        <span class="fd-soft">
          <span class="fd-key fd-key-before" /> before <span class="fd-key fd-key-after" /> after
        </span>
        {table.isUntouched ? null : (
          <button type="button" onClick={table.reset}>
            Start over
          </button>
        )}
      </div>
      {known === 0 ? (
        <p class="fd-soft">Nothing is ranked. Lower the threshold or raise α.</p>
      ) : (
        <div class="fd-scroll fd-fit">
          <table aria-label="Ranked mutations">
            <thead>
              <tr>
                {places.map((at) => (
                  <HeadCell key={at} {...{ table, at }} />
                ))}
                <th scope="col" title="share of requests finished by each time; the medians">
                  response times, medians
                </th>
              </tr>
              <FilterRow table={table} shown={places} others={1} />
            </thead>
            <tbody>
              {Array.from(sorted, (row) => {
                const entry = data.entries[row]
                if (entry === undefined) return null
                const isOpen = open === row
                return [
                  <RankingRow
                    key={row}
                    {...{ entry, largestUs, isOpen }}
                    root={text('root', row)}
                    direction={text('direction', row)}
                    onToggle={() => setOpen(isOpen ? null : row)}
                  />,
                  isOpen ? (
                    <tr key={`${row} open`} class="fd-open">
                      <td colSpan={columns.length + 1}>
                        <RankingDetails {...{ entry, name: data.name }} />
                      </td>
                    </tr>
                  ) : null,
                ]
              })}
            </tbody>
          </table>
        </div>
      )}
      {known > 0 && sorted.length === 0 ? <p class="fd-soft">No mutation fits.</p> : null}
      <StateCode
        code={open === null || !table.isUntouched ? table.code : openCode(data.name, open + 1)}
      />
    </section>
  )
}

function openCode(name: string, rank: number): string {
  return `exploreRanking(${name}, { opened: ${rank} })`
}
