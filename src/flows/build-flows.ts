// Runs once a span, node or edge: the loops index with `!`.
import { group, range, sort, sum } from 'd3-array'
import { getOrInsert } from '../core/entries.ts'
import {
  FlowdeltaError,
  nearestName,
  OptionError,
  requireArgument,
  requireStage,
} from '../core/errors.ts'
import { readOptions } from '../core/options.ts'
import { TIME } from '../core/quantity.ts'
import { randomSource } from '../stats/random.ts'
import { type AttributeValue, NUMBER } from '../traces/attributes.ts'
import type { GraphTraces } from '../traces/graph-traces.ts'
import { SelectableTraces } from '../traces/selection/selectable-traces.ts'
import { ShapeTable } from '../traces/shape-table.ts'
import type { SpanTraces } from '../traces/span-traces.ts'
import type { TraceSet } from '../traces/trace-set.ts'
import {
  AFTER,
  BEFORE,
  FLOW_OPTIONS,
  type FlowOptions,
  FlowReport,
  FlowSet,
  type Period,
} from './flow-set.ts'
import { relabelShapes } from './label-parts.ts'
import { MEASURE, type Measure, type OwnMeasure, quantityOf } from './measure.ts'
import { callName, NodeLabels, parsePointLabel } from './node-labels.ts'
import { selectedColumns, selectRequests } from './select-requests.ts'
import { buildSpanFlows } from './span-flows.ts'
import { spanTree } from './span-tree.ts'

/**
 * Turns the traces of one period, or of two to be compared, into request-flow graphs: nodes are
 * trace points, edges carry the latency between them.
 *
 * A span gives a call node and a reply node. `concurrency` decides which siblings run one after the other. With
 * `'learned'` both periods are built by one rule, learned over them together. If they differ significantly, each keeps
 * its own rule, so work that was parallel and became sequential shows as a structural change.
 *
 * @param traces one trace set, or `[before, after]`; `before` may be several runs of the good period
 * @param given see {@link FLOW_OPTIONS}, {@link Concurrency} and, of corrected clocks, `flows.clocks`. With a
 *   `measure`, edges carry its amounts instead of time: see `measureFlows`
 * @throws FlowdeltaError for an unknown option, OptionError for a value that one does not take,
 *   FlowdeltaError when one period has spans and the other trace-point graphs
 *
 * Source: Sambasivan 2013, §2.3; flowdelta's own rule for span trees.
 *
 * @example
 * const flows = buildFlows([before, after], { concurrency: 'learned' })
 * flows.table().print()
 */
export function buildFlows(
  traces: TraceSet | readonly [before: TraceSet | readonly TraceSet[], after: TraceSet],
  given: Partial<FlowOptions> = {},
): FlowSet {
  const options = readOptions(FLOW_OPTIONS, given)
  const [before, ...after] = [traces].flat(1) as readonly (TraceSet | readonly TraceSet[])[]
  const recordings = [before, ...after].flat() as readonly TraceSet[]
  for (const one of recordings.length === 0 ? [traces] : recordings) {
    requireStage('buildFlows([before, after])', one, SelectableTraces)
  }
  requireArgument('buildFlows([before, after])', traces, after.length <= 1, 'two periods at most')
  const runs = recordings.length - after.length
  const timed = timedFlows(recordings, runs, options)
  const measured = options.measure === TIME.name ? timed : measureFlows(timed, options.measure)
  return options.sampling === 'even' ? evenSample(measured) : measured
}

function timedFlows(recordings: readonly TraceSet[], runs: number, options: FlowOptions): FlowSet {
  if (recordings.every((one): one is SpanTraces => one.kind === 'spans')) {
    return buildSpanFlows(recordings, runs, options)
  }
  if (recordings.every((one): one is GraphTraces => one.kind === 'graphs')) {
    return buildGraphFlows(recordings, runs, options)
  }
  const [first] = recordings
  const other = recordings.find(({ kind }) => kind !== first?.kind)
  throw new FlowdeltaError(
    `Period ${first?.name} holds ${first?.kind}, period ${other?.name} holds ` +
      `${other?.kind}: these cannot be compared. Load both periods from the same kind of file.`,
  )
}

/** Flows from trace-point graphs; the first `runs` recordings are of before. */
function buildGraphFlows(periods: readonly GraphTraces[], runs: number, options: FlowOptions) {
  const labels = new NodeLabels()
  const first = periods[0] && serves(periods[0], labels) ? periods[0] : undefined
  if (periods.length === 1 && first) return flowsOf(first, labels, options)
  const shapes = first ? new ShapeTable(first.shapes.columns()) : new ShapeTable()
  const size = periods.reduce((sum, { size }) => sum + size, 0)
  const edges = periods.reduce((sum, { latencyUs }) => sum + latencyUs.length, 0)
  const columns = {
    period: new Uint8Array(size),
    recordedIn: new Uint8Array(size),
    traceOf: new Uint32Array(size),
    startUs: new Float64Array(size),
    responseTimeUs: new Float64Array(size),
    shapeOf: new Uint32Array(size),
    latencyUs: new Float64Array(edges),
    latencyOffsets: new Uint32Array(size + 1),
  }
  let row = 0
  let edge = 0
  periods.forEach((traces, recording) => {
    const shapeCodes = traces === first ? undefined : internShapes(traces, labels, shapes)
    columns.startUs.set(traces.startUs, row)
    columns.responseTimeUs.set(traces.responseTimeUs, row)
    columns.latencyUs.set(traces.latencyUs, edge)
    columns.period.fill(recording < runs ? BEFORE : AFTER, row, row + traces.size)
    columns.recordedIn.fill(recording, row, row + traces.size)
    for (let trace = 0; trace < traces.size; trace++) {
      columns.traceOf[row + trace] = trace
      const shape = traces.shapeOf[trace]!
      columns.shapeOf[row + trace] = shapeCodes === undefined ? shape : shapeCodes[shape]!
      columns.latencyOffsets[row + trace + 1] = edge + traces.latencyOffsets[trace + 1]!
    }
    row += traces.size
    edge += traces.latencyUs.length
  })
  const ids = periods.flatMap((traces) => traces.ids)
  return new FlowSet({ periods, labels, shapes, ids, ...columns }, options, new FlowReport())
}

/** Whether a period alone has these labels and shapes, all in use. */
function serves({ labels: texts, shapes, shapeOf }: GraphTraces, labels: NodeLabels): boolean {
  const isSame = texts.every((text, code) => labels.code(parsePointLabel(text)) === code)
  return isSame && new Set(shapeOf).size === shapes.size
}

/** Flows of one period with its own columns: shapes and latencies are too large to have twice. */
function flowsOf(traces: GraphTraces, labels: NodeLabels, options: FlowOptions): FlowSet {
  const { ids, startUs, responseTimeUs, shapes, shapeOf, latencyUs, latencyOffsets } = traces
  const traceOf = Uint32Array.from(ids, (_, trace) => trace)
  const columns = { ids, startUs, responseTimeUs, shapes, shapeOf, latencyUs, latencyOffsets }
  const period = new Uint8Array(ids.length)
  return new FlowSet(
    { ...columns, periods: [traces], labels, period, traceOf },
    options,
    new FlowReport(),
  )
}

/** Adds the shapes of a period, but for graphs left out; gives the new number of each. */
function internShapes(traces: GraphTraces, labels: NodeLabels, into: ShapeTable): Uint32Array {
  const codes = Uint32Array.from(traces.labels, (text) => labels.code(parsePointLabel(text)))
  return relabelShapes(traces.shapes, { codes, used: new Set(traces.shapeOf), into })
}

/** This share of a type's requests, as they weigh, may stand for more than the others are thinned to. */
const MAX_ABOVE = 0.05
const SEED = 1

/**
 * Leaves out requests of those that a sample preferred, such as slow or failed ones, so that within
 * a recording all requests of a type, by the label of their root, stand for equally many: their
 * times, calls and errors are then those of all requests, recorded or not. Each is kept with the
 * probability that its weight has of the type's largest; the few that weigh more are all kept.
 *
 * Limits: where some weigh a thousand times as much as others, one in a thousand of these is left.
 *
 * Sources: Horvitz and Thompson 1952 (weights as inverse probabilities); Madow and Madow 1944
 * (systematic draws).
 */
function evenSample(flows: FlowSet): FlowSet {
  if (flows.weight === undefined) return flows
  const weight = Float64Array.from(flows.weight)
  const kept: [number[], number[]] = [[], []]
  const rows = Array.from(weight.keys())
  const types = group(
    rows,
    (row) => flows.recordedIn[row]!,
    (row) => flows.shapes.labels(flows.shapeOf[row]!)[0]!,
  )
  for (const recorded of types.values()) {
    for (const members of recorded.values()) {
      const target = commonWeight(members.map((row) => flows.weightOf(row)))
      for (const row of members) weight[row] = Math.max(target, flows.weightOf(row))
    }
  }
  const share = (row: number) => flows.weightOf(row) / weight[row]!
  const drawOf = systematicDraws(flows, share)
  for (const row of rows) {
    if (drawOf(row) <= share(row)) kept[flows.period[row] === AFTER ? AFTER : BEFORE].push(row)
  }
  const columns = selectedColumns(flows, { before: kept[BEFORE], after: kept[AFTER] })
  const leftOut = (period: typeof BEFORE | typeof AFTER) =>
    flows.count(period) - kept[period].length
  return new FlowSet(
    { ...columns, weight: Float64Array.from(kept.flat(), (row) => weight[row]!) },
    flows.options,
    new FlowReport({
      ...flows.report.counts,
      thinnedBefore: leftOut(BEFORE),
      thinnedAfter: leftOut(AFTER),
    }),
  )
}

/**
 * Returns what draws a uniform number for each request's trace, whose requests were recorded together
 * and stay together. Of requests that are kept with one probability, in any stretch of a shuffled
 * order, as many are drawn as are due, give or take one: how many are slow is not left to chance.
 */
function systematicDraws(flows: FlowSet, share: (row: number) => number) {
  const random = randomSource(SEED)
  const keyOf = (row: number) => `${flows.recordedIn[row]} ${flows.traceOf[row]}`
  const firsts = Array.from(group(flows.traceOf.keys(), keyOf).values(), ([first]) => first!)
  const alikeBy = (row: number) =>
    `${flows.recordedIn[row]} ${flows.shapes.labels(flows.shapeOf[row]!)[0]} ${share(row)}`
  const draws = new Map<string, number>()
  for (const alike of group(random.shuffle(firsts), alikeBy).values()) {
    let due = random.next()
    for (const row of alike) {
      draws.set(keyOf(row), 1 - due)
      due = (due + share(row)) % 1
    }
  }
  return (row: number) => draws.get(keyOf(row))!
}

/** Returns the least weight above which little of the whole weight lies. */
function commonWeight(weights: readonly number[]): number {
  const descending = weights.toSorted((a, b) => b - a)
  const most = MAX_ABOVE * descending.reduce((sum, own) => sum + own, 0)
  let above = 0
  for (const own of descending) {
    above += own
    if (above > most) return own
  }
  return descending.at(-1)!
}

const CALLS = 'calls'

/**
 * Returns flows on a clock that advances by each span's own amount of a measure, so times are amounts. Calls run one
 * after the other, so that all of them count. Leaves out requests without the measure; `flows.report` counts them.
 */
function measureFlows(flows: FlowSet, measure: Measure): FlowSet {
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
