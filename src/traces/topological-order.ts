import type { ShapeTable } from './shape-table.ts'

/**
 * The nodes of a shape such that every edge leads forward, or `null` when there is a cycle
 * (Kahn's algorithm).
 */
export function topologicalOrder(shapes: ShapeTable, shape: number): Uint32Array | null {
  const nodes = shapes.nodeCount(shape)
  const from = shapes.from(shape)
  const to = shapes.to(shape)
  const waiting = new Uint32Array(nodes)
  const offsets = new Uint32Array(nodes + 1)
  for (let edge = 0; edge < from.length; edge++) {
    waiting[to[edge] as number] = (waiting[to[edge] as number] as number) + 1
    const start = (from[edge] as number) + 1
    offsets[start] = (offsets[start] as number) + 1
  }
  for (let node = 0; node < nodes; node++) {
    offsets[node + 1] = (offsets[node + 1] as number) + (offsets[node] as number)
  }
  const next = offsets.slice()
  const targets = new Uint32Array(from.length)
  for (let edge = 0; edge < from.length; edge++) {
    const start = from[edge] as number
    targets[next[start] as number] = to[edge] as number
    next[start] = (next[start] as number) + 1
  }
  const order = new Uint32Array(nodes)
  let found = 0
  for (let node = 0; node < nodes; node++) if (waiting[node] === 0) order[found++] = node
  for (let at = 0; at < found; at++) {
    const node = order[at] as number
    for (let entry = offsets[node] as number; entry < (offsets[node + 1] as number); entry++) {
      const target = targets[entry] as number
      waiting[target] = (waiting[target] as number) - 1
      if (waiting[target] === 0) order[found++] = target
    }
  }
  return found === nodes ? order : null
}
