import type { SpanIds } from './span-ids.ts'
import { SPAN_KINDS } from './span-traces.ts'

/** What tells one half of a call from another. */
export interface SpanSides {
  readonly ids: SpanIds
  readonly kind: Uint8Array
  readonly service: Uint32Array
  readonly host: Uint32Array
  readonly startUs: Float64Array
}

const SERVER = SPAN_KINDS.indexOf('server')
const CLIENT = SPAN_KINDS.indexOf('client')

/** A call whose client and servers report one span id, as Zipkin's do. */
interface SharedCall {
  readonly client: number
  readonly servers: readonly number[]
}

/**
 * Sorts out the spans of one trace that have the same id. One client with one server (or several:
 * a message to many) are the halves of one call, and each server becomes a child of the client;
 * any other repetition is a copy.
 */
export class SharedSpanIds {
  readonly #spans: SpanSides
  /** By the row that came first with the id. */
  readonly #calls = new Map<number, SharedCall>()
  readonly #callOfServer = new Map<number, SharedCall>()
  readonly copies = new Set<number>()

  /** `repeats`: rows with an id that was seen before, by the row where it was seen first. */
  constructor(spans: SpanSides, repeats: ReadonlyMap<number, readonly number[]>) {
    this.#spans = spans
    for (const [first, others] of repeats) this.#sortOut(first, [first, ...others])
  }

  /** The client half, if `row` is the server half of a call. */
  clientOf(row: number): number | undefined {
    return this.#callOfServer.get(row)?.client
  }

  /**
   * Which half is the parent of `child`, which names the id that `first` was the first to have:
   * the half in the child's own process, else the server.
   */
  parentAmong(first: number, child: number): number {
    const call = this.#calls.get(first)
    if (call === undefined) return first
    const { service, host } = this.#spans
    const sameService = (half: number) => service[half] === service[child]
    const sameHost = (half: number) => sameService(half) && host[half] === host[child]
    return (
      call.servers.find(sameHost) ??
      call.servers.find(sameService) ??
      (sameService(call.client) ? call.client : (call.servers[0] as number))
    )
  }

  #sortOut(first: number, rows: readonly number[]): void {
    const distinct = rows.filter((row, i) => !rows.slice(0, i).some((r) => this.#equal(r, row)))
    const clients = distinct.filter((row) => this.#spans.kind[row] === CLIENT)
    const servers = distinct.filter((row) => this.#spans.kind[row] === SERVER)
    const [client] = clients
    const isCall = clients.length === 1 && clients.length + servers.length === distinct.length
    const kept =
      isCall && client !== undefined && servers.length > 0 ? [client, ...servers] : [first]
    if (client !== undefined && kept.length > 1) {
      const call = { client, servers }
      this.#calls.set(first, call)
      for (const server of servers) this.#callOfServer.set(server, call)
    }
    for (const row of rows) if (!kept.includes(row)) this.copies.add(row)
  }

  #equal(a: number, b: number): boolean {
    const { kind, service, host, startUs } = this.#spans
    return (
      kind[a] === kind[b] &&
      service[a] === service[b] &&
      host[a] === host[b] &&
      startUs[a] === startUs[b]
    )
  }
}
