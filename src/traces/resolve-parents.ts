// Runs once a span, node or edge: the loops index with `!`.

import { counted } from '../core/words.ts'
import { Dictionary } from './dictionary.ts'
import { groupRows } from './group-rows.ts'
import { type GrowingUint32, growingUint32 } from './growing-columns.ts'
import { DUPLICATE_SPAN, type QualityLog } from './quality.ts'
import { CLIENT, NO_PARENT, PARENT_MISSING, SERVER } from './span-columns.ts'

interface ArrivedSpans extends SpanSides {
  readonly trace: Uint32Array
  readonly traceCount: number
  readonly traceId: (trace: number) => string
  readonly parentIds: SpanIds
}

const LEFT_OUT = -1

/** Groups spans by trace and finds parents; notes copies, circles and spans without their parent. */
export function resolveParents(spans: ArrivedSpans, quality: QualityLog) {
  const { rows: byTrace, offsets: starts } = groupRows(spans.trace, spans.traceCount)
  const index = new SpanIndex(spans.ids)
  const position = new Int32Array(spans.trace.length).fill(LEFT_OUT)
  const order = new Uint32Array(spans.trace.length)
  const parent = new Int32Array(spans.trace.length)
  const traces: number[] = []
  const spanOffsets = [0]
  let kept = 0
  for (let trace = 0; trace < spans.traceCount; trace++) {
    const members = byTrace.subarray(starts[trace], starts[trace + 1])
    // It is part of a trace that it was linked to.
    if (members.length === 0) continue
    const first = kept
    const shared = indexSpans(spans, members, index)
    for (const row of members) {
      if (shared?.copies.has(row)) {
        quality.skip({
          code: DUPLICATE_SPAN,
          effect: 'span skipped',
          place: { trace: spans.traceId(spans.trace[row]!) },
          message: `Span ${spans.ids.text(row)} is there twice; the later one is left out`,
          next: 'Remove the copy, or load without `strict`',
        })
      } else {
        order[kept] = row
        position[row] = kept++
      }
    }
    let orphans = 0
    for (let at = first; at < kept; at++) {
      const found = parentRow(spans, order[at]!, index, shared)
      if (found === PARENT_MISSING) orphans++
      parent[at] = found < 0 ? found : position[found]!
    }
    if (hasCircle(parent, first, kept)) {
      quality.skip({
        code: 'parent-circle',
        effect: 'trace skipped',
        place: { trace: spans.traceId(trace) },
        message: 'Following parent ids leads back to the same span',
        next: 'Correct the parent ids, or load without `strict` to leave the trace out',
      })
      for (let at = first; at < kept; at++) position[order[at]!] = LEFT_OUT
      kept = first
      continue
    }
    if (orphans > 0) {
      const message = `${counted(orphans, 'span')} with a parent that is not in the files, each taken as a request of its own`
      quality.note('orphan-span', { trace: spans.traceId(trace) }, message)
    }
    traces.push(trace)
    spanOffsets.push(kept)
  }
  return {
    /** Arrival number of each kept span, the spans of a trace next to each other. */
    order: order.slice(0, kept),
    /** Row of each arrived span, or -1 if it was left out. */
    position,
    parent: parent.slice(0, kept),
    traces: Uint32Array.from(traces),
    spanOffsets: Uint32Array.from(spanOffsets),
  }
}

/** Fills `index` with one trace's spans; returns the result for ids that repeat, if any. */
function indexSpans(spans: ArrivedSpans, members: Uint32Array, index: SpanIndex) {
  let repeats: Map<number, number[]> | undefined
  index.reset(members.length)
  for (const row of members) {
    const first = index.add(row)
    if (first < 0) continue
    repeats ??= new Map()
    const others = repeats.get(first)
    if (others === undefined) repeats.set(first, [row])
    else others.push(row)
  }
  return repeats === undefined ? undefined : new SharedSpanIds(spans, repeats)
}

/** Returns the arrival number of a span's parent, or `NO_PARENT`, or `PARENT_MISSING`. */
function parentRow(
  { parentIds }: ArrivedSpans,
  row: number,
  index: SpanIndex,
  shared: SharedSpanIds | undefined,
): number {
  const client = shared?.clientOf(row)
  if (client !== undefined) return client
  if (parentIds.isNone(row)) return NO_PARENT
  const found = index.find(parentIds, row)
  if (found < 0) return PARENT_MISSING
  return shared === undefined ? found : shared.parentAmong(found, row)
}

function hasCircle(parent: Int32Array, first: number, end: number): boolean {
  const settled = new Uint8Array(end - first)
  for (let start = first; start < end; start++) {
    let steps = 0
    let at = start
    while (at >= 0 && settled[at - first] === 0) {
      if (++steps > end - first) return true
      at = parent[at]!
    }
    for (let back = start; back >= 0 && settled[back - first] === 0; ) {
      settled[back - first] = 1
      back = parent[back]!
    }
  }
  return false
}

interface SpanSides {
  readonly ids: SpanIds
  readonly kind: Uint8Array
  readonly service: Uint32Array
  readonly host: Uint32Array
  readonly startUs: Float64Array
}

interface SharedCall {
  readonly client: number
  readonly servers: readonly number[]
}

/** Sorts out spans with one id: a client and its servers are halves of a call, anything else is a copy. */
class SharedSpanIds {
  readonly #spans: SpanSides
  /** Calls by the row that came first with the id. */
  readonly #calls = new Map<number, SharedCall>()
  readonly #callOfServer = new Map<number, SharedCall>()
  readonly copies = new Set<number>()

  /** `repeats`: rows with an id that was seen before, by the row where it was seen first. */
  constructor(spans: SpanSides, repeats: ReadonlyMap<number, readonly number[]>) {
    this.#spans = spans
    for (const [first, others] of repeats) this.#sortOut(first, [first, ...others])
  }

  clientOf(row: number): number | undefined {
    return this.#callOfServer.get(row)?.client
  }

  /** Returns the half that is the parent of `child`: the one in the child's own process, else the server. */
  parentAmong(first: number, child: number): number {
    const call = this.#calls.get(first)
    if (call === undefined) return first
    const { service, host } = this.#spans
    const sameService = (half: number) => service[half] === service[child]
    const sameHost = (half: number) => sameService(half) && host[half] === host[child]
    return (
      call.servers.find(sameHost) ??
      call.servers.find(sameService) ??
      (sameService(call.client) ? call.client : call.servers[0]!)
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

class SpanIndex {
  readonly #ids: SpanIds
  /** Open addressing: row + 1, 0 where free. */
  #slots = new Int32Array(256)
  #mask = 255

  constructor(ids: SpanIds) {
    this.#ids = ids
  }

  reset(count: number): void {
    while (this.#slots.length < count * 2) this.#slots = new Int32Array(this.#slots.length * 2)
    this.#mask = this.#slots.length - 1
    this.#slots.fill(0)
  }

  add(row: number): number {
    const slot = this.#slot(this.#ids, row)
    const taken = this.#slots[slot]! - 1
    if (taken < 0) this.#slots[slot] = row + 1
    return taken
  }

  find(ids: SpanIds, row: number): number {
    return this.#slots[this.#slot(ids, row)]! - 1
  }

  #slot(ids: SpanIds, row: number): number {
    let slot = ids.hash(row) & this.#mask
    while (this.#slots[slot] !== 0 && !ids.same(row, this.#ids, this.#slots[slot]! - 1)) {
      slot = (slot + 1) & this.#mask
    }
    return slot
  }
}

/** High word of ids that are not 64-bit hex numbers: the low word is then a dictionary code. */
const INTERNED = 0xffffffff

/** Span ids, eight bytes each: up to 16 hex digits as numbers, others interned. */
export class SpanIds {
  readonly #others: Dictionary
  readonly #high: GrowingUint32 = growingUint32()
  readonly #low: GrowingUint32 = growingUint32()

  /** Columns that are to be compared with each other share one dictionary. */
  constructor(others: Dictionary = new Dictionary()) {
    this.#others = others
  }

  push(id: string | null): void {
    const length = id === null ? 0 : id.length
    let high = 0
    let low = 0
    let at = 0
    for (; at < length && length <= 16; at++) {
      const digit = hexDigit((id as string).charCodeAt(at))
      if (digit < 0) break
      high = ((high << 4) | (low >>> 28)) >>> 0
      low = ((low << 4) | digit) >>> 0
    }
    const isHex = at === length && high !== INTERNED
    this.#high.push(isHex ? high : INTERNED)
    this.#low.push(isHex ? low : this.#others.code(id ?? ''))
  }

  /** Adds an id of 16 hex digits by its halves, as 32-bit integers; 0 and 0 is none. */
  pushHex(high: number, low: number): void {
    const isReserved = high >>> 0 === INTERNED
    this.#high.push(high)
    this.#low.push(isReserved ? this.#others.code(hexText(high >>> 0, low >>> 0)) : low)
  }

  /** Returns the id for a message: hex ids in full 16 digits, others as they were. */
  text(row: number): string {
    const high = this.#high.values[row]!
    const low = this.#low.values[row]!
    if (high === INTERNED) return this.#others.value(low)
    return hexText(high, low)
  }

  isNone(row: number): boolean {
    return this.#high.values[row] === 0 && this.#low.values[row] === 0
  }

  same(row: number, other: SpanIds, otherRow: number): boolean {
    return (
      this.#low.values[row] === other.#low.values[otherRow] &&
      this.#high.values[row] === other.#high.values[otherRow]
    )
  }

  hash(row: number): number {
    const mixed = Math.imul(
      this.#low.values[row]! ^ Math.imul(this.#high.values[row]!, 0x9e3779b1),
      0x85ebca6b,
    )
    return (mixed ^ (mixed >>> 15)) >>> 0
  }
}

function hexText(high: number, low: number): string {
  return high.toString(16).padStart(8, '0') + low.toString(16).padStart(8, '0')
}

function hexDigit(code: number): number {
  if (code >= 48 && code <= 57) return code - 48
  const letter = code | 32
  return letter >= 97 && letter <= 102 ? letter - 87 : -1
}
