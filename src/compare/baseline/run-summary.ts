import { FlowdeltaError } from '../../core/errors.ts'
import { readOptions } from '../../core/options.ts'
import { buildFlows } from '../../flows/build-flows.ts'
import { FLOW_OPTIONS, type FlowSet } from '../../flows/flow-set.ts'
import { quantile } from '../../stats/quantile.ts'
import type { TraceSet } from '../../traces/trace-set.ts'
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
  /** Response times, µs, ascending: all of them, or quantiles at equal distances. */
  readonly timesUs: readonly number[]
}

const SCHEMA = 'flowdelta.run/1'
const MAX_TIMES = 200
/** Names that hold ids make thousands of types: those with the most requests are kept. */
const MAX_TYPES = 200

/** Summarizes a run in a few kilobytes, so that later runs can be checked without its traces. */
export function summarizeRun(name: string, traces: TraceSet): RunSummary {
  const flows = buildFlows(traces, readOptions(FLOW_OPTIONS))
  const types = new Map<string, number[]>()
  for (let request = 0; request < flows.size; request++) {
    const type = rootName(flows, flows.shapeOf[request] as number)
    const own = types.get(type)
    if (own === undefined) types.set(type, [request])
    else own.push(request)
  }
  const all = Array.from(types, ([type, requests]) => typeSummary(type, requests, flows))
  const most = all.sort((a, b) => b.requests - a.requests || (a.name < b.name ? -1 : 1))
  return { schema: SCHEMA, name, types: most.slice(0, MAX_TYPES) }
}

function typeSummary(name: string, requests: readonly number[], flows: FlowSet): TypeSummary {
  const { outcomes, responseTimeUs } = flows
  const times = Float64Array.from(requests, (request) => responseTimeUs[request] as number).sort()
  const count = Math.min(MAX_TIMES, times.length)
  return {
    name,
    requests: requests.length,
    failed:
      outcomes === undefined ? null : requests.filter((request) => outcomes.failed(request)).length,
    timesUs: Array.from({ length: count }, (_, i) =>
      Number(
        quantile(
          times,
          count === times.length ? i / Math.max(1, count - 1) : (i + 0.5) / count,
        ).toPrecision(6),
      ),
    ),
  }
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
    schema === SCHEMA &&
    typeof name === 'string' &&
    Array.isArray(types) &&
    types.every((type: Partial<TypeSummary> | null) => {
      const { name, requests, failed, timesUs } = type ?? {}
      const isCount = (count: unknown) => Number.isSafeInteger(count) && Number(count) >= 0
      return (
        typeof name === 'string' &&
        isCount(requests) &&
        (failed === null || (isCount(failed) && Number(failed) <= Number(requests))) &&
        Array.isArray(timesUs) &&
        timesUs.length > 0 &&
        timesUs.every((us, i) => Number.isFinite(us) && us >= Number(timesUs[i - 1] ?? 0))
      )
    })
  )
}
