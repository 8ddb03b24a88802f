import { shortText } from '../../../core/shown-text.ts'
import { formatDuration } from '../../../core/units.ts'
import { counted, grouped, percent, pValue, signedDuration } from '../../../core/words.ts'
import { c2Text, measureText } from './variation-measures.ts'
import { type Measure, measured, nameOf, type VariationData } from './variation-model.ts'

interface Shown {
  readonly data: VariationData
  readonly category: number
}

const LONGEST_NAME = 70

/** A category in one line: what it is, how often, how long, how predictable. */
export function VariationLine({ data, category }: Shown) {
  const pair = (before: Measure, after: Measure) =>
    [before, after]
      .map((measure) => measureText(measure, measured(data, measure, category)))
      .join(' → ')
  const name = nameOf(data, category)
  return (
    <>
      <b title={name}>
        {shortText(name, LONGEST_NAME)} ({category})
      </b>
      : requests {pair('before', 'after')} · mean {pair('beforeMeanUs', 'afterMeanUs')} · C²{' '}
      {pair('beforeC2', 'afterC2')}
    </>
  )
}

/** What is known of a category, and what it says. */
export function VariationDetails({ data, category }: Shown) {
  const of = (measure: Measure) => measured(data, measure, category)
  const rows = [
    { period: 'before', requests: of('before'), meanUs: of('beforeMeanUs'), c2: of('beforeC2') },
    { period: 'after', requests: of('after'), meanUs: of('afterMeanUs'), c2: of('afterC2') },
  ]
  const name = nameOf(data, category)
  return (
    <div class="fd-pinned" aria-live="polite">
      <h3 title={name}>
        {shortText(name, LONGEST_NAME)} (category {category})
      </h3>
      <div class="fd-scroll">
        <table>
          <thead>
            <tr>
              {['period', 'requests', 'mean', 'standard deviation', 'C²'].map((head, i) => (
                <th key={head} scope="col" class={i === 0 ? '' : 'fd-amount'}>
                  {head}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map(({ period, requests, meanUs, c2 }) => (
              <tr key={period}>
                <th scope="row">{period}</th>
                <td class="fd-amount">{grouped(requests)}</td>
                <td class="fd-amount">{timeText(meanUs)}</td>
                <td class="fd-amount">{timeText(Math.sqrt(c2) * meanUs)}</td>
                <td class="fd-amount">{c2Text(c2)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p>
        {timeSentence(data, category)} {countSentence(data, category)}{' '}
        {variationSentence(data, category)}
      </p>
    </div>
  )
}

function timeText(us: number): string {
  return Number.isNaN(us) ? 'none' : formatDuration(us)
}

/** What the test of its response times says. */
function timeSentence(data: VariationData, category: number): string {
  const [before, after] = [measured(data, 'before', category), measured(data, 'after', category)]
  if (before === 0) return 'It is new: there are no response times before.'
  if (after === 0) return 'It is gone: there are no response times after.'
  const p = data.p[category] ?? null
  if (p === null) return 'It has too few requests for a test of its response times.'
  const shiftUs = measured(data, 'afterMeanUs', category) - measured(data, 'beforeMeanUs', category)
  const sizes = `${grouped(before)} requests against ${grouped(after)}`
  return data.responseTime.includes(category)
    ? `Its response times changed: the mean by ${signedDuration(shiftUs)} (${pValue(p)}, ${sizes}).`
    : `Its response times may not have changed at all: the mean differs by ${signedDuration(shiftUs)}, as it well may by chance (${pValue(p)}, ${sizes}).`
}

function countSentence({ structural, changes }: VariationData, category: number): string {
  const change = changes[category] as number
  const requests = counted(Math.abs(change), 'request')
  if (structural[category] === 'structural-mutation') {
    return `It gained ${requests}: a structural mutation.`
  }
  if (structural[category] === 'precursor') return `It lost ${requests}: a precursor.`
  return change === 0
    ? 'Its number of requests is the same.'
    : `It ${change > 0 ? 'gained' : 'lost'} ${requests}, which does not count as a change.`
}

function variationSentence(data: VariationData, category: number): string {
  const of = (measure: Measure) => measured(data, measure, category)
  const [before, after] = [of('beforeC2'), of('afterC2')]
  if (!(Math.min(of('before'), of('after')) > data.large)) {
    return `Where it has no more than ${counted(data.large, 'request')}, it is not in the distribution.`
  }
  if (Number.isNaN(before) || Number.isNaN(after)) return ''
  if (before < 1 && after >= 1) return 'It was predictable and no longer is (C² of 1 or more).'
  if (before >= 1 && after < 1) return 'It has become predictable (C² below 1).'
  return after < 1
    ? 'It is predictable in both periods (C² below 1).'
    : 'It is unpredictable in both periods (C² of 1 or more).'
}

const MOST_ROWS = 25

/** Several categories, to choose one of. */
export function VariationList({
  data,
  categories,
  pinned,
  onPin,
}: {
  readonly data: VariationData
  readonly categories: readonly number[]
  readonly pinned: number | null
  readonly onPin: (category: number | null) => void
}) {
  const requests = categories.reduce(
    (sum, category) => sum + measured(data, 'before', category) + measured(data, 'after', category),
    0,
  )
  const all = [...(data.measures.before as number[]), ...(data.measures.after as number[])].reduce(
    (sum, count) => sum + count,
    0,
  )
  return (
    <div class="fd-listed">
      <p aria-live="polite">
        <b>{counted(categories.length, 'category', 'categories')}</b> in the frame, with{' '}
        {counted(requests, 'request')} ({percent(requests / all)})
      </p>
      {categories.length === 0 ? null : (
        <div class="fd-scroll">
          <table>
            <thead>
              <tr>
                <th scope="col">kind of request (category)</th>
                {['requests', 'mean', 'C²'].map((head) => (
                  <th key={head} scope="col" class="fd-amount">
                    {head}, before → after
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {categories.slice(0, MOST_ROWS).map((category) => (
                <tr key={category} aria-selected={category === pinned}>
                  <td>
                    <button
                      type="button"
                      title={nameOf(data, category)}
                      aria-pressed={category === pinned}
                      onClick={() => onPin(category === pinned ? null : category)}
                    >
                      {shortText(nameOf(data, category), 44)} ({category})
                    </button>
                  </td>
                  {(
                    [
                      ['before', 'after'],
                      ['beforeMeanUs', 'afterMeanUs'],
                      ['beforeC2', 'afterC2'],
                    ] as const
                  ).map((pair) => (
                    <td key={pair[0]} class="fd-amount">
                      {pair
                        .map((measure) => measureText(measure, measured(data, measure, category)))
                        .join(' → ')}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {categories.length > MOST_ROWS ? (
        <p class="fd-soft">… and {grouped(categories.length - MOST_ROWS)} more.</p>
      ) : null}
    </div>
  )
}
