import { custom, defineOptions, type OptionsOf, oneOf, text } from '../../../core/options.ts'
import type { StretchUs } from '../../drawing/stretches.ts'
import { STAGE_NAME } from '../define-widget.ts'

/** The part of the time that fills the width, for widgets with a time axis. */
export const TIME_RANGE = custom<StretchUs | null>({
  default: null,
  unit: 'µs',
  sentence: 'Part of the time that is shown, since the beginning; null for all of it',
  expected: 'two numbers of µs, the smaller first, or null',
  accepts: (range) =>
    range === null ||
    (Array.isArray(range) &&
      range.length === 2 &&
      range.every((us) => Number.isFinite(us)) &&
      range[0] < range[1]),
})

/** Options of the Gantt chart of a trace, and its state. */
export const GANTT_OPTIONS = defineOptions({
  id: text({ default: null, or: null, sentence: 'Id of the trace; null for the first' }),
  collapsed: custom<readonly number[] | null>({
    default: null,
    sentence:
      'Numbers of the calls whose own calls are folded away, in the order of rows; null for the deepest, so that about 60 rows are left',
    expected: 'a list of numbers of calls, or null',
    accepts: (calls) =>
      calls === null || (Array.isArray(calls) && calls.every((call) => Number.isInteger(call))),
  }),
  range: TIME_RANGE,
  search: text({ default: '', sentence: 'Text to look for in names, hosts and parameters' }),
  period: oneOf([null, 'before', 'after'], {
    default: null,
    sentence: 'Period in which to look for the trace; null for before, then after',
  }),
  name: STAGE_NAME,
})

export type GanttOptions = OptionsOf<typeof GANTT_OPTIONS>
