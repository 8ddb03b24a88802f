// Counts once a span: the loops index with `!`.
import { bisectRight, group, max, mean, min, sum } from 'd3-array'
import { fnv1a } from '../../core/fingerprint.ts'
import { count, defineOptions, type OptionsOf } from '../../core/options.ts'
import { quantile } from '../../stats/quantile.ts'
import { randomSource } from '../../stats/random.ts'
import type { RequestGroup } from '../quality.ts'
import { NO_PARENT, SPAN_STATUSES, type SpanTraceColumns } from '../span-columns.ts'
import { rootOf } from './span-values.ts'

export const SAMPLE_OPTIONS = defineOptions({
  size: count({
    default: 20_000,
    unit: 'traces',
    sentence: 'Maximum number of traces of a period',
  }),
  seed: count({ default: 1, sentence: 'Seed of the sample' }),
})

/** A request by its root, and how it ended. */
interface Trace {
  /** Key shared by all traces with the same number of spans of each operation and outcome. */
  readonly key: number
  readonly root: string
  readonly failed: boolean
}

/** Unit of drawing: a trace, or all traces that are linked to each other, those of the least key first. */
interface Lot {
  readonly rows: readonly number[]
  readonly startUs: number
}

/** Lots with the same kinds of traces. */
interface Kind {
  readonly traces: readonly Trace[]
  readonly lots: readonly Lot[]
}

/**
 * Draws whole traces at one rate, as `duckdbStore` says: of each group of requests, cut in order of
 * arrival into as many stretches as it is due traces, one of each stretch. Kinds that are too rare to
 * be due one are a group with others of their root. Traces that are linked to each other are drawn
 * together.
 *
 * Give or take those of groups that are due none, it has as many traces as asked for.
 */
export function drawSample(
  traces: SpanTraceColumns,
  { size, seed }: OptionsOf<typeof SAMPLE_OPTIONS>,
) {
  const share = Math.min(1, size / traces.ids.length)
  const random = randomSource(seed)
  const shift = random.next()
  // A trace that does not say stands for itself.
  const ownWeight = (trace: number) => traces.weight?.[trace] || 1
  const drawn: { row: number; weight: number }[] = []
  const groups: RequestGroup[] = []
  let upTo = 0
  for (const kinds of groupsOf(kindsOf(traces), share)) {
    const lots = kinds
      .flatMap((kind) => kind.lots)
      .sort((a, b) => a.startUs - b.startUs || a.rows[0]! - b.rows[0]!)
    const { length } = lots
    const dueBefore = Math.floor(upTo * share + shift)
    upTo += length
    const due = Math.min(length, Math.max(1, Math.floor(upTo * share + shift) - dueBefore))
    for (let stretch = 0; stretch < due; stretch++) {
      const first = Math.ceil((stretch * length) / due)
      const end = Math.ceil(((stretch + 1) * length) / due)
      for (const row of lots[first + random.integer(end - first)]!.rows) {
        drawn.push({ row, weight: ownWeight(row) * (length / due) })
      }
    }
    groups.push(...requestGroups(traces, kinds, { share: due / length, ownWeight }))
  }
  drawn.sort((a, b) => a.row - b.row)
  return {
    /** Traces that were drawn, in order, and the number of requests that each of them stands for. */
    rows: Uint32Array.from(drawn, ({ row }) => row),
    weight: Float64Array.from(drawn, ({ weight }) => weight),
    /** Groups that they were drawn from, the most frequent first. */
    groups: groups.sort((a, b) => b.requests - a.requests),
  }
}

/** Returns the largest share of traces that are linked to each other, directly or through others. */
export function mostLinked(traces: SpanTraceColumns): number {
  return (max(linkedTraces(traces), ({ length }) => length) ?? 0) / traces.ids.length
}

/** Groups traces by their links, direct or through others. */
function linkedTraces({ ids, links = new Uint32Array(), spanOffsets }: SpanTraceColumns) {
  const above = Uint32Array.from(ids.keys())
  const firstOf = (trace: number) => {
    let first = trace
    while (above[first] !== first) first = above[first] = above[above[first]!]!
    return first
  }
  const of = (span: number) => firstOf(bisectRight(spanOffsets, span) - 1)
  for (let at = 0; at < links.length; at += 2) {
    const [one, other] = [of(links[at]!), of(links[at + 1]!)]
    above[Math.max(one, other)] = Math.min(one, other)
  }
  return [...group(ids.keys(), firstOf).values()]
}

/** Kinds of lots, in an order that does not depend on that of the traces. */
function kindsOf(traces: SpanTraceColumns): Kind[] {
  const { ids, spans, spanOffsets, services, operations } = traces
  const hashes = [services, operations].map(({ values }) => Uint32Array.from(values, fnv1a))
  const [ofService, ofOperation] = hashes as [Uint32Array, Uint32Array]
  const ERROR = SPAN_STATUSES.indexOf('error')
  const keys = Float64Array.from(ids, (_, trace) => {
    let [hash, failed] = [0, 0]
    for (let span = spanOffsets[trace]!; span < spanOffsets[trace + 1]!; span++) {
      hash += scrambled(
        ofService[spans.service[span]!]! ^ scrambled(ofOperation[spans.operation[span]!]!),
      )
      if (spans.status[span] === ERROR && spans.parent[span] === NO_PARENT) failed = 1
    }
    // A sum of integers below 2³² is exact up to a million spans; the last bit says how it ended.
    return hash * 2 + failed
  })
  const traceOf = (trace: number): Trace => {
    const span = rootOf(traces, trace)
    const name = [services.value(spans.service[span]!), operations.value(spans.operation[span]!)]
    const key = keys[trace]!
    return { key, root: name.filter(Boolean).join(' '), failed: key % 2 === 1 }
  }
  const lots = linkedTraces(traces).map((linked): Lot => {
    const startUs = min(linked, (trace) => spans.startUs[rootOf(traces, trace)]!)!
    return { rows: linked.sort((a, b) => keys[a]! - keys[b]! || a - b), startUs }
  })
  const alike = group(lots, ({ rows }) => rows.map((trace) => keys[trace]).join())
  const kinds = Array.from(alike.values(), (lots): Kind => {
    return { traces: lots[0]!.rows.map(traceOf), lots }
  })
  return kinds.sort((a, b) => compareKeys(a.traces, b.traces))
}

function compareKeys(a: readonly Trace[], b: readonly Trace[]): number {
  const differing = a.findIndex(({ key }, i) => key !== b[i]?.key)
  return (a[differing]?.key ?? 0) - (b[differing]?.key ?? 0) || a.length - b.length
}

/** Bits mixed so that sums of several differ. */
function scrambled(hash: number): number {
  const mixed = Math.imul(hash ^ (hash >>> 16), 0x21f0aaad)
  return (mixed ^ (mixed >>> 15)) >>> 0
}

/** Groups kinds for drawing: rare ones join others of their roots, or all with their outcomes. */
function groupsOf(kinds: readonly Kind[], share: number): Kind[][] {
  const isDue = (some: readonly Kind[]) => sum(some, ({ lots }) => lots.length) * share >= 1
  const often = kinds.filter((kind) => isDue([kind])).map((kind) => [kind])
  const rare = kinds.filter((kind) => !isDue([kind]))
  const byRoot = [...group(rare, rootsOf).values()]
  const others = byRoot.filter((some) => !isDue(some)).flat()
  const outcomesOf = ({ traces }: Kind) => `${traces.map(({ failed }) => failed).sort()}`
  return [...often, ...byRoot.filter(isDue), ...group(others, outcomesOf).values()]
}

function nameOf({ root, failed }: Trace): string {
  return `${failed} ${root}`
}

function rootsOf({ traces }: Kind): string {
  return JSON.stringify(traces.map(nameOf).sort())
}

/** Kinds by the root of each trace, or where these differ, by how it ended. */
function requestGroups(
  traces: SpanTraceColumns,
  kinds: readonly Kind[],
  { share, ownWeight }: { share: number; ownWeight: (trace: number) => number },
): RequestGroup[] {
  const { spans, spanOffsets } = traces
  const isOne = new Set(kinds.map(rootsOf)).size === 1
  const all = kinds.flatMap(({ traces, lots }) =>
    traces.map((trace, at) => ({ ...trace, rows: lots.map(({ rows }) => rows[at]!) })),
  )
  const parts = group(all, (trace) => (isOne ? nameOf(trace) : `${trace.failed}`))
  return Array.from(parts.values(), (part) => {
    const rows = part.flatMap((one) => one.rows)
    const tookUs = Float64Array.from(rows, (trace) => spans.durationUs[rootOf(traces, trace)]!)
    tookUs.sort()
    const [{ root, failed }] = part as unknown as [Trace]
    return {
      root: isOne ? root : '(other roots)',
      outcome: failed ? 'error' : 'ok',
      structures: new Set(part.map(({ key }) => key)).size,
      spans: mean(rows, (trace) => spanOffsets[trace + 1]! - spanOffsets[trace]!) ?? 0,
      requests: sum(rows, ownWeight),
      sampled: Math.round(rows.length * share),
      meanUs: mean(tookUs) ?? Number.NaN,
      p50Us: quantile(tookUs, 0.5),
      p95Us: quantile(tookUs, 0.95),
      p99Us: quantile(tookUs, 0.99),
    }
  })
}
