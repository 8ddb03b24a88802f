/** A graph as edges between nodes. */
interface Links {
  readonly nodes: number
  readonly from: readonly number[]
  readonly to: readonly number[]
}

/**
 * The strongly connected part of each node: nodes are in one part when each leads to the other.
 *
 * Source: Tarjan 1972, "Depth-first search and linear graph algorithms", SIAM Journal on Computing
 * 1(2):146-160; without recursion.
 */
export function strongParts({ nodes, from, to }: Links): Uint32Array {
  const next: number[][] = Array.from({ length: nodes }, () => [])
  from.forEach((node, edge) => {
    ;(next[node] as number[]).push(to[edge] as number)
  })
  const part = new Uint32Array(nodes)
  const index = new Uint32Array(nodes)
  const low = new Uint32Array(nodes)
  const done = new Uint8Array(nodes)
  const tried = new Uint32Array(nodes)
  const open: number[] = []
  const path: number[] = []
  let found = 0
  let parts = 0
  for (let start = 0; start < nodes; start++) {
    if (index[start] !== 0) continue
    path.push(start)
    while (path.length > 0) {
      const node = path.at(-1) as number
      if (index[node] === 0) {
        found++
        index[node] = found
        low[node] = found
        open.push(node)
      }
      const targets = next[node] as number[]
      const at = tried[node] as number
      if (at < targets.length) {
        const target = targets[at] as number
        tried[node] = at + 1
        if (index[target] === 0) path.push(target)
        else if (done[target] === 0) {
          low[node] = Math.min(low[node] as number, index[target] as number)
        }
        continue
      }
      path.pop()
      const above = path.at(-1)
      if (above !== undefined) low[above] = Math.min(low[above] as number, low[node] as number)
      if (low[node] !== index[node]) continue
      for (let member = -1; member !== node; ) {
        member = open.pop() as number
        done[member] = 1
        part[member] = parts
      }
      parts++
    }
  }
  return part
}
