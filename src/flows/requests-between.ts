import { OptionError, rejectUnknownOptions } from '../core/errors.ts'
import { AFTER, BEFORE, type FlowSet, type Period } from './flow-set.ts'
import type { Selection } from './select-requests.ts'

/** From the first number on, up to but without the second, in µs since the start of a period. */
export type RangeUs = readonly [fromUs: number, toUs: number]

/** Which requests {@link requestsBetween} finds. */
export interface RequestRanges {
  /** When requests of the before period arrived. Default `null`: at any time. */
  readonly beforeUs?: RangeUs | null
  /** When requests of the after period arrived. Default `null`: at any time. */
  readonly afterUs?: RangeUs | null
  /** Which of them count, by row. Default: all. */
  readonly where?: (request: number) => boolean
}

/**
 * The rows of the requests that arrived within a range of time, in each period, for
 * `selectRequests`. A range begins with its first number and ends just before its second, so that
 * neighbouring ranges share no request. A request whose arrival is not a number is in no range.
 *
 * @param flows a stage of `buildFlows`
 * @param ranges see {@link RequestRanges}
 * @throws OptionError for a range that is not two numbers, the smaller first; FlowdeltaError for
 *   an unknown option
 *
 * @example
 * const firstSecond = requestsBetween(flows, { beforeUs: [0, 1e6], afterUs: [0, 1e6] })
 * categorize(selectRequests(flows, firstSecond)).table()
 */
export function requestsBetween(flows: FlowSet, ranges: RequestRanges = {}): Selection {
  rejectUnknownOptions(ranges, ['beforeUs', 'afterUs', 'where'])
  const { beforeUs = null, afterUs = null, where = () => true } = ranges
  requireRange('beforeUs', beforeUs)
  requireRange('afterUs', afterUs)
  const before: number[] = []
  const after: number[] = []
  for (let request = 0; request < flows.size; request++) {
    const period = flows.period[request] as Period
    const range = period === BEFORE ? beforeUs : afterUs
    if (!isWithin(flows.startUs[request] as number, range) || !where(request)) continue
    if (period === AFTER) after.push(request)
    else before.push(request)
  }
  return { before, after }
}

/** Throws unless an option is a range of time, or `null` for all of it. */
export function requireRange(option: string, range: RangeUs | null): void {
  if (range === null) return
  const [fromUs, toUs] = Array.isArray(range) ? range : []
  if (Array.isArray(range) && range.length === 2 && Number(fromUs) < Number(toUs)) return
  throw new OptionError(option, range, 'two numbers in µs, the smaller first, or null')
}

function isWithin(startUs: number, range: RangeUs | null): boolean {
  return range === null || (startUs >= range[0] && startUs < range[1])
}
