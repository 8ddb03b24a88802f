import type { RequestModel } from '../recompute/request-model.ts'
import {
  type CallGroup,
  calledBy,
  callGroup,
  dividedGroup,
  groupName,
  groupsByName,
  groupsByService,
  groupTitle,
  reachedBy,
  rootPaths,
} from './call-group.ts'
import type { CandidateContext } from './candidate-context.ts'
import {
  type ChangedPart,
  callRows,
  changeParts,
  mapParts,
  timesOfOne,
  timesPerRequest,
} from './change-parts.ts'
import { orderCandidates } from './order-candidates.ts'
import { partitionCandidates } from './partition-candidates.ts'
import { reweightCandidates } from './reweight-candidates.ts'
import type { Candidate, ScenarioEvidence, ScenarioKind } from './scenario.ts'

/** Of a group of more parts than this, those of most calls are looked at singly. */
const MAX_PARTS = 24

/** One thing about calls that can be different. */
interface CallChange {
  readonly kind: ScenarioKind
  readonly what: string
  readonly group: CallGroup
  readonly parts: readonly ChangedPart[]
  readonly within: () => readonly Candidate[]
}

/**
 * The first candidates of a diagnosis: what the requests' first call does itself, the calls it makes,
 * whole services wherever they are called, and requests as a whole.
 */
export function firstCandidates(
  context: CandidateContext,
  { services, structural }: { readonly services: boolean; readonly structural: boolean },
): Candidate[] {
  const { paths } = context
  const roots = callGroup(paths, rootPaths(paths))
  const kinds = groupsByName(paths, roots.paths)
  return distinct([
    ...insideCandidates(context, roots),
    ...(kinds.length > 1 ? kinds.flatMap((kind) => serverCandidates(context, kind)) : []),
    ...(services ? groupsByService(paths).flatMap((group) => callCandidates(context, group)) : []),
    ...(structural ? reweightCandidates(context) : []),
    ...(structural ? partitionCandidates(context, roots) : []),
  ])
}

/** What a call does and calls: its own time, every call it makes, and the network to all of these. */
function insideCandidates(context: CandidateContext, group: CallGroup): Candidate[] {
  const { paths, twoSided } = context
  const called = calledBy(paths, group)
  if (called.length === 0) return []
  const groups = groupsByName(paths, reachedBy(paths, group))
  const remote = called.filter((path) => twoSided.has(path))
  const name = groupTitle(paths, group)
  return [
    ...groups.flatMap((each) => callCandidates(context, each)),
    ...candidates(context, {
      ...{ kind: 'preprocessing', what: `own time of ${name}`, group },
      parts: [
        { part: 'preprocessing', paths: called },
        { part: 'reply', paths: group.paths },
      ],
      within: () => ownTimeCandidates(context, group),
    }),
    ...orderCandidates(context, group),
    ...(groupsByName(paths, remote).length < 2
      ? []
      : candidates(context, {
          ...{ kind: 'children', what: `network to everything that ${name} calls,`, group },
          parts: [{ part: 'network', paths: remote }],
          within: () => [],
        })),
  ]
}

/** Calls as a whole: on the way, and in the server. */
function callCandidates(context: CandidateContext, group: CallGroup): Candidate[] {
  const { paths, twoSided } = context
  const remote = group.paths.filter((path) => twoSided.has(path))
  const network = remote.length === 0 ? [] : networkCandidates(context, callGroup(paths, remote))
  return [...network, ...serverCandidates(context, group)]
}

function networkCandidates(context: CandidateContext, group: CallGroup): Candidate[] {
  return candidates(context, {
    ...{ kind: 'network', what: `network to ${groupTitle(context.paths, group)}`, group },
    parts: [{ part: 'network', paths: group.paths }],
    within: () => partsOf(context, group).flatMap((part) => networkCandidates(context, part)),
  })
}

function serverCandidates(context: CandidateContext, whole: CallGroup): Candidate[] {
  const { paths, shadows } = context
  const members = whole.paths.filter((path) => !shadows.has(path))
  if (members.length === 0) return []
  const group = callGroup(paths, members)
  return candidates(context, {
    ...{ kind: 'server', what: `server time of ${groupTitle(paths, group)}`, group },
    parts: [{ part: 'server', paths: group.paths }],
    within: () =>
      distinct([
        ...insideCandidates(context, group),
        ...partsOf(context, group).flatMap((part) => serverCandidates(context, part)),
        ...partitionCandidates(context, group),
      ]),
  })
}

/** A group in smaller ones: by operation, or else path by path. */
function partsOf({ paths, base }: CandidateContext, group: CallGroup): CallGroup[] {
  const parts = dividedGroup(paths, group)
  if (parts.length <= MAX_PARTS) return parts
  const calls = (part: CallGroup) => callRows(base.forest, part.paths).length
  return parts.sort((a, b) => calls(b) - calls(a)).slice(0, MAX_PARTS)
}

/** A service's own time, taken apart: before each of the calls it makes, and before its reply. */
function ownTimeCandidates(context: CandidateContext, group: CallGroup): Candidate[] {
  const { paths } = context
  const name = groupTitle(paths, group)
  const before = groupsByName(paths, calledBy(paths, group)).map((called) => ({
    what: `own time of ${name} just before it calls ${groupName(called)},`,
    parts: [{ part: 'preprocessing', paths: called.paths }] as const,
  }))
  const reply = {
    what: `own time of ${name} just before it replies,`,
    parts: [{ part: 'reply', paths: group.paths }] as const,
  }
  return [...before, reply].flatMap((each) =>
    candidates(context, { kind: 'preprocessing', group, within: () => [], ...each }),
  )
}

/** One candidate that makes it as it is in the target, or one a factor where there is none. */
function candidates(context: CandidateContext, change: CallChange): Candidate[] {
  const { kind, what, group, parts, within } = change
  const { service, operation, paths } = group
  const [only] = paths
  const key = parts.map((each) => `${each.part} ${each.paths}`).join(';')
  const shared = {
    ...{ kind, service, operation, within },
    path: paths.length === 1 && only !== undefined ? only : null,
    evidence: (base: RequestModel, target: RequestModel) => evidenceOf(base, target, parts),
  }
  if (context.target !== null) {
    return [
      {
        ...shared,
        key,
        title: `${what} as after`,
        apply(base, target) {
          if (target === null) return { changes: [], weight: null }
          return { changes: parts.map((each) => mapParts(base, target, each)), weight: null }
        },
      },
    ]
  }
  return context.factors.map((factor) => ({
    ...shared,
    key: `${key} × ${factor}`,
    title: `${what} × ${factor}`,
    apply: (base) => ({
      changes: parts.map((each) => changeParts(base, each, (us) => us * factor)),
      weight: null,
    }),
  }))
}

/** Of each request, the time that changes: of one of its calls, or in all where it is of several kinds. */
function evidenceOf(
  base: RequestModel,
  target: RequestModel,
  parts: readonly ChangedPart[],
): ScenarioEvidence {
  const [first] = parts
  const of = (model: RequestModel) =>
    parts.length === 1 && first !== undefined
      ? timesOfOne(model, first)
      : timesPerRequest(model, parts)
  return { measured: 'times', before: of(base), after: of(target) }
}

/** The first of those that change the same in the same way. */
function distinct(all: readonly Candidate[]): Candidate[] {
  const seen = new Set<string>()
  return all.filter(({ key }) => !seen.has(key) && seen.add(key))
}
