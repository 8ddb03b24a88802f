import type { CallPaths } from '../calls/call-paths.ts'
import { type CallGroup, groupName } from './call-group.ts'

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
