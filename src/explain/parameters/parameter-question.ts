import { sum } from 'd3-array'
import { addAt } from '../../core/entries.ts'
import type { FlowSet } from '../../flows/flow-set.ts'
import { growClassificationTree } from '../../stats/decision-tree/grow-classification-tree.ts'
import { growRegressionTree } from '../../stats/decision-tree/grow-regression-tree.ts'
import type { ClassificationTree, RegressionTree } from '../../stats/decision-tree/tree.ts'
import { type PathCondition, type TreePath, treePaths } from '../../stats/decision-tree/tree.ts'
import { quantile } from '../../stats/quantile.ts'
import { ascendingSample, type WeightedSample } from '../../stats/weighted-sample.ts'
import {
  LEAST_SEPARATION,
  type Parameter,
  type ParameterDifference,
  type ParameterTable,
} from './parameter-table.ts'

export interface ParameterQuestion {
  readonly question: ParameterQuestionName
  readonly table: ParameterTable
  readonly tree: ClassificationTree | RegressionTree
  /** The ways through the tree, the best first; none where nothing separates. */
  readonly paths: readonly ExplainedPath[]
  /** Separation of the best of them, 0 to 1. */
  readonly separation: number
  /** For `'what-is-slow'`: time from which a row is slow, in µs. */
  readonly slowAboveUs: number | null
}

export interface TreeChoice {
  /** Level at which a first split must be significant. */
  readonly alpha: number
}

/**
 * Finds the parameters that separate mutations from precursors, by the tree of C4.5 unless CART's separates better, as
 * it often does if mutations are rare. The first split must be significant.
 */
export function askWhatDiffers(
  table: ParameterTable,
  { alpha, differences }: TreeChoice & { readonly differences: readonly ParameterDifference[] },
): ParameterQuestion {
  const { labels, weights } = table.rows
  const question = 'what-differs'
  const grow = (criterion: 'gain-ratio' | 'gini') => {
    const growTo = (maxDepth: number) =>
      growClassificationTree(table.parameters, labels, { criterion, maxDepth, weights })
    const grown = growTo(DEEPEST)
    const first = grown.root.kind === 'split' ? grown.root.column : undefined
    const isClear = differences.some(({ column, q }) => column === first && q < alpha)
    return answer(table, isClear ? grown : growTo(0), {
      question,
      labels,
      predictions: ['precursor', 'mutation'],
      // Paths of CART predict the label that is more frequent than elsewhere.
      byMajority: criterion === 'gain-ratio',
    })
  }
  return better(grow('gain-ratio'), grow('gini'))
}

/** Finds the parameters of slow rows: the tree of times, unless that of slow against usual separates better. */
export function askWhatIsSlow(table: ParameterTable, slowAboveUs: number): ParameterQuestion {
  const { timeUs, weights } = table.rows
  const slow = Uint8Array.from(timeUs, (time) => Number(time > slowAboveUs))
  const answerBy = (tree: ParameterQuestion['tree']) =>
    answer(table, tree, {
      question: 'what-is-slow',
      labels: slow,
      predictions: ['usual', 'slow'],
      slowAboveUs,
    })
  return better(
    answerBy(growRegressionTree(table.parameters, timeUs, { weights })),
    answerBy(growClassificationTree(table.parameters, slow, { criterion: 'gini', weights })),
  )
}

function better(usual: ParameterQuestion, other: ParameterQuestion): ParameterQuestion {
  return other.separation > usual.separation + SAME ? other : usual
}

const LEAST_EFFECT = 0.03

/** Paths of more conditions are read by nobody. */
const DEEPEST = 8

/** Separations that differ by less are the same: the tree of times says more. */
const SAME = 0.02

interface PathLabels {
  readonly slowAboveUs?: number
  readonly question: ParameterQuestionName
  /** 0 or 1 for each row, and what a path to them predicts. */
  readonly labels: Uint8Array
  readonly predictions: readonly [Prediction, Prediction]
  /** Whether a path predicts the label of most of its rows, not the one that is more frequent than elsewhere. */
  readonly byMajority?: boolean
}

function explainedPath(
  table: ParameterTable,
  conditions: TreePath,
  { question, labels, predictions, byMajority = false }: PathLabels,
): ExplainedPath {
  const here = rowsOnPath(table.parameters, conditions, table.size)
  const countWhere = (holds: (row: number) => number) =>
    sum(here, (_, row) => holds(row) * (table.rows.weights?.[row] ?? 1))
  const rows = countWhere(() => 1)
  const requests = countWhere((row) => Number(here[row]))
  const [ones, onesHere] = [
    countWhere((row) => Number(labels[row])),
    countWhere((row) => Number(here[row]) * Number(labels[row])),
  ]
  const zeros = rows - ones
  const shares = [part(requests - onesHere, zeros), part(onesHere, ones)] as const
  const isOne = byMajority ? onesHere > requests / 2 : shares[1] > shares[0]
  const [trueHere, trueRows] = isOne ? [onesHere, ones] : [requests - onesHere, zeros]
  const precision = part(trueHere, requests)
  return {
    question,
    conditions,
    predicts: predictions[Number(isOne) as 0 | 1],
    requests,
    support: part(requests, rows),
    precision,
    recall: part(trueHere, trueRows),
    lift: part(precision, part(trueRows, rows)),
    separation: ones === 0 || zeros === 0 ? 0 : Math.abs(shares[1] - shares[0]),
    times: meanTimes(here, table),
  }
}

function answer(
  table: ParameterTable,
  tree: ParameterQuestion['tree'],
  labels: PathLabels,
): ParameterQuestion {
  const found = treePaths(tree)
    // A tree that is a leaf has one path without conditions: no explanation.
    .filter((conditions) => conditions.length > 0)
    .map((conditions) => explainedPath(table, conditions, labels))
    .filter((path) => path.separation >= LEAST_SEPARATION && isLarge(path))
    .toSorted((a, b) => level(b) - level(a) || rank(b) - rank(a) || b.separation - a.separation)
  const { question, slowAboveUs = null } = labels
  const separation = found[0]?.separation ?? 0
  return { question, table, tree, slowAboveUs, paths: found, separation }
}

/** Separations that differ by less are the same: the two sides of one split, say. */
function level({ separation }: ExplainedPath): number {
  return Math.round(separation / SAME)
}

/** Whether a slow path is noticeably slower. */
function isLarge({ question, times }: ExplainedPath): boolean {
  if (question === 'what-differs' || times === null) return true
  const { hereUs, elsewhereUs } = times
  return Math.abs(hereUs - elsewhereUs) >= LEAST_EFFECT * Math.min(hereUs, elsewhereUs)
}

/** Ranks paths that separate equally well: paths to changed or slow requests come before those to earlier ones. */
function rank({ predicts }: ExplainedPath): number {
  return predicts === 'mutation' || predicts === 'slow' ? 1 : 0
}

/** Returns the time from which a row is slow: the 95th percentile before; without one, the 75th after. */
export function slowFrom(
  flows: FlowSet,
  periods: readonly (readonly { readonly request: number; readonly timeUs: number }[])[],
): number {
  const [usual, now] = periods.map((rows) =>
    ascendingSample(
      rows.map(({ timeUs }) => timeUs),
      flows.countsOf(rows.map(({ request }) => request)),
    ),
  ) as [WeightedSample, WeightedSample]
  const at = ({ values, weights }: WeightedSample, share: number) =>
    quantile(values, share, weights)
  const above = at(usual, 0.95)
  return usual.values.length === 0 || at(now, 0.05) > above ? at(now, 0.75) : above
}

function meanTimes(here: Uint8Array, { rows }: ParameterTable): ExplainedPath['times'] {
  const [sums, counts] = [new Float64Array(2), new Float64Array(2)]
  rows.timeUs.forEach((us, row) => {
    // A request may lack the timed step.
    if (Number.isNaN(us)) return
    const count = rows.weights?.[row] ?? 1
    addAt(sums, here[row] as number, count * us)
    addAt(counts, here[row] as number, count)
  })
  const [elsewhereUs, hereUs] = sums.map((sum, side) => sum / (counts[side] as number))
  return Number.isNaN(Number(hereUs) + Number(elsewhereUs))
    ? null
    : { hereUs: hereUs as number, elsewhereUs: elsewhereUs as number }
}

function part(some: number, all: number): number {
  return all === 0 ? 0 : some / all
}

/** Question that a tree of parameters answers. */
export type ParameterQuestionName = 'what-differs' | 'what-is-slow'

/** Prediction for the rows on a path. */
export type Prediction = 'mutation' | 'precursor' | 'slow' | 'usual'

/** A way from the root of a tree to a leaf: one explanation. */
export interface ExplainedPath {
  readonly question: ParameterQuestionName
  /** Conditions of the rows on the path, one per column, in the order of the tree. */
  readonly conditions: TreePath
  readonly predicts: Prediction
  /** Rows on it: those that meet all conditions. */
  readonly requests: number
  /** Share of all rows on it. */
  readonly support: number
  /** Share of the rows on it that are as predicted, and how many times as frequent they are there. */
  readonly precision: number
  readonly lift: number
  /** Share of all such rows that it finds. */
  readonly recall: number
  /** Difference of the shares of both groups on it, without its sign: 1 for all of one and none of the other. */
  readonly separation: number
  /** Mean time of the rows on it and of all others, in µs; null where either has none. */
  readonly times: { readonly hereUs: number; readonly elsewhereUs: number } | null
}

export function rowsOnPath(
  parameters: readonly Parameter[],
  conditions: readonly PathCondition[],
  rows: number,
): Uint8Array {
  const fits = new Uint8Array(rows).fill(1)
  for (const condition of conditions) {
    const parameter = parameters.find(({ name }) => name === condition.column)
    if (parameter === undefined) continue
    for (let row = 0; row < rows; row++) {
      if (!fulfils(parameter, condition, row)) fits[row] = 0
    }
  }
  return fits
}

function fulfils(parameter: Parameter, condition: PathCondition, row: number): boolean {
  if (condition.kind === 'levels') {
    return parameter.kind === 'categorical' && condition.codes.includes(parameter.codes[row] ?? -1)
  }
  if (parameter.kind !== 'numeric') return false
  const value = parameter.values[row] as number
  const { above = Number.NEGATIVE_INFINITY, atMost = Number.POSITIVE_INFINITY } = condition
  return value > above && value <= atMost
}
