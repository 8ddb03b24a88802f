import { OptionError } from '../../core/errors.ts'
import type { OptionsOf, OptionTable } from '../../core/options.ts'
import type { ReadSink } from '../readers/trace-reader.ts'
import type { Condition } from '../selection/condition.ts'

export interface StoreQuery {
  /** Requests that arrived from then on, µs since 1970; `null` from the first. */
  readonly fromUs: number | null
  /** Requests that arrived before then, µs since 1970; `null` up to the last. */
  readonly toUs: number | null
  /** Conditions of `where`, all of which hold for the requests asked for; none for all requests. */
  readonly conditions: readonly Condition[]
  /** Stops the reading when it is aborted: the store throws its reason. */
  readonly signal: AbortSignal | null
  /** Says how many bytes were read since the last time, and which share of the whole is read by now. */
  readonly onProgress: (bytes: number, share: number) => void
}

/** Kind of place where traces are kept. */
export interface StoreKind<Table extends OptionTable = OptionTable> {
  /** Parameters of its addresses, behind the `?`. */
  readonly parameters: Table
  /** Whether its addresses are those of files, whose times may be given from the recording's start. */
  readonly isFile: boolean
  /**
   * Hands over whole traces: at least those of all requests that `query` asks for. It may use conditions to hand over
   * fewer, but not if that could change which requests are selected: `loadTraces` applies time and conditions once more
   * to the traces it gets.
   *
   * If a store cannot hand over some traces, such as those beyond a server's limit, it notes that in `sink.quality`
   * with the code `incomplete-answer`. Packages that only this kind needs are imported here.
   *
   * @throws FlowdeltaError if the store cannot be reached, or does not answer as it should
   */
  read(store: StoreLocation & OptionsOf<Table>, query: StoreQuery, sink: ReadSink): Promise<void>
}

export interface StoreLocation {
  /** Name in messages: the address without passwords and parameters. */
  readonly name: string
  /** A path, or a URL with its user and password, without parameters. */
  readonly location: string
}

/** Defines a kind of store, its parameters by a table of options. */
export function storeKind<Table extends OptionTable>(kind: StoreKind<Table>): StoreKind {
  return kind as unknown as StoreKind
}

/** Reads the requests asked for; where there are none, some others, so that errors can say why. */
export async function readOrInstead(
  query: StoreQuery,
  sink: ReadSink,
  read: (query: StoreQuery, isInstead: boolean) => Promise<void>,
): Promise<void> {
  const { size } = sink.spans
  const { groups } = sink.quality
  await read(query, false)
  const isEmpty = sink.spans.size === size && query.conditions.length > 0
  if (!isEmpty) return
  const { length } = groups
  await read({ ...query, conditions: [] }, true)
  // Nobody asked for these.
  groups.length = length
}

/** Returns the time of a query in whole µs, up to now if it has no end; throws if it has no beginning. */
export function requireTimes(
  { fromUs, toUs }: StoreQuery,
  name: string,
): { readonly fromUs: number; readonly toUs: number } {
  if (fromUs !== null) {
    return { fromUs: Math.floor(fromUs), toUs: Math.ceil(toUs ?? Date.now() * 1e3) }
  }
  const expected = `the time that ${name} is asked for, as '2026-10-01T10:00Z..11:00Z'`
  throw new OptionError('between', null, expected)
}
