import type { NodeLabel } from '../../flows/node-labels.ts'
import type { Categories } from '../categories/categories.ts'
import type { EdgeClass } from '../categories/category-structure.ts'

/**
 * What happens on an edge: work within one service (`'self'`), or the way between two, with
 * whatever waits there: network, queues, connections (`'network'`).
 */
export type EdgeKind = 'self' | 'network'

/** An edge by the labels at its ends, wherever in whatever category it occurs. */
export interface PooledEdge {
  readonly from: string
  readonly to: string
  readonly kind: EdgeKind
  readonly fromNode: NodeLabel
  readonly toNode: NodeLabel
  /** Of folded flows: it leads from the round before to the next; see `EdgeClass`. */
  readonly fromRoundBefore?: true
}

/** Numbers edges by the labels at their ends, over all categories. */
export class EdgePool {
  readonly edges: PooledEdge[] = []
  readonly #categories: Categories
  readonly #numbers = new Map<number, number>()

  constructor(categories: Categories) {
    this.#categories = categories
  }

  /** The pooled edge of each edge class of a category. */
  ofClasses(category: number): Uint32Array {
    const structure = this.#categories.structure(category)
    const { edgeClasses, classEnds, labelCodes } = structure
    return Uint32Array.from(classEnds, ({ from: source, to: target }, number) => {
      const { fromRoundBefore, from, to } = edgeClasses[number] as EdgeClass
      const ends =
        (labelCodes[source] as number) * this.#categories.labelCount +
        (labelCodes[target] as number)
      const key = 2 * ends + (fromRoundBefore ? 1 : 0)
      let pooled = this.#numbers.get(key)
      if (pooled === undefined) {
        pooled = this.edges.length
        this.#numbers.set(key, pooled)
        const fromNode = this.#categories.nodeLabel(category, source)
        const toNode = this.#categories.nodeLabel(category, target)
        const kind = place(fromNode) === place(toNode) ? 'self' : 'network'
        const round = fromRoundBefore && { fromRoundBefore }
        this.edges.push({ from, to, kind, fromNode, toNode, ...round })
      }
      return pooled
    })
  }
}

/** Where a node is: its service, or for trace points without one their machine. */
export function place({ service, host }: NodeLabel): string {
  return service === '' ? host : service
}

/** Of the two ends of a way between services, the one that is called or has answered. */
export function calledPlace({ fromNode, toNode }: PooledEdge): string {
  return fromNode.phase === 'reply' && toNode.phase === 'reply' ? place(fromNode) : place(toNode)
}
