import { ascending, groups, rollup, sum } from 'd3-array'
import { FlowdeltaError } from '../../core/errors.ts'
import { buildFlows } from '../../flows/build-flows.ts'
import type { FlowSet } from '../../flows/flow-set.ts'
import { quantile } from '../../stats/quantile.ts'
import type { TraceSet } from '../../traces/trace-set.ts'
import { countWorth, type WeightMoments } from '../steps/compare-counts.ts'
import { rootName } from '../steps/root-types.ts'

/** What a run leaves in a history: how long its requests took, by service and operation of the root. */
export interface RunSummary {
  readonly schema: typeof SCHEMA
  /** Commit, version or time of the run, as it was given. */
  readonly name: string
  readonly types: readonly TypeSummary[]
}

export interface TypeSummary {
  readonly name: string
  readonly requests: number
  /** Requests that failed; `null` where traces do not say. */
  readonly failed: number | null
  /**
   * Of weighted requests, failures and all in numbers whose share varies as theirs does (`countWorth`);
   * the sample that times are of may have lost most failures.
   */
  readonly weighted?: { readonly failed: number; readonly requests: number }
  /** Response times, µs, ascending: all of them, or quantiles at equal distances. */
  readonly timesUs: readonly number[]
}

const SCHEMA = 'flowdelta.run/1'
const MAX_TIMES = 200
/** Names that hold ids make thousands of types: those with the most requests are kept. */
const MAX_TYPES = 200

/**
 * Summarizes a run in about 2 kB a type, so that later runs can be checked without its traces. Of a
 * sample that preferred some requests of a type, some of these are left out (`sampling: 'even'`).
 */
export function summarizeRun(name: string, traces: TraceSet): RunSummary {
  const flows = buildFlows(traces, { sampling: 'even' })
  const { outcomes, responseTimeUs, shapeOf } = flows
  const weighted = flows.weight && outcomes && weightedFailures(buildFlows(traces))
  const requests = Array.from(shapeOf, (_, request) => request)
  const types = groups(requests, (request) => rootName(flows, shapeOf[request] as number))
  const most = types.sort(([a, one], [b, other]) => other.length - one.length || ascending(a, b))
  return {
    schema: SCHEMA,
    name,
    types: most.slice(0, MAX_TYPES).map(([type, own]) => ({
      name: type,
      requests: own.length,
      failed: outcomes ? own.filter((request) => outcomes.failed(request)).length : null,
      ...(weighted && { weighted: weighted.get(type)! }),
      timesUs: someTimes(own.map((request) => responseTimeUs[request] as number)),
    })),
  }
}

function weightedFailures(flows: FlowSet) {
  const requests = Array.from(flows.shapeOf, (_, request) => request)
  const momentsOf = (own: readonly number[]): WeightMoments => {
    const weights = own.map((request) => flows.weightOf(request))
    return [own.length, sum(weights), sum(weights, (weight) => weight ** 2)]
  }
  const failuresOf = (own: readonly number[]) => {
    const all = momentsOf(own)
    const failed = momentsOf(own.filter((request) => flows.outcomes?.failed(request)))
    const worth = countWorth(all, failed, failed[1] / all[1])
    return { failed: Math.round(failed[1] * worth), requests: Math.round(all[1] * worth) }
  }
  return rollup(requests, failuresOf, (request) => rootName(flows, flows.shapeOf[request]!))
}

function someTimes(all: readonly number[]): number[] {
  const times = Float64Array.from(all).sort()
  if (times.length <= MAX_TIMES) return Array.from(times)
  return Array.from({ length: MAX_TIMES }, (_, i) =>
    Number(quantile(times, (i + 0.5) / MAX_TIMES).toPrecision(6)),
  )
}

/** Reads a history: a summary a line, the oldest first. */
export function parseHistory(text: string, file: string): RunSummary[] {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  const runs = lines.map((line, at) => {
    try {
      const run: unknown = JSON.parse(line)
      if (isSummary(run)) return run
    } catch {
      // Said below.
    }
    throw new FlowdeltaError(
      `${file}, line ${at + 1} is no summary of a run. Give a file that 'flowdelta baseline write' wrote.`,
    )
  })
  if (runs.length > 0) return runs
  throw new FlowdeltaError(
    `${file} has no runs. Write one with 'flowdelta baseline write TRACES --out ${file}'.`,
  )
}

function isSummary(value: unknown): value is RunSummary {
  const { schema, name, types } = (value ?? {}) as Partial<RunSummary>
  return (
    schema === SCHEMA && typeof name === 'string' && Array.isArray(types) && types.every(isType)
  )
}

function isType(value: Partial<TypeSummary> | null): boolean {
  const { name, requests = -1, failed = -1, timesUs, weighted } = value ?? {}
  const isCount = (count: number | null) => Number.isSafeInteger(count) && Number(count) >= 0
  if (typeof name !== 'string' || !Array.isArray(timesUs)) return false
  for (const counts of [{ failed, requests }, weighted ?? { failed: null, requests: 0 }]) {
    if (!isCount(counts.requests)) return false
    if (counts.failed !== null && !(isCount(counts.failed) && counts.failed <= counts.requests))
      return false
  }
  return (
    timesUs.length > 0 &&
    timesUs.every((us, i) => Number.isFinite(us) && us >= Number(timesUs[i - 1] ?? 0))
  )
}
