import type { Comparison } from '../compare/comparison.ts'
import type { EdgeChange } from '../compare/edges/find-edge-changes.ts'
import {
  FINDING_KINDS,
  type Finding,
  type FindingCall,
  type FindingSize,
  type FindingStep,
  type StructureChange,
} from '../compare/findings/finding.ts'
import type { Interference, Others } from '../compare/interference/interference.ts'
import type { TimedEvent } from '../compare/onset/events.ts'
import type { Onset } from '../compare/onset/onset.ts'
import type { PlaceName } from '../compare/places/places.ts'
import type { Exemplars } from '../compare/ranking/rank-mutations.ts'
import type { SegmentSide } from '../compare/segments/contrast-shares.ts'
import type { Segment, SegmentCondition } from '../compare/segments/segments.ts'
import { CALL_CHOICES } from '../compare/steps/call-counts.ts'
import type { Operation } from '../compare/steps/call-order.ts'
import { type Explanation, pathSentence } from '../explain/parameters/explanation.ts'
import type { ExplainedPath } from '../explain/parameters/parameter-question.ts'
import type {
  LeftOutParameter,
  ParameterDifference,
} from '../explain/parameters/parameter-table.ts'
import { AFTER, BEFORE, type Period } from '../flows/flow-set.ts'
import type { PathCondition } from '../stats/decision-tree/tree.ts'
import { CONDITION_OPS } from '../traces/selection/condition.ts'
import {
  about,
  COUNT,
  FLAG,
  listOf,
  MEASURED,
  made,
  NUMBER,
  optional,
  orNull,
  type Part,
  PERIOD_COUNTS,
  RANK,
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
    equivalents: about('Other conditions that the same requests meet.', listOf(TEXT)),
    inside: SEGMENT_SIDE,
    outside: SEGMENT_SIDE,
    shareOfRequests: SHARE,
    shareOfChange: SHARE,
    lift: MEASURED,
    p: MEASURED,
    q: MEASURED,
  }),
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
  probabilitySlower: about('Share of pairs in which the request after is slower.', MEASURED),
  q: about('p corrected for the number of tests.', MEASURED),
  interval: about('95 % interval of the shift.', listOf(MEASURED)),
})

export type Effect = Parameters<typeof EFFECT.write>[0]

export const EXEMPLARS = about(
  'Trace ids of typical requests.',
  record<Exemplars>({ before: listOf(TEXT), after: listOf(TEXT) }),
)

const VALUE: Part<number | readonly string[]> = {
  schema: { anyOf: [{ type: 'number' }, { type: 'array', items: { type: 'string' } }] },
  write: (value) => value,
}
const CONDITION = record({ column: TEXT, op: words('<=', '>', 'in'), value: VALUE })

const PATH = record<ExplainedPath & { readonly sentence: string }>({
  question: words('what-differs', 'what-is-slow'),
  sentence: TEXT,
  conditions: made(
    ({ conditions }) => conditions.flatMap(conditionsOf),
    listOf(CONDITION),
    'All of them hold.',
  ),
  predicts: about(
    'In a finding about failing calls, a `mutation` fails and a `precursor` does not.',
    words('mutation', 'precursor', 'slow', 'usual'),
  ),
  requests: about('Requests (of a finding: calls) for which the conditions hold.', NUMBER),
  support: SHARE,
  precision: SHARE,
  recall: SHARE,
  lift: NUMBER,
  separation: SHARE,
  meanUs: made(
    ({ times }) => times,
    orNull(
      record<{ readonly hereUs: number; readonly elsewhereUs: number }>({
        here: made(({ hereUs }) => hereUs, NUMBER),
        elsewhere: made(({ elsewhereUs }) => elsewhereUs, NUMBER),
      }),
    ),
  ),
})

export const EXPLANATION = about(
  'With --explain: which parameters tell requests apart.',
  record<Explanation>({
    subject: made(({ subject }) => subject.title, TEXT),
    excluded: made(
      ({ leftOut }) => leftOut,
      listOf(record<LeftOutParameter>({ column: TEXT, reason: TEXT }), MAX_LEFT_OUT),
      'Parameters that do not take part.',
    ),
    paths: made(
      ({ paths, subject }) =>
        paths.map((path) => ({ ...path, sentence: pathSentence(path, subject) })),
      listOf(PATH, MAX_PATHS),
      'Best first.',
    ),
    parameters: made(
      ({ differences }) => differences,
      listOf(
        record<ParameterDifference>({
          column: TEXT,
          kind: words('numeric', 'categorical'),
          effect: MEASURED,
          p: MEASURED,
          q: MEASURED,
        }),
        MAX_PARAMETERS,
      ),
      'Each by itself, the most different first.',
    ),
  }),
)

const STEP = record<EdgeChange>({
  from: TEXT,
  to: TEXT,
  kind: words('self', 'network'),
  shiftUs: NUMBER,
  effect: made((edge) => ({ ...edge, medianShiftUs: edge.shiftUs }), EFFECT),
  requests: made(
    ({ beforeRequests, afterRequests }) => ({ before: beforeRequests, after: afterRequests }),
    PERIOD_COUNTS,
  ),
  contributionUs: about(
    "shiftUs, the typical change, times its calls on critical paths after. Of traces with spans, no share of the finding's contributionUs, which counts what all calls changed by.",
    NUMBER,
  ),
})

const OPERATION = record<Operation>({ service: TEXT, operation: TEXT })

const STRUCTURE = record<StructureChange>({
  change: words('added', 'removed'),
  label: TEXT,
  after: made(({ after }) => after?.label, orNull(TEXT), 'The step it follows.'),
  answered: about('The call that was answered just before.', orNull(OPERATION)),
})

const FINDING_STEP = record<FindingStep>({
  kind: words('work', 'call', 'request'),
  service: TEXT,
  caller: orNull(TEXT),
  part: about(
    'Part of the step. Work: outside or inside inner spans of the service. Calls: the wait of messages.',
    optional(words('itself', 'within', 'message')),
  ),
  operation: TEXT,
  shiftUs: NUMBER,
  share: about('Share of its calls that did, where the typical call did not.', optional(SHARE)),
})

const FINDING_CALL = record<FindingCall>({
  kind: words(...CALL_CHOICES, 'repeats', 'fails', 'fails with'),
  of: about('What makes the call, or logs a statement.', OPERATION),
  previous: about('Call that was answered before; of two calls, the one.', orNull(OPERATION)),
  call: about('Call that is made, or statement that is logged; null for none.', orNull(OPERATION)),
  made: about('How often it did, before and after.', listOf(NUMBER)),
  chances: about(
    "How often it could have; of 'repeats', requests that make the call at all.",
    listOf(COUNT),
  ),
  times: about('How many times each that makes it does.', optional(listOf(MEASURED))),
  us: about(
    'For calls made more or less often: the time this adds to all requests after, in µs.',
    optional(MEASURED),
  ),
})

const SIZE = record<FindingSize>({
  value: about(
    'µs: what each request that it touches takes more. rate: by how much the share of calls (or requests) that do it grew; of a repeated call, how many times more a request makes it.',
    MEASURED,
  ),
  unit: about("'µs', 'rate', or the unit of --measure.", TEXT),
  per: words('request', 'call', 'message', 'second'),
  interval: about('95 % confidence interval.', listOf(MEASURED)),
})

const MOMENT = { time: TEXT, low: about('95 % confidence interval.', TEXT), high: TEXT }

const SINCE = record({
  ...MOMENT,
  fromStart: about('Whether it was there from the first request after on.', FLAG),
  gradual: about('Whether it grows from then on, and was not all there at once.', FLAG),
  perhapsGradual: about('Whether it may have grown: the interval is that of a step.', FLAG),
  until: about('When it was over; null where it lasts.', orNull(record(MOMENT))),
  follows: about(
    'Event just before its start: a given one, or a version or host that comes or goes; null for none.',
    orNull(record({ time: TEXT, event: TEXT })),
  ),
})

function sinceTimes({ isTimeOfDay, until, ...since }: Onset, event: TimedEvent | null) {
  const text = (us: number) =>
    isTimeOfDay ? new Date(us / 1e3).toISOString() : `PT${(us / 1e6).toFixed(6)}S`
  const times = ({ timeUs, lowUs, highUs }: NonNullable<Onset['until']>) => {
    const [time, low, high] = [timeUs, lowUs, highUs].map(text) as [string, string, string]
    return { time, low, high }
  }
  const follows = event && { time: text(event.atUs), event: event.words }
  return { ...since, ...times(since), until: until && times(until), follows }
}

const INTERFERENCE = about(
  'Other requests that delay its slow calls; null where nobody looked for them.',
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
          usual: about('The same for usual calls.', SHARE),
          before: about('The same for all calls before.', SHARE),
          explained: about('Part of the change that goes with them.', MEASURED),
          p: MEASURED,
          q: MEASURED,
        }),
      ),
    ),
  }),
)

const REQUESTS_OF = record({
  n: about('Have what changed, or do what more or fewer do now.', COUNT),
  of: about('All requests of the period.', COUNT),
})

const FINDING_REQUESTS = record<PrintedFinding>({
  before: made(({ concerned, all }) => ({ n: concerned[0], of: all[0] }), REQUESTS_OF),
  after: made(({ concerned, all }) => ({ n: concerned[1], of: all[1] }), REQUESTS_OF),
})

function findingPart({ steps, parts, calls }: typeof LIMITS) {
  const cut = (max: number, counted: string) =>
    Number.isFinite(max) ? `, at most ${max}${counted && `; ${counted} counts all`}` : ''
  return record<PrintedFinding>({
    id: about('Stays the same while the same steps or the same part of the flow changed.', TEXT),
    rank: about('1 for the most important; a consequence has that of its cause.', RANK),
    title: TEXT,
    where: about('Place of the change.', TEXT),
    what: about('The change itself.', TEXT),
    text: about('The facts in one line.', TEXT),
    facts: about(
      'How many requests, how much each, slower than which share of requests before, p.',
      listOf(TEXT),
    ),
    look: about('Where to look, in words.', TEXT),
    kind: words(...FINDING_KINDS),
    direction: words('slower', 'faster'),
    services: about('Where to look, the prime suspect first.', listOf(TEXT)),
    operation: about(
      'Operation of the first of `services`; null for none: see `place`, or the first of `steps` or `calls`.',
      orNull(TEXT),
    ),
    place: about(
      'Where all that runs there changed; null where it is about services.',
      orNull(record<PlaceName>({ attribute: TEXT, value: TEXT })),
    ),
    mutations: made(
      ({ mutations }) => mutations.map(({ rank }) => rank),
      listOf(RANK),
      'Ranks of the mutations that it explains.',
    ),
    requests: made((finding) => finding, FINDING_REQUESTS),
    requestsTouched: made(
      ({ requests }) => requests,
      COUNT,
      'Requests after that would not have been so before.',
    ),
    size: SIZE,
    failedRequests: about(
      'Errors only: how many more requests after fail because of it; negative for fewer.',
      optional(NUMBER),
    ),
    since: made(
      ({ since, follows }) => since && sinceTimes(since, follows),
      orNull(SINCE),
      'Start of the change; null where unknown. Time of day in UTC, or time since the after period began where no time of day was recorded, as ISO 8601.',
    ),
    contributionUs: about(
      'What it and its consequences add to the sum of all response times after.',
      NUMBER,
    ),
    shareOfChange: about('contributionUs over change.observedUs.', MEASURED),
    p: about('Smallest p of its evidence.', MEASURED),
    q: about('The smallest corrected for the number of tests.', MEASURED),
    consequences: made(
      ({ consequences }) => consequences.map(({ id }) => id),
      listOf(TEXT),
      'Ids of its consequences: the same delay seen elsewhere, upstream or in a gap that no span covers.',
    ),
    consequenceOf: about('Id of the finding that this one is a consequence of.', orNull(TEXT)),
    changedEdges: about(
      `Largest contributions first${cut(steps, 'changedSteps')}.`,
      listOf(STEP, steps),
    ),
    changedSteps: made(({ changedEdges }) => changedEdges.length, COUNT),
    changedStructure: about(
      `What requests gained and lost${cut(parts, 'changedParts')}.`,
      listOf(STRUCTURE, parts),
    ),
    changedParts: made(({ changedStructure }) => changedStructure.length, COUNT),
    steps: about(
      `Traces with spans only: the work of services, ways of calls, and requests that it rests on${cut(steps, '')}.`,
      listOf(FINDING_STEP, steps),
    ),
    calls: about(
      `Traces with spans only: what a service does more or less often${cut(calls, '')}.`,
      listOf(FINDING_CALL, calls),
    ),
    segment: orNull(SEGMENT),
    interference: orNull(INTERFERENCE),
    exemplars: EXEMPLARS,
    explanation: optional(EXPLANATION),
  })
}

export const FINDING = findingPart(LIMITS)
export const WHOLE_FINDING = findingPart(NO_LIMITS)

export type PrintedFinding = WithExplanation<Finding> & {
  readonly consequenceOf: string | null
  readonly all: readonly [before: number, after: number]
}

export function printedFindings({ findings, flows }: Comparison): PrintedFinding[] {
  const causes = findings.findings
  const counted = (period: Period) => Math.round(flows.countedIn(period))
  const all = [counted(BEFORE), counted(AFTER)] as const
  return [
    ...causes.map((finding) => ({ ...finding, consequenceOf: null, all })),
    ...causes.flatMap(({ id, consequences }) =>
      consequences.map((finding) => ({ ...finding, consequenceOf: id, all })),
    ),
  ]
}

export type WithExplanation<T> = T & { readonly explanation?: Explanation | undefined }

function conditionsOf(condition: PathCondition): Parameters<typeof CONDITION.write>[0][] {
  const { column } = condition
  if (condition.kind === 'levels') return [{ column, op: 'in', value: condition.levels }]
  const { above, atMost } = condition
  return [
    ...(above === undefined ? [] : [{ column, op: '>', value: above }]),
    ...(atMost === undefined ? [] : [{ column, op: '<=', value: atMost }]),
  ]
}
