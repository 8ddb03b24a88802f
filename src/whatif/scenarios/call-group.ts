import type { CallPaths } from '../calls/call-paths.ts'

/** Calls that are looked at as one: those along some paths. */
export interface CallGroup {
  /** Ascending. */
  readonly paths: readonly number[]
  /** Empty where the paths end in several services, as those of requests may. */
  readonly service: string
  /** Empty where the paths end in several operations. */
  readonly operation: string
}

/** The group of these paths. */
export function callGroup(paths: CallPaths, members: Iterable<number>): CallGroup {
  const sorted = [...new Set(members)].sort((a, b) => a - b)
  const services = new Set(sorted.map((path) => paths.service(path)))
  const operations = new Set(sorted.map((path) => paths.operation(path)))
  const [service = '', second] = services
  const [operation = ''] = operations
  return {
    paths: sorted,
    service: second === undefined ? service : '',
    operation: second === undefined && operations.size === 1 ? operation : '',
  }
}

/** `cart GET /cart`, or `cart` for several operations. */
export function groupName({ service, operation }: CallGroup): string {
  if (service === '') return 'all requests'
  return operation === '' ? service : `${service} ${operation}`
}

/** Whether the calls of a path come from another service, or from outside. */
export function isEntry(paths: CallPaths, path: number): boolean {
  const parent = paths.parent(path)
  return parent < 0 || paths.service(parent) !== paths.service(path)
}

/** Some paths, divided by what they end in. */
export function groupsByName(paths: CallPaths, members: Iterable<number>): CallGroup[] {
  return divided(paths, members, (path) => paths.name(path))
}

/** For each service, all calls into it from other services. */
export function groupsByService(paths: CallPaths): CallGroup[] {
  const entries = allPaths(paths).filter((path) => isEntry(paths, path) && paths.parent(path) >= 0)
  return divided(paths, entries, (path) => paths.service(path))
}

/** The paths of requests. */
export function rootPaths(paths: CallPaths): number[] {
  return allPaths(paths).filter((path) => paths.parent(path) < 0)
}

/** What the calls of `group` call themselves. */
export function calledBy(paths: CallPaths, group: CallGroup): number[] {
  const callers = new Set(group.paths)
  return allPaths(paths).filter((path) => callers.has(paths.parent(path)))
}

/**
 * What the calls of `group` call, and what they call of other services through steps of their own
 * service, which only pass on.
 */
export function reachedBy(paths: CallPaths, group: CallGroup): number[] {
  const passing = new Set(group.paths)
  const direct = new Set(group.paths)
  const reached: number[] = []
  // A path's number is larger than its caller's.
  for (const path of allPaths(paths)) {
    const parent = paths.parent(path)
    if (!passing.has(parent)) continue
    const own = paths.service(path) === paths.service(parent)
    if (own) passing.add(path)
    if (!own || direct.has(parent)) reached.push(path)
  }
  return reached
}

/** `group` in smaller ones: by operation where it has several, else path by path; none of one path. */
export function dividedGroup(paths: CallPaths, group: CallGroup): CallGroup[] {
  if (group.paths.length === 1) return []
  const byName = groupsByName(paths, group.paths)
  return byName.length > 1 ? byName : group.paths.map((path) => callGroup(paths, [path]))
}

function allPaths(paths: CallPaths): number[] {
  return Array.from({ length: paths.size }, (_, path) => path)
}

function divided<T>(
  paths: CallPaths,
  members: Iterable<number>,
  key: (path: number) => T,
): CallGroup[] {
  const found = new Map<T, number[]>()
  for (const path of members) {
    const of = key(path)
    const group = found.get(of)
    if (group === undefined) found.set(of, [path])
    else group.push(path)
  }
  return Array.from(found.values(), (group) => callGroup(paths, group))
}
