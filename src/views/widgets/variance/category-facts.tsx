import { sum } from 'd3-array'
import { shortText } from '../../../core/shown-text.ts'
import { counted, grouped, percent, pValue, signedDuration } from '../../../core/words.ts'
import { DataTable } from '../../drawing/data-table.tsx'
import {
  type CategoryPoints,
  type Measure,
  measured,
  measureText,
  requestsOf,
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

function pairText({ data, category }: CategoryProps, { before, after }: (typeof PAIRS)[number]) {
  return [before, after]
    .map((measure) => measureText(measure, measured(data, measure, category)))
    .join(' → ')
}

/** Says in one line what a category is, how often, how long and how predictable. */
export function CategoryLine(of: CategoryProps) {
  const name = of.data.names[of.category] ?? ''
  return (
    <>
      <b title={name}>
        {shortText(name, 70)} ({of.category})
      </b>
      : {PAIRS.map((pair) => `${pair.title} ${pairText(of, pair)}`).join(' · ')}
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
  const name = data.names[category] ?? ''
  const sd = ({ mean, c2 }: Record<'mean' | 'c2', Measure>) =>
    measureText(mean, Math.sqrt(of(c2)) * of(mean))
  return (
    <div class="fd-pinned" aria-live="polite">
      <h3 title={name}>
        {shortText(name, 70)} (category {category})
      </h3>
      <DataTable
        rows={[
          { period: 'before', mean: 'beforeMeanUs', c2: 'beforeC2' } as const,
          { period: 'after', mean: 'afterMeanUs', c2: 'afterC2' } as const,
        ]}
        columns={[
          { title: 'period', isHead: true, cell: ({ period }) => period },
          { title: 'requests', isNumber: true, cell: ({ period }) => grouped(of(period)) },
          { title: 'mean', isNumber: true, cell: ({ mean }) => measureText(mean, of(mean)) },
          { title: 'standard deviation', isNumber: true, cell: sd },
          { title: 'C²', isNumber: true, cell: ({ c2 }) => measureText(c2, of(c2)) },
        ]}
      />
      <p>{[...testSentences(data, category), variationSentence(of, large)].join(' ')}</p>
    </div>
  )
}

/** Says what the tests found about a category. */
function testSentences(data: CategoryPoints, category: number): string[] {
  if (data.tests === null) return []
  const { p, responseTime } = data.tests
  const of = (measure: Measure) => measured(data, measure, category)
  const counts = countSentence(data.tests, category)
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

function countSentence(
  { structural, changes }: NonNullable<CategoryPoints['tests']>,
  category: number,
): string {
  const change = changes[category] ?? 0
  const requests = counted(Math.abs(change), 'request')
  const label = structural[category]
  if (label === 'structural-mutation') return `It gained ${requests}: a structural mutation.`
  if (label === 'precursor') return `It lost ${requests}: a precursor.`
  if (change === 0) return 'Its number of requests is the same.'
  return `It ${change > 0 ? 'gained' : 'lost'} ${requests}, which does not count as a change.`
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
  const requests = (among: Iterable<number>) => sum(among, (category) => requestsOf(data, category))
  const found = requests(categories)
  return (
    <div class="fd-listed">
      <p aria-live="polite">
        <b>{counted(categories.length, 'category', 'categories')}</b> in the frame, with{' '}
        {counted(found, 'request')} ({percent(found / requests(data.names.keys()))})
      </p>
      {categories.length === 0 ? null : (
        <DataTable
          rows={categories}
          few={MAX_ROWS}
          rowProps={(category) => ({ 'aria-selected': category === pinned })}
          columns={[
            {
              title: 'kind of request (category)',
              cell: (category) => (
                <button
                  type="button"
                  title={data.names[category]}
                  aria-pressed={category === pinned}
                  onClick={() => onPin(category === pinned ? null : category)}
                >
                  {shortText(data.names[category] ?? '', 44)} ({category})
                </button>
              ),
            },
            ...PAIRS.map((pair) => ({
              title: `${pair.title}, before → after`,
              isNumber: true,
              cell: (category: number) => pairText({ data, category }, pair),
            })),
          ]}
        />
      )}
    </div>
  )
}
