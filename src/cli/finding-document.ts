import type { EdgeChange } from '../compare/edges/find-edge-changes.ts'
import {
  FINDING_KINDS,
  type Finding,
  type FindingCall,
  type FindingStep,
  type StructureChange,
} from '../compare/findings/finding.ts'
import type { Exemplars } from '../compare/ranking/rank-mutations.ts'
import type { Operation } from '../compare/steps/call-counts.ts'
import type { Explanation } from '../explain/parameters/explanation.ts'
import { pathSentence } from '../explain/parameters/explanation-words.ts'
import type { LeftOutParameter } from '../explain/parameters/left-out.ts'
import type { ParameterDifference } from '../explain/parameters/parameter-differences.ts'
import type { ExplainedPath } from '../explain/parameters/parameter-question.ts'
import type { PathCondition } from '../stats/decision-tree/tree-paths.ts'
import {
  about,
  COUNT,
  listOf,
  MEASURED,
  made,
  NUMBER,
  optional,
  orNull,
  PERIOD_COUNTS,
  RANK,
  record,
  SHARE,
  TEXT,
  words,
} from './document.ts'

/** Listed with one finding; `changedSteps` and `changedParts` say how many there are. */
const MAX_STEPS = 10
const MAX_PARTS = 50
const MAX_CALLS = 20
/** Listed with one explanation. */
const MAX_PATHS = 20
const MAX_PARAMETERS = 50
const MAX_LEFT_OUT = 200

export const EFFECT = record<Effect>({
  medianShiftUs: MEASURED,
  probabilitySlower: about('Share of pairs in which the request after is slower.', MEASURED),
  q: about('p corrected for the number of tests.', MEASURED),
  interval: about('95 % interval of the shift.', listOf(MEASURED)),
})

/** How large a change is, and how sure. */
export interface Effect {
  readonly medianShiftUs: number
  readonly interval: readonly number[]
  readonly probabilitySlower: number
  readonly q: number
}

export const EXEMPLARS = about(
  'Trace ids of typical requests.',
  record<Exemplars>({ before: listOf(TEXT), after: listOf(TEXT) }),
)

const CONDITION = record<Condition>({
  column: TEXT,
  op: words('<=', '>', 'in'),
  value: {
    schema: { anyOf: [{ type: 'number' }, { type: 'array', items: { type: 'string' } }] },
    write: (value) => value,
  },
})

interface Condition {
  readonly column: string
  readonly op: string
  readonly value: number | readonly string[]
}

const PATH = record<ExplainedPath & { readonly sentence: string }>({
  question: words('what-differs', 'what-is-slow'),
  sentence: TEXT,
  conditions: about(
    'All of them hold.',
    made(({ conditions }) => conditions.flatMap(conditionsOf), listOf(CONDITION)),
  ),
  predicts: words('mutation', 'precursor', 'slow', 'usual'),
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
    excluded: about(
      'Parameters that do not take part.',
      made(
        ({ leftOut }) => leftOut,
        listOf(record<LeftOutParameter>({ column: TEXT, reason: TEXT }), MAX_LEFT_OUT),
      ),
    ),
    paths: about(
      'Best first.',
      made(
        ({ paths, subject }) =>
          paths.map((path) => ({ ...path, sentence: pathSentence(path, subject) })),
        listOf(PATH, MAX_PATHS),
      ),
    ),
    parameters: about(
      'Each by itself, the most different first.',
      made(
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
      ),
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
  contributionUs: NUMBER,
})

const OPERATION = record<Operation>({ service: TEXT, operation: TEXT })

const STRUCTURE = record<StructureChange>({
  change: words('added', 'removed'),
  label: TEXT,
  after: about(
    'The step it follows.',
    made(({ after }) => after?.label, orNull(TEXT)),
  ),
  answered: about('The call that was answered just before.', orNull(OPERATION)),
})

const FINDING_STEP = record<FindingStep>({
  kind: words('work', 'call', 'request'),
  service: TEXT,
  caller: orNull(TEXT),
  operation: TEXT,
  shiftUs: NUMBER,
})

const FINDING_CALL = record<FindingCall>({
  kind: words('calls', 'next', 'repeats'),
  of: about('What makes the call.', OPERATION),
  previous: about('Call that was answered just before.', orNull(OPERATION)),
  call: about('Call that is made; null for none.', orNull(OPERATION)),
  made: about('How often it did, before and after.', listOf(NUMBER)),
  chances: about(
    "How often it could have; of 'repeats', requests that make the call at all.",
    listOf(COUNT),
  ),
})

const FACTS = {
  id: about('Stays the same while the same edges or the same part of the flow changed.', TEXT),
  title: TEXT,
  where: about('Place of the change.', TEXT),
  what: about('The change itself.', TEXT),
  text: about('The facts in one line.', TEXT),
  facts: about('How many requests, how much each, share of pairs, p.', listOf(TEXT)),
  look: about('Where to look, in words.', TEXT),
  kind: words(...FINDING_KINDS),
  direction: words('slower', 'faster'),
  services: about('Where to look, the likeliest first.', listOf(TEXT)),
  mutations: about(
    'Ranks of the mutations that this accounts for.',
    made(({ mutations }: Finding) => mutations.map(({ rank }) => rank), listOf(RANK)),
  ),
  requests: about('Requests after that it touches.', COUNT),
  contributionUs: about('What it adds to the sum of all response times after.', NUMBER),
  shareOfChange: about('contributionUs over change.observedUs.', MEASURED),
  q: MEASURED,
  changedEdges: about(
    `Largest contributions first, at most ${MAX_STEPS}; changedSteps counts all.`,
    listOf(STEP, MAX_STEPS),
  ),
  changedSteps: made(({ changedEdges }: Finding) => changedEdges.length, COUNT),
  changedStructure: about(
    `At most ${MAX_PARTS}; changedParts counts all.`,
    listOf(STRUCTURE, MAX_PARTS),
  ),
  changedParts: made(({ changedStructure }: Finding) => changedStructure.length, COUNT),
  steps: about(
    `Of traces with spans: services' work, ways of calls, and requests that it rests on; at most ${MAX_STEPS}.`,
    listOf(FINDING_STEP, MAX_STEPS),
  ),
  calls: about(
    `Of traces with spans: what a service does more or less often; at most ${MAX_CALLS}.`,
    listOf(FINDING_CALL, MAX_CALLS),
  ),
  exemplars: EXEMPLARS,
}

export const FINDING = record<Explained<Finding>>({
  ...FACTS,
  consequences: about(
    'The same delay as it shows elsewhere: upstream, or in a gap that no span covers.',
    listOf(record<Finding>(FACTS)),
  ),
  explanation: optional(EXPLANATION),
})

/** Something with its explanation, if one was asked for. */
export type Explained<T> = T & { readonly explanation?: Explanation | undefined }

function conditionsOf(condition: PathCondition): Condition[] {
  const { column } = condition
  if (condition.kind === 'levels') return [{ column, op: 'in', value: condition.levels }]
  const { above, atMost } = condition
  return [
    ...(above === undefined ? [] : [{ column, op: '>', value: above }]),
    ...(atMost === undefined ? [] : [{ column, op: '<=', value: atMost }]),
  ]
}
