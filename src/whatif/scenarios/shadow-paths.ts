// Over all calls of a period: the loops index with `!`.
import type { CallForest } from '../calls/call-forest.ts'
import type { CallPaths } from '../calls/call-paths.ts'
import { callRows } from './call-rows.ts'

/** Share of a path's calls that must be shadows. */
const NEARLY_ALWAYS = 0.9
/** How far apart a shadow and what casts it may begin and end: a share of its duration, and µs. */
const APART = { share: 0.05, us: 2000 }

/**
 * Paths of steps that only wait, beside what they wait for: a step of the caller's own service that
 * calls nothing and, in nine of ten calls, begins and ends with another call that its caller makes
 * and that does call something (within 5 % of its duration, or 2 ms where that is more). A
 * reactive gateway records itself so: its handler and the call it awaits are siblings. Such a step's
 * time is recorded twice, and is no cause by itself.
 */
export function shadowPaths(forest: CallForest, paths: CallPaths): Set<number> {
  const shadows = new Set<number>()
  for (let path = 0; path < paths.size; path++) {
    const parent = paths.parent(path)
    if (parent < 0 || paths.service(parent) !== paths.service(path)) continue
    const calls = callRows(forest, [path])
    if (calls.length === 0) continue
    let found = 0
    for (const call of calls) if (isShadow(forest, call)) found++
    if (found >= NEARLY_ALWAYS * calls.length) shadows.add(path)
  }
  return shadows
}

function isShadow(forest: CallForest, call: number): boolean {
  const { parent, childOffsets, children, offsetUs, latencyUs, clientSpan } = forest
  if (childOffsets[call + 1]! > childOffsets[call]! || clientSpan[call]! >= 0) return false
  const caller = parent[call]!
  const startUs = offsetUs[call]!
  const endUs = startUs + latencyUs[call]!
  const apartUs = Math.max(APART.us, APART.share * latencyUs[call]!)
  for (let entry = childOffsets[caller]!; entry < childOffsets[caller + 1]!; entry++) {
    const other = children[entry]!
    if (other === call || !isMore(forest, other)) continue
    const otherStartUs = offsetUs[other]!
    const otherEndUs = otherStartUs + latencyUs[other]!
    if (Math.abs(otherEndUs - endUs) <= apartUs && Math.abs(otherStartUs - startUs) <= apartUs) {
      return true
    }
  }
  return false
}

/** Whether a call is known to be more than a step: it calls something, or another host served it. */
function isMore({ childOffsets, clientSpan }: CallForest, call: number): boolean {
  return childOffsets[call + 1]! > childOffsets[call]! || clientSpan[call]! >= 0
}
