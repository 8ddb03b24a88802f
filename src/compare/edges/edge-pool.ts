// Runs once an edge of a category: the loops index with `!`.
import { type NodeLabel, place } from '../../flows/node-labels.ts'
import { growingColumns } from '../../traces/growing-columns.ts'
import type { Categories } from '../categories/categories.ts'
import { PairInterner } from '../categories/structure-colours.ts'

/**
 * Kind of an edge: work within one service (`'self'`), or the way between two services with all waiting on it, such as
 * network, queues and connections (`'network'`).
 */
export type EdgeKind = 'self' | 'network'

/** An edge by the labels at its ends, without sizes and attributes, in whatever category it occurs. */
export interface PooledEdge {
  readonly from: string
  readonly to: string
  readonly kind: EdgeKind
  readonly fromNode: NodeLabel
  readonly toNode: NodeLabel
  /** True if the edge of folded flows leads from one round to the next; see `EdgeClass`. */
  readonly fromRoundBefore?: true
}

export class EdgePool {
  readonly #categories: Categories
  readonly #pairs = new PairInterner()
  /** First edge class and category of each edge. */
  readonly #found = growingColumns({ category: 'u32', number: 'u32' })

  constructor(categories: Categories) {
    this.#categories = categories
  }

  get size(): number {
    return this.#found.number.length
  }

  ofClasses(category: number): Uint32Array {
    const { kindCodes, classFrom, classTo, loops } = this.#categories.structure(category)
    const pooled = new Uint32Array(classFrom.length)
    for (let number = 0; number < pooled.length; number++) {
      const loop = number < pooled.length - loops ? 0 : 1
      const [source, target] = [kindCodes[classFrom[number]!]!, kindCodes[classTo[number]!]!]
      pooled[number] = this.#pairs.intern(2 * source + loop, target)
      if (pooled[number]! < this.size) continue
      this.#found.category.push(category)
      this.#found.number.push(number)
    }
    return pooled
  }

  edge(pooled: number): PooledEdge {
    const category = this.#found.category.values[pooled]!
    const number = this.#found.number.values[pooled]!
    const { kinds, classFrom, classTo, loops } = this.#categories.structure(category)
    const [from, to] = [kinds[classFrom[number]!]!, kinds[classTo[number]!]!]
    const isLoop = number >= classFrom.length - loops
    const ends = [classFrom[number]!, classTo[number]!] as const
    const [start, end] = ends.map((node) => place(this.#categories.nodeLabel(category, node)))
    const kind = start === end ? 'self' : 'network'
    const fromNode = this.#categories.shownNode(category, ends[0])
    const toNode = this.#categories.shownNode(category, ends[1])
    return { from, to, kind, fromNode, toNode, ...(isLoop && { fromRoundBefore: true }) }
  }
}

/** Returns the called end of a way between services, or the answering end of a reply. */
export function calledPlace({ fromNode, toNode }: PooledEdge): string {
  return fromNode.phase === 'reply' && toNode.phase === 'reply' ? place(fromNode) : place(toNode)
}
