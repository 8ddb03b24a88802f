import { getOrInsert } from '../../core/entries.ts'
import type { LoopEnds } from '../../flows/fold/folded-flows.ts'
import { ShapeGraph, type ShapeTable } from '../../traces/shape-table.ts'
import { type LabelOrder, labelOrder } from '../../traces/structure-hashes.ts'
import {
  type CategoryStructure,
  type ColouredLoop,
  depthFirst,
  describeStructure,
  type StructureOutline,
} from './category-structure.ts'
import type { StructureColours } from './structure-colours.ts'

export interface CatalogContents {
  readonly shapes: ShapeTable
  readonly colours: StructureColours
  /** For each label code of the shapes, the index of its text. */
  readonly labelOf: Uint32Array
  readonly labelTexts: readonly string[]
  /** For each of these texts, the index of the text without size and attributes. */
  readonly kindOf: readonly number[]
  readonly kindTexts: readonly string[]
  /** The shape that each category is shown by. */
  readonly representatives: readonly number[]
  readonly categoryOfShape: readonly (number | undefined)[]
  /** Loops of a shape of folded flows, which are not among its edges; `undefined` for other flows. */
  readonly loopsOf: ((shape: number) => LoopEnds) | undefined
}

/** The structures of categories, each described when it is first asked for. */
export class StructureCatalog {
  readonly #contents: CatalogContents
  readonly #graph = new ShapeGraph()
  readonly #labelOrder: LabelOrder
  readonly #outlines = new Map<number, StructureOutline>()
  readonly #structures = new Map<number, CategoryStructure>()
  readonly #preorders = new Map<number, Uint32Array>()
  /** Class of each key of `#numbered`; other keys hold their last value. */
  #numbers = new Uint32Array(1024)
  #numbered = -1
  #shapesOf: readonly (readonly number[])[] | undefined

  constructor(contents: CatalogContents) {
    this.#contents = contents
    this.#labelOrder = labelOrder(contents.labelTexts)
  }

  get size(): number {
    return this.#contents.representatives.length
  }

  /** Returns the shape that a category is shown by. */
  shape(category: number): number {
    const shape = this.#contents.representatives[category]
    if (shape === undefined) {
      const known = this.size === 0 ? 'none' : `0 to ${this.size - 1}`
      throw new RangeError(`There is no category ${category}; there are ${known}.`)
    }
    return shape
  }

  root(category: number): string {
    return this.#contents.labelTexts[this.#rootLabel(category)] as string
  }

  kind(category: number): string {
    const { kindOf, kindTexts } = this.#contents
    return kindTexts[kindOf[this.#rootLabel(category)] as number] as string
  }

  #rootLabel(category: number): number {
    const { shapes, labelOf } = this.#contents
    return labelOf[shapes.labels(this.shape(category))[0] as number] as number
  }

  get labelCount(): number {
    return this.#contents.labelTexts.length
  }

  outline(category: number): StructureOutline {
    return getOrInsert(this.#outlines, category, () => this.#describe(this.shape(category)))
  }

  #describe(shape: number): StructureOutline {
    const { shapes, labelOf } = this.#contents
    const labelCodes = shapes.labels(shape).map((label) => labelOf[label] as number)
    const graph = this.#graph.load(shapes, shape)
    const ends = { from: shapes.from(shape), to: shapes.to(shape) }
    return { shape, labelCodes, ...ends, ...depthFirst(graph, labelCodes, this.#labelOrder) }
  }

  /** Returns the nodes of any shape depth first; see `Categories.preorderOf`. */
  preorder(shape: number): Uint32Array {
    return getOrInsert(this.#preorders, shape, () => this.#describe(shape).preorder)
  }

  structure(category: number): CategoryStructure {
    return getOrInsert(this.#structures, category, () => {
      const outline = this.outline(category)
      const { colours, labelTexts, kindOf, kindTexts } = this.#contents
      const ofNodes = colours.colour(outline.shape).colours
      const keys = colours.edgeKeys(ofNodes, outline.from, outline.to)
      const loops = this.#loops(category)
      const numbers = this.#roomFor(keys)
      this.#numbered = category
      const texts = { labelTexts, kindOf, kindTexts }
      return describeStructure(outline, { keys, numbers, colours: ofNodes, loops, ...texts })
    })
  }

  /** Returns, for any shape, the number of each edge's class in its category's structure. */
  classOfEdges(shape: number): Uint32Array {
    const { shapes, colours, categoryOfShape } = this.#contents
    const category = categoryOfShape[shape] as number
    if (shape === this.shape(category)) return this.structure(category).classOf.slice()
    const numbers = this.#classNumbers(category)
    const ofNodes = colours.colour(shape).colours
    const classes = colours.edgeKeys(ofNodes, shapes.from(shape), shapes.to(shape))
    for (let edge = 0; edge < classes.length; edge++) {
      classes[edge] = numbers[classes[edge] as number] as number
    }
    return classes
  }

  #classNumbers(category: number): Uint32Array {
    if (category === this.#numbered) return this.#numbers
    const { classKeys, loops } = this.structure(category)
    const numbers = this.#roomFor(classKeys)
    for (let number = 0; number < classKeys.length - loops; number++) {
      numbers[classKeys[number] as number] = number
    }
    this.#numbered = category
    return numbers
  }

  #roomFor(keys: Uint32Array): Uint32Array {
    const end = keys.reduce((most, key) => Math.max(most, key + 1), 0)
    if (end > this.#numbers.length) this.#numbers = new Uint32Array(2 * end)
    return this.#numbers
  }

  /** Returns, for the loops of a shape of folded flows, the numbers of their classes. */
  classOfLoops(shape: number, { from, to }: LoopEnds): Uint32Array {
    const { colours, categoryOfShape } = this.#contents
    const { classKeys, loops } = this.structure(categoryOfShape[shape] as number)
    const plain = classKeys.length - loops
    const numbers = new Map(Array.from(classKeys.subarray(plain), (key, i) => [key, plain + i]))
    const keys = colours.edgeKeys(colours.colour(shape).colours, from, to)
    return keys.map((key) => numbers.get(key) as number)
  }

  #loops(category: number): readonly ColouredLoop[] {
    const { colours, loopsOf, categoryOfShape } = this.#contents
    if (loopsOf === undefined) return []
    const found = new Map<number, ColouredLoop>()
    this.#shapesOf ??= shapesByCategory(categoryOfShape, this.size)
    for (const shape of this.#shapesOf[category] as readonly number[]) {
      const { from, to } = loopsOf(shape)
      const ofNodes = colours.colour(shape).colours
      colours.edgeKeys(ofNodes, from, to).forEach((key, loop) => {
        const [start, end] = [from[loop] as number, to[loop] as number]
        found.set(key, { key, from: ofNodes[start] as number, to: ofNodes[end] as number })
      })
    }
    return [...found.values()]
  }
}

function shapesByCategory(categoryOfShape: readonly (number | undefined)[], size: number) {
  const shapes: number[][] = Array.from({ length: size }, () => [])
  categoryOfShape.forEach((category, shape) => {
    if (category !== undefined) shapes[category]?.push(shape)
  })
  return shapes
}
