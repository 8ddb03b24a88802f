import type { Comparison } from '../../../compare/comparison.ts'
import { OptionError, rejectUnknownOptions } from '../../../core/errors.ts'
import { counted } from '../../../core/words.ts'
import { AFTER, BEFORE } from '../../../flows/flow-set.ts'
import { type RangeUs, requireRange } from '../../../flows/select-requests.ts'
import { renderSvg } from '../../drawing/render-svg.ts'
import { Widget } from '../widget.ts'
import { timelineData } from './timeline-model.ts'
import { TimelinePicture } from './timeline-picture.tsx'

/** What the timeline begins with. */
export interface TimelineOptions {
  /**
   * The range selected before, in µs since the start of the period; widened to whole ones. Default
   * `null`: all of it.
   */
  readonly beforeUs?: RangeUs | null
  /** The range selected after. Default `null`: all of it. */
  readonly afterUs?: RangeUs | null
  /** Show only the requests of this category. Default `null`: all requests. */
  readonly category?: number | null
  /** What the comparison is called in the line of code. Default `'comparison'`. */
  readonly name?: string
}

/**
 * When the requests of both periods arrived and how long they took, on one scale of time, to
 * select a stretch of time in each and to see how many requests it holds and how they fared. What
 * is selected stands below as code: `selectRequests(comparison.flows, requestsBetween(…))`.
 *
 * Every request goes into the page, at 5 to 8 bytes each. Those whose times are no numbers are left
 * out.
 *
 * @param comparison from `compare`
 * @param options see {@link TimelineOptions}
 * @throws OptionError for a range that is not two numbers, the smaller first, or a category that
 *   there is not; FlowdeltaError for an unknown option
 *
 * @example
 * exploreTimeline(comparison, { afterUs: [0, 2e6] }).title // 'Timeline'
 */
export function exploreTimeline(comparison: Comparison, options: TimelineOptions = {}): Widget {
  rejectUnknownOptions(options, ['beforeUs', 'afterUs', 'category', 'name'])
  const { beforeUs = null, afterUs = null, category = null, name = 'comparison' } = options
  const { flows, categories } = comparison
  if (
    category !== null &&
    !(Number.isInteger(category) && category >= 0 && category < categories.size)
  ) {
    throw new OptionError('category', category, `a category from 0 to ${categories.size - 1}`)
  }
  const data = timelineData(comparison, {
    name,
    initial: {
      ranges: [wholeRange('beforeUs', beforeUs), wholeRange('afterUs', afterUs)],
      filter: category === null ? { kind: 'all' } : { kind: 'category', of: category },
    },
  })
  return new Widget({
    ...{ view: 'timeline', title: 'Timeline', data },
    description:
      `When ${counted(flows.count(BEFORE), 'request')} before and ` +
      `${counted(flows.count(AFTER), 'request')} after arrived and how long they took; ` +
      'drag across a period to select a stretch of time.',
    picture: () => renderSvg(TimelinePicture({ data })),
  })
}

/** A range in whole µs, which is what arrivals are rounded to in the page. */
function wholeRange(option: string, range: RangeUs | null): RangeUs | null {
  requireRange(option, range)
  if (range === null) return null
  if (range.every(Number.isFinite)) return [Math.floor(range[0]), Math.ceil(range[1])]
  throw new OptionError(option, range, 'two finite numbers in µs, or null')
}
