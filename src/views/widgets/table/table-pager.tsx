import { counted, grouped } from '../../../core/words.ts'

interface Shown {
  readonly rows: number
  readonly page: number
  readonly pageSize: number
  readonly pageSizes: readonly number[]
  readonly onPage: (page: number) => void
  readonly onPageSize: (size: number) => void
}

/** How many pages there are; one even of no rows. */
export function pageCount(rows: number, pageSize: number): number {
  return Math.max(1, Math.ceil(rows / pageSize))
}

/** Leads through the pages of a long table. */
export function Pager({ rows, page, pageSize, pageSizes, onPage, onPageSize }: Shown) {
  const last = pageCount(rows, pageSize) - 1
  const first = page * pageSize
  const places = [
    { name: 'First page', sign: '«', to: 0, isOff: page === 0 },
    { name: 'Previous page', sign: '‹', to: page - 1, isOff: page === 0 },
    { name: 'Next page', sign: '›', to: page + 1, isOff: page === last },
    { name: 'Last page', sign: '»', to: last, isOff: page === last },
  ]
  const button = ({ name, sign, to, isOff }: (typeof places)[number]) => (
    <button
      {...{ key: name, type: 'button', 'aria-label': name, title: name, disabled: isOff }}
      onClick={() => onPage(to)}
    >
      {sign}
    </button>
  )
  return (
    <nav class="fd-bar fd-pager" aria-label="Pages">
      {last === 0 ? null : <span class="fd-pages">{places.slice(0, 2).map(button)}</span>}
      <span aria-live="polite">
        {rows === 0
          ? 'no rows'
          : last === 0
            ? counted(rows, 'row')
            : `rows ${grouped(first + 1)} to ${grouped(Math.min(rows, first + pageSize))} of ${grouped(rows)}`}
      </span>
      {last === 0 ? null : <span class="fd-pages">{places.slice(2).map(button)}</span>}
      <label class="fd-soft">
        rows a page
        <select
          value={String(pageSize)}
          onInput={({ currentTarget }) => onPageSize(Number(currentTarget.value))}
        >
          {pageSizes.map((size) => (
            <option key={size} value={String(size)}>
              {size}
            </option>
          ))}
        </select>
      </label>
    </nav>
  )
}
