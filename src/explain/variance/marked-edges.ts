import type { Categories } from '../../compare/categories/categories.ts'
import { FoldedFlows } from '../../flows/fold/folded-flows.ts'
import { labelText } from '../../flows/node-labels.ts'
import { type EdgeEnds, isSameEdge, type VarianceMark } from './variance-marks.ts'

/**
 * Which mark is on which edge of some categories, by the labels at its ends. Of folded flows, whose
 * roots say how often what repeats (`ROOT ×6`), a mark on the root as it was recorded counts as well.
 */
export class MarkedEdges {
  readonly marks: readonly VarianceMark[]
  readonly #categories: Categories
  /** What a folded root was called, where that is something else. */
  readonly #recorded: ReadonlyMap<string, string>

  constructor(categories: Categories, marks: readonly VarianceMark[]) {
    this.marks = marks
    this.#categories = categories
    this.#recorded = marks.length === 0 ? new Map() : recordedRoots(categories)
  }

  of({ from, to }: EdgeEnds): VarianceMark | undefined {
    const own = this.marks.find((mark) => isSameEdge(mark, { from, to }))
    const recorded = this.#recorded.get(from)
    if (own !== undefined || recorded === undefined) return own
    return this.marks.find((mark) => isSameEdge(mark, { from: recorded, to }))
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

function recordedRoots({ flows, options }: Categories): Map<string, string> {
  const found = new Map<string, string>()
  if (!(flows instanceof FoldedFlows)) return found
  const { unfolded, folding } = flows
  const seen = new Set<number>()
  const textOf = (of: typeof unfolded, request: number, omitHosts: boolean) => {
    const label = of.labels.get(of.shapes.labels(of.shapeOf[request] as number)[0] as number)
    const shown = omitHosts ? { ...label, host: '' } : label
    return options.label === null ? labelText(shown) : options.label(shown)
  }
  for (let request = 0; request < flows.size; request++) {
    const shape = flows.shapeOf[request] as number
    if (seen.has(shape)) continue
    seen.add(shape)
    const folded = textOf(flows, request, options.omitHosts)
    const recorded = textOf(unfolded, request, options.omitHosts || folding.omitHosts)
    if (folded !== recorded) found.set(folded, recorded)
  }
  return found
}
