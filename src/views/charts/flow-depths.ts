/** Where edges stand on the way through a flow. */
interface Flow {
  readonly labels: readonly string[]
  readonly from: Uint32Array
  readonly to: Uint32Array
  readonly classOf: Uint32Array
}

/**
 * How many edges, at most, lead from the root to where each edge class begins: edges in this order
 * come as they are passed along any path. Of several edges of a class the first counts.
 */
export function flowDepths({ labels, from, to, classOf }: Flow): number[] {
  const leaving: number[][] = labels.map(() => [])
  const waiting = new Uint32Array(labels.length)
  to.forEach((node, edge) => {
    waiting[node] = (waiting[node] as number) + 1
    leaving[from[edge] as number]?.push(edge)
  })
  const depth = new Uint32Array(labels.length)
  const ready = labels.map((_, node) => node).filter((node) => waiting[node] === 0)
  for (let node = ready.pop(); node !== undefined; node = ready.pop()) {
    for (const edge of leaving[node] as readonly number[]) {
      const next = to[edge] as number
      depth[next] = Math.max(depth[next] as number, (depth[node] as number) + 1)
      waiting[next] = (waiting[next] as number) - 1
      if (waiting[next] === 0) ready.push(next)
    }
  }
  const depths: number[] = []
  from.forEach((node, edge) => {
    const number = classOf[edge] as number
    depths[number] = Math.min(depths[number] ?? Number.POSITIVE_INFINITY, depth[node] as number)
  })
  return depths
}
