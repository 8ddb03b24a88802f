import { count, custom, defineOptions, flag, type OptionsOf, oneOf } from '../../../core/options.ts'
import { TIME_RANGE } from '../../drawing/time-range.tsx'
import { STAGE_NAME } from '../define-widget.ts'

/** Ids of the traces to show: of both periods, or of one alone. */
export interface SwimlaneTraces {
  readonly before?: string
  readonly after?: string
}

/** Options of the swimlanes, and their state. */
export const SWIMLANE_OPTIONS = defineOptions({
  category: count({
    default: null,
    or: null,
    min: 0,
    sentence:
      'Category whose median requests are shown; null for that of the highest-ranked mutation',
  }),
  traces: custom<string | SwimlaneTraces | null>({
    default: null,
    sentence: 'Traces that are shown instead: an id, or { before, after } with ids',
    expected: 'a trace id, or { before, after } with trace ids',
    accepts: (traces) =>
      traces === null ||
      typeof traces === 'string' ||
      (typeof traces === 'object' &&
        Object.keys(traces).length > 0 &&
        Object.entries(traces).every(
          ([side, id]) => ['before', 'after'].includes(side) && typeof id === 'string',
        )),
  }),
  arrangement: oneOf(['below', 'beside'], {
    default: 'below',
    sentence: 'Where the request after stands: below the one before over one axis, or beside it',
  }),
  range: TIME_RANGE,
  folded: flag({
    default: true,
    sentence:
      'Whether the components that matter least share a lane where there are more than 16 lines; stills always fold',
  }),
  lanes: oneOf(['service', 'host'], {
    default: 'service',
    sentence: 'What has a lane of its own; of trace points it is always the host',
  }),
  name: STAGE_NAME,
})

export type SwimlaneOptions = OptionsOf<typeof SWIMLANE_OPTIONS>
