import { getOrInsert } from '../../core/entries.ts'
import type { Rename } from '../../flows/flow-set.ts'
import { Dictionary } from '../../traces/dictionary.ts'
import { type SpanTraceColumns, SpanTraces } from '../../traces/span-traces.ts'
import type { TraceSet } from '../../traces/trace-set.ts'

/** Returns traces whose services or operations have other names, as those of the other period have. */
export function renameIn<Traces extends TraceSet>(
  traces: Traces,
  renames: readonly Rename[],
): Traces {
  if (traces.kind !== 'spans') return traces
  const known = new Map(
    renames.map(({ service, operation, renamed }) => [keyOf(service, operation), renamed]),
  )
  const { spans, services, operations, serviceLogs } = traces
  const renamed = ({ values }: Dictionary) =>
    new RenamedDictionary(values, (service) => known.get(keyOf(service)) ?? service)
  const named = new Dictionary([...operations.values])
  const codes = new Map<number, number>()
  const operation = spans.operation.map((code, span) => {
    const of = spans.service[span] as number
    return getOrInsert(codes, of * operations.size + code, () => {
      const recorded = operations.value(code)
      return named.code(known.get(keyOf(services.value(of), recorded)) ?? recorded)
    })
  })
  const columns: SpanTraceColumns = {
    ...traces,
    services: renamed(services),
    operations: named,
    spans: { ...spans, operation },
    serviceLogs: serviceLogs && { ...serviceLogs, services: renamed(serviceLogs.services) },
  }
  return new SpanTraces(traces.name, columns, traces.quality()) as Traces
}

/** Names that can be found as they were recorded, too. */
class RenamedDictionary extends Dictionary {
  readonly #recorded: ReadonlyMap<string, number>

  constructor(recorded: readonly string[], renamed: (recorded: string) => string) {
    super(recorded.map(renamed))
    this.#recorded = new Map(recorded.map((value, code) => [value, code]))
  }

  override find(value: string): number | undefined {
    return super.find(value) ?? this.#recorded.get(value)
  }
}

function keyOf(service: string, operation: string | null = null): string {
  return JSON.stringify([service, operation])
}
