import { useMemo } from 'preact/hooks'
import { shortText } from '../../../core/shown-text.ts'
import { grouped } from '../../../core/words.ts'
import type { TimelineData, TimelineFilter } from './timeline-model.ts'

interface Shown {
  readonly data: TimelineData
  readonly filter: TimelineFilter
  readonly onChange: (filter: TimelineFilter) => void
}

/** Longer lists are no longer read. */
const MOST = 200
const LONGEST_NAME = 60

/** Chooses whose requests are looked at: all, those that begin alike, or those of a category. */
export function TimelineFilterSelect({ data, filter, onChange }: Shown) {
  const { roots, categories } = useMemo(() => listed(data), [data])
  return (
    <label>
      requests
      <select
        style="max-width:26em"
        value={filter.kind === 'all' ? 'all' : `${filter.kind} ${filter.of}`}
        onInput={({ currentTarget }) => onChange(filterOf(currentTarget.value))}
      >
        <option value="all">all</option>
        <optgroup label="that begin with">
          {withChosen(roots, 'root', filter).map(({ number, count }) => (
            <option key={number} value={`root ${number}`}>
              {shortText(data.roots[number] as string, LONGEST_NAME)}: {grouped(count)}
            </option>
          ))}
        </optgroup>
        <optgroup label="of a category">
          {withChosen(categories, 'category', filter).map(({ number, count }) => (
            <option key={number} value={`category ${number}`}>
              {data.categories[number]?.[1]} ({number}): {grouped(count)}
            </option>
          ))}
        </optgroup>
      </select>
    </label>
  )
}

interface Counted {
  readonly number: number
  readonly count: number
}

/** Roots and categories, those with the most requests first. */
function listed({ packed, roots, categories }: TimelineData) {
  const ofCategory = new Array<number>(categories.length).fill(0)
  const ofRoot = new Array<number>(roots.length).fill(0)
  for (const { categories: of } of packed) {
    for (const category of of) {
      const root = categories[category]?.[0] as number
      ofCategory[category] = (ofCategory[category] as number) + 1
      ofRoot[root] = (ofRoot[root] as number) + 1
    }
  }
  const largestFirst = (counts: readonly number[]): Counted[] =>
    counts
      .map((count, number) => ({ number, count }))
      .sort((a, b) => b.count - a.count || a.number - b.number)
  return { roots: largestFirst(ofRoot), categories: largestFirst(ofCategory) }
}

/** The first of a list, and the one that is chosen wherever it stands. */
function withChosen(
  list: readonly Counted[],
  kind: 'root' | 'category',
  filter: TimelineFilter,
): readonly Counted[] {
  return list.filter(
    ({ number }, place) => place < MOST || (filter.kind === kind && filter.of === number),
  )
}

function filterOf(value: string): TimelineFilter {
  const [kind, of] = value.split(' ')
  return kind === 'root' || kind === 'category' ? { kind, of: Number(of) } : { kind: 'all' }
}
