import type { NodePairing } from './node-pairing.ts'

/** Two nodes, one of each form of a pairing. */
export interface NodePair {
  readonly a: number
  readonly b: number
}

/** Of the pairs that may close a cycle, this share is parted at once, so that many take few rounds. */
const AT_ONCE = 0.05

/**
 * Parts pairs until the union of both forms has no cycle, those first whose neighbours agree
 * least; of these such as have a label that recurs, and then the last. Where there are many, some
 * are parted that need not be. Gives the pairs parted.
 */
export function breakCycles(pairing: NodePairing, recurs: (label: string) => boolean): NodePair[] {
  const parted: NodePair[] = []
  for (let cyclic = cyclicNodes(pairing); cyclic.length > 0; cyclic = cyclicNodes(pairing)) {
    const count = Math.ceil(AT_ONCE * cyclic.length)
    for (const a of weakestFirst(cyclic, pairing, recurs).slice(0, count)) {
      parted.push({ a, b: pairing.ofA[a] as number })
      pairing.part(a)
    }
  }
  return parted
}

/** Union nodes of `a` with partners that are left when all is peeled off that is on no cycle. */
function cyclicNodes(pairing: NodePairing): number[] {
  const { a, b, ofA, unionSize } = pairing
  const below: number[][] = Array.from({ length: unionSize }, () => [])
  const above: number[][] = Array.from({ length: unionSize }, () => [])
  const link = (from: number, to: number) => {
    below[from]?.push(to)
    above[to]?.push(from)
  }
  for (const { from, to } of a.edges) link(from, to)
  for (const { from, to } of b.edges) link(pairing.unionOfB(from), pairing.unionOfB(to))
  const left = new Uint8Array(unionSize).fill(1)
  peel(below, above, left)
  peel(above, below, left)
  return Array.from(ofA.keys()).filter((node) => left[node] === 1 && (ofA[node] as number) >= 0)
}

/** Takes away nodes that nothing left leads to, again and again. */
function peel(
  next: readonly (readonly number[])[],
  previous: readonly (readonly number[])[],
  left: Uint8Array,
): void {
  const isLeft = (node: number) => left[node] === 1
  const waiting = Uint32Array.from(previous, (nodes) => nodes.filter(isLeft).length)
  const pending = Array.from(left.keys()).filter((node) => isLeft(node) && waiting[node] === 0)
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    left[node] = 0
    for (const follower of next[node] as readonly number[]) {
      if (!isLeft(follower)) continue
      waiting[follower] = (waiting[follower] as number) - 1
      if (waiting[follower] === 0) pending.push(follower)
    }
  }
}

function weakestFirst(
  nodes: readonly number[],
  pairing: NodePairing,
  recurs: (label: string) => boolean,
): number[] {
  const strength = (node: number) => {
    const agreement = pairing.agreement(node, pairing.ofA[node] as number)
    return 2 * agreement + (recurs(pairing.a.labels[node] as string) ? 0 : 1)
  }
  return nodes
    .map((node) => ({ node, strength: strength(node) }))
    .sort((a, b) => a.strength - b.strength || b.node - a.node)
    .map(({ node }) => node)
}
