import { OptionError } from '../errors.ts'
import type { FlowSet } from '../flows/flow-set.ts'
import { labelText, type NodeLabel } from '../flows/node-labels.ts'
import { Dictionary } from '../traces/dictionary.ts'
import { Categories, type CategoryOptions } from './categories.ts'
import type { CategoryStructure } from './category-structure.ts'
import { StructureDescriber } from './category-structure.ts'
import { sameStructure } from './same-structure.ts'
import { type ColouredShape, StructureColours } from './structure-colours.ts'

/**
 * Groups requests into categories: two are in the same one exactly when their flows have the same
 * structure, that is, there is a one-to-one mapping of nodes that keeps labels and edges. The
 * order in which trace points were recorded does not matter.
 *
 * @param options.omitHosts leave hosts out of labels; default `false`
 * @param options.label your own label of a node, instead of service, operation, host and phase
 * @throws OptionError when `label` gives something other than a string
 *
 * Source: Sambasivan 2013, §2.4.1 and §3.5.3 (omitting hosts).
 *
 * @example
 * const categories = categorize(flows, { label: ({ operation, phase }) => `${operation} ${phase}` })
 */
export function categorize(
  flows: FlowSet,
  { omitHosts = false, label = null }: Partial<CategoryOptions> = {},
): Categories {
  const labels = relabel(flows, { omitHosts, label })
  const colours = new StructureColours(flows.shapes, labels.of)
  const coloured: ColouredShape[] = []
  const groups = new ShapeGroups(flows)
  for (let shape = 0; shape < flows.shapes.size; shape++) {
    const described = colours.colour(shape)
    coloured.push(described)
    groups.add(described)
  }
  const describer = new StructureDescriber(flows.shapes, labels)
  const { categoryOf, representatives, categoryOfShape } = numberCategories(flows, groups)
  const structures: CategoryStructure[] = representatives.map((shape) =>
    describer.describe(coloured[shape] as ColouredShape),
  )
  const classKeys: number[][] = []
  const classes: Uint32Array[] = []
  const classOfEdges = (shape: number): Uint32Array => {
    const known = classes[shape]
    if (known !== undefined) return known
    const category = categoryOfShape[shape] as number
    const { shape: shown, preorder } = structures[category] as CategoryStructure
    const keys =
      classKeys[category] ?? describer.classKeys(coloured[shown] as ColouredShape, preorder)
    classKeys[category] = keys
    const found = describer.classOfEdges(coloured[shape] as ColouredShape, keys)
    classes[shape] = found
    return found
  }
  return new Categories({
    ...{ flows, categoryOf, structures, classOfEdges },
    options: { omitHosts, label },
    undecided: groups.undecided,
  })
}

/** The label to compare by, for each label code of the flows. */
function relabel(flows: FlowSet, { omitHosts, label }: CategoryOptions) {
  const texts = new Dictionary()
  const rule = label ?? ((node: NodeLabel) => labelText(omitHosts ? { ...node, host: '' } : node))
  const of = Uint32Array.from({ length: flows.labels.size }, (_, code) => {
    const text = rule(flows.labels.get(code))
    if (typeof text !== 'string') {
      throw new OptionError(
        'label',
        `a function that gives ${String(text)} for ${flows.labels.text(code)}`,
        'a function that gives a string for every node',
      )
    }
    return texts.code(text)
  })
  return { of, texts: texts.values }
}

/** Shapes of the same structure, found through their keys. */
class ShapeGroups {
  readonly #flows: FlowSet
  readonly #byKey = new Map<number, ColouredShape[]>()
  /** For each shape, the first one of the same structure. */
  readonly firstLike: number[] = []
  undecided = 0

  constructor(flows: FlowSet) {
    this.#flows = flows
  }

  add(added: ColouredShape): void {
    const known = this.#byKey.get(added.key)
    if (known === undefined) {
      this.#byKey.set(added.key, [added])
      this.firstLike.push(added.shape)
      return
    }
    const like = known.find((other) => added.discrete || this.#same(other, added))
    if (like === undefined) known.push(added)
    this.firstLike.push((like ?? added).shape)
  }

  #same(a: ColouredShape, b: ColouredShape): boolean {
    const same = sameStructure(this.#flows.shapes, [a, b])
    if (same === undefined) this.undecided++
    return same ?? false
  }
}

function numberCategories(flows: FlowSet, { firstLike }: ShapeGroups) {
  const numbers = new Map<number, number>()
  const categoryOf = flows.shapeOf.map((shape) => {
    const representative = firstLike[shape] as number
    let number = numbers.get(representative)
    if (number === undefined) {
      number = numbers.size
      numbers.set(representative, number)
    }
    return number
  })
  const categoryOfShape = firstLike.map((representative) => numbers.get(representative))
  return { categoryOf, categoryOfShape, representatives: [...numbers.keys()] }
}
