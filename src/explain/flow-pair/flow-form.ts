import type { Categories } from '../../compare/categories/categories.ts'
import { editTokens, type Precursors } from '../../compare/precursors/match-precursors.ts'
import type { Stream } from '../../compare/precursors/moves.ts'
import type { RankedMutation } from '../../compare/ranking/rank-mutations.ts'
import { FlowdeltaError, OptionError, show } from '../../core/errors.ts'
import { AFTER, BEFORE, type Period } from '../../flows/flow-set.ts'

export interface FormEdge {
  readonly from: number
  readonly to: number
  readonly edgeClass: number
}

/** A category's structure, nodes numbered depth first: the same however it was recorded. */
export interface FlowForm {
  readonly category: number
  readonly structureNodes: Uint32Array
  readonly labels: readonly string[]
  /** Labels without sizes and attributes: what nodes are matched by. */
  readonly kinds: readonly string[]
  readonly edges: readonly FormEdge[]
  readonly parents: readonly (readonly number[])[]
  readonly children: readonly (readonly number[])[]
  /** Every node in the order of visits, and again at each further edge into it; see `editTokens`. */
  readonly tokens: Uint32Array
  readonly visits: Uint32Array
  /** For each token, the node it was come from; the node itself for a root. */
  readonly callers: Uint32Array
}

export function flowForm(categories: Categories, category: number): FlowForm {
  const structure = categories.structure(category)
  const { preorder, labels, kinds, kindCodes, from, to, classOf } = structure
  const ranks = new Map(Array.from(preorder, (node, at) => [node, at]))
  const rankOf = (node: number) => ranks.get(node) as number
  const edges = Array.from(from, (source, edge) => ({
    from: rankOf(source),
    to: rankOf(to[edge] as number),
    edgeClass: classOf[edge] as number,
  })).sort((a, b) => a.from - b.from || a.to - b.to)
  const lists = (): number[][] => labels.map(() => [])
  const [parents, children] = [lists(), lists()]
  for (const edge of edges) {
    children[edge.from]?.push(edge.to)
    parents[edge.to]?.push(edge.from)
  }
  return {
    category,
    edges,
    parents,
    children,
    structureNodes: preorder.slice(),
    labels: Array.from(preorder, (node) => labels[node] as string),
    kinds: Array.from(preorder, (node) => kinds[node] as string),
    tokens: editTokens({ ...structure, labelCodes: kindCodes }, 'preorder'),
    visits: structure.visits.map(rankOf),
    callers: structure.callers.map(rankOf),
  }
}

/** The requests of a category in one period. */
export interface FlowChoice {
  readonly category: number
  readonly period: Period
}

/** A stream of `comparison.moves`: its category before, and after. */
type StreamEnds = Pick<Stream, 'from' | 'to'>

/** A category before and after; a mutation and its likeliest precursor before; a stream; or any two flows. */
export type FlowPair =
  | { readonly category: number }
  | StreamEnds
  | { readonly mutation: number; readonly precursors: Precursors }
  | { readonly before: FlowChoice; readonly after: FlowChoice }

export function resolvePair(pair: FlowPair): { before: FlowChoice; after: FlowChoice } {
  if ('before' in pair) return { before: pair.before, after: pair.after }
  if (!('mutation' in pair)) {
    const { from, to } = 'from' in pair ? pair : { from: pair.category, to: pair.category }
    if (from !== null && to !== null) {
      return { before: { category: from, period: BEFORE }, after: { category: to, period: AFTER } }
    }
    throw new FlowdeltaError(
      'The stream has no category before, or none after: only requests that stay or move have flows to compare.',
    )
  }
  const { mutation, precursors } = pair
  const [likeliest] = precursors.of(mutation)
  if (likeliest === undefined) {
    throw new FlowdeltaError(
      `Category ${mutation} has no precursor: it is no structural mutation, or no category of ` +
        'its type lost enough requests. Compare it with itself by { category }, or with a ' +
        'category of your choice by { before, after }.',
    )
  }
  const { category } = likeliest
  const { categories } = precursors.structural
  const period = categories.count(category, BEFORE) > 0 ? BEFORE : AFTER
  return { before: { category, period }, after: { category: mutation, period: AFTER } }
}

/** Flows to compare: a category, a mutation of the ranking, a stream, or any two categories with their periods. */
export type FlowsToCompare =
  | number
  | StreamEnds
  | Pick<RankedMutation, 'category' | 'kind'>
  | { readonly category: number }
  | { readonly before: FlowChoice; readonly after: FlowChoice }

/** Returns the flows to compare: a structural mutation with its likeliest precursor, else with itself. */
export function chooseFlows(
  { categories, precursors }: { readonly categories: Categories; readonly precursors: Precursors },
  what: FlowsToCompare,
): { before: FlowChoice; after: FlowChoice } {
  if (typeof what === 'number')
    return chooseFlows({ categories, precursors }, { category: what, kind: 'structural' })
  if (typeof what !== 'object' || what === null) throw wrong(what)
  const isMutation = 'kind' in what && what.kind === 'structural'
  if (
    'category' in what &&
    isMutation &&
    precursors.of(known(categories, what.category)).length > 0
  ) {
    return resolvePair({ mutation: what.category, precursors })
  }
  const pair = resolvePair(what)
  for (const choice of [pair.before, pair.after]) {
    known(categories, choice?.category)
    if (choice.period !== BEFORE && choice.period !== AFTER) throw wrong(JSON.stringify(what))
  }
  return pair
}

function known(categories: Categories, category: number): number {
  if (Number.isInteger(category) && category >= 0 && category < categories.size) return category
  throw new OptionError('what', category, `a category from 0 to ${categories.size - 1}`)
}

const EXPECTED =
  'a category, a mutation of the ranking, { category }, a stream of comparison.moves, or { before: { category, period }, after }'

function wrong(what: unknown): OptionError {
  return new OptionError('what', show(what), EXPECTED)
}
