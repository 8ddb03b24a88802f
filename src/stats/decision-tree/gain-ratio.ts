// Called for every value of every column of every node: indexes with `!`.
import type { CodedColumn } from './coded-columns.ts'
import {
  divideByBranches,
  divideByThreshold,
  type NodeRows,
  type SplitChoice,
} from './grow-node.ts'
import { ValueGroups } from './value-groups.ts'

/** How far below the average a gain may be (C4.5). */
const BELOW_AVERAGE = 1e-3
const SAME = 1e-9

interface GainRatioOptions {
  readonly minLeaf: number
  /** With C4.5's larger minimum for both sides of a threshold. */
  readonly strict: boolean
}

/**
 * C4.5's choice: the highest gain ratio of columns that gain about the average. Gain alone would
 * favor many values, the ratio alone cutting off a few rows. Undefined if none gains.
 */
export function chooseByGainRatio(
  scorer: GainRatioScorer,
  columns: readonly CodedColumn[],
  { rows }: NodeRows,
  counts: ClassCounts,
): SplitChoice | undefined {
  const scores = columns.map((column) => scorer.score(column, rows, counts))
  const admissible = scores.filter((score) => score.admissible)
  const average = admissible.reduce((sum, { gain }) => sum + gain, 0) / admissible.length
  const candidates = admissible.filter(({ gain }) => gain >= average - BELOW_AVERAGE)
  const highest = candidates.reduce((most, { gainRatio }) => Math.max(most, gainRatio), 0)
  if (!(highest > SAME)) return undefined
  const [best, ...others] = candidates.filter(({ gainRatio }) => gainRatio >= highest - SAME)
  if (best === undefined) return undefined
  const column = columns[scores.indexOf(best)]!
  const keys = scorer.codesOf(column, rows, counts)
  const { gain, gainRatio, lastCode } = best
  return {
    ...(column.kind === 'numeric'
      ? divideByThreshold(column, lastCode, keys[keys.indexOf(lastCode) + 1]!)
      : divideByBranches(column, keys)),
    column: best.column,
    gain,
    gainRatio,
    tied: others.map((other) => other.column),
  }
}

/** Values closer than this are one (C4.5); in columns spanning less than 1, this share. */
const MIN_GAP = 1e-5
/** What rounding may add to a sum of weights that are fractions. */
const ROUNDING = 1e-9

interface ColumnScore {
  /** Whether the split may be made: enough rows in two branches and, for a threshold, any gain. */
  readonly admissible: boolean
  /** Bits of information gained for a row of the node. */
  readonly rawGain: number
  /** What the choice among `cuts` costs, in the same unit; 0 for a categorical column. */
  readonly penalty: number
  /** Bits for a row to say which branch it is in, missing being one of them. */
  readonly splitInfo: number
  /** Thresholds to choose from; 0 for a categorical column. */
  readonly cuts: number
  readonly branches: number
  /** The code that the first branch of a threshold ends with; −1 without a threshold. */
  readonly lastCode: number
}

/**
 * Scores columns at one node after another.
 *
 * Source: Quinlan 1996, "Improved use of continuous attributes in C4.5", Journal of Artificial
 * Intelligence Research 4:77-90 (the correction for thresholds); Quinlan 1993, §2.2-2.4, 3.2;
 * Fayyad and Irani 1992, "On the handling of continuous-valued attributes in decision tree
 * generation", Machine Learning 8:87-102 (cuts that need no look).
 */
export class GainRatioScorer {
  readonly #groups: ValueGroups
  readonly #xLogX: (x: number) => number
  readonly #options: GainRatioOptions

  constructor(columns: readonly CodedColumn[], rows: number, options: GainRatioOptions) {
    this.#groups = ValueGroups.for(columns, rows)
    this.#xLogX = xLogX(rows)
    this.#options = options
  }

  score(column: CodedColumn, rows: Int32Array, counts: ClassCounts) {
    this.#fill(column, rows, counts)
    const node = this.#nodeSums()
    return column.kind === 'numeric' ? this.#threshold(column, node) : this.#branches(column, node)
  }

  codesOf(column: CodedColumn, rows: Int32Array, counts: ClassCounts): number[] {
    this.#fill(column, rows, counts)
    return Array.from(this.#groups.keys.subarray(0, this.#groups.size))
  }

  #fill(column: CodedColumn, rows: Int32Array, { precursors, mutations }: ClassCounts): void {
    this.#groups.fill(column, rows, precursors, mutations)
  }

  #nodeSums() {
    const { size, first, second, missingFirst, missingSecond } = this.#groups
    let precursors = 0
    let mutations = 0
    for (let group = 0; group < size; group++) {
      precursors += first[group]!
      mutations += second[group]!
    }
    const known = precursors + mutations
    const missing = missingFirst + missingSecond
    const lookedUp = this.#xLogX
    const information = lookedUp(known) - (lookedUp(precursors) + lookedUp(mutations))
    return { precursors, mutations, known, missing, total: known + missing, information }
  }

  #threshold({ name, values }: CodedColumn, node: NodeSums) {
    const { precursors, mutations, known, missing, total, information } = node
    const { size, keys, first, second } = this.#groups
    const { minLeaf, strict } = this.#options
    const xLogX = this.#xLogX
    const gap = leastGap(values, strict)
    const minSide = (strict ? Math.max(minLeaf, Math.min(25, 0.05 * known)) : minLeaf) - ROUNDING
    // Gains that differ by rounding alone are one; the lowest threshold is taken.
    const noise = ROUNDING * Math.max(1, information)
    let left0 = 0
    let left1 = 0
    let best = Number.POSITIVE_INFINITY
    let bestLeft = 0
    let lastCode = -1
    let cuts = 0
    let afterCut = false
    let value = size === 0 ? 0 : values[keys[0]!]!
    let next = size < 2 ? 0 : values[keys[1]!]!
    for (let group = 0; group + 1 < size; group++) {
      const apart = next - value > gap
      value = next
      next = group + 2 < size ? values[keys[group + 2]!]! : value
      left0 += first[group]!
      left1 += second[group]!
      const left = left0 + left1
      if (left < minSide) continue
      const right = known - left
      if (right < minSide) break
      const hadCut = afterCut
      afterCut = apart
      if (!apart) continue
      cuts++
      // Within a run of one class the cut at one of its ends is better (Fayyad and Irani 1992).
      const nextRight = right - first[group + 1]! - second[group + 1]!
      const inner = hadCut && next - value > gap && nextRight >= minSide
      if (inner && isWithinRun(first, second, group)) continue
      const rest =
        xLogX(left) -
        (xLogX(left0) + xLogX(left1)) +
        (xLogX(right) - (xLogX(precursors - left0) + xLogX(mutations - left1)))
      if (rest >= best - noise) continue
      best = rest
      bestLeft = left
      lastCode = keys[group]!
    }
    if (cuts === 0) return scoreOf(name, { ...NO_CUT, branches: Math.min(size, 1) })
    const rawGain = (information - best) / total
    const penalty = Math.log2(cuts) / total
    const sides = xLogX(bestLeft) + xLogX(known - bestLeft) + xLogX(missing)
    const splitInfo = (xLogX(total) - sides) / total
    const admissible = rawGain - penalty > ROUNDING
    return scoreOf(name, { admissible, rawGain, penalty, splitInfo, cuts, branches: 2, lastCode })
  }

  #branches({ name }: CodedColumn, { known, missing, total, information }: NodeSums) {
    const { size, first, second } = this.#groups
    const xLogX = this.#xLogX
    let rest = 0
    let sides = xLogX(missing)
    let large = 0
    for (let group = 0; group < size; group++) {
      const weight = first[group]! + second[group]!
      const bits = xLogX(weight)
      sides += bits
      rest += bits - (xLogX(first[group]!) + xLogX(second[group]!))
      if (weight >= this.#options.minLeaf - ROUNDING) large++
    }
    const rawGain = total === 0 || known === 0 ? 0 : (information - rest) / total
    const splitInfo = total === 0 ? 0 : (xLogX(total) - sides) / total
    const admissible = large >= 2
    return scoreOf(name, { ...NO_CUT, admissible, rawGain, splitInfo, branches: size })
  }
}

interface NodeSums {
  readonly precursors: number
  readonly mutations: number
  readonly known: number
  readonly missing: number
  readonly total: number
  readonly information: number
}

const NO_CUT = { admissible: false, rawGain: 0, penalty: 0, splitInfo: 0, cuts: 0, lastCode: -1 }

function scoreOf(column: string, score: ColumnScore) {
  const gain = score.rawGain - score.penalty
  return {
    column,
    ...score,
    gain,
    gainRatio: score.admissible ? gain / score.splitInfo : Number.NaN,
  }
}

function isWithinRun(first: Float64Array, second: Float64Array, group: number): boolean {
  return first[group]! + first[group + 1]! === 0 || second[group]! + second[group + 1]! === 0
}

/** Below this, values are one to C4.5; not so where all values are as small. */
function leastGap(values: Float64Array, strict: boolean): number {
  const span = values.length === 0 ? 0 : values[values.length - 1]! - values[0]!
  return strict ? MIN_GAP : MIN_GAP * Math.min(1, span)
}

export type ClassCounts = ReturnType<typeof classCounts>

/** The weight of each row of a node, in the array of its class and 0 in the other. */
export function classCounts({ rows, weights }: NodeRows, labels: Uint8Array) {
  const precursors = new Float64Array(rows.length)
  const mutations = new Float64Array(rows.length)
  let first = 0
  let second = 0
  for (let i = 0; i < rows.length; i++) {
    const weight = weights === undefined ? 1 : weights[i]!
    if (labels[rows[i]!] === 0) {
      precursors[i] = weight
      first += weight
    } else {
      mutations[i] = weight
      second += weight
    }
  }
  return { precursors, mutations, weights: [first, second] as const }
}

/** x·log2 x, and 0 for 0; whole numbers are looked up, as counts mostly are whole. */
function xLogX(most: number): (x: number) => number {
  const direct = (x: number) => (x > 0 ? x * Math.log2(x) : 0)
  const table = Float64Array.from({ length: most + 1 }, (_, x) => direct(x))
  return (x) => {
    const whole = x | 0
    return whole === x && whole >= 0 && whole <= most ? table[whole]! : direct(x)
  }
}
