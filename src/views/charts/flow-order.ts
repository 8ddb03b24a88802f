import type { CategoryStructure } from '../../compare/categories/category-structure.ts'
import { graphDepths } from '../../core/graph-depths.ts'
import { formatAmount, type Quantity, TIME } from '../../core/quantity.ts'
import { percent, shortText } from '../../core/words.ts'
import type { CategoryVariance, EdgeVariance } from '../../explain/variance/category-variance.ts'

export function largestInFlowOrder(
  found: CategoryVariance,
  edges: readonly EdgeVariance[],
  limit: number,
): EdgeVariance[] {
  const depths = flowDepths(drawnFlow(found.categories.structure(found.category)))
  const depth = ({ edge }: EdgeVariance) => depths[edge] ?? 0
  return [...edges]
    .sort((a, b) => Math.abs(b.share) - Math.abs(a.share))
    .slice(0, limit)
    .sort((a, b) => depth(a) - depth(b) || a.edge - b.edge)
}

/** Returns the longest way, in edges, from the root to where each edge class begins. */
export function flowDepths(flow: Pick<DrawnFlow, 'labels' | 'from' | 'to' | 'classOf'>): number[] {
  const { labels, from, to, classOf } = flow
  const depth = graphDepths(labels.length, from, to)
  const depths: number[] = []
  from.forEach((node, edge) => {
    const number = classOf[edge] as number
    depths[number] = Math.min(depths[number] ?? Number.POSITIVE_INFINITY, depth[node] as number)
  })
  return depths
}

/** Names an edge on one line without repeating words of both labels: `node-1 disk call → reply`. */
export function edgeName(
  { from, to, fromRoundBefore }: { from: string; to: string; fromRoundBefore?: true },
  longest: number,
): string {
  const round = fromRoundBefore ? ' of the next round' : ''
  return `${shortText(from, longest)} → ${shortText(ownWords(from, to), longest)}${round}`
}

function ownWords(other: string, label: string): string {
  // A cut label is as good as the whole: only a limited part is ever shown.
  const words = label.slice(0, 1000).split(' ')
  const known = other.slice(0, 1000).split(' ')
  let same = 0
  while (same < words.length - 1 && words[same] === known[same]) same++
  return label.slice(words.slice(0, same).reduce((length, word) => length + word.length + 1, 0))
}

export function squaredDuration(us2: number, of: Quantity = TIME): string {
  if (Number.isNaN(us2)) return 'none'
  return `${us2 < 0 ? '−' : ''}(${formatAmount(Math.sqrt(Math.abs(us2)), of)})²`
}

export function varianceShare(share: number): string {
  if (share >= 0) return percent(share)
  return share > -0.005 ? 'under 1 %' : `−${percent(-share)}`
}

type DrawnFlow = ReturnType<typeof drawnFlow>

/**
 * Returns a category's flow as drawn. In folded flows a further node stands for the beginning of the next round: a step
 * from round to round would close a cycle.
 */
function drawnFlow(structure: CategoryStructure) {
  const { labels, from, to, classOf, classFrom, classTo } = structure
  const places = new Map<number, number>()
  const plain = classTo.length - structure.loops
  const loops = Array.from(classTo.subarray(plain), (target, loop) => {
    const place = places.get(target) ?? labels.length + places.size
    places.set(target, place)
    return { from: classFrom[plain + loop] as number, to: place, number: plain + loop }
  })
  const again = [...places.keys()]
  return {
    labels: [...labels, ...again.map((node) => `${labels[node]}, next round`)],
    from: Uint32Array.from([...from, ...loops.map((loop) => loop.from)]),
    to: Uint32Array.from([...to, ...loops.map((loop) => loop.to)]),
    classOf: Uint32Array.from([...classOf, ...loops.map(({ number }) => number)]),
  }
}
