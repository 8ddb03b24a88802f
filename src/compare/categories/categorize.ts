import { getOrInsert } from '../../core/entries.ts'
import { OptionError, requireArgument, requireStage } from '../../core/errors.ts'
import { readOptions } from '../../core/options.ts'
import { FlowSet } from '../../flows/flow-set.ts'
import { FoldedFlows } from '../../flows/fold/folded-flows.ts'
import { labelRules } from '../../flows/label-parts.ts'
import { Dictionary } from '../../traces/dictionary.ts'
import { neighborsOf, ShapeGraph, type ShapeTable } from '../../traces/shape-table.ts'
import { CATEGORY_OPTIONS, Categories, type CategoryOptions } from './categories.ts'
import { StructureCatalog } from './category-structure.ts'
import { type ColouredShape, StructureColours } from './structure-colours.ts'

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
    shapes,
    colours,
    representatives,
    categoryOfShape,
    labelOf: labels.of,
    labelTexts: labels.texts,
    kindOf: labels.kindOf,
    kindTexts: labels.kinds,
    loopsOf: flows instanceof FoldedFlows ? (shape) => flows.loops(shape) : undefined,
  })
  return new Categories({ flows, options, categoryOf, catalog, undecided: groups.undecided })
}

/** Returns the label to compare by, for each label code of the flows. */
function relabel(flows: FlowSet, options: CategoryOptions) {
  const [texts, kinds] = [new Dictionary(), new Dictionary()]
  const kindOf: number[] = []
  const rules = labelRules(options)
  const of = Uint32Array.from({ length: flows.labels.size }, (_, code) => {
    const node = flows.labels.get(code)
    const kind: unknown = rules.kind(node)
    if (typeof kind !== 'string') {
      throw new OptionError(
        'label',
        `a function that gives ${String(kind)} for ${flows.labels.text(code)}`,
        'a function that gives a string for every node',
      )
    }
    const text = texts.code(rules.text(node))
    kindOf[text] = kinds.code(kind)
    return text
  })
  return { of, texts: texts.values, kindOf, kinds: kinds.values }
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
  const categoryOf = flows.shapeOf.map((shape) =>
    getOrInsert(numbers, firstLike[shape] as number, () => numbers.size),
  )
  const categoryOfShape = firstLike.map((representative) => numbers.get(representative))
  return { categoryOf, categoryOfShape, representatives: [...numbers.keys()] }
}

/** Returns the given categories, or those of a comparison. `verb` names the function for the error message. */
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

/**
 * Matches the nodes of two shapes with equal keys, each next one a neighbour of the one matched
 * last: a wrong turn shows within a few steps. `undefined` when `budget` steps did not decide.
 */
function sameStructure(
  shapes: ShapeTable,
  [a, b]: readonly [ColouredShape, ColouredShape],
  budget = 1e6,
): boolean | undefined {
  const graphA = new ShapeGraph().load(shapes, a.shape)
  const graphB = new ShapeGraph().load(shapes, b.shape)
  const plan = matchingPlan(graphA)
  const everyNode = Uint32Array.from({ length: graphB.nodes }, (_, node) => node)
  const partner = new Int32Array(graphA.nodes).fill(-1)
  const owner = new Int32Array(graphB.nodes).fill(-1)
  const tried = new Uint32Array(plan.length + 1)
  let depth = 0
  for (let steps = 0; depth < plan.length; ) {
    const { node, anchor, side } = plan[depth] as Step
    const candidates = anchor < 0 ? everyNode : neighborsOf(graphB[side], partner[anchor] as number)
    if ((partner[node] as number) >= 0) {
      owner[partner[node] as number] = -1
      partner[node] = -1
    }
    let matched = false
    while (!matched && (tried[depth] as number) < candidates.length) {
      const candidate = candidates[tried[depth] as number] as number
      tried[depth] = (tried[depth] as number) + 1
      if ((owner[candidate] as number) >= 0 || b.colours[candidate] !== a.colours[node]) continue
      if (++steps > budget) return undefined
      if (!fits(graphA, graphB, { node, candidate, partner, owner })) continue
      partner[node] = candidate
      owner[candidate] = node
      matched = true
    }
    if (matched) tried[++depth] = 0
    else if (depth-- === 0) return false
  }
  return true
}

interface Step {
  readonly node: number
  /** A node that was matched before, -1 for the first of a connected part. */
  readonly anchor: number
  readonly side: 'below' | 'above'
}

function matchingPlan(graph: ShapeGraph): Step[] {
  const plan: Step[] = []
  const planned = new Uint8Array(graph.nodes)
  for (let start = 0; start < graph.nodes; start++) {
    const pending: Step[] = [{ node: start, anchor: -1, side: 'below' }]
    for (let step = pending.pop(); step !== undefined; step = pending.pop()) {
      const { node } = step
      if (planned[node] === 1) continue
      planned[node] = 1
      plan.push(step)
      for (const side of ['above', 'below'] as const) {
        for (const next of neighborsOf(graph[side], node)) {
          if (planned[next] === 0) pending.push({ node: next, anchor: node, side })
        }
      }
    }
  }
  return plan
}

function fits(
  graphA: ShapeGraph,
  graphB: ShapeGraph,
  {
    node,
    candidate,
    partner,
    owner,
  }: { node: number; candidate: number; partner: Int32Array; owner: Int32Array },
): boolean {
  return (['above', 'below'] as const).every((side) => {
    const known = neighborsOf(graphA[side], node).filter((other) => Number(partner[other]) >= 0)
    const expected = known.map((other) => partner[other] as number)
    const found = neighborsOf(graphB[side], candidate).filter(
      (other) => (owner[other] as number) >= 0,
    )
    return sameMembers(expected, found)
  })
}

function sameMembers(a: Uint32Array, b: Uint32Array): boolean {
  if (a.length !== b.length) return false
  if (a.length <= 1) return a[0] === b[0]
  b.sort()
  return a.sort().every((value, i) => value === b[i])
}
