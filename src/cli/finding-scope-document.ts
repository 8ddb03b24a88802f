import type { Interference, Others } from '../compare/interference/interference.ts'
import type { Segment, SegmentCondition } from '../compare/segments/segments.ts'
import type { SegmentSide } from '../compare/segments/test-segment.ts'
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

export const INTERFERENCE = about(
  'Who holds up its slow calls; null where that was not looked for.',
  record<Interference>({
    slowCalls: about('Calls after that were compared and were slow.', COUNT),
    usualCalls: COUNT,
    interferers: about(
      'Other requests that were under way where they were; none where nobody holds them up.',
      listOf(
        record<Others>({
          text: TEXT,
          operation: about('null for any.', orNull(TEXT)),
          attribute: about('null for none.', orNull(TEXT)),
          value: orNull(TEXT),
          shared: about('service, host, or an attribute that names what is shared.', TEXT),
          slow: about("Share of slow calls' time that they were under way.", SHARE),
          usual: about('Of usual calls.', SHARE),
          before: about('Of all calls before.', SHARE),
          explained: about('Part of the change that goes with them.', MEASURED),
          p: MEASURED,
          q: MEASURED,
        }),
      ),
    ),
  }),
)
