import { shortText } from '../../../core/shown-text.ts'
import { formatDuration } from '../../../core/units.ts'
import { counted, grouped, percent, pValue, signedDuration } from '../../../core/words.ts'
import { DataTable } from '../../drawing/data-table.tsx'
import {
  type CategoryPoints,
  type Measure,
  measured,
  measureText,
  nameOf,
} from './category-points.ts'

/** Measures before and after, with their titles. */
const PAIRS = [
  { title: 'requests', before: 'before', after: 'after' },
  { title: 'mean', before: 'beforeMeanUs', after: 'afterMeanUs' },
  { title: 'C²', before: 'beforeC2', after: 'afterC2' },
] as const

interface CategoryProps {
  readonly data: CategoryPoints
  readonly category: number
}

function pairText(
  data: CategoryPoints,
  category: number,
  { before, after }: (typeof PAIRS)[number],
) {
  return [before, after]
    .map((measure) => measureText(measure, measured(data, measure, category)))
    .join(' → ')
}

/** Says in one line what a category is, how often, how long and how predictable. */
export function CategoryLine({ data, category }: CategoryProps) {
  const name = nameOf(data, category)
  return (
    <>
      <b title={name}>
        {shortText(name, 70)} ({category})
      </b>
      : {PAIRS.map((pair) => `${pair.title} ${pairText(data, category, pair)}`).join(' · ')}
    </>
  )
}

/** Shows the facts of a category and says what they mean. */
export function CategoryFacts({
  data,
  category,
  large,
}: CategoryProps & { readonly large: number }) {
  const of = (measure: Measure) => measured(data, measure, category)
  const duration = (us: number) => (Number.isNaN(us) ? 'none' : formatDuration(us))
  const name = nameOf(data, category)
  return (
    <div class="fd-pinned" aria-live="polite">
      <h3 title={name}>
        {shortText(name, 70)} (category {category})
      </h3>
      <DataTable
        columns={[
          { title: 'period', isHead: true, cell: ({ period }) => period },
          { title: 'requests', isNumber: true, cell: ({ requests }) => grouped(requests) },
          { title: 'mean', isNumber: true, cell: ({ meanUs }) => duration(meanUs) },
          {
            title: 'standard deviation',
            isNumber: true,
            cell: ({ meanUs, c2 }) => duration(Math.sqrt(c2) * meanUs),
          },
          { title: 'C²', isNumber: true, cell: ({ c2 }) => measureText('afterC2', c2) },
        ]}
        rows={[
          {
            period: 'before',
            requests: of('before'),
            meanUs: of('beforeMeanUs'),
            c2: of('beforeC2'),
          },
          { period: 'after', requests: of('after'), meanUs: of('afterMeanUs'), c2: of('afterC2') },
        ]}
      />
      <p>{[...testSentences(data, category), variationSentence(of, large)].join(' ')}</p>
    </div>
  )
}

/** Says what the tests found about a category. */
function testSentences(data: CategoryPoints, category: number): string[] {
  if (data.tests === null) return []
  const { structural, changes, p, responseTime } = data.tests
  const of = (measure: Measure) => measured(data, measure, category)
  const change = changes[category] ?? 0
  const requests = counted(Math.abs(change), 'request')
  const verb = change > 0 ? 'gained' : 'lost'
  const label = structural[category]
  const counts =
    label === 'structural-mutation'
      ? `It gained ${requests}: a structural mutation.`
      : label === 'precursor'
        ? `It lost ${requests}: a precursor.`
        : change === 0
          ? 'Its number of requests is the same.'
          : `It ${verb} ${requests}, which does not count as a change.`
  if (of('before') === 0) return ['It is new: there are no response times before.', counts]
  if (of('after') === 0) return ['It is gone: there are no response times after.', counts]
  const tested = p[category] ?? null
  if (tested === null) return ['It has too few requests for a test of its response times.', counts]
  const shift = signedDuration(of('afterMeanUs') - of('beforeMeanUs'))
  const sizes = `${pValue(tested)}, ${grouped(of('before'))} requests against ${grouped(of('after'))}`
  return [
    responseTime.includes(category)
      ? `Its response times changed: the mean by ${shift} (${sizes}).`
      : `No significant change of its response times: the mean differs by ${shift} (${sizes}).`,
    counts,
  ]
}

function variationSentence(of: (measure: Measure) => number, large: number): string {
  const [before, after] = [of('beforeC2'), of('afterC2')]
  if (!(Math.min(of('before'), of('after')) > large)) {
    return `In a period with at most ${counted(large, 'request')}, it is not in the distribution.`
  }
  if (Number.isNaN(before) || Number.isNaN(after)) return ''
  if (before < 1 && after >= 1) return 'It was predictable and no longer is (C² of 1 or more).'
  if (before >= 1 && after < 1) return 'It has become predictable (C² below 1).'
  return after < 1
    ? 'It is predictable in both periods (C² below 1).'
    : 'It is unpredictable in both periods (C² of 1 or more).'
}

const MAX_ROWS = 25

interface ListProps {
  readonly data: CategoryPoints
  readonly categories: readonly number[]
  readonly pinned: number | null
  readonly onPin: (category: number | null) => void
}

/** Lists the categories of a frame, to choose one of. */
export function CategoryList({ data, categories, pinned, onPin }: ListProps) {
  const requestsOf = (category: number) =>
    measured(data, 'before', category) + measured(data, 'after', category)
  const sum = (among: Iterable<number>) =>
    [...among].reduce((total, category) => total + requestsOf(category), 0)
  const requests = sum(categories)
  return (
    <div class="fd-listed">
      <p aria-live="polite">
        <b>{counted(categories.length, 'category', 'categories')}</b> in the frame, with{' '}
        {counted(requests, 'request')} ({percent(requests / sum(data.names.keys()))})
      </p>
      {categories.length === 0 ? null : (
        <DataTable
          rows={categories.slice(0, MAX_ROWS)}
          rowProps={(category) => ({ 'aria-selected': category === pinned })}
          columns={[
            {
              title: 'kind of request (category)',
              cell: (category) => (
                <button
                  type="button"
                  title={nameOf(data, category)}
                  aria-pressed={category === pinned}
                  onClick={() => onPin(category === pinned ? null : category)}
                >
                  {shortText(nameOf(data, category), 44)} ({category})
                </button>
              ),
            },
            ...PAIRS.map((pair) => ({
              title: `${pair.title}, before → after`,
              isNumber: true,
              cell: (category: number) => pairText(data, category, pair),
            })),
          ]}
        />
      )}
      {categories.length > MAX_ROWS ? (
        <p class="fd-soft">… and {grouped(categories.length - MAX_ROWS)} more.</p>
      ) : null}
    </div>
  )
}
