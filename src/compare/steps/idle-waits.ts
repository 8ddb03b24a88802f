// Runs once a span: the loops index with `!`.

import { getOrInsert } from '../../core/entries.ts'
import type { IdleWait } from '../../flows/flow-set.ts'
import { AFTER, BEFORE, type Period } from '../../flows/flow-set.ts'
import { withoutSpans } from '../../traces/selection/span-values.ts'
import { CLIENT, CONSUMER } from '../../traces/span-columns.ts'
import { SpanTraces } from '../../traces/span-traces.ts'
import type { TraceSet } from '../../traces/trace-set.ts'
import { MIN_OF_ALL } from './recorded-otherwise.ts'

type Periods = readonly [runs: readonly TraceSet[], after: TraceSet]

const OPERATIONS = ['messaging.operation.type', 'messaging.operation', 'messaging.operation.name']
const WAITING = /^(?:receive|poll)$/i
/** Names of spans that wait for work, if no attribute says so: polls, and reads of Redis that block. */
const NAMED = /(?:^|[ ._/])(?:receive|poll|BLPOP|BRPOP|BLMOVE|BZPOPMIN|XREAD|XREADGROUP)$/i

/**
 * Leaves out how long consumers wait for work: requests that begin with a poll or receive begin when that
 * ends. Nobody waits for it, and it is longer where messages come more rarely.
 */
export function withoutIdleWaits([runs, after]: Periods): {
  readonly periods: Periods
  readonly waits: readonly IdleWait[]
} {
  const waits = new Map<string, { -readonly [Name in keyof IdleWait]: IdleWait[Name] }>()
  const passing = (traces: TraceSet, period: Period): TraceSet => {
    if (traces.kind !== 'spans') return traces
    const isWaiting = waitingSpans(traces)
    if (!isWaiting.includes(1)) return traces
    const { service, operation, durationUs } = traces.spans
    isWaiting.forEach((is, span) => {
      if (is === 0) return
      const names = {
        service: traces.services.value(service[span]!),
        operation: traces.operations.value(operation[span]!),
      }
      const own = getOrInsert(waits, JSON.stringify(names), () => ({
        ...names,
        counts: [0, 0] as [number, number],
        sumsUs: [0, 0] as [number, number],
      }))
      own.counts[period]++
      own.sumsUs[period] += durationUs[span]!
    })
    const columns = withoutSpans(traces, (span) => isWaiting[span] === 1)
    return new SpanTraces(traces.name, columns, traces.quality())
  }
  const periods = [runs.map((run) => passing(run, BEFORE)), passing(after, AFTER)] as const
  return { periods, waits: [...waits.values()] }
}

/** Finds roots that wait for the work of their only child. */
function waitingSpans(traces: SpanTraces): Uint8Array {
  const { parent, kind, startUs, durationUs, operation } = traces.spans
  const is = new Uint8Array(parent.length)
  const readers = OPERATIONS.flatMap((name) => traces.attributes.reader(name) ?? [])
  const isNamed = traces.operations.values.map((name) => NAMED.test(name))
  if (readers.length === 0 && !isNamed.includes(true)) return is
  const children = new Uint32Array(parent.length)
  for (const above of parent) if (above >= 0) children[above]!++
  for (let span = 0; span < parent.length; span++) {
    const above = parent[span]!
    if (above < 0 || parent[above]! >= 0 || children[above] !== 1) continue
    if (kind[above] !== CLIENT && kind[above] !== CONSUMER) continue
    const said = readers.map((read) => read(above)).find((one) => one !== undefined)
    const isPoll = said === undefined ? isNamed[operation[above]!]! : WAITING.test(String(said))
    const waitedUs = startUs[span]! - startUs[above]!
    if (isPoll && waitedUs >= MIN_OF_ALL * durationUs[above]!) is[above] = 1
  }
  return is
}
