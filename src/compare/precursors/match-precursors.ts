import { group } from 'd3-array'
import { addTo, at, getOrInsert } from '../../core/entries.ts'
import { requireFields, requireStage } from '../../core/errors.ts'
import { graphDepths } from '../../core/graph-depths.ts'
import { defineOptions, flag, type OptionsOf, oneOf, readOptions } from '../../core/options.ts'
import { memoized, remembered } from '../../core/remembered.ts'
import { own, rowTable, Stage, type StageTable } from '../../core/stage.ts'
import { editDistanceFrom } from '../../stats/edit-distance.ts'
import type { Categories } from '../categories/categories.ts'
import type { CategoryStructure, StructureOutline } from '../categories/category-structure.ts'
import { comparedCounts, StructuralMutations } from '../mutations/find-structural-mutations.ts'
import { MAX_STEPS } from '../thresholds.ts'

/**
 * Finds, for every structural mutation, the categories that its requests may have belonged to before: those of the same
 * kind that lost requests, weighted by the similarity of their structures.
 *
 * A candidate's weight is the inverse of its normalized string-edit distance to the mutation, divided by the sum over
 * all candidates. By the 1:N rule one precursor may turn into several mutations but not the reverse, so a category that
 * lost fewer requests than the mutation gained is out. If none is left, categories remain whose shortfall is within
 * chance: two standard errors of both counts.
 *
 * @param options.oneToN apply the 1:N rule; default `true`
 * @param options.editTokens `'preorder'` (default) or `'edges'`, see `EditTokens`
 * @throws FlowdeltaError for an unknown option, OptionError for a value that one does not take
 *
 * Source: Sambasivan 2013, §2.6.3, whose rule allows for no chance.
 *
 * @example
 * matchPrecursors(findStructuralMutations(categories)).of(3)
 */
export function matchPrecursors(
  structural: StructuralMutations,
  given: Partial<PrecursorOptions> = {},
): Precursors {
  requireStage('matchPrecursors(structural)', structural, StructuralMutations)
  const options = readOptions(PRECURSOR_OPTIONS, given)
  const { categories, changes } = structural
  const distances = structureDistances(categories, options.editTokens)
  const { deviation } = comparedCounts(categories, structural.options)
  const byKind = group(structural.precursors, (one) => categories.requestKind(one))
  const candidates = new Map<number, CandidateColumns>()
  for (const mutation of structural.mutations) {
    const gained = changes[mutation] as number
    const sameKind = byKind.get(categories.requestKind(mutation)) ?? []
    const lackingLess = (chance: (precursor: number) => number) =>
      sameKind.filter((one) => gained + at(changes, one) <= chance(one))
    const byRule = options.oneToN ? lackingLess(() => 0) : sameKind
    const possible =
      byRule.length > 0
        ? byRule
        : lackingLess((one) => 2 * Math.hypot(at(deviation, one), at(deviation, mutation)))
    candidates.set(mutation, weigh(possible, distances.from(mutation, possible)))
  }
  return new Precursors(structural, options, candidates)
}

/** Weights by inverse distance; they take its place. */
function weigh(
  categories: readonly number[],
  { nsed, inverse: weights }: DistanceColumns,
): CandidateColumns {
  let sum = 0
  for (let i = 0; i < weights.length; i++) sum += weights[i] as number
  for (let i = 0; i < weights.length; i++) weights[i] = (weights[i] as number) / sum
  return { categories, nsed, weights }
}

export const PRECURSOR_OPTIONS = defineOptions({
  oneToN: flag({
    default: true,
    sentence: 'Drop a precursor that lost fewer requests than the mutation gained',
  }),
  editTokens: oneOf(['preorder', 'edges'], {
    default: 'preorder',
    sentence: 'How structures are compared: by nodes depth first, or by edges in that order',
    flag: 'edit-tokens <kind>',
  }),
})

export type PrecursorOptions = OptionsOf<typeof PRECURSOR_OPTIONS>

/**
 * Form of a structure as a string for the edit distance: its nodes depth first, or its edges in that order, two tokens
 * each (as the program of 2013 does).
 */
export type EditTokens = PrecursorOptions['editTokens']

/** A category that a mutation's requests may have belonged to before. */
export interface PrecursorCandidate {
  readonly category: number
  /** Normalized string-edit distance to the mutation: 0 for equal, 1 for nothing in common. */
  readonly nsed: number
  /** Share of the mutation's requests taken to have come from here; candidates' sum to 1. */
  readonly weight: number
}

/** The candidates of one mutation in columns, in no particular order. */
interface CandidateColumns {
  readonly categories: readonly number[]
  readonly nsed: Float64Array
  readonly weights: Float64Array
}

const NO_CANDIDATES: CandidateColumns = {
  categories: [],
  nsed: new Float64Array(),
  weights: new Float64Array(),
}

/** The precursor candidates of every structural mutation. */
export class Precursors extends Stage {
  static readonly madeBy: string = 'what matchPrecursors returns, or comparison.precursors'
  readonly structural: StructuralMutations
  readonly options: PrecursorOptions
  readonly #columns: ReadonlyMap<number, CandidateColumns>
  readonly #candidates = new Map<number, readonly PrecursorCandidate[]>()

  constructor(
    structural: StructuralMutations,
    options: PrecursorOptions,
    columns: ReadonlyMap<number, CandidateColumns>,
  ) {
    super()
    this.structural = structural
    this.options = options
    this.#columns = columns
  }

  /** Candidates of one mutation, most likely first; none for a category that is not one. */
  of(mutation: number): readonly PrecursorCandidate[] {
    return getOrInsert(this.#candidates, mutation, () => {
      const { categories, nsed, weights } = this.columns(mutation)
      return categories
        .map((category, i) => ({ category, nsed: nsed[i] as number, weight: weights[i] as number }))
        .sort((a, b) => b.weight - a.weight || a.category - b.category)
    })
  }

  /** Returns the candidates in columns, unsorted, for sums over them. */
  columns(mutation: number): CandidateColumns {
    return this.#columns.get(mutation) ?? NO_CANDIDATES
  }

  /** Returns one row per pair of mutation and candidate. */
  table(): StageTable {
    const { categories, changes } = this.structural
    const pairs = [...this.#columns.keys()].flatMap((mutation) =>
      this.of(mutation).map((candidate) => ({ mutation, ...candidate })),
    )
    return rowTable(pairs, {
      mutation: 'mutation',
      precursor: 'category',
      root: ({ category }) => categories.root(category),
      gained: ({ mutation }) => changes[mutation] as number,
      lost: ({ category }) => -(changes[category] as number),
      ...own('nsed weight'),
    })
  }
}

interface DistanceColumns {
  readonly nsed: Float64Array
  /** Inverse of the distance; for different structures that read the same, that of half an edit. */
  readonly inverse: Float64Array
}

/** Edit distances between structures, each computed once: sliders ask for the same ones again. */
class StructureDistances {
  readonly #categories: Categories
  readonly #kind: EditTokens
  readonly #tokens = new Map<number, Uint32Array>()
  /** Distances from a category to each other one; -1 for those not computed yet. */
  readonly #known = new Map<number, Int32Array>()

  constructor(categories: Categories, kind: EditTokens) {
    this.#categories = categories
    this.#kind = kind
  }

  from(category: number, others: readonly number[]): DistanceColumns {
    const tokens = this.#tokensOf(category)
    const known = getOrInsert(this.#known, category, () =>
      new Int32Array(this.#categories.size).fill(-1),
    )
    const nsed = new Float64Array(others.length)
    const inverse = new Float64Array(others.length)
    let distanceTo: ((text: Uint32Array) => number) | undefined
    for (let i = 0; i < others.length; i++) {
      const other = others[i] as number
      const text = this.#tokensOf(other)
      let distance = known[other] as number
      if (distance < 0) {
        distanceTo ??= editDistanceFrom(tokens, 2 * this.#categories.labelCount)
        distance = distanceTo(text)
        known[other] = distance
      }
      const longer = Math.max(tokens.length, text.length, 1)
      nsed[i] = distance / longer
      inverse[i] = distance === 0 ? 2 * longer : longer / distance
    }
    return { nsed, inverse }
  }

  #tokensOf(category: number): Uint32Array {
    return getOrInsert(this.#tokens, category, () =>
      editTokens(this.#categories.outline(category), this.#kind),
    )
  }
}

const distancesBy = remembered((categories: Categories) =>
  memoized((kind: EditTokens) => new StructureDistances(categories, kind)),
)

/** Returns the distances of these categories, shared by everybody who asks. */
export function structureDistances(categories: Categories, kind: EditTokens): StructureDistances {
  return distancesBy(categories)(kind)
}

/**
 * Returns the tokens of a structure: twice a label's number; with `'preorder'` one more where a join is reached again,
 * as a shared join and a private one would read the same.
 */
export function editTokens(outline: StructureOutline, kind: EditTokens): Uint32Array {
  return kind === 'edges' ? edgeTokens(outline) : nodeTokens(outline)
}

function nodeTokens({ labelCodes, visits }: StructureOutline): Uint32Array {
  const entered = new Uint8Array(labelCodes.length)
  const tokens = new Uint32Array(visits.length)
  for (let i = 0; i < visits.length; i++) {
    const node = visits[i] as number
    tokens[i] = 2 * (labelCodes[node] as number) + (entered[node] as number)
    entered[node] = 1
  }
  return tokens
}

function edgeTokens({ labelCodes, visits, callers }: StructureOutline): Uint32Array {
  const tokens = new Uint32Array(2 * visits.length)
  let count = 0
  for (let i = 0; i < visits.length; i++) {
    const node = visits[i] as number
    const caller = callers[i] as number
    if (caller === node) continue
    tokens[count++] = 2 * (labelCodes[caller] as number)
    tokens[count++] = 2 * (labelCodes[node] as number)
  }
  return tokens.slice(0, count)
}

/** A label that one structure has more often than the other. */
export interface LabelCount {
  readonly label: string
  /** Number of additional nodes with it. */
  readonly count: number
}

type LabeledNodes = Pick<CategoryStructure, 'preorder' | 'labels'>

/** Labels that only a mutation's structure has, and those that only its precursor's has. */
export interface LabelDifference {
  readonly added: readonly LabelCount[]
  readonly removed: readonly LabelCount[]
}

/**
 * Returns the node labels by which two structures differ, in the order that the structures meet them. It is quick to
 * read and says nothing of position; what stands where is for the graph comparison.
 *
 * @example
 * labelDifference(categories.structure(precursor), categories.structure(mutation)).added
 */
export function labelDifference(before: LabeledNodes, after: LabeledNodes): LabelDifference {
  for (const one of [before, after]) {
    requireFields('labelDifference(before, after)', one, 'preorder', 'labels')
  }
  const counts = new Map<string, number>()
  const count = ({ preorder, labels }: LabeledNodes, step: number) => {
    for (const node of preorder) {
      const label = labels[node] as string
      addTo(counts, label, step)
    }
  }
  count(after, 1)
  count(before, -1)
  const entries = [...counts].map(([label, difference]) => ({ label, count: difference }))
  return {
    added: entries.filter(({ count }) => count > 0),
    removed: entries
      .filter(({ count }) => count < 0)
      .map(({ label, count }) => ({ label, count: -count })),
  }
}

interface StepGraph {
  readonly size: number
  readonly from: ArrayLike<number>
  readonly to: ArrayLike<number>
}

/**
 * Change in how two steps lie in time, in a flow and another that has both. `'in turn'`: the second now follows the
 * first; before, neither waited for the other. `'together'`: the reverse. `'reordered'`: the second follows the first;
 * before, the first followed the second. `'not waited for'`: nothing waits for the second any more; its former
 * successor now follows the first. `'waited for'`: the reverse.
 */
export interface OrderChange {
  readonly kind: 'in turn' | 'together' | 'reordered' | 'not waited for' | 'waited for'
  /** Numbers in the flow after. */
  readonly first: number
  readonly second: number
}

/**
 * Returns the shared steps (`matches`) whose order differs: pairs that are neighbors in one of the orders. Exchanged
 * flows give the same pairs.
 */
export function orderDifference(
  before: StepGraph,
  after: StepGraph,
  matches: Iterable<readonly [before: number, after: number]>,
): OrderChange[] {
  if (Math.max(before.size, after.size) > MAX_STEPS) return []
  const toAfter = new Int32Array(before.size).fill(-1)
  const toBefore = new Int32Array(after.size).fill(-1)
  for (const [one, other] of matches) {
    toAfter[one] = other
    toBefore[other] = one
  }
  const [were, are] = [reachable(before), reachable(after)]
  const [endedBefore, endAfter] = [leaves(before), leaves(after)]
  const found: OrderChange[] = []
  eachEdge(after, (first, second) => {
    const [one, other] = [toBefore[first] as number, toBefore[second] as number]
    if (one < 0 || other < 0 || were(one, other)) return
    if (were(other, one)) found.push({ kind: 'reordered', first, second })
    else if (endedBefore.has(one) && !endAfter.has(first)) {
      found.push({ kind: 'waited for', first: second, second: first })
    } else found.push({ kind: 'in turn', first, second })
  })
  eachEdge(before, (one, other) => {
    const [first, second] = [toAfter[one] as number, toAfter[other] as number]
    if (first < 0 || second < 0 || are(first, second)) return
    if (are(second, first)) {
      const isKnown = found.some((known) => known.first === second && known.second === first)
      if (!isKnown) found.push({ kind: 'reordered', first: second, second: first })
    } else if (endAfter.has(first) && !endedBefore.has(one)) {
      found.push({ kind: 'not waited for', first: second, second: first })
    } else found.push({ kind: 'together', first, second })
  })
  return found
}

function eachEdge({ from, to }: StepGraph, visit: (from: number, to: number) => void): void {
  for (let edge = 0; edge < from.length; edge++) visit(from[edge] as number, to[edge] as number)
}

function leaves({ size, from }: StepGraph): Set<number> {
  const left = new Set(Array.from({ length: size }, (_, step) => step))
  for (let edge = 0; edge < from.length; edge++) left.delete(from[edge] as number)
  return left.size === 1 ? new Set() : left
}

export function reachable({ size, from, to }: StepGraph): (from: number, to: number) => boolean {
  const words = (size + 31) >>> 5
  const earlier = new Uint32Array(size * words)
  const depth = graphDepths(size, from, to)
  const edges = Array.from(from, (_, edge) => edge).sort(
    (a, b) => (depth[from[a] as number] as number) - (depth[from[b] as number] as number),
  )
  for (const edge of edges) {
    const [source, target] = [from[edge] as number, to[edge] as number]
    for (let word = 0; word < words; word++) {
      const at = target * words + word
      earlier[at] = (earlier[at] as number) | (earlier[source * words + word] as number)
    }
    const own = target * words + (source >>> 5)
    earlier[own] = (earlier[own] as number) | (1 << (source & 31))
  }
  return (one, other) =>
    (((earlier[other * words + (one >>> 5)] as number) >>> (one & 31)) & 1) === 1
}
