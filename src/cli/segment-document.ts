import type { SegmentSide } from '../compare/segments/contrast-shares.ts'
import type { Segment, SegmentCondition } from '../compare/segments/segments.ts'
import { CONDITION_OPS } from '../traces/selection/condition.ts'
import {
  about,
  COUNT,
  FLAG,
  listOf,
  MEASURED,
  orNull,
  record,
  SHARE,
  TEXT,
  words,
} from './document.ts'

const SEGMENT_SIDE = record<SegmentSide>({
  before: COUNT,
  after: COUNT,
  beforeMean: MEASURED,
  afterMean: MEASURED,
  change: about('after less before, of requests of one kind.', MEASURED),
})

export const SEGMENT = about(
  'Requests that it is confined to. Means and changes are µs of time, shares of failures or choices.',
  record<Segment>({
    text: about('All conditions in words, as --where takes them.', TEXT),
    measure: words('time', 'errors', 'structure'),
    operation: about('Only requests of this operation; null for all.', orNull(TEXT)),
    callingOperation: orNull(TEXT),
    within: about(
      'Operation whose spans conditions are of, and whose calls are counted; null where requests are, empty for calls of several.',
      orNull(TEXT),
    ),
    conditions: listOf(
      record<SegmentCondition>({
        attribute: TEXT,
        service: about('Whose spans have it; null for roots.', orNull(TEXT)),
        op: words(...CONDITION_OPS),
        values: listOf(TEXT),
        orNotRecorded: about('Whether it also holds where it is not recorded.', FLAG),
      }),
    ),
    equivalents: about('What the same requests have in common.', listOf(TEXT)),
    inside: SEGMENT_SIDE,
    outside: SEGMENT_SIDE,
    shareOfRequests: SHARE,
    shareOfChange: SHARE,
    lift: MEASURED,
    p: MEASURED,
    q: MEASURED,
  }),
)
