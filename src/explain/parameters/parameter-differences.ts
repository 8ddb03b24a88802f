import { ascending, rollups, sum } from 'd3-array'
import { addAt } from '../../core/entries.ts'
import { AFTER, BEFORE, type Period } from '../../flows/flow-set.ts'
import type { NodeLabel } from '../../flows/node-labels.ts'
import { benjaminiHochberg } from '../../stats/benjamini-hochberg.ts'
import { chiSquareTest } from '../../stats/chi-square-test.ts'
import type { TreeColumn } from '../../stats/decision-tree/tree.ts'
import { ksTwoSample } from '../../stats/ks-two-sample.ts'
import { quantile } from '../../stats/quantile.ts'
import { isTestable } from '../../stats/two-sample.ts'
import { ascendingSample, worthOf } from '../../stats/weighted-sample.ts'

/** Where in the flow a parameter was recorded, and under which name. */
export interface ParameterSource {
  readonly node: NodeLabel
  /** Counts nodes of that label in the template, from 1; 0 where there is only one. */
  readonly occurrence: number
  readonly attribute: string
}

/** A low-level parameter: one value a row, with the place it was recorded at. */
export type Parameter = TreeColumn & { readonly source: ParameterSource }

/** How one parameter differs between two groups of requests. */
export interface ParameterDifference {
  readonly column: string
  readonly kind: Parameter['kind']
  readonly before: ParameterSummary
  readonly after: ParameterSummary
  /**
   * From 0 (distributed alike) to 1 (nothing in common): of numbers the largest gap between the
   * shares of both groups below a value (Kolmogorov-Smirnov D); of names the share of requests that
   * would have to have another one (total variation). Groups count alike, whatever their size;
   * missing is a value of its own.
   */
  readonly effect: number
  readonly p: number
  /** p corrected over all parameters (Benjamini-Hochberg). */
  readonly q: number
}

/** The values of one group; rows count as often as they weigh. */
export interface ParameterSummary {
  readonly known: number
  readonly missing: number
  /** Of numbers: smallest, quartiles and largest; null without known values, or of names. */
  readonly quartiles: readonly [number, number, number, number, number] | null
  /** Of names: the commonest with their share of the group, missing left out. */
  readonly commonest: readonly (readonly [level: string, share: number])[]
}

const COMMONEST = 5
/** What separates worse explains nothing. */
export const LEAST_SEPARATION = 0.05
/** Of q, corrected over all parameters. */
const LEVEL = 0.05

export function isSignificant({ q }: ParameterDifference): boolean {
  return q < LEVEL
}

/**
 * Compares every parameter by itself: significant ones first, as names of many kinds differ much by
 * chance; then the most different. With weights, each row counts as often as its weight says; tests
 * are of as many rows as they are worth.
 */
export function parameterDifferences(
  parameters: readonly Parameter[],
  labels: Uint8Array,
  weights?: Float64Array,
): ParameterDifference[] {
  const groups = [0, 1].map((label): RowGroup => {
    const rows = Uint32Array.from(labels.keys()).filter((row) => labels[row] === label)
    return { rows, weights: weights && weightsAt(weights, rows) }
  }) as [RowGroup, RowGroup]
  const found = parameters.map((parameter) => ({
    column: parameter.name,
    kind: parameter.kind,
    before: summary(parameter, groups[0]),
    after: summary(parameter, groups[1]),
    ...(parameter.kind === 'numeric'
      ? compareNumbers(parameter.values, groups)
      : compareNames(parameter.codes, parameter.levels.length, groups)),
  }))
  const q = benjaminiHochberg(found.map(({ p }) => p))
  return found
    .map((difference, i) => ({ ...difference, q: q[i] as number }))
    .sort(
      (a, b) =>
        Number(isSignificant(b)) - Number(isSignificant(a)) ||
        b.effect - a.effect ||
        ascending(a.column, b.column),
    )
}

interface ParameterLabels {
  /** 0 precursor, 1 mutation. */
  readonly labels: Uint8Array
  readonly periods: Uint8Array
  readonly weights?: Float64Array | undefined
}

/**
 * Returns the parameters that have other values after than before, though in neither period do they
 * tell rows of one label from the other. Where each period has hardly
 * more than one label, as where all requests changed, the period tells as much as anything that
 * changed with it, and none is returned.
 */
export function changesOfPeriod(
  parameters: readonly Parameter[],
  { labels, periods, weights }: ParameterLabels,
): ParameterDifference[] {
  const rowsIn = (period: Period) =>
    Uint32Array.from(periods.keys()).filter((row) => periods[row] === period)
  const both = [rowsIn(BEFORE), rowsIn(AFTER)]
  const telling = both.filter((rows) => {
    const ofMutation = rows.filter((row) => labels[row] === 1).length
    const fewer = Math.min(ofMutation, rows.length - ofMutation)
    return (
      isTestable(rows.length - ofMutation, ofMutation) && fewer >= LEAST_SEPARATION * rows.length
    )
  })
  if (telling.length === 0 || both.some(({ length }) => length === 0)) return []
  const differing = (rows: Uint32Array) =>
    parameterDifferences(
      parameters.map((parameter) => parameterAt(parameter, rows)),
      Uint8Array.from(rows, (row) => labels[row] as number),
      weights && Float64Array.from(rows, (row) => weights[row] as number),
    ).filter(isSignificant)
  const tells = new Set(telling.flatMap((rows) => differing(rows).map(({ column }) => column)))
  return parameterDifferences(parameters, periods, weights).filter(
    (difference) => isSignificant(difference) && !tells.has(difference.column),
  )
}

function parameterAt(parameter: Parameter, rows: Uint32Array): Parameter {
  return parameter.kind === 'numeric'
    ? { ...parameter, values: Float64Array.from(rows, (row) => parameter.values[row] as number) }
    : { ...parameter, codes: Int32Array.from(rows, (row) => parameter.codes[row] as number) }
}

/** Rows of one group, and how many each counts as; undefined where each once. */
interface RowGroup {
  readonly rows: Uint32Array
  readonly weights: Float64Array | undefined
}

function weightsAt(weights: Float64Array, rows: Uint32Array): Float64Array {
  return Float64Array.from(rows, (row) => weights[row] as number)
}

function compareNumbers(values: Float64Array, groups: readonly [RowGroup, RowGroup]) {
  const [before, after] = groups.map(({ rows }) => Float64Array.from(rows, (row) => values[row]!))
  const [beforeWeights, afterWeights] = groups.map(({ weights }) => weights)
  const { statistic, p } = ksTwoSample(before!, after!, { beforeWeights, afterWeights })
  const isMissing = values.map((value) => Number(Number.isNaN(value)))
  const missing = compareNames(Int32Array.from(isMissing), 2, groups)
  return missing.effect > (statistic || 0) ? missing : { effect: statistic || 0, p }
}

function compareNames(codes: Int32Array, levels: number, groups: readonly [RowGroup, RowGroup]) {
  const [before, after] = groups.map(({ rows, weights }) => {
    const counts = new Float64Array(levels + 1)
    rows.forEach((row, i) => {
      const code = codes[row] as number
      addAt(counts, code < 0 ? levels : code, weights?.[i] ?? 1)
    })
    const size = Math.max(1, sum(counts))
    const scale = rows.length === 0 ? 1 : worthOf(rows, weights) / size
    return { counts, size, worth: counts.map((count) => count * scale) }
  }) as [NameCounts, NameCounts]
  const apart = before.counts.reduce(
    (all, count, at) => all + Math.abs(count / before.size - Number(after.counts[at]) / after.size),
    0,
  )
  return { effect: apart / 2, p: chiSquareTest(before.worth, after.worth).p }
}

interface NameCounts {
  readonly counts: Float64Array
  readonly size: number
  /** As many as the counts are worth. */
  readonly worth: Float64Array
}

function summary(parameter: Parameter, { rows, weights }: RowGroup): ParameterSummary {
  const isKnown = (row: number) =>
    parameter.kind === 'numeric'
      ? !Number.isNaN(parameter.values[row])
      : (parameter.codes[row] as number) >= 0
  const weightOf = (i: number) => weights?.[i] ?? 1
  const places = Uint32Array.from(rows.keys()).filter((i) => isKnown(rows[i] as number))
  const known = sum(places, weightOf)
  const missing = weights === undefined ? rows.length - known : sum(weights) - known
  if (parameter.kind === 'numeric') {
    const sorted = ascendingSample(
      Float64Array.from(places, (i) => parameter.values[rows[i] as number] as number),
      weights && weightsAt(weights, places),
    )
    const at = (share: number) => quantile(sorted.values, share, sorted.weights)
    const quartiles = [at(0), at(0.25), at(0.5), at(0.75), at(1)] as const
    return { known, missing, commonest: [], quartiles: places.length === 0 ? null : quartiles }
  }
  const commonest = rollups(
    places,
    (same) => sum(same, weightOf),
    (i) => parameter.codes[rows[i] as number] as number,
  )
    .sort(([a, m], [b, n]) => n - m || a - b)
    .slice(0, COMMONEST)
    .map(([code, count]) => [parameter.levels[code] as string, count / (known + missing)] as const)
  return { known, missing, quartiles: null, commonest }
}
