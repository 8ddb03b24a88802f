// Counts once a span: the loops index with `!`.
import { bisectRight, group, mean, range, sum } from 'd3-array'
import { fnv1a } from '../../core/fingerprint.ts'
import { count, defineOptions, type OptionsOf } from '../../core/options.ts'
import { quantile } from '../../stats/quantile.ts'
import { randomSource } from '../../stats/random.ts'
import { groupRows } from '../group-rows.ts'
import type { RequestGroup } from '../quality.ts'
import { NO_PARENT, SPAN_STATUSES, type SpanTraceColumns } from '../span-columns.ts'
import { rootOf } from './span-values.ts'

export const SAMPLE_OPTIONS = defineOptions({
  size: count({ default: 20_000, unit: 'traces', sentence: 'Most traces of a period' }),
  seed: count({ default: 1, sentence: 'Which of all samples is drawn' }),
})

/** Requests with as many spans of each operation that ended alike. */
interface Kind {
  readonly key: number
  readonly root: string
  readonly failed: boolean
  readonly rows: Uint32Array
}

export interface DrawnSample {
  /** Traces that were drawn, in order. */
  readonly rows: Uint32Array
  /** How many requests each of them stands for. */
  readonly weight: Float64Array
  /** What they were drawn of, the most frequent first. */
  readonly groups: readonly RequestGroup[]
}

/**
 * Draws whole traces at one rate, as `duckdbStore` says: of each group of requests, cut in order of
 * arrival into as many stretches as it is due traces, one of each stretch. Kinds that are too rare to
 * be due one are a group with others of their root.
 *
 * Give or take those of groups that are due none, it has as many traces as asked for.
 */
export function drawSample(
  traces: SpanTraceColumns,
  { size, seed }: OptionsOf<typeof SAMPLE_OPTIONS>,
): DrawnSample {
  const share = Math.min(1, size / traces.ids.length)
  const random = randomSource(seed)
  const shift = random.next()
  const startUs = Float64Array.from(traces.ids, (_, trace) => arrivalOf(traces, trace))
  // A trace that does not say stands for itself.
  const ownWeight = (trace: number) => traces.weight?.[trace] || 1
  const drawn: { row: number; weight: number }[] = []
  const groups: RequestGroup[] = []
  let upTo = 0
  for (const kinds of groupsOf(kindsOf(traces), share)) {
    const rows = joined(kinds).sort((a, b) => startUs[a]! - startUs[b]! || a - b)
    const { length } = rows
    const dueBefore = Math.floor(upTo * share + shift)
    upTo += length
    const due = Math.min(length, Math.max(1, Math.floor(upTo * share + shift) - dueBefore))
    for (let stretch = 0; stretch < due; stretch++) {
      const first = Math.ceil((stretch * length) / due)
      const end = Math.ceil(((stretch + 1) * length) / due)
      const row = rows[first + random.integer(end - first)]!
      drawn.push({ row, weight: ownWeight(row) * (length / due) })
    }
    groups.push(groupOf(traces, kinds, { rows, due, requests: sum(rows, ownWeight) }))
  }
  drawn.sort((a, b) => a.row - b.row)
  return {
    rows: Uint32Array.from(drawn, ({ row }) => row),
    weight: Float64Array.from(drawn, ({ weight }) => weight),
    groups: groups.sort((a, b) => b.requests - a.requests),
  }
}

/** Whether some trace goes on in another, which a sample may not have. */
export function linksTraces({ links = new Uint32Array(), spanOffsets }: SpanTraceColumns): boolean {
  const traceOf = (span: number) => bisectRight(spanOffsets, span)
  return range(0, links.length, 2).some((at) => traceOf(links[at]!) !== traceOf(links[at + 1]!))
}

function arrivalOf(traces: SpanTraceColumns, trace: number): number {
  return traces.spans.startUs[rootOf(traces, trace)]!
}

/** Kinds of requests, in an order that does not depend on that of the traces. */
function kindsOf(traces: SpanTraceColumns): Kind[] {
  const { ids, spans, spanOffsets, services, operations } = traces
  const hashes = [services, operations].map(({ values }) => Uint32Array.from(values, fnv1a))
  const [ofService, ofOperation] = hashes as [Uint32Array, Uint32Array]
  const ERROR = SPAN_STATUSES.indexOf('error')
  const numbers = new Map<number, number>()
  const kindOf = Uint32Array.from(ids, (_, trace) => {
    let [hash, failed] = [0, 0]
    for (let span = spanOffsets[trace]!; span < spanOffsets[trace + 1]!; span++) {
      hash += scrambled(
        ofService[spans.service[span]!]! ^ scrambled(ofOperation[spans.operation[span]!]!),
      )
      if (spans.status[span] === ERROR && spans.parent[span] === NO_PARENT) failed = 1
    }
    // A sum of integers below 2³² is exact up to a million spans; the last bit says how it ended.
    const key = hash * 2 + failed
    const number = numbers.get(key) ?? numbers.size
    numbers.set(key, number)
    return number
  })
  const { offsets, rows } = groupRows(kindOf, numbers.size)
  const kinds = Array.from(numbers, ([key, number]) => {
    const own = rows.subarray(offsets[number], offsets[number + 1])
    const span = rootOf(traces, own[0]!)
    const name = [services.value(spans.service[span]!), operations.value(spans.operation[span]!)]
    return { key, root: name.filter(Boolean).join(' '), failed: key % 2 === 1, rows: own }
  })
  return kinds.sort((a, b) => a.key - b.key)
}

/** Bits mixed so that sums of several differ. */
function scrambled(hash: number): number {
  const mixed = Math.imul(hash ^ (hash >>> 16), 0x21f0aaad)
  return (mixed ^ (mixed >>> 15)) >>> 0
}

/** What is too rare to be due a request of the sample counts with others of its root, or with all. */
function groupsOf(kinds: readonly Kind[], share: number): Kind[][] {
  const isDue = (some: readonly Kind[]) => sum(some, ({ rows }) => rows.length) * share >= 1
  const often = kinds.filter((kind) => isDue([kind])).map((kind) => [kind])
  const rare = kinds.filter((kind) => !isDue([kind]))
  const byRoot = [...group(rare, ({ root, failed }) => `${failed} ${root}`).values()]
  const others = byRoot.filter((some) => !isDue(some)).flat()
  return [...often, ...byRoot.filter(isDue), ...group(others, ({ failed }) => failed).values()]
}

function joined(kinds: readonly Kind[]): Uint32Array {
  const rows = new Uint32Array(sum(kinds, (kind) => kind.rows.length))
  let at = 0
  for (const kind of kinds) {
    rows.set(kind.rows, at)
    at += kind.rows.length
  }
  return rows
}

function groupOf(
  traces: SpanTraceColumns,
  kinds: readonly Kind[],
  { rows, due, requests }: { rows: Uint32Array; due: number; requests: number },
): RequestGroup {
  const { spans, spanOffsets } = traces
  const tookUs = Float64Array.from(rows, (trace) => spans.durationUs[rootOf(traces, trace)]!).sort()
  const [{ root, failed }] = kinds as [Kind]
  return {
    root: kinds.every((kind) => kind.root === root) ? root : '(other roots)',
    outcome: failed ? 'error' : 'ok',
    structures: kinds.length,
    spans: mean(rows, (trace) => spanOffsets[trace + 1]! - spanOffsets[trace]!) ?? 0,
    requests,
    sampled: due,
    meanUs: mean(tookUs) ?? Number.NaN,
    p50Us: quantile(tookUs, 0.5),
    p95Us: quantile(tookUs, 0.95),
    p99Us: quantile(tookUs, 0.99),
  }
}
