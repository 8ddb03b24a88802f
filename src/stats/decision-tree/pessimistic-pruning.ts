import { OptionError } from '../../core/errors.ts'
import { requireShare } from '../require-option.ts'
import type { ClassificationNode } from './tree.ts'

/** A subtree that is better than a leaf by no more than this does not pay (C4.5). */
const PAYS = 0.1
const COLLAPSE = 1e-3

/** Makes leaves of subtrees with no fewer errors. Source: C4.5 release 8, `build.c`. */
export function collapseTree(node: ClassificationNode): ClassificationNode {
  if (node.kind === 'leaf' || errorsOfLeaf(node) <= errorsOfTree(node) + COLLAPSE)
    return asLeaf(node)
  return { ...node, children: node.children.map(collapseTree) }
}

/**
 * Makes leaves, from below, of subtrees not expected to make fewer errors on new rows. Source:
 * Quinlan 1993, §4.2.
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

/** Quinlan's table of the normal distribution: upper tails, and how many deviations away. */
const TAIL = [0, 0.001, 0.005, 0.01, 0.05, 0.1, 0.2, 0.4, 1]
const DEVIATIONS = [4, 3.09, 2.58, 2.33, 1.65, 1.28, 0.84, 0.25, 0]

/**
 * Returns how many more errors to expect of a leaf on new cases than it made on those it grew from.
 *
 * `cases` is the weight of the leaf's cases, `errors` the weight of those not of its class; both
 * may be fractions. `confidence` (0.25, above 0 and below 1): the probability of as few errors as
 * were seen if the true rate were at the limit; the lower, the more is added.
 *
 * The upper confidence limit of a binomial rate: exact for no error, by the normal approximation
 * with a correction for continuity from one error on, in between by straight line. The quantile is
 * interpolated in Quinlan's table (z² = 0.4796 for 0.25, exactly 0.4549), as his program does.
 *
 * Sources: Quinlan 1993, "C4.5: programs for machine learning", §4.2; C4.5 release 8, `stats.c`.
 *
 * @throws OptionError for cases not above 0, errors below 0 or above the cases, or a confidence
 *   outside 0 to 1.
 *
 * @example
 * addedErrors(6, 0).toFixed(3) // '1.238'
 */
export function addedErrors(cases: number, errors: number, confidence = 0.25): number {
  requireShare('confidence', confidence)
  if (!(cases > 0)) throw new OptionError('cases', cases, 'a number above 0')
  if (!(errors >= 0 && errors <= cases)) {
    throw new OptionError('errors', errors, `a number from 0 to the ${cases} cases`)
  }
  if (errors < 1e-6) return withoutErrors(cases, confidence)
  if (errors < 0.9999) {
    const none = withoutErrors(cases, confidence)
    // With fewer than one case there cannot be one error.
    return none + errors * ((cases < 1 ? 0 : withErrors(cases, 1, confidence)) - none)
  }
  return withErrors(cases, errors, confidence)
}

function withoutErrors(cases: number, confidence: number): number {
  return cases * (1 - confidence ** (1 / cases))
}

function withErrors(cases: number, errors: number, confidence: number): number {
  if (errors + 0.5 >= cases) return 0.67 * (cases - errors)
  const z2 = deviationsOf(confidence) ** 2
  const seen = errors + 0.5
  const rate = (seen + z2 / 2 + Math.sqrt(z2 * (seen * (1 - seen / cases) + z2 / 4))) / (cases + z2)
  return cases * rate - errors
}

function deviationsOf(confidence: number): number {
  const above = TAIL.findIndex((tail) => confidence <= tail)
  const [low, high] = [Number(TAIL[above - 1]), Number(TAIL[above])]
  const [from, to] = [Number(DEVIATIONS[above - 1]), Number(DEVIATIONS[above])]
  return from + ((to - from) * (confidence - low)) / (high - low)
}
