export function graphDepths(
  size: number,
  from: ArrayLike<number>,
  to: ArrayLike<number>,
): Uint32Array {
  const leaving: number[][] = Array.from({ length: size }, () => [])
  const waiting = new Uint32Array(size)
  for (let edge = 0; edge < to.length; edge++) {
    leaving[from[edge]!]!.push(to[edge]!)
    waiting[to[edge]!]! += 1
  }
  const depth = new Uint32Array(size)
  const ready = Array.from(waiting.keys()).filter((node) => waiting[node] === 0)
  for (let node = ready.pop(); node !== undefined; node = ready.pop()) {
    for (const next of leaving[node]!) {
      depth[next] = Math.max(depth[next]!, depth[node]! + 1)
      waiting[next]! -= 1
      if (waiting[next] === 0) ready.push(next)
    }
  }
  return depth
}
