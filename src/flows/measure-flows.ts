// Runs once a span: the loops index with `!`.
import { FlowdeltaError, nearestName, OptionError } from '../core/errors.ts'
import { type AttributeValue, NUMBER } from '../traces/attributes.ts'
import { groupRows } from '../traces/group-rows.ts'
import { ShapeTable } from '../traces/shape-table.ts'
import type { SpanTraces } from '../traces/span-traces.ts'
import { AFTER, BEFORE, FlowReport, FlowSet, type Period } from './flow-set.ts'
import { MEASURE, type Measure, type OwnMeasure, quantityOf } from './measure.ts'
import { selectRequests } from './select-requests.ts'
import { type SpanTree, spanTree } from './span-tree.ts'

const CALLS = 'calls'

/**
 * Returns flows on a clock that advances by each span's own amount of a measure, so times are amounts. Calls run one
 * after the other, so that all of them count. Leaves out requests without the measure; `flows.report` counts them.
 */
export function measureFlows(flows: FlowSet, measure: Measure): FlowSet {
  const recordings = flows.periods.filter((traces): traces is SpanTraces => traces.kind === 'spans')
  const { name } = quantityOf(measure)
  if (recordings.length < flows.periods.length) {
    throw new FlowdeltaError(
      `Measure ${name} needs traces with spans; these are trace points. Compare them by time.`,
    )
  }
  const amounts = recordings.map((traces) => amountsOf(traces, measure))
  if (amounts.every((own) => own.every(Number.isNaN))) throw nothingMeasured(recordings, name)
  const isKnown = (request: number) => rowsOf(flows, request).some((row) => isSaid(request, row))
  const isSaid = (request: number, row: number) =>
    !Number.isNaN(amounts[flows.recordedIn[request]!]![row]!)
  const known = Array.from(flows.shapeOf.keys()).filter(isKnown)
  const [before, after] = ([BEFORE, AFTER] satisfies Period[]).map((period) =>
    known.filter((request) => flows.period[request] === period),
  ) as [number[], number[]]
  const kept = selectRequests(flows, { before, after })
  const { shapes, numbers } = oneAfterTheOther(kept)
  const latencyOffsets = new Uint32Array(kept.size + 1)
  for (let request = 0; request < kept.size; request++) {
    latencyOffsets[request + 1] = latencyOffsets[request]! + 2 * rowsOf(kept, request).length - 1
  }
  const latencyUs = new Float64Array(latencyOffsets[kept.size]!)
  const silent = new SilentSpans()
  const responseTimeUs = kept.responseTimeUs.map((_, request) => {
    const of = kept.recordedIn[request]!
    let total = 0
    rowsOf(kept, request).forEach((row, span) => {
      const amount = amounts[of]![row]!
      silent.add(recordings[of]!, row, {
        period: kept.period[request] as Period,
        isSilent: Number.isNaN(amount),
      })
      const own = amount || 0
      // The edge into node n is the one before it.
      latencyUs[latencyOffsets[request]! + 2 * span] = own
      total += own
    })
    return total
  })
  const [silentBefore, silentAfter] = silent.counts()
  return new FlowSet(
    {
      ...kept,
      messages: undefined,
      shapes,
      responseTimeUs,
      latencyUs,
      latencyOffsets,
      shapeOf: kept.shapeOf.map((shape) => numbers.get(shape)!),
    },
    { ...flows.options, measure },
    new FlowReport({
      ...flows.report.counts,
      unmeasuredBefore: flows.count(BEFORE) - before.length,
      unmeasuredAfter: flows.count(AFTER) - after.length,
      silentBefore,
      silentAfter,
    }),
  )
}

function rowsOf({ spanRows, spanOffsets }: FlowSet, request: number): Uint32Array {
  return spanRows!.subarray(spanOffsets![request], spanOffsets![request + 1])
}

function amountsOf(traces: SpanTraces, measure: Measure): Float64Array {
  if (measure === CALLS) return new Float64Array(traces.spans.parent.length).fill(1)
  const { name } = quantityOf(measure)
  // A measure in a page is but named.
  if (typeof measure !== 'string' && typeof measure.of !== 'function') {
    throw new OptionError('measure', measure, MEASURE.expected)
  }
  const own =
    typeof measure === 'string' ? ofAttribute(traces, name) : ofFunction(traces, measure.of)
  const below = own.findIndex((amount) => amount < 0)
  if (below >= 0) {
    const trace = traces.spanOffsets.findIndex((first) => first > below) - 1
    throw new FlowdeltaError(
      `A span of trace ${traces.ids[trace]} has ${own[below]} of ${name}. Give a measure of amounts, 0 or more.`,
    )
  }
  return own
}

function ofAttribute({ spans, attributes }: SpanTraces, name: string): Float64Array {
  const { keys, offsets, columns } = attributes
  const key = keys.find(name)
  const amounts = new Float64Array(spans.parent.length).fill(Number.NaN)
  if (key === undefined) return amounts
  for (let span = 0; span < amounts.length; span++) {
    for (let entry = offsets[span]!; entry < offsets[span + 1]!; entry++) {
      if (columns.key[entry] !== key) continue
      amounts[span] = numberOf(attributes.valueAt(entry))
      break
    }
  }
  return amounts
}

function numberOf(value: AttributeValue): number {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  return typeof number === 'number' && Number.isFinite(number) ? number : Number.NaN
}

function ofFunction(traces: SpanTraces, of: OwnMeasure['of']): Float64Array {
  const { spans, services, operations, hosts, attributes } = traces
  return Float64Array.from(spans.durationUs, (durationUs, span) => {
    const amount = of({
      service: services.value(spans.service[span]!),
      operation: operations.value(spans.operation[span]!),
      host: hosts.value(spans.host[span]!),
      durationUs,
      attribute: (name) => attributes.get(span, name),
    })
    return amount === undefined ? Number.NaN : numberOf(amount)
  })
}

function nothingMeasured(recordings: readonly SpanTraces[], name: string): FlowdeltaError {
  const numeric = new Set(
    recordings.flatMap(({ attributes: { keys, columns } }) => {
      const codes = new Set(columns.key.filter((_, entry) => columns.type[entry] === NUMBER))
      return [...codes].map((code) => keys.value(code))
    }),
  )
  const known = [CALLS, ...numeric]
  const meant = nearestName(name, known)
  return new FlowdeltaError(
    `No span has ${name} as a number. ` +
      (meant === undefined
        ? `Give one of ${known.join(', ')}, or time.`
        : `Did you mean ${meant}?`),
  )
}

class SilentSpans {
  readonly #operations = new Map<string, { isSaid: boolean; silent: [number, number] }>()

  add(
    { spans, services, operations }: SpanTraces,
    row: number,
    { period, isSilent }: { period: Period; isSilent: boolean },
  ): void {
    const key = `${services.value(spans.service[row]!)}\0${operations.value(spans.operation[row]!)}`
    const known = this.#operations.get(key) ?? { isSaid: false, silent: [0, 0] }
    this.#operations.set(key, known)
    if (isSilent) known.silent[period]++
    else known.isSaid = true
  }

  counts(): [before: number, after: number] {
    const all = [...this.#operations.values()].filter(({ isSaid }) => isSaid)
    const sum = (period: Period) => all.reduce((total, { silent }) => total + silent[period], 0)
    return [sum(BEFORE), sum(AFTER)]
  }
}

function oneAfterTheOther(flows: FlowSet) {
  const shapes = new ShapeTable()
  const numbers = new Map<number, number>()
  const known = new Map<string, number>()
  for (const shape of new Set(flows.shapeOf)) {
    const labels = flows.shapes.labels(shape)
    const tree = spanTree(flows, shape)
    const { size, firstChild } = tree
    const generations = generationsOf(flows, shape, tree)
    const order: number[][] = []
    const names = Array.from({ length: size }, (_, span) => {
      const { service, operation } = flows.labels.get(labels[2 * span]!)
      return JSON.stringify([service, operation])
    })
    const kinds = new Uint32Array(size)
    for (let span = size - 1; span >= 0; span--) {
      const count = firstChild[span + 1]! - firstChild[span]!
      const children = Array.from({ length: count }, (_, i) => firstChild[span]! + i)
      order[span] = children.sort(
        (a, b) =>
          generations[a]! - generations[b]! ||
          compareTexts(names[a]!, names[b]!) ||
          kinds[a]! - kinds[b]! ||
          a - b,
      )
      const kind = `${names[span]} ${order[span]!.map((child) => kinds[child])}`
      kinds[span] = known.get(kind) ?? known.size
      known.set(kind, kinds[span]!)
    }
    const from = new Uint32Array(2 * size - 1)
    order.forEach((children, span) => {
      let before = 2 * span
      for (const child of children) {
        from[2 * child - 1] = before
        before = 2 * child + 1
      }
      from[2 * span] = before
    })
    const edges = { from, to: from.map((_, edge) => edge + 1), edgeCount: from.length }
    numbers.set(shape, shapes.intern(labels, labels.length, edges))
  }
  return { shapes, numbers }
}

/** Returns the length of the sequence of siblings that precede each span. */
function generationsOf({ shapes }: FlowSet, shape: number, { size, order }: SpanTree): Uint32Array {
  const [from, to] = [shapes.from(shape), shapes.to(shape)]
  const { offsets, rows } = groupRows(to, 2 * size)
  const generations = new Uint32Array(size)
  for (const node of order) {
    for (let at = offsets[node]!; at < offsets[node + 1]!; at++) {
      const source = from[rows[at]!]!
      // From the reply of a sibling to a call.
      if ((node & 1) === 1 || (source & 1) === 0) continue
      const later = generations[source >>> 1]! + 1
      generations[node >>> 1] = Math.max(generations[node >>> 1]!, later)
    }
  }
  return generations
}

function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
