import { readFileSync } from 'node:fs'
import type { Alternative, Stratum } from '../../../src/stats/index.ts'

export interface Interval {
  readonly shift: number
  readonly low: number
  readonly high: number
}

interface Samples {
  readonly before: number[]
  readonly after: number[]
}

type BySide = Readonly<Record<Alternative, number>>

interface Pair extends Samples {
  readonly name: string
  readonly u: number
  readonly asymptotic: BySide
  /** Only without ties. */
  readonly exact?: BySide
  readonly wasserstein: number
}

interface BootstrapCase {
  readonly measure: 'mean' | 'median'
  readonly level: number
  readonly low: number
  readonly high: number
}

interface FisherCase {
  readonly table: [number, number, number, number]
  readonly p: number
  readonly pMore: number
  readonly pFewer: number
}

interface ChiSquareCase extends Samples {
  readonly statistic: number
  readonly df: number
  readonly p: number
  readonly expectedMin: number
}

interface ScipyOracle {
  readonly versions: { readonly scipy: string }
  readonly pairs: Pair[]
  readonly fisher: FisherCase[]
  readonly chiSquare: ChiSquareCase[]
  readonly bootstrap: Samples & { readonly intervals: BootstrapCase[] }
  readonly gammaQ: [a: number, x: number, q: number][]
  readonly incompleteBeta: [a: number, b: number, x: number, share: number][]
  readonly normalQuantile: [p: number, z: number][]
  readonly normalTail: [z: number, p: number][]
}

interface WilcoxonCase extends Samples {
  readonly name: string
  readonly level: number
  readonly p: BySide
  readonly medianDifference: number
  /** Both only without ties. */
  readonly asymptotic?: Interval
  readonly exact?: Interval
}

interface VanElterenCase {
  readonly strata: Stratum[]
  readonly statistic: number
  readonly z: number
  readonly p: BySide
  readonly probabilitySlower: number
  readonly shift: number
}

/** R writes infinity as `"Inf"`. */
type RNumber = number | 'Inf'

interface SqueezeVarCase {
  readonly name: string
  readonly variances: number[]
  readonly df: number[]
  readonly prior: number
  readonly priorDf: RNumber
  readonly moderated: number[]
  readonly moderatedDf: number[]
}

/** Tables of chances and which of them were taken, before and after. */
interface MantelHaenszelCase {
  readonly tables: FisherCase['table'][]
  readonly statistic: number
  readonly p: number
}

/** Levels of each measure in the runs before and, last, after. */
interface BetweenRunsCase {
  readonly name: string
  readonly levels: number[][]
  readonly shift: number[]
  readonly t: number[]
  readonly df: number[]
}

interface ROracle {
  readonly versions: { readonly R: string; readonly limma: string }
  readonly wilcoxon: WilcoxonCase[]
  readonly vanElteren: VanElterenCase[]
  readonly chiSquare: (Samples & { statistic: number; p: number; residuals: number[] })[]
  readonly squeezeVar: SqueezeVarCase[]
  readonly betweenRuns: BetweenRunsCase[]
  readonly mantelHaenszel: MantelHaenszelCase[]
  readonly mantelHaenszelExact: Omit<MantelHaenszelCase, 'statistic'>[]
  readonly fisher: Pick<FisherCase, 'table' | 'p'>[]
}

/** What `make.py` wrote. */
export function scipyOracle(): ScipyOracle {
  return read('scipy.json')
}

/** What `make.R` wrote. */
export function rOracle(): ROracle {
  return read('r.json')
}

function read<T>(name: string): T {
  return JSON.parse(readFileSync(new URL(name, import.meta.url), 'utf8')) as T
}
