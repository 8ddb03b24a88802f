// Runs once a span: the loops index with `!`.
import { range, sort, sum } from 'd3-array'
import { getOrInsert } from '../core/entries.ts'
import { FlowdeltaError, nearestName, OptionError } from '../core/errors.ts'
import { type AttributeValue, NUMBER } from '../traces/attributes.ts'
import { ShapeTable } from '../traces/shape-table.ts'
import type { SpanTraces } from '../traces/span-traces.ts'
import { AFTER, BEFORE, FlowReport, FlowSet, type Period } from './flow-set.ts'
import { MEASURE, type Measure, type OwnMeasure, quantityOf } from './measure.ts'
import { callName } from './node-labels.ts'
import { selectRequests } from './select-requests.ts'
import { spanTree } from './span-tree.ts'

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
  const ofOperations = new Map<string, Said>()
  const nothingSaid = (): Said => ({ isSaid: false, silent: [0, 0] })
  const responseTimeUs = kept.responseTimeUs.map((_, request) => {
    const of = kept.recordedIn[request]!
    let total = 0
    rowsOf(kept, request).forEach((row, span) => {
      const amount = amounts[of]![row]!
      const name = operationName(recordings[of]!, row)
      const operation = getOrInsert(ofOperations, name, nothingSaid)
      if (Number.isNaN(amount)) operation.silent[kept.period[request] as Period]++
      else operation.isSaid = true
      const own = amount || 0
      // The edge into node n is the one before it.
      latencyUs[latencyOffsets[request]! + 2 * span] = own
      total += own
    })
    return total
  })
  const told = [...ofOperations.values()].filter(({ isSaid }) => isSaid)
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
      silentBefore: sum(told, ({ silent }) => silent[BEFORE]),
      silentAfter: sum(told, ({ silent }) => silent[AFTER]),
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

/** Whether any span of an operation has the measure, and how many in each period have none. */
interface Said {
  isSaid: boolean
  readonly silent: [before: number, after: number]
}

function operationName({ spans, services, operations }: SpanTraces, row: number): string {
  return `${services.value(spans.service[row]!)}\0${operations.value(spans.operation[row]!)}`
}

/** Returns shapes whose calls run one after the other, by name, and in the order in which the flows list them. */
function oneAfterTheOther(flows: FlowSet) {
  const shapes = new ShapeTable()
  const numbers = new Map<number, number>()
  for (const shape of new Set(flows.shapeOf)) {
    const labels = flows.shapes.labels(shape)
    const { size, firstChild } = spanTree(flows, shape)
    const nameOf = (span: number) => callName(flows.labels.get(labels[2 * span]!))
    const from = new Uint32Array(2 * size - 1)
    for (let span = 0; span < size; span++) {
      let last = 2 * span
      for (const child of sort(range(firstChild[span]!, firstChild[span + 1]!), nameOf)) {
        from[2 * child - 1] = last
        last = 2 * child + 1
      }
      from[2 * span] = last
    }
    const edges = { from, to: from.map((_, edge) => edge + 1), edgeCount: from.length }
    numbers.set(shape, shapes.intern(labels, labels.length, edges))
  }
  return { shapes, numbers }
}
