import { ascending, rollups, sum } from 'd3-array'
import { addAt } from '../../core/entries.ts'
import { benjaminiHochberg } from '../../stats/benjamini-hochberg.ts'
import { chiSquareTest } from '../../stats/chi-square-test.ts'
import { ksTwoSample } from '../../stats/ks-two-sample.ts'
import { quantile } from '../../stats/quantile.ts'
import type { Parameter } from './parameter-table.ts'

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

/** The values of one group. */
export interface ParameterSummary {
  readonly known: number
  readonly missing: number
  /** Of numbers: smallest, quartiles and largest; null without known values, or of names. */
  readonly quartiles: readonly [number, number, number, number, number] | null
  /** Of names: the commonest with their share of the group, missing left out. */
  readonly commonest: readonly (readonly [level: string, share: number])[]
}

const COMMONEST = 5
/** Of q, corrected over all parameters. */
const LEVEL = 0.05

/**
 * Compares every parameter by itself: significant ones first, as names of many kinds differ much by
 * chance; then the most different.
 */
export function parameterDifferences(
  parameters: readonly Parameter[],
  labels: Uint8Array,
): ParameterDifference[] {
  const found = parameters.map((parameter) => ({
    column: parameter.name,
    kind: parameter.kind,
    before: summary(parameter, labels, 0),
    after: summary(parameter, labels, 1),
    ...(parameter.kind === 'numeric'
      ? compareNumbers(parameter.values, labels)
      : compareNames(parameter.codes, parameter.levels.length, labels)),
  }))
  const q = benjaminiHochberg(found.map(({ p }) => p))
  return found
    .map((difference, i) => ({ ...difference, q: q[i] as number }))
    .sort(
      (a, b) =>
        Number(b.q < LEVEL) - Number(a.q < LEVEL) ||
        b.effect - a.effect ||
        ascending(a.column, b.column),
    )
}

function compareNumbers(values: Float64Array, labels: Uint8Array) {
  const group = (label: number) => values.filter((_, row) => labels[row] === label)
  const [before, after] = [group(0), group(1)]
  const { statistic, p } = ksTwoSample(before, after)
  const isMissing = values.map((value) => Number(Number.isNaN(value)))
  const missing = compareNames(Int32Array.from(isMissing), 2, labels)
  return missing.effect > (statistic || 0) ? missing : { effect: statistic || 0, p }
}

function compareNames(codes: Int32Array, levels: number, labels: Uint8Array) {
  const counts = [new Float64Array(levels + 1), new Float64Array(levels + 1)] as const
  codes.forEach((code, row) => {
    addAt(counts[labels[row] as 0 | 1], code < 0 ? levels : code, 1)
  })
  const [before, after] = counts
  const [beforeSize, afterSize] = counts.map((group) => Math.max(1, sum(group))) as [number, number]
  const apart = before.reduce(
    (all, count, at) => all + Math.abs(count / beforeSize - Number(after[at]) / afterSize),
    0,
  )
  return { effect: apart / 2, p: chiSquareTest(before, after).p }
}

function summary(parameter: Parameter, labels: Uint8Array, label: number): ParameterSummary {
  const size = labels.reduce((count, own) => count + Number(own === label), 0)
  if (parameter.kind === 'numeric') {
    const sorted = parameter.values
      .filter((value, row) => labels[row] === label && !Number.isNaN(value))
      .sort()
    const at = (share: number) => quantile(sorted, share)
    const quartiles = [at(0), at(0.25), at(0.5), at(0.75), at(1)] as const
    return {
      known: sorted.length,
      missing: size - sorted.length,
      commonest: [],
      quartiles: sorted.length === 0 ? null : quartiles,
    }
  }
  const codes = parameter.codes.filter((code, row) => labels[row] === label && code >= 0)
  const known = codes.length
  const commonest = rollups(codes, ({ length }) => length, Number)
    .sort(([a, m], [b, n]) => n - m || a - b)
    .slice(0, COMMONEST)
    .map(([code, count]) => [parameter.levels[code] as string, count / size] as const)
  return { known, missing: size - known, quartiles: null, commonest }
}
