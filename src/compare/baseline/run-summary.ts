import { ascending, groups, rollup, sum } from 'd3-array'
import { FlowdeltaError, OptionError } from '../../core/errors.ts'
import { buildFlows } from '../../flows/build-flows.ts'
import { BEFORE, type FlowSet } from '../../flows/flow-set.ts'
import { quantile } from '../../stats/quantile.ts'
import type { TraceSet } from '../../traces/trace-set.ts'
import { callsOfRoots, type RootCalls, renamesBetween } from '../steps/renames.ts'
import { rootName } from '../steps/root-types.ts'
import { countWorth, type WeightMoments } from '../steps/time-blocks.ts'
import { MAX_KEPT, MAX_TRIED, SMALL } from '../thresholds.ts'

/** Summary of a run in a history: its response times, by service and operation of the root. */
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
   * Failures and requests of a weighted type, in numbers whose share varies as much as the weighted one (`countWorth`).
   * The sample that the times come from may have lost most failures.
   */
  readonly weighted?: { readonly failed: number; readonly requests: number }
  /** Response times, µs, ascending: all of them, or quantiles at equal distances. */
  readonly timesUs: readonly number[]
  /** Times of the slowest twentieth, if `timesUs` is a sample: all of them, or quantiles at equal distances. */
  readonly slowestUs?: readonly number[]
  /** Identity of a type of spans under any name: its service, and the share of its requests that make each call. */
  readonly service?: string
  readonly calls?: Readonly<Record<string, number>>
}

const SCHEMA = 'flowdelta.run/1'

/**
 * Summarizes a run in about 3 kB a type, so that later runs can be checked without its traces. Of a
 * sample that preferred some requests of a type, some of these are left out (`sampling: 'even'`).
 */
export function summarizeRun(name: string, traces: TraceSet): RunSummary {
  const flows = buildFlows(traces, { sampling: 'even' })
  const { outcomes, responseTimeUs, shapeOf } = flows
  const weighted = flows.weight && outcomes && weightedFailures(buildFlows(traces))
  const requests = Array.from(shapeOf, (_, request) => request)
  const roots = new Map(callsOfRoots(flows, BEFORE).map((root) => [root.name, root]))
  const types = groups(requests, (request) => rootName(flows, shapeOf[request] as number))
  const most = types.sort(([a, one], [b, other]) => other.length - one.length || ascending(a, b))
  return {
    schema: SCHEMA,
    name,
    types: most.slice(0, MAX_KEPT).map(([type, own]) => ({
      name: type,
      requests: own.length,
      failed: outcomes ? own.filter((request) => outcomes.failed(request)).length : null,
      ...(weighted && { weighted: weighted.get(type)! }),
      ...timesOf(own.map((request) => responseTimeUs[request] as number)),
      ...callsOf(roots.get(type)),
    })),
  }
}

function callsOf(root: RootCalls | undefined) {
  if (root === undefined) return {}
  const most = [...root.calls].sort(([a, one], [b, other]) => other - one || ascending(a, b))
  const calls = most
    .slice(0, MAX_TRIED)
    .map(([call, share]) => [call, Number(share.toPrecision(3))])
  return { service: root.service, calls: Object.fromEntries(calls) as Record<string, number> }
}

/**
 * Gives types their names of the last run, if only names changed: a type that is called otherwise from one run to the
 * next, as `renamesBetween` tells.
 */
export function withNamesOfLast(runs: readonly RunSummary[]) {
  const renamed = new Map<string, string>()
  const named = runs.reduce<RunSummary[]>((before, run) => {
    const last = before.at(-1)
    const renames = last ? renamesBetween(rootsOf(last), rootsOf(run)) : []
    const names = new Map(renames.map(([was, is]) => [was.name, is.name]))
    for (const [was, is] of renamed) renamed.set(was, names.get(is) ?? is)
    for (const [was, is] of names) renamed.set(was, is)
    const rename = (type: TypeSummary) => ({ ...type, name: names.get(type.name) ?? type.name })
    const earlier =
      names.size === 0 ? before : before.map((one) => ({ ...one, types: one.types.map(rename) }))
    return [...earlier, run]
  }, [])
  return { runs: named, renamed }
}

function rootsOf({ types }: RunSummary) {
  const all = sum(types, ({ requests }) => requests)
  return types.map(({ name, requests, service = '', calls = {} }) => {
    const made = new Map(Object.entries(calls))
    return { name, service, requests, share: requests / all, calls: made }
  })
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

/** Returns response times of a type, as its summary keeps them. */
export function timesOf(all: readonly number[]): Pick<TypeSummary, 'timesUs' | 'slowestUs'> {
  const times = Float64Array.from(all).sort()
  const timesUs = someTimes(times, MAX_KEPT)
  if (times.length <= MAX_KEPT) return { timesUs }
  const slowest = times.slice(-Math.round(SMALL * times.length))
  return { timesUs, slowestUs: someTimes(slowest, MAX_KEPT) }
}

function someTimes(sorted: Float64Array, most: number): number[] {
  if (sorted.length <= most) return Array.from(sorted)
  return Array.from({ length: most }, (_, i) =>
    Number(quantile(sorted, (i + 0.5) / most).toPrecision(6)),
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
  const {
    name,
    requests = -1,
    failed = -1,
    timesUs,
    slowestUs = [],
    weighted,
    calls = {},
  } = value ?? {}
  const isCount = (count: number | null) => Number.isSafeInteger(count) && Number(count) >= 0
  if (typeof name !== 'string' || !Array.isArray(timesUs)) return false
  if (!Object.values(calls ?? {}).every((share) => Number.isFinite(share))) return false
  for (const counts of [{ failed, requests }, weighted ?? { failed: null, requests: 0 }]) {
    if (!isCount(counts.requests)) return false
    if (counts.failed !== null && !(isCount(counts.failed) && counts.failed <= counts.requests))
      return false
  }
  return (
    timesUs.length > 0 &&
    [timesUs, slowestUs].every((times) =>
      times.every((us, i) => Number.isFinite(us) && us >= Number(times[i - 1] ?? 0)),
    )
  )
}

/** Names a run that is added to a history; throws for a name that it has unless that is replaced. */
export function runName(
  history: readonly RunSummary[],
  { name, replace = false }: { name?: string | undefined; replace?: boolean } = {},
): string {
  const isTaken = (given: string) => history.some((run) => run.name === given)
  if (name === undefined) {
    let number = history.length + 1
    while (isTaken(`run ${number}`)) number++
    return `run ${number}`
  }
  if (replace || !isTaken(name)) return name
  throw new OptionError(
    'name',
    name,
    'a name that is new in the history, or --replace to replace that run',
  )
}
