import { AFTER, BEFORE, type FlowSet } from '../../flows/flow-set.ts'
import type { NodeLabel } from '../../flows/node-labels.ts'
import type { Comparison } from '../comparison.ts'
import type { ComparisonOptions } from '../comparison-options.ts'

/** What of the requests goes along; without, a stage that asks for it gets zeros. */
export interface SnapshotParts {
  /** When requests arrived. Default `false`. */
  readonly arrivals?: boolean
  /** Trace ids; without, requests are called by their number. Default `false`. */
  readonly ids?: boolean
  /**
   * The requests whose edge latencies go along, by their row: the largest part by far. Default
   * none.
   */
  readonly latenciesOf?: (request: number) => boolean
}

/**
 * A comparison as plain JSON, enough to compute its stages from categories to ranking again, by
 * the same code, where there are no traces: in a page.
 */
export interface ComparisonSnapshot {
  readonly options: Omit<ComparisonOptions, 'label'>
  readonly labels: readonly NodeLabel[]
  /** What an own rule makes of each label; `null` without one. */
  readonly labelTexts: readonly string[] | null
  readonly shapes: readonly SnapshotShape[]
  /** How many of the requests are before; they come first. */
  readonly before: number
  readonly shapeOf: readonly number[]
  readonly responseTimeUs: readonly number[]
  readonly startUs: readonly number[] | null
  readonly ids: readonly string[] | null
  readonly weight: readonly (number | null)[] | null
  /** Latencies of the edges of some requests, by row. */
  readonly latencies: readonly (readonly [request: number, latencyUs: readonly number[]])[]
}

/** Label codes of the nodes, then where the edges start and end. */
export type SnapshotShape = readonly [
  labels: readonly number[],
  from: readonly number[],
  to: readonly number[],
]

/**
 * Takes a comparison's flows out of its traces.
 *
 * @param comparison from `compare`
 * @param parts see {@link SnapshotParts}
 *
 * @example
 * takeSnapshot(comparison).shapeOf.length === comparison.flows.size // true
 */
export function takeSnapshot(
  { flows, options }: Comparison,
  { arrivals = false, ids = false, latenciesOf = () => false }: SnapshotParts = {},
): ComparisonSnapshot {
  const { label, ...plain } = options
  const labels = Array.from({ length: flows.labels.size }, (_, code) => flows.labels.get(code))
  const rows = Array.from({ length: flows.size }, (_, request) => request)
  return {
    options: plain,
    labels,
    labelTexts: label === null ? null : labels.map(label),
    shapes: shapesOf(flows),
    before: flows.count(BEFORE),
    shapeOf: [...flows.shapeOf],
    responseTimeUs: [...flows.responseTimeUs],
    startUs: arrivals ? [...flows.startUs] : null,
    ids: ids ? flows.ids : null,
    weight: flows.weight === undefined ? null : Array.from(flows.weight, finiteOrNull),
    latencies: rows.filter(latenciesOf).map((row) => [row, [...flows.latencies(row)]] as const),
  }
}

function shapesOf({ shapes }: FlowSet): SnapshotShape[] {
  return Array.from({ length: shapes.size }, (_, shape) => [
    [...shapes.labels(shape)],
    [...shapes.from(shape)],
    [...shapes.to(shape)],
  ])
}

function finiteOrNull(value: number): number | null {
  return Number.isFinite(value) ? value : null
}

/** Whether a request of a snapshot is of the after period. */
export function periodOf({ before }: ComparisonSnapshot, request: number) {
  return request < before ? BEFORE : AFTER
}
