import { defineOptions, flag, number, type OptionsOf } from '../../core/options.ts'
import type { Quantity } from '../../core/quantity.ts'
import { columnarStage, own, rowTable, type StageTable } from '../../core/stage.ts'
import { LEFT_OUT_WORDS } from '../../traces/attribute-names.ts'
import type { Condition as SegmentCondition } from '../../traces/selection/condition.ts'
import { EDGE_OPTIONS } from '../edges/find-edge-changes.ts'
import type { CallChoice } from '../steps/call-counts.ts'
import type { Step } from '../steps/step-times.ts'
import type { Measure } from './measured.ts'
import type { LeftOutAttribute } from './request-columns.ts'
import type { SegmentSide } from './scan-conditions.ts'

/** Options of `findSegments`. */
export const SEGMENT_OPTIONS = defineOptions({
  ...EDGE_OPTIONS,
  segments: flag({ default: true, sentence: 'Find which requests each change is confined to' }),
  maxSegmentCells: number({
    default: 2e8,
    min: 0,
    unit: 'values',
    sentence:
      'Maximum number of attribute values to read for segments; the largest changes come first',
    flag: null,
  }),
})

export type { SegmentCondition }

export type SegmentOptions = OptionsOf<typeof SEGMENT_OPTIONS>

/** Requests that a change is confined to: outside of them, little changed. */
export interface Segment {
  readonly measure: Measure
  /** Step whose time, or whose failures, changed; `null` for structure. */
  readonly step: Step | null
  /** Choice that is taken more or less often; `null` but for structure. */
  readonly call: CallChoice | null
  /** Operation that it is restricted to, and its caller; `null` for all. */
  readonly operation: string | null
  readonly callingOperation: string | null
  /**
   * Operation of the spans that conditions are of: calls, not requests, are inside or outside then.
   * `null` where requests are; empty for all that enter a service.
   */
  readonly within: string | null
  /** Share of the calls inside, after, that requests wait for; 1 where requests are inside. */
  readonly waitedFor: number
  /** Operations of other spans that changed the same way under the same condition; `waitedFor` includes theirs. */
  readonly alike?: readonly string[]
  /** All of them hold. */
  readonly conditions: readonly SegmentCondition[]
  /** All conditions in words, as `where` takes them. */
  readonly text: string
  /** Other conditions that the same requests meet. */
  readonly equivalents: readonly string[]
  readonly direction: 'slower' | 'faster' | 'more' | 'less'
  readonly inside: SegmentSide
  readonly outside: SegmentSide
  /** Share of the requests after, of those that have the step; of spans, of these. */
  readonly shareOfRequests: number
  /** Share of the change; a change outside below twice its error counts as none. */
  readonly shareOfChange: number
  /** Change of a request inside, relative to the average of all. */
  readonly lift: number
  /** Rows of its requests, of both periods. */
  readonly requests: readonly number[]
  readonly p: number
  /** p corrected for everything that was looked at. */
  readonly q: number
}

/** How calls have a value more often than before, as shares of all; or numbers that are typically others. */
export type ValueChange =
  | {
      readonly of: 'share'
      readonly condition: string
      readonly before: number
      readonly after: number
    }
  | { readonly of: 'numbers'; readonly condition: string; readonly before: string }

/** An attribute that calls have other values of than before, which explains what changed. */
export interface OtherValues {
  /** Step whose calls take another time; `null` for calls that are made more or less often. */
  readonly step: Step | null
  /** Call that is made more or less often; `null` for times. */
  readonly call: CallChoice | null
  /** Name of the attribute. */
  readonly attribute: string
  /** The value that changed most; `null` where it does not explain the change. */
  readonly change: ValueChange | null
  /**
   * Time that it adds to all calls after, in µs, or number of calls; NaN for numbers of which before had none like
   * those of after.
   */
  readonly amount: number
  /** p of that, for one attribute. */
  readonly p: number
}

interface SegmentColumns {
  readonly options: SegmentOptions
  /** The largest change first. */
  readonly segments: readonly Segment[]
  /** Changed values that explain why calls take longer. */
  readonly otherValues: readonly OtherValues[]
  /** Attributes that were not looked at, and why. */
  readonly leftOut: readonly LeftOutAttribute[]
  /** Steps, failures and choices that were not looked at, for lack of room; see `maxSegmentCells`. */
  readonly omitted: number
  /** Quantity of all amounts. */
  readonly quantity: Quantity
}

/** Requests in which something changed, as found by {@link findSegments}. */
export class Segments extends columnarStage<SegmentColumns>() {
  /** Returns one row per segment. */
  table(): StageTable {
    return rowTable(this.segments, {
      measure: 'measure',
      of: ofText,
      operation: 'operation',
      where: 'text',
      equivalents: ({ equivalents }) => equivalents.join(', '),
      direction: 'direction',
      before: ({ inside }) => inside.before,
      after: ({ inside }) => inside.after,
      beforeMean: ({ inside }) => inside.beforeMean,
      afterMean: ({ inside }) => inside.afterMean,
      changeInside: ({ inside }) => inside.change,
      changeOutside: ({ outside }) => outside.change,
      ...own('shareOfRequests shareOfChange lift p q within'),
    })
  }

  /** Returns one row per attribute that was left out, and why. */
  leftOutTable(): StageTable {
    return rowTable(this.leftOut, {
      ...own('attribute service'),
      reason: ({ reason }) => LEFT_OUT_WORDS[reason],
    })
  }
}

export function ofText({ step, call }: Pick<Segment, 'step' | 'call'>): string {
  if (step === null) return `${call?.of.service} ${call?.of.operation}`
  return step.caller === null ? step.service : `${step.caller} → ${step.service}`
}
