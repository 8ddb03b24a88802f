import { OptionError, requireArgument, requireStage } from '../../core/errors.ts'
import { readOptions } from '../../core/options.ts'
import { FlowSet } from '../../flows/flow-set.ts'
import { FoldedFlows } from '../../flows/fold/folded-flows.ts'
import { labelText, type NodeLabel } from '../../flows/node-labels.ts'
import { Dictionary } from '../../traces/dictionary.ts'
import type { ShapeTable } from '../../traces/shape-table.ts'
import { CATEGORY_OPTIONS, Categories, type CategoryOptions } from './categories.ts'
import { sameStructure } from './same-structure.ts'
import { StructureCatalog } from './structure-catalog.ts'
import { StructureColours } from './structure-colours.ts'

/**
 * Groups requests into categories: two are in the same one exactly when their flows have the same
 * structure, that is, there is a one-to-one mapping of nodes that keeps labels and edges. The
 * order in which trace points were recorded does not matter.
 *
 * @param options.omitHosts leave hosts out of labels; default `false`
 * @param options.label your own label of a node, instead of service, operation, host and phase
 * @throws FlowdeltaError for an unknown option, OptionError when `label` gives something other than
 *   a string
 *
 * Source: Sambasivan 2013, §2.6.1 and §3.5.3 (omitting hosts).
 *
 * @example
 * const categories = categorize(flows, { label: ({ operation, phase }) => `${operation} ${phase}` })
 */
export function categorize(flows: FlowSet, given: Partial<CategoryOptions> = {}): Categories {
  requireStage('categorize(flows)', flows, FlowSet)
  const options = readOptions(CATEGORY_OPTIONS, given)
  const labels = relabel(flows, options)
  const colours = new StructureColours(flows.shapes, labels.of)
  const groups = new ShapeGroups(flows.shapes, colours)
  for (let shape = 0; shape < flows.shapes.size; shape++) groups.add(shape)
  const { categoryOf, representatives, categoryOfShape } = numberCategories(flows, groups)
  const { shapes } = flows
  const catalog = new StructureCatalog({
    ...{ shapes, colours, representatives, categoryOfShape },
    labelOf: labels.of,
    labelTexts: labels.texts,
    loopsOf: flows instanceof FoldedFlows ? (shape) => flows.loops(shape) : undefined,
  })
  return new Categories({
    flows,
    options,
    categoryOf,
    catalog,
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
  readonly #shapes: ShapeTable
  readonly #colours: StructureColours
  readonly #byKey = new Map<number, number[]>()
  readonly firstLike: number[] = []
  undecided = 0

  constructor(shapes: ShapeTable, colours: StructureColours) {
    this.#shapes = shapes
    this.#colours = colours
  }

  add(shape: number): void {
    const { key, discrete } = this.#colours.key(shape)
    const known = this.#byKey.get(key)
    if (known === undefined) {
      this.#byKey.set(key, [shape])
      this.firstLike.push(shape)
      return
    }
    const like = known.find((other) => discrete || this.#same(other, shape))
    if (like === undefined) known.push(shape)
    this.firstLike.push(like ?? shape)
  }

  #same(a: number, b: number): boolean {
    const same = sameStructure(this.#shapes, [this.#colours.colour(a), this.#colours.colour(b)])
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

/** The categories of a comparison, or these; `verb` is what asks for them, for the message. */
export function categoriesOf(
  source: Categories | { readonly categories: Categories },
  verb: string,
): Categories {
  if (source instanceof Categories) return source
  const categories: unknown = Object(source).categories
  const isRight = categories instanceof Categories
  requireArgument(
    `${verb}(comparison)`,
    source,
    isRight,
    `a comparison, or ${verb}(categorize(flows))`,
  )
  return categories
}
