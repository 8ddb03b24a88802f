import type { Categories } from '../src/compare/categories/categories.ts'
import type { EdgeComparison } from '../src/compare/mutations/find-response-time-mutations.ts'
import type { RankedMutation } from '../src/compare/ranking/rank-mutations.ts'
import type { Comparison } from '../src/comparison/comparison.ts'
import type { NodeLabel } from '../src/flows/node-labels.ts'
import {
  matchesSpan,
  type NodePredicate,
  type RelevantPredicate,
  type SpanPredicate,
} from './truth.ts'

/** Whether an entry of a ranked list is a right answer. */
export function isRelevant(
  { categories, responseTime }: Comparison,
  mutation: Pick<RankedMutation, 'category' | 'kind' | 'precursors'>,
  predicate: RelevantPredicate,
): boolean {
  const { category } = mutation
  const { kind, root, changedEdge, addedNode, removedNode, moreOf, none } = predicate
  if (none) return false
  if (kind !== undefined && mutation.kind !== kind) return false
  if (root !== undefined && !matchesSpan(categories.nodeLabel(category, 0), root)) return false
  const edges = changedEdge === undefined ? [] : responseTime.edges(category)
  if (
    changedEdge &&
    !edges.some((edge) => isChangedEdge(categories, category, edge, changedEdge))
  ) {
    return false
  }
  if (!addedNode && !removedNode && !moreOf) return true
  const precursor = mutation.precursors[0]?.category
  if (precursor === undefined) return false
  const counts = (node: NodePredicate) => [
    countNodes(categories, precursor, node),
    countNodes(categories, category, node),
  ]
  const added = addedNode === undefined ? [0, 1] : counts(addedNode)
  const removed = removedNode === undefined ? [1, 0] : counts(removedNode)
  const more = moreOf === undefined ? [0, 1] : counts({ ...moreOf, point: 'call' })
  return (
    added[0] === 0 &&
    (added[1] as number) > 0 &&
    (removed[0] as number) > 0 &&
    removed[1] === 0 &&
    (more[1] as number) > (more[0] as number) &&
    (more[1] as number) >= (moreOf?.atLeast ?? 0)
  )
}

function isChangedEdge(
  categories: Categories,
  category: number,
  { number, test, beforeMeanUs, afterMeanUs }: EdgeComparison,
  { from, to, direction }: NonNullable<RelevantPredicate['changedEdge']>,
): boolean {
  if (test?.rejected !== true) return false
  if (afterMeanUs > beforeMeanUs !== (direction === 'slower')) return false
  const { classFrom, classTo } = categories.structure(category)
  const isNode = (node: number | undefined, predicate: NodePredicate | undefined) =>
    predicate === undefined ||
    matchesNode(categories.nodeLabel(category, node as number), predicate)
  return isNode(classFrom[number], from) && isNode(classTo[number], to)
}

/** Whether a node is of a service, an operation and an end of its span that a predicate names. */
export function matchesNode(label: NodeLabel, predicate: NodePredicate): boolean {
  return label.phase === predicate.point && matchesSpan(label, predicate)
}

function countNodes(categories: Categories, category: number, predicate: NodePredicate): number {
  let count = 0
  for (let node = 0; node < categories.nodeCount(category); node++) {
    if (matchesNode(categories.nodeLabel(category, node), predicate)) count++
  }
  return count
}

/** Whether the requests of a category have a root, or any span, that a predicate names. */
export function categoryHas(
  categories: Categories,
  category: number,
  { root, span }: { readonly root?: SpanPredicate; readonly span?: SpanPredicate },
): boolean {
  if (root !== undefined && !matchesSpan(categories.nodeLabel(category, 0), root)) return false
  return span === undefined || countNodes(categories, category, { ...span, point: 'call' }) > 0
}
