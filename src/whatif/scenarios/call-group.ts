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

/**
 * Which calls a group has, in as few words as tell them from other calls of the same name: `cart GET`
 * where it has all of them, `cart GET called by checkout` where one service makes them, `cart GET
 * called by checkout POST /order` where one operation of it does, `cart GET in web GET /order` where
 * they have something further up in common.
 */
export function groupTitle(paths: CallPaths, group: CallGroup): string {
  const place = group.service === '' ? '' : placeOf(paths, group)
  return place === '' ? groupName(group) : `${groupName(group)} ${place}`
}

/** What a call can have above it, and how that is said. */
interface Place {
  readonly text: string
  readonly has: (path: number) => boolean
}

function placeOf(paths: CallPaths, group: CallGroup): string {
  const members = new Set(group.paths)
  const alike = alikePaths(paths, group)
  const others = alike.filter((path) => !isInside(paths, path, members))
  if (others.length === 0) return ''
  const [first] = group.paths
  if (first === undefined) return ''
  const found = placesOf(paths, first).find(
    ({ has }) => group.paths.every(has) && !others.some(has),
  )
  if (found !== undefined) return found.text
  const parent = paths.parent(first)
  return group.paths.length === 1 && parent >= 0
    ? `along ${paths.text(parent)}`
    : `along ${group.paths.length} of ${alike.length} chains of calls`
}

/** All paths that end in what the group's paths end in. */
function alikePaths(paths: CallPaths, { service, operation }: CallGroup): number[] {
  return Array.from({ length: paths.size }, (_, path) => path).filter(
    (path) =>
      paths.service(path) === service && (operation === '' || paths.operation(path) === operation),
  )
}

/** Whether a path is among `members` or below one of them. */
function isInside(paths: CallPaths, path: number, members: ReadonlySet<number>): boolean {
  for (let at = path; at >= 0; at = paths.parent(at)) if (members.has(at)) return true
  return false
}

/** What may tell a path from others: its caller first, then what is further up, from the root down. */
function placesOf(paths: CallPaths, path: number): Place[] {
  const parent = paths.parent(path)
  if (parent < 0) return [{ text: 'as requests', has: (other) => paths.parent(other) < 0 }]
  const above: number[] = []
  for (let at = parent; at >= 0; at = paths.parent(at)) above.unshift(at)
  const service = paths.service(parent)
  const caller = paths.name(parent)
  const isCaller = (is: (at: number) => boolean) => (other: number) =>
    paths.parent(other) >= 0 && is(paths.parent(other))
  return [
    { text: `called by ${service}`, has: isCaller((at) => paths.service(at) === service) },
    {
      text: `called by ${nameOf(paths, parent)}`,
      has: isCaller((at) => paths.name(at) === caller),
    },
    ...above.map((ancestor) => ({
      text: `in ${nameOf(paths, ancestor)}`,
      has: (other: number) => hasAbove(paths, other, paths.name(ancestor)),
    })),
  ]
}

function nameOf(paths: CallPaths, path: number): string {
  return `${paths.service(path)} ${paths.operation(path)}`
}

function hasAbove(paths: CallPaths, path: number, name: number): boolean {
  for (let at = paths.parent(path); at >= 0; at = paths.parent(at)) {
    if (paths.name(at) === name) return true
  }
  return false
}
