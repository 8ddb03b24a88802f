import { group as groupBy } from 'd3-array'
import type { CallPaths } from '../../calls/call-paths.ts'

/** Calls that are looked at as one: those along some paths. */
export interface CallGroup {
  /** Ascending. */
  readonly paths: readonly number[]
  /** Empty where the paths end in several services, as those of requests may. */
  readonly service: string
  /** Empty where the paths end in several operations. */
  readonly operation: string
}

export function callGroup(paths: CallPaths, members: Iterable<number>): CallGroup {
  const sorted = [...new Set(members)].sort((a, b) => a - b)
  const [service = '', ...otherServices] = new Set(sorted.map((path) => paths.service(path)))
  const [operation = '', ...others] = new Set(sorted.map((path) => paths.operation(path)))
  if (otherServices.length > 0) return { paths: sorted, service: '', operation: '' }
  return { paths: sorted, service, operation: others.length > 0 ? '' : operation }
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

export function groupsByName(paths: CallPaths, members: Iterable<number>): CallGroup[] {
  const byName = groupBy(members, (path) => paths.name(path))
  return Array.from(byName.values(), (each) => callGroup(paths, each))
}

/** Returns, for each service, all calls into it from other services. */
export function groupsByService(paths: CallPaths): CallGroup[] {
  const entries = paths.all().filter((path) => isEntry(paths, path) && paths.parent(path) >= 0)
  const byService = groupBy(entries, (path) => paths.service(path))
  return Array.from(byService.values(), (each) => callGroup(paths, each))
}

export function rootPaths(paths: CallPaths): number[] {
  return paths.all().filter((path) => paths.parent(path) < 0)
}

/** Returns the direct calls of the calls of `group`. */
export function calledBy(paths: CallPaths, group: CallGroup): number[] {
  const callers = new Set(group.paths)
  return paths.all().filter((path) => callers.has(paths.parent(path)))
}

/**
 * Returns the direct calls of the calls of `group`, and their calls to other services through steps of their own
 * service that only pass on.
 */
export function reachedBy(paths: CallPaths, group: CallGroup): number[] {
  const direct = new Set(group.paths)
  const passing = new Set(direct)
  // A path's number is larger than its caller's.
  return paths.all().filter((path) => {
    const parent = paths.parent(path)
    if (!passing.has(parent)) return false
    if (isEntry(paths, path)) return true
    passing.add(path)
    return direct.has(parent)
  })
}

/** `group` in smaller ones: by operation where it has several, else path by path; none of one path. */
export function dividedGroup(paths: CallPaths, group: CallGroup): CallGroup[] {
  if (group.paths.length === 1) return []
  const byName = groupsByName(paths, group.paths)
  return byName.length > 1 ? byName : group.paths.map((path) => callGroup(paths, [path]))
}

/**
 * Returns the title of a group, in as few words as distinguish its calls from others of the same name: `cart GET` if it
 * has all of them, `cart GET called by checkout` where one service makes them, `cart GET called by checkout POST
 * /order` where one operation of it does, `cart GET in web GET /order` where they have something further up in common.
 */
export function groupTitle(paths: CallPaths, group: CallGroup): string {
  const place = group.service === '' ? '' : placeOf(paths, group)
  return place === '' ? groupName(group) : `${groupName(group)} ${place}`
}

function placeOf(paths: CallPaths, { paths: members, service, operation }: CallGroup): string {
  const [first] = members
  const isNamed = (path: number) => operation === '' || paths.operation(path) === operation
  const alike = paths.all().filter((path) => paths.service(path) === service && isNamed(path))
  const inside = new Set(members)
  const others = alike.filter(
    (path) => !inside.has(path) && !paths.above(path).some((each) => inside.has(each)),
  )
  if (first === undefined || others.length === 0) return ''
  const found = placesOf(paths, first).find(({ has }) => members.every(has) && !others.some(has))
  if (found !== undefined) return found.text
  const parent = paths.parent(first)
  return members.length === 1 && parent >= 0
    ? `along ${paths.text(parent)}`
    : `along ${members.length} of ${alike.length} chains of calls`
}

/**
 * Returns the places that may distinguish a path from others, with their text: its caller first, then the places
 * further up, from the root down.
 */
function placesOf(paths: CallPaths, path: number) {
  const above = paths.above(path)
  const parent = above.at(-1)
  if (parent === undefined) {
    return [{ text: 'as requests', has: (other: number) => paths.parent(other) < 0 }]
  }
  const service = paths.service(parent)
  const isCalledBy = (has: (caller: number) => boolean) => (other: number) =>
    paths.parent(other) >= 0 && has(paths.parent(other))
  return [
    {
      text: `called by ${service}`,
      has: isCalledBy((caller) => paths.service(caller) === service),
    },
    {
      text: `called by ${paths.callText(parent)}`,
      has: isCalledBy((caller) => paths.name(caller) === paths.name(parent)),
    },
    ...above.map((ancestor) => ({
      text: `in ${paths.callText(ancestor)}`,
      has: (other: number) =>
        paths.above(other).some((each) => paths.name(each) === paths.name(ancestor)),
    })),
  ]
}
