import { sum } from 'd3-array'
import { shortText } from '../../../core/shown-text.ts'
import { counted, grouped, percent, pValue, signedDuration } from '../../../core/words.ts'
import { Button } from '../../drawing/controls.tsx'
import { DataTable } from '../../drawing/data-table.tsx'
import {
  type CategoryPoints,
  type Measure,
  measured,
  measureText,
  requestsOf,
} from './category-points.ts'

interface CategoryProps {
  readonly data: CategoryPoints
  readonly category: number
}

/** What is said of a category in both periods. */
interface Fact {
  readonly title: string
  readonly texts: (of: CategoryProps) => readonly [before: string, after: string]
}

function measureFact(title: string, before: Measure, after: Measure): Fact {
  const text = ({ data, category }: CategoryProps, measure: Measure) =>
    measureText(measure, measured(data, measure, category))
  return { title, texts: (of) => [text(of, before), text(of, after)] }
}

const FACTS: readonly Fact[] = [
  measureFact('requests', 'before', 'after'),
  measureFact('mean', 'beforeMeanUs', 'afterMeanUs'),
  measureFact('C²', 'beforeC2', 'afterC2'),
]

const STANDARD_DEVIATION: Fact = {
  title: 'standard deviation',
  texts: ({ data, category }) => {
    const text = (mean: Measure, c2: Measure) =>
      measureText(mean, Math.sqrt(measured(data, c2, category)) * measured(data, mean, category))
    return [text('beforeMeanUs', 'beforeC2'), text('afterMeanUs', 'afterC2')]
  },
}

/** Says in one line what a category is, how often, how long and how predictable. */
export function CategoryLine(of: CategoryProps) {
  const name = of.data.names[of.category] ?? ''
  return (
    <>
      <b title={name}>
        {shortText(name, 70)} ({of.category})
      </b>
      : {FACTS.map(({ title, texts }) => `${title} ${texts(of).join(' → ')}`).join(' · ')}
    </>
  )
}

/** Shows the facts of a category and says what they mean. */
export function CategoryFacts({ large, ...of }: CategoryProps & { readonly large: number }) {
  const { data, category } = of
  const name = data.names[category] ?? ''
  return (
    <div class="fd-pinned" aria-live="polite">
      <h3 title={name}>
        {shortText(name, 70)} (category {category})
      </h3>
      <DataTable
        rows={[...FACTS, STANDARD_DEVIATION]}
        columns={[
          { title: '', cell: ({ title }) => title },
          { title: 'before', isNumber: true, cell: ({ texts }) => texts(of)[0] },
          { title: 'after', isNumber: true, cell: ({ texts }) => texts(of)[1] },
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

function variationSentence({ data, category }: CategoryProps, large: number): string {
  const of = (measure: Measure) => measured(data, measure, category)
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
                <Button
                  title={data.names[category]}
                  aria-pressed={category === pinned}
                  onClick={() => onPin(category === pinned ? null : category)}
                >
                  {shortText(data.names[category] ?? '', 44)} ({category})
                </Button>
              ),
            },
            ...FACTS.map(({ title, texts }) => ({
              title: `${title}, before → after`,
              isNumber: true,
              cell: (category: number) => texts({ data, category }).join(' → '),
            })),
          ]}
        />
      )}
    </div>
  )
}
