import { range } from 'd3-array'
import type { Categories } from '../../compare/categories/categories.ts'
import { type EdgeEnds, isSameEdge, type VarianceMark } from './variance-marks.ts'

/**
 * Which mark is on which edge of some categories, by the labels at its ends. Of folded flows, whose
 * roots say how often what repeats (`ROOT ×6`), a mark on the root without its size counts as well.
 */
export class MarkedEdges {
  readonly marks: readonly VarianceMark[]
  readonly #categories: Categories
  /** Roots without sizes. */
  readonly #kinds: ReadonlyMap<string, string>

  constructor(categories: Categories, marks: readonly VarianceMark[]) {
    this.marks = marks
    this.#categories = categories
    this.#kinds = marks.length === 0 ? new Map() : kindsOfRoots(categories)
  }

  of({ from, to }: EdgeEnds): VarianceMark | undefined {
    const own = this.marks.find((mark) => isSameEdge(mark, { from, to }))
    const kind = this.#kinds.get(from)
    if (own !== undefined || kind === undefined) return own
    return this.marks.find((mark) => isSameEdge(mark, { from: kind, to }))
  }

  /** Marks on edges that no category has: misspelt, or gone. */
  unused(): VarianceMark[] {
    const unused = new Set(this.marks)
    for (let category = 0; category < this.#categories.size && unused.size > 0; category++) {
      for (const edge of this.#categories.structure(category).edgeClasses) {
        const mark = this.of(edge)
        if (mark !== undefined) unused.delete(mark)
      }
    }
    return [...unused]
  }
}

function kindsOfRoots(categories: Categories): ReadonlyMap<string, string> {
  const each = range(categories.size)
  return new Map(
    each.map((category) => [categories.root(category), categories.requestKind(category)]),
  )
}
