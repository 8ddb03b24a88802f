import { ShapeGraph } from '../traces/shape-graph.ts'
import type { ShapeTable } from '../traces/shape-table.ts'
import { type CategoryStructure, describeStructure, edgeKeys } from './category-structure.ts'
import type { StructureColours } from './structure-colours.ts'

/** What the catalog is about. */
export interface CatalogContents {
  readonly shapes: ShapeTable
  readonly colours: StructureColours
  /** For each label code of the shapes, the index of its text. */
  readonly labelOf: Uint32Array
  readonly labelTexts: readonly string[]
  /** The shape that each category is shown by. */
  readonly representatives: readonly number[]
  readonly categoryOfShape: readonly (number | undefined)[]
}

/** The structures of categories, each described when it is first asked for. */
export class StructureCatalog {
  readonly #contents: CatalogContents
  readonly #graph = new ShapeGraph()
  readonly #structures: CategoryStructure[] = []
  readonly #classOfEdges: Uint32Array[] = []

  constructor(contents: CatalogContents) {
    this.#contents = contents
  }

  get size(): number {
    return this.#contents.representatives.length
  }

  /** The shape that a category is shown by. */
  shape(category: number): number {
    const shape = this.#contents.representatives[category]
    if (shape === undefined) {
      const known = this.size === 0 ? 'none' : `0 to ${this.size - 1}`
      throw new RangeError(`There is no category ${category}; there are ${known}.`)
    }
    return shape
  }

  /** Label of the root of a category's flows. */
  root(category: number): string {
    return this.#labelText(this.#contents.shapes.labels(this.shape(category))[0] as number)
  }

  structure(category: number): CategoryStructure {
    const shape = this.shape(category)
    const known = this.#structures[category]
    if (known !== undefined) return known
    const { shapes, colours } = this.#contents
    const labels = Array.from(shapes.labels(shape), (label) => this.#labelText(label))
    const graph = this.#graph.load(shapes, shape)
    const structure = describeStructure(colours.colour(shape), { shapes, graph, labels })
    this.#structures[category] = structure
    return structure
  }

  /** For any shape, the number of each edge's class in its category's structure. */
  classOfEdges(shape: number): Uint32Array {
    const known = this.#classOfEdges[shape]
    if (known !== undefined) return known
    const { shapes, colours, categoryOfShape } = this.#contents
    const { classNumbers } = this.structure(categoryOfShape[shape] as number)
    const keys = edgeKeys(colours.colour(shape).colours, shapes.from(shape), shapes.to(shape))
    const classes = Uint32Array.from(keys, (key) => classNumbers.get(key) as number)
    this.#classOfEdges[shape] = classes
    return classes
  }

  #labelText(label: number): string {
    return this.#contents.labelTexts[this.#contents.labelOf[label] as number] as string
  }
}
