import { addedErrors } from './added-errors.ts'
import type { ClassificationNode } from './tree-node.ts'

/** A subtree that is better than a leaf by no more than this does not pay (C4.5). */
const PAYS = 0.1
const COLLAPSE = 1e-3

/**
 * Replaces every subtree that makes no fewer errors on its own rows than a leaf would.
 *
 * Source: C4.5 release 8, `build.c`.
 */
export function collapseTree(node: ClassificationNode): ClassificationNode {
  if (node.kind === 'leaf' || errorsOfLeaf(node) <= errorsOfTree(node) + COLLAPSE)
    return asLeaf(node)
  return { ...node, children: node.children.map(collapseTree) }
}

/**
 * Replaces, from the leaves up, every subtree that is not expected to make fewer errors on new rows
 * than a leaf would. Subtrees are not raised.
 *
 * Source: Quinlan 1993, §4.2.
 */
export function pruneTree(node: ClassificationNode, confidence: number): ClassificationNode {
  if (node.kind === 'leaf') return node
  const pruned = { ...node, children: node.children.map((child) => pruneTree(child, confidence)) }
  const expected = expectedErrors(pruned, confidence)
  return expectedOfLeaf(node, confidence) <= expected + PAYS ? asLeaf(node) : pruned
}

function asLeaf({ weights, predicts }: ClassificationNode): ClassificationNode {
  return { kind: 'leaf', weights, predicts }
}

function errorsOfLeaf({ weights: [precursors, mutations] }: ClassificationNode): number {
  return Math.min(precursors, mutations)
}

function errorsOfTree(node: ClassificationNode): number {
  if (node.kind === 'leaf') return errorsOfLeaf(node)
  return node.children.reduce((sum, child) => sum + errorsOfTree(child), 0)
}

function expectedOfLeaf(node: ClassificationNode, confidence: number): number {
  const errors = errorsOfLeaf(node)
  const [precursors, mutations] = node.weights
  return errors + addedErrors(precursors + mutations, errors, confidence)
}

function expectedErrors(node: ClassificationNode, confidence: number): number {
  if (node.kind === 'leaf') return expectedOfLeaf(node, confidence)
  return node.children.reduce((sum, child) => sum + expectedErrors(child, confidence), 0)
}
