import type { EdgeChange } from '../compare/edges/find-edge-changes.ts'
import {
  FINDING_KINDS,
  type FindingCall,
  type FindingSize,
  type FindingStep,
  type StructureChange,
} from '../compare/findings/finding.ts'
import type { Interference, Others } from '../compare/interference/interference.ts'
import { onsetTimes } from '../compare/onset/events.ts'
import type { PlaceName } from '../compare/places/places.ts'
import type { Exemplars } from '../compare/ranking/rank-mutations.ts'
import type { SegmentSide } from '../compare/segments/scan-conditions.ts'
import type { Segment, SegmentCondition } from '../compare/segments/segments.ts'
import { CALL_CHOICES } from '../compare/steps/call-counts.ts'
import type { Operation } from '../compare/steps/call-order.ts'
import {
  COUNT,
  FLAG,
  listOf,
  MEASURED,
  NUMBER,
  optional,
  orNull,
  type Part,
  PERIOD_COUNTS,
  plain,
  RANK,
  record,
  SHARE,
  TEXT,
  words,
} from '../core/json-parts.ts'
import type { ListedFinding } from '../explain/listed-findings.ts'
import {
  type Explanation,
  type PlainCondition,
  pathSentence,
  plainConditions,
} from '../explain/parameters/explanation.ts'
import type { ExplainedPath } from '../explain/parameters/parameter-question.ts'
import type {
  LeftOutParameter,
  ParameterDifference,
} from '../explain/parameters/parameter-table.ts'
import { CONDITION_OPS } from '../traces/selection/condition.ts'

const SEGMENT_SIDE = record<SegmentSide>({
  before: COUNT,
  after: COUNT,
  beforeMean: MEASURED,
  afterMean: MEASURED,
  change: MEASURED.about('after less before, of requests of one kind.'),
})

export const SEGMENT = record<Segment>({
  text: TEXT.about('All conditions in words, as --where takes them.'),
  measure: words('time', 'errors', 'structure'),
  operation: orNull(TEXT).about('Only requests of this operation; null for all.'),
  callingOperation: orNull(TEXT),
  within: orNull(TEXT).about(
    'Operation whose spans conditions are of, and whose calls are counted; null where requests are, empty for calls of several.',
  ),
  conditions: listOf(
    record<SegmentCondition>({
      attribute: TEXT,
      service: orNull(TEXT).about('Whose spans have it; null for roots.'),
      op: words(...CONDITION_OPS),
      values: listOf(TEXT),
      orNotRecorded: FLAG.about('Whether it also holds where it is not recorded.'),
    }),
  ),
  equivalents: listOf(TEXT).about('Other conditions that the same requests meet.'),
  inside: SEGMENT_SIDE,
  outside: SEGMENT_SIDE,
  shareOfRequests: SHARE,
  shareOfChange: SHARE,
  lift: MEASURED,
  p: MEASURED,
  q: MEASURED,
}).about(
  'Requests that it is confined to. Means and changes are µs of time, shares of failures or choices.',
)

const ALL = Number.POSITIVE_INFINITY
/** Listed with one of many findings; `changedSteps` and `changedParts` say how many there are. */
const LIMITS = { steps: 10, parts: 50, calls: 20 }
const NO_LIMITS = { steps: ALL, parts: ALL, calls: ALL }
const MAX_PATHS = 20
const MAX_PARAMETERS = 50
const MAX_LEFT_OUT = 200

export const EFFECT = record({
  medianShiftUs: MEASURED,
  probabilitySlower: MEASURED.about('Share of pairs in which the request after is slower.'),
  q: MEASURED.about('p corrected for the number of tests.'),
  interval: listOf(MEASURED).about('95 % interval of the shift.'),
})

export type Effect = Parameters<typeof EFFECT.write>[0]

export const EXEMPLARS = record<Exemplars>({ before: listOf(TEXT), after: listOf(TEXT) }).about(
  'Trace ids of typical requests.',
)

const VALUE = plain<number | readonly string[]>({
  anyOf: [{ type: 'number' }, { type: 'array', items: { type: 'string' } }],
})
const CONDITION = record<PlainCondition>({
  column: TEXT,
  op: words('<=', '>', 'in') as Part<PlainCondition['op']>,
  value: VALUE,
})

const PATH = record<ExplainedPath & { readonly sentence: string }>({
  question: words('what-differs', 'what-is-slow'),
  sentence: TEXT,
  conditions: listOf(CONDITION).from(
    ({ conditions }) => conditions.flatMap(plainConditions),
    'All of them hold.',
  ),
  predicts: words('mutation', 'precursor', 'slow', 'usual').about(
    'In a finding about failing calls, a `mutation` fails and a `precursor` does not.',
  ),
  requests: NUMBER.about('Requests (of a finding: calls) for which the conditions hold.'),
  support: SHARE,
  precision: SHARE,
  recall: SHARE,
  lift: NUMBER,
  separation: SHARE,
  meanUs: orNull(record({ here: NUMBER, elsewhere: NUMBER })).from(
    ({ times }) => times && { here: times.hereUs, elsewhere: times.elsewhereUs },
  ),
})

export const EXPLANATION = record<Explanation>({
  subject: TEXT.from(({ subject }) => subject.title),
  excluded: listOf(record<LeftOutParameter>({ column: TEXT, reason: TEXT }), MAX_LEFT_OUT).from(
    ({ leftOut }) => leftOut,
    'Parameters that do not take part.',
  ),
  paths: listOf(PATH, MAX_PATHS).from(
    ({ paths, subject }) =>
      paths.map((path) => ({ ...path, sentence: pathSentence(path, subject) })),
    'Best first.',
  ),
  parameters: listOf(
    record<ParameterDifference>({
      column: TEXT,
      kind: words('numeric', 'categorical'),
      effect: MEASURED,
      p: MEASURED,
      q: MEASURED,
    }),
    MAX_PARAMETERS,
  ).from(({ differences }) => differences, 'Each by itself, the most different first.'),
}).about('With --explain: which parameters tell requests apart.')

const STEP = record<EdgeChange>({
  from: TEXT,
  to: TEXT,
  kind: words('self', 'network'),
  shiftUs: NUMBER,
  effect: EFFECT.from((edge) => ({ ...edge, medianShiftUs: edge.shiftUs })),
  requests: PERIOD_COUNTS.from(({ beforeRequests, afterRequests }) => ({
    before: beforeRequests,
    after: afterRequests,
  })),
  contributionUs: NUMBER.about(
    "shiftUs, the typical change, times its calls on critical paths after. Of traces with spans, no share of the finding's contributionUs, which counts what all calls changed by.",
  ),
})

const OPERATION = record<Operation>({ service: TEXT, operation: TEXT })

const STRUCTURE = record<StructureChange>({
  change: words('added', 'removed'),
  label: TEXT,
  after: orNull(TEXT).from(({ after }) => after?.label, 'The step it follows.'),
  answered: orNull(OPERATION).about('The call that was answered just before.'),
})

const FINDING_STEP = record<FindingStep>({
  kind: words('work', 'call', 'request'),
  service: TEXT,
  caller: orNull(TEXT),
  part: optional(words('itself', 'within', 'message')).about(
    'Part of the step. Work: outside or inside inner spans of the service. Calls: the wait of messages.',
  ),
  operation: TEXT,
  shiftUs: NUMBER,
  share: optional(SHARE).about('Share of its calls that did, where the typical call did not.'),
})

const FINDING_CALL = record<FindingCall>({
  kind: words(...CALL_CHOICES, 'repeats', 'fails', 'fails with'),
  of: OPERATION.about('What makes the call, or logs a statement.'),
  previous: orNull(OPERATION).about('Call that was answered before; of two calls, the one.'),
  call: orNull(OPERATION).about('Call that is made, or statement that is logged; null for none.'),
  made: listOf(NUMBER).about('How often it did, before and after.'),
  chances: listOf(COUNT).about(
    "How often it could have; of 'repeats', requests that make the call at all.",
  ),
  times: optional(listOf(MEASURED)).about('How many times each that makes it does.'),
  us: optional(MEASURED).about(
    'For calls made more or less often: the time this adds to all requests after, in µs.',
  ),
})

const SIZE = record<FindingSize>({
  value: MEASURED.about(
    'µs: what each request that it touches takes more. rate: by how much the share of calls (or requests) that do it grew; of a repeated call, how many times more a request makes it.',
  ),
  unit: TEXT.about("'µs', 'rate', or the unit of --measure."),
  per: words('request', 'call', 'message', 'second'),
  interval: listOf(MEASURED).about('95 % confidence interval.'),
})

const MOMENT = { time: TEXT, low: TEXT.about('95 % confidence interval.'), high: TEXT }

const SINCE = record({
  ...MOMENT,
  fromStart: FLAG.about('Whether it was there from the first request after on.'),
  gradual: FLAG.about('Whether it grows from then on, and was not all there at once.'),
  perhapsGradual: FLAG.about('Whether it may have grown: the interval is that of a step.'),
  until: orNull(record(MOMENT)).about('When it was over; null where it lasts.'),
  follows: orNull(record({ time: TEXT, event: TEXT })).about(
    'Event just before its start: a given one, or a version or host that comes or goes; null for none.',
  ),
})

const INTERFERENCE = record<Interference>({
  slowCalls: COUNT.about('Calls after that were compared and were slow.'),
  usualCalls: COUNT,
  interferers: listOf(
    record<Others>({
      text: TEXT,
      operation: orNull(TEXT).about('null for any.'),
      attribute: orNull(TEXT).about('null for none.'),
      value: orNull(TEXT),
      shared: TEXT.about('service, host, or an attribute that names what is shared.'),
      slow: SHARE.about("Share of slow calls' time that they were under way."),
      usual: SHARE.about('The same for usual calls.'),
      before: SHARE.about('The same for all calls before.'),
      explained: MEASURED.about('Part of the change that goes with them.'),
      p: MEASURED,
      q: MEASURED,
    }),
  ).about('Other requests that were under way where they were; none where nobody holds them up.'),
}).about('Other requests that delay its slow calls; null where nobody looked for them.')

const REQUESTS_OF = record({
  n: COUNT.about('Have what changed, or do what more or fewer do now.'),
  of: COUNT.about('All requests of the period.'),
})

function findingPart({ steps, parts, calls }: typeof LIMITS) {
  const cut = (max: number, counted: string) =>
    Number.isFinite(max) ? `, at most ${max}${counted && `; ${counted} counts all`}` : ''
  return record<PrintedFinding>({
    id: TEXT.about('Stays the same while the same steps or the same part of the flow changed.'),
    rank: RANK.about('1 for the most important; a consequence has that of its cause.'),
    title: TEXT,
    where: TEXT.about('Place of the change.'),
    what: TEXT.about('The change itself.'),
    text: TEXT.about('The facts in one line.'),
    facts: listOf(TEXT).about(
      'How many requests, how much each, slower than which share of requests before, p.',
    ),
    look: TEXT.about('Where to look, in words.'),
    kind: words(...FINDING_KINDS),
    direction: words('slower', 'faster'),
    services: listOf(TEXT).about('Where to look, the prime suspect first.'),
    operation: orNull(TEXT).about(
      'Operation of the first of `services`; null for none: see `place`, or the first of `steps` or `calls`.',
    ),
    place: orNull(record<PlaceName>({ attribute: TEXT, value: TEXT })).about(
      'Where all that runs there changed; null where it is about services.',
    ),
    mutations: listOf(RANK).from(
      ({ mutations }) => mutations.map(({ rank }) => rank),
      'Ranks of the mutations that it explains.',
    ),
    requests: record({ before: REQUESTS_OF, after: REQUESTS_OF }).from(({ concerned, all }) => ({
      before: { n: concerned[0], of: all[0] },
      after: { n: concerned[1], of: all[1] },
    })),
    requestsTouched: COUNT.from(
      ({ requests }) => requests,
      'Requests after that would not have been so before.',
    ),
    size: SIZE,
    failedRequests: optional(NUMBER).about(
      'Errors only: how many more requests after fail because of it; negative for fewer.',
    ),
    since: orNull(SINCE).from(
      ({ since, follows }) => since && onsetTimes(since, follows),
      'Start of the change; null where unknown. Time of day in UTC, or time since the after period began where no time of day was recorded, as ISO 8601.',
    ),
    contributionUs: NUMBER.about(
      'What it and its consequences add to the sum of all response times after.',
    ),
    shareOfChange: MEASURED.about('contributionUs over change.observedUs.'),
    p: MEASURED.about('Smallest p of its evidence.'),
    q: MEASURED.about('The smallest corrected for the number of tests.'),
    consequences: listOf(TEXT).from(
      ({ consequences }) => consequences.map(({ id }) => id),
      'Ids of its consequences: the same delay seen elsewhere, upstream or in a gap that no span covers.',
    ),
    consequenceOf: orNull(TEXT).about('Id of the finding that this one is a consequence of.'),
    changedEdges: listOf(STEP, steps).about(
      `Largest contributions first${cut(steps, 'changedSteps')}.`,
    ),
    changedSteps: COUNT.from(({ changedEdges }) => changedEdges.length),
    changedStructure: listOf(STRUCTURE, parts).about(
      `What requests gained and lost${cut(parts, 'changedParts')}.`,
    ),
    changedParts: COUNT.from(({ changedStructure }) => changedStructure.length),
    steps: listOf(FINDING_STEP, steps).about(
      `Traces with spans only: the work of services, ways of calls, and requests that it rests on${cut(steps, '')}.`,
    ),
    calls: listOf(FINDING_CALL, calls).about(
      `Traces with spans only: what a service does more or less often${cut(calls, '')}.`,
    ),
    segment: orNull(SEGMENT),
    interference: orNull(INTERFERENCE),
    exemplars: EXEMPLARS,
    explanation: optional(EXPLANATION),
  })
}

export const FINDING = findingPart(LIMITS)
export const WHOLE_FINDING = findingPart(NO_LIMITS)

export type PrintedFinding = WithExplanation<ListedFinding>

export type WithExplanation<T> = T & { readonly explanation?: Explanation | undefined }
