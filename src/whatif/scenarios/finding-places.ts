import type { CallPaths } from '../../calls/call-paths.ts'
import type { Finding, FindingCall } from '../../compare/findings/finding.ts'
import type { Candidate, Scenario, ScenarioKind } from './scenario.ts'

/** Something that a finding or a scenario is about; an empty name may be any. */
export interface Place {
  readonly what: 'work' | 'way' | 'calls' | 'order' | 'request' | 'load'
  /** Service that works, is called, makes other calls, or takes the request first. */
  readonly service: string
  readonly operation: string
  /** Caller of a way, or the callee of calls. */
  readonly other: string
}

/** Places that each kind of scenario may be about, its own kind of place first. */
const ABOUT: Readonly<Partial<Record<ScenarioKind, readonly Place['what'][]>>> = {
  preprocessing: ['work'],
  server: ['request', 'work'],
  partition: ['request', 'work'],
  network: ['way'],
  children: ['way'],
  count: ['calls', 'request'],
  order: ['order', 'request'],
}

/** Changes in the number of calls, and in their order. */
const COUNTED: readonly FindingCall['kind'][] = ['calls', 'next', 'again', 'hedges', 'repeats']
const ORDERED: readonly FindingCall['kind'][] = ['together', 'in turn', 'before', 'outlives']

/** Returns the places of a finding: its steps or its calls; none for trace points. */
export function placesOf({ kind, steps, calls, services }: Finding): Place[] {
  if (kind === 'load') return [{ what: 'load', service: '', operation: '', other: '' }]
  // No request waits for messages, so no scenario changes their waits.
  const waitedFor = steps.filter(({ part }) => part !== 'message')
  const ofSteps = waitedFor.flatMap((step): Place[] => {
    const { service, operation, caller } = step
    // What a callee without spans does is work of those who call it.
    if (step.kind === 'call' && caller === null) {
      const callers = services.filter((one) => one !== service)
      return callers.map((one) => ({ what: 'work', service: one, operation, other: '' }))
    }
    const what = { work: 'work', call: 'way', request: 'request' } as const
    return [{ what: what[step.kind], service, operation, other: caller ?? '' }]
  })
  const ofCalls = calls.flatMap(({ kind: choice, of, call }): Place[] => {
    const isCount = COUNTED.includes(choice)
    if (!isCount && !ORDERED.includes(choice)) return []
    return [{ what: isCount ? 'calls' : 'order', ...of, other: (isCount && call?.service) || '' }]
  })
  return [...ofSteps, ...ofCalls]
}

/** Whether a scenario changes the subject of a finding. */
export function isAbout(
  scenario: Scenario & Partial<Candidate>,
  place: Place,
  paths: CallPaths,
): boolean {
  const { kind, service, operation, path, callee = '' } = scenario
  if (!ABOUT[kind]?.includes(place.what)) return false
  if (place.what === 'load') return true
  const isOf = kind === 'children' ? place.other : place.service
  if (service !== isOf || (kind !== 'children' && !isSame(operation, place.operation))) return false
  // The wait for a call is not the caller's own work.
  if (place.what === 'work' && kind !== 'preprocessing') return !isCaller(scenario, paths)
  if (kind === 'count') return isSame(callee, place.other)
  if (kind !== 'network' || path === null) return true
  const parent = paths.parent(path)
  return parent < 0 || isSame(paths.service(parent), place.other)
}

/** Whether calls of other services are made within the calls that a scenario changes. */
function isCaller({ service, operation, path }: Scenario, paths: CallPaths): boolean {
  const isChanged = (one: number) =>
    path === null
      ? paths.service(one) === service && isSame(paths.operation(one), operation)
      : one === path
  return paths
    .all()
    .some((below) => paths.service(below) !== service && paths.above(below).some(isChanged))
}

/** Paths of the calls that a place is about; none of load. */
export function pathsAt(paths: CallPaths, { what, service, operation, other }: Place): number[] {
  return paths.all().filter((path) => {
    const parent = paths.parent(path)
    const caller = parent < 0 ? '' : paths.service(parent)
    return (
      paths.service(path) === service &&
      isSame(paths.operation(path), operation) &&
      (what !== 'way' || isSame(caller, other))
    )
  })
}

/** Whether names are the same; an empty one may be any. */
function isSame(one: string, other: string): boolean {
  return one === '' || other === '' || one === other
}
