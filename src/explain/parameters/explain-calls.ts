import { group } from 'd3-array'
import type { Categories } from '../../compare/categories/categories.ts'
import type { Comparison } from '../../compare/comparison.ts'
import type { PooledEdge } from '../../compare/edges/edge-pool.ts'
import type { Finding, FindingCall } from '../../compare/findings/finding.ts'
import type { Segment } from '../../compare/segments/segments.ts'
import { getOrInsert } from '../../core/entries.ts'
import { FlowdeltaError } from '../../core/errors.ts'
import { TIME } from '../../core/quantity.ts'
import { AFTER, BEFORE, type Period } from '../../flows/flow-set.ts'
import { recordedFlows } from '../../flows/fold/folded-flows.ts'
import type { NodeLabel } from '../../flows/node-labels.ts'
import { randomSource } from '../../stats/random.ts'
import { PRESENCE } from '../../traces/attribute-names.ts'
import { saysOutcome } from '../../traces/outcomes.ts'
import { type ExplainOptions, Explanation, explainSettings } from './explanation.ts'
import { CHOICE_WORDS, FAILURE_WORDS, type GroupWords, PERIOD_WORDS } from './explanation-words.ts'
import { askWhatIsSlow, slowFrom } from './parameter-question.ts'
import {
  type Parameter,
  type ParameterChoice,
  type ParameterTable,
  placeName,
  readTable,
  requireColumns,
  sampleRequests,
} from './parameter-table.ts'

/** Calls of an edge that are looked at, drawn at random where there are more. */
const MAX_CALLS = 10_000

type EdgeNodes = Pick<PooledEdge, 'fromNode' | 'toNode'>

interface EdgeCall {
  /** Its period; of failures, whether it fails. */
  readonly label: number
  readonly request: number
  readonly from: number
  readonly to: number
  readonly timeUs: number
}

/**
 * Explains a changed edge by parameters recorded at its ends, over all requests that have it,
 * whatever their category; of folded flows by every repetition. *What differs?* looks at one random
 * call of each request, as calls of one are not independent; *what is slow?* at all calls after.
 */
export function explainEdge(
  comparison: Comparison,
  edge: EdgeNodes,
  options: ExplainOptions = {},
): Explanation {
  const calls = edgeCalls(comparison, edge)
  if (calls[BEFORE].length + calls[AFTER].length === 0) {
    throw new FlowdeltaError(
      `No request has the edge ${edgeName(edge)}. Take one of comparison.edges.edges.`,
    )
  }
  return explainEdgeCalls(comparison, edge, { calls, title: `Calls of ${edgeName(edge)}`, options })
}

/** The same of the calls of a segment alone; `null` where a period has none. */
export function explainWithin(
  comparison: Comparison,
  edge: EdgeNodes,
  { segment, options }: { readonly segment: Segment; readonly options: ExplainOptions },
): Explanation | null {
  const requests = new Set(segment.requests)
  const isInside = ({ request }: EdgeCall) => requests.has(request)
  const [before, after] = edgeCalls(comparison, edge)
  const calls = [before.filter(isInside), after.filter(isInside)] as const
  if (calls.some(({ length }) => length === 0)) return null
  const title = `Calls of ${edgeName(edge)} where ${segment.text}`
  return explainEdgeCalls(comparison, edge, { calls, title, options })
}

function edgeName({ fromNode, toNode }: EdgeNodes): string {
  return [...new Set([fromNode, toNode].map(placeName))].join(' → ')
}

type CallsOfPeriods = readonly [before: readonly EdgeCall[], after: readonly EdgeCall[]]

function edgeCalls({ categories }: Comparison, edge: EdgeNodes): CallsOfPeriods {
  return [callsOf(categories, edge, BEFORE), callsOf(categories, edge, AFTER)]
}

function explainEdgeCalls(
  comparison: Comparison,
  edge: EdgeNodes,
  {
    calls: [before, after],
    title,
    options,
  }: { readonly calls: CallsOfPeriods; readonly title: string; readonly options: ExplainOptions },
): Explanation {
  const { question, sample, seed, choice, growth } = explainSettings({
    sample: MAX_CALLS,
    ...options,
  })
  const { categories } = comparison
  const table = (groups: readonly (readonly EdgeCall[])[], withRoot: boolean) => {
    const rows = sampleRequests(groups, { sample, seed }).flat()
    return callTable(comparison, edge, rows, { choice, withRoot })
  }
  const oneEach = [before, after].map((calls) => oneCallEach(calls, seed))
  const timesOf = (calls: readonly EdgeCall[]) => ({
    values: calls.map(({ timeUs }) => timeUs),
    weights: categories.flows.countsOf(calls.map(({ request }) => request)),
  })
  const slowAboveUs = slowFrom(timesOf(before), timesOf(after))
  const slowTable = () => {
    const own = oneEach.slice(AFTER)
    if (own[0]?.length === after.length) return table(own, true)
    const all = table([after], false)
    const isExplained = askWhatIsSlow(all, { ...growth, slowAboveUs }).paths.length > 0
    return isExplained ? all : table(own, true)
  }
  const tables = {
    differs: question === 'what-is-slow' ? null : table(oneEach, true),
    // Of other measures, nothing is slow.
    slow: question === 'what-differs' || categories.flows.quantity !== TIME ? null : slowTable(),
    slowAboveUs,
  }
  requireColumns(tables, [...choice.include, ...choice.exclude])
  const subject = { title, time: 'latency', rows: 'call', words: PERIOD_WORDS }
  return new Explanation(subject, { tables, choice, growth })
}

/**
 * Which parameters failing calls of a finding have, of all such calls in the period in which more
 * fail, one a request; where these were not recorded, which ones failing requests have.
 */
export function explainFailures(
  comparison: Comparison,
  { calls: [call], direction }: Finding,
  options: ExplainOptions,
): Explanation {
  const { errors, flows } = comparison.steps
  const { service, operation } = call?.of ?? REQUEST
  const fails = errors.find((one) => one.service === service && one.operations[0] === operation)
  return explainCallsOf(comparison, options, {
    of: { service, operations: fails?.operations ?? [operation] },
    period: direction === 'slower' ? AFTER : BEFORE,
    isSo: (request, span) => flows.outcomes?.failed(request, span) === true,
    words: FAILURE_WORDS,
    isLeftOut: followsFailure,
  })
}

/** Which parameters calls after have that do what a finding says is done otherwise now, one a request. */
export function explainChoice(
  comparison: Comparison,
  { of: { service, operation }, doing }: Pick<FindingCall, 'of'> & { doing: readonly number[] },
  options: ExplainOptions,
): Explanation {
  const all = new Set(doing)
  return explainCallsOf(comparison, options, {
    of: { service, operations: [operation] },
    period: AFTER,
    isSo: (request) => all.has(request),
    words: CHOICE_WORDS,
  })
}

/** Which parameters calls of some operations have of which something is so, in one period, one a request. */
function explainCallsOf(
  comparison: Comparison,
  options: ExplainOptions,
  { of, period, isSo, words, isLeftOut }: CallsAsked,
): Explanation {
  const { sample, seed, choice, growth } = explainSettings({ sample: MAX_CALLS, ...options })
  const { flows, sites } = comparison.steps
  const { shapeOf, responseTimeUs } = flows
  const { service, operations } = of
  const spansOf = (request: number) =>
    (sites?.callers[shapeOf[request] as number] ?? []).flatMap(({ kind: { of }, span }) =>
      of.service === service && operations.includes(of.operation) ? span : [],
    )
  const callsIn = (spansOf: (request: number) => readonly number[]) =>
    Array.from(flows.period, (_, request) => request).flatMap((request): EdgeCall[] => {
      const spans = flows.period[request] === period ? spansOf(request) : []
      const found = spans.find((span) => isSo(request, span))
      const node = 2 * (found ?? spans[0] ?? 0)
      const timeUs = responseTimeUs[request] as number
      const label = found === undefined ? 0 : 1
      return spans.length === 0 ? [] : [{ label, request, from: node, to: node, timeUs }]
    })
  const calls = callsIn(spansOf)
  const isOfCalls = calls.length > 0
  const place = isOfCalls ? { ...REQUEST, service, operation: operations[0] ?? '' } : REQUEST
  const [rows = []] = sampleRequests([isOfCalls ? calls : callsIn(() => [0])], { sample, seed })
  const how = { choice, withRoot: true, isLeftOut }
  const differs = callTable(comparison, { fromNode: place, toNode: place }, rows, how)
  const tables = { differs, slow: null, slowAboveUs: Number.NaN }
  requireColumns(tables, [...choice.include, ...choice.exclude])
  const subject = {
    title: `${isOfCalls ? `Calls of ${placeName(place)}` : 'Requests'} ${period === AFTER ? 'after' : 'before'}`,
    time: 'response time',
    rows: isOfCalls ? 'call' : 'request',
    words,
  }
  return new Explanation(subject, { tables, choice, growth })
}

interface CallsAsked {
  readonly of: { readonly service: string; readonly operations: readonly string[] }
  readonly period: Period
  readonly isSo: (request: number, span: number) => boolean
  readonly words: GroupWords
  readonly isLeftOut?: ((parameter: Parameter, labels: Uint8Array) => boolean) | undefined
}

/** Whether a parameter says how a call ended, or only failing calls record it: it is no reason that they do. */
function followsFailure(parameter: Parameter, labels: Uint8Array): boolean {
  if (saysOutcome(parameter.source.attribute)) return true
  const isRecorded = (row: number) => {
    if (parameter.kind === 'numeric') return !Number.isNaN(parameter.values[row] as number)
    const level = parameter.levels[parameter.codes[row] as number]
    return level !== undefined && !(parameter.name.endsWith(PRESENCE) && level === 'no')
  }
  return !labels.some((failing, row) => failing === 0 && isRecorded(row))
}

function callsOf(categories: Categories, { fromNode, toNode }: EdgeNodes, period: Period) {
  const flows = recordedFlows(categories.flows)
  const { shapes, labels } = flows
  const edgesOf = new Map<number, readonly number[]>()
  const matching = (shape: number) => {
    const codes = shapes.labels(shape)
    const [from, to] = [shapes.from(shape), shapes.to(shape)]
    const isAt = (node: number | undefined, label: NodeLabel) =>
      isSame(labels.get(codes[node as number] as number), label)
    return Array.from(from, (_, edge) => edge).filter(
      (edge) => isAt(from[edge], fromNode) && isAt(to[edge], toNode),
    )
  }
  const calls: EdgeCall[] = []
  for (let request = 0; request < flows.size; request++) {
    if (flows.period[request] !== period) continue
    const shape = flows.shapeOf[request] as number
    const edges = getOrInsert(edgesOf, shape, () => matching(shape))
    for (const edge of edges) {
      const [from, to] = [shapes.from(shape)[edge] as number, shapes.to(shape)[edge] as number]
      calls.push({
        label: period,
        request,
        from,
        to,
        timeUs: flows.latencies(request)[edge] as number,
      })
    }
  }
  return calls
}

function oneCallEach(calls: readonly EdgeCall[], seed: number): EdgeCall[] {
  const random = randomSource(seed)
  const ofRequest = group(calls, ({ request }) => request)
  return Array.from(ofRequest.values(), (own) => own[random.integer(own.length)] as EdgeCall)
}

/** The same but for hosts. */
function isSame(a: NodeLabel, b: NodeLabel): boolean {
  return a.service === b.service && a.operation === b.operation && a.phase === b.phase
}

/** @param withRoot whether what was recorded where requests begin are parameters as well */
function callTable(
  { categories }: Comparison,
  edge: EdgeNodes,
  rows: readonly EdgeCall[],
  {
    choice,
    withRoot,
    isLeftOut,
  }: {
    readonly choice: ParameterChoice
    readonly withRoot: boolean
    readonly isLeftOut?: ((parameter: Parameter, labels: Uint8Array) => boolean) | undefined
  },
): ParameterTable {
  const flows = recordedFlows(categories.flows)
  const requests = rows.map(({ request }) => request)
  const root = commonRoot(categories, requests) ?? REQUEST
  const { fromNode, toNode } = edge
  // An edge from a span's call to its reply has one place.
  const isOneSpan = fromNode.phase === 'call' && toNode.phase === 'reply'
  const ends = isOneSpan && isSameCall(fromNode, toNode) ? [fromNode] : [fromNode, toNode]
  const hasRoot = withRoot && !ends.some((end) => isSameCall(end, root))
  // The parameters of a span are at its call, the node before its reply.
  const callNode = (node: number) => (flows.spanRows === undefined ? node : node - (node % 2))
  const recorded = rows.map(({ request, label, timeUs, from, to }) => ({
    request,
    label,
    timeUs,
    nodes: [...(hasRoot ? [0] : []), from, ...(ends.length === 1 ? [] : [to])].map(callNode),
    ...(hasRoot && root === REQUEST && { name: placeName(rootLabel(categories, request)) }),
  }))
  const places = [...(hasRoot ? [root] : []), ...ends]
  return readTable(flows, { places, rows: recorded }, choice, isLeftOut)
}

function isSameCall(a: NodeLabel, b: NodeLabel): boolean {
  return a.phase !== 'point' && a.service === b.service && a.operation === b.operation
}

/** Stands for the beginnings of requests of several kinds. */
const REQUEST: NodeLabel = { service: '', operation: 'request', host: '', phase: 'call' }

function commonRoot(categories: Categories, requests: readonly number[]): NodeLabel | undefined {
  const [first, ...others] = [...new Set(requests)].map((request) => rootLabel(categories, request))
  return first !== undefined && others.every((other) => isSame(first, other)) ? first : undefined
}

function rootLabel({ flows }: Categories, request: number): NodeLabel {
  const { shapes, labels, shapeOf } = flows
  return labels.get(shapes.labels(shapeOf[request] as number)[0] as number)
}
