import { group } from 'd3-array'
import type { Categories } from '../../compare/categories/categories.ts'
import { Comparison } from '../../compare/comparison.ts'
import type { PooledEdge } from '../../compare/edges/edge-pool.ts'
import type { Finding } from '../../compare/findings/finding.ts'
import { getOrInsert } from '../../core/entries.ts'
import { FlowdeltaError, requireStage } from '../../core/errors.ts'
import { TIME } from '../../core/quantity.ts'
import { AFTER, BEFORE, type FlowSet, type Period } from '../../flows/flow-set.ts'
import { recordedFlows } from '../../flows/fold/folded-flows.ts'
import type { NodeLabel } from '../../flows/node-labels.ts'
import { NodeRecords } from '../../flows/node-records.ts'
import { randomSource } from '../../stats/random.ts'
import { type FlowForm, flowForm } from '../flow-pair/flow-form.ts'
import { chooseFlows, type FlowChoice, type FlowsToCompare } from '../flow-pair/flow-pair.ts'
import { type ExplainOptions, Explanation, explainSettings } from './explanation.ts'
import { MUTATION_WORDS, PERIOD_WORDS } from './explanation-words.ts'
import { askWhatIsSlow, slowFrom } from './parameter-question.ts'
import {
  collectParameters,
  type ParameterChoice,
  ParameterColumns,
  type ParameterSide,
  ParameterTable,
  placeName,
  requireColumns,
  sampleRequests,
} from './parameter-table.ts'

/**
 * Explains a change by low-level parameters: which ones separate the requests that changed from
 * what they were, and which ones slow requests have.
 *
 * Of a finding about a step, and of an edge, the calls of that step in all requests are explained;
 * of a finding about other work, the requests that moved most from one category to another; of any
 * other finding, those of its largest category.
 *
 * @param comparison from `compare`
 * @param what a mutation of the ranking, a category, two categories with their periods, a finding,
 *   or an edge of `comparison.edges`
 * @param options see `EXPLAIN_OPTIONS`
 * @throws FlowdeltaError where nothing was recorded, or for an unknown option; OptionError for a
 *   category that does not exist or a value that an option does not take
 *
 * Source: Sambasivan 2013, §2.6.6.
 *
 * @example
 * const [finding] = comparison.findings.findings
 * explain(comparison, finding).text()
 */
export function explain(
  comparison: Comparison,
  what: FlowsToCompare | Finding | Pick<PooledEdge, 'fromNode' | 'toNode'>,
  options: ExplainOptions = {},
): Explanation {
  requireStage('explain(comparison, what)', comparison, Comparison)
  if (typeof what !== 'object' || what === null) return explainMutation(comparison, what, options)
  if ('fromNode' in what) return explainEdge(comparison, what, options)
  if ('changedEdges' in what) return explainFinding(comparison, what, options)
  return explainMutation(comparison, what, options)
}

function explainFinding(
  comparison: Comparison,
  { kind, changedEdges, moves, categories }: Finding,
  options: ExplainOptions,
): Explanation {
  const [edge] = changedEdges
  if (kind === 'latency' && edge !== undefined) return explainEdge(comparison, edge, options)
  const [move] = moves.toSorted((a, b) => b.requests - a.requests)
  if (move === undefined) {
    return explainMutation(comparison, { category: categories[0] as number }, options)
  }
  const period = comparison.categories.count(move.from, BEFORE) > 0 ? BEFORE : AFTER
  const pair = {
    before: { category: move.from, period },
    after: { category: move.to, period: AFTER },
  }
  return explainMutation(comparison, pair, options)
}

const MOST_SLOW = 10_000

/**
 * Explains a change by low-level parameters. *What differs?* compares the mutation's requests with
 * its precursor's on the part of the flow that both have; *what is slow?* asks which parameters the
 * slow requests after have. The question that separates better comes first. Source: Sambasivan
 * 2013, §2.6.6; the second question is an addition.
 */
export function explainMutation(
  comparison: Comparison,
  what: FlowsToCompare,
  options: ExplainOptions = {},
): Explanation {
  const { question, sample, seed, choice, growth } = explainSettings(options)
  const { categories } = comparison
  const { before, after } = chooseFlows(comparison, what)
  const members = ({ category, period }: FlowChoice) => [...categories.members(category, period)]
  const times = requestTimes(comparison, before, after)
  const table = (sides: readonly ParameterSide[]) => tableOf(categories, sides, { times, choice })
  const differingTable = () => {
    const groups = sampleRequests([members(before), members(after)], { sample, seed })
    const form = ({ category }: FlowChoice) => flowForm(categories, category)
    const template = commonTemplate(form(before), form(after))
    const side = (which: 'before' | 'after', { category }: FlowChoice, period: Period) => {
      const positions = template.map((node) => node[which])
      return { category, period, positions, requests: groups[period] ?? [] }
    }
    return table([side('before', before, BEFORE), side('after', after, AFTER)])
  }
  const slowTable = () => {
    const slowSample = sample === 'tenth' ? MOST_SLOW : sample
    const sampled = sampleRequests([members(after)], { sample: slowSample, seed }).flat()
    const requests = sampled.filter((request) => !Number.isNaN(times.of(request)))
    const { category } = after
    const positions = [...Array(categories.nodeCount(category)).keys()]
    return table([{ requests, category, positions, period: AFTER }])
  }
  const timesOf = (flow: FlowChoice) => {
    const requests = members(flow)
    return { values: requests.map(times.of), weights: categories.flows.countsOf(requests) }
  }
  const tables = {
    differs: question === 'what-is-slow' ? null : differingTable(),
    // Of other measures, nothing is slow.
    slow: question === 'what-differs' || categories.flows.quantity !== TIME ? null : slowTable(),
    slowAboveUs: slowFrom(timesOf(before), timesOf(after)),
  }
  const own = before.category === after.category
  const { preorder } = categories.structure(after.category)
  const root = placeName(categories.nodeLabel(after.category, preorder[0] as number))
  const subject = {
    title: own
      ? `${root}, category ${after.category}, before and after`
      : `${root}, category ${after.category}, which was category ${before.category}`,
    time: times.name,
    rows: 'request',
    words: own ? PERIOD_WORDS : MUTATION_WORDS,
  }
  requireColumns(tables, [...choice.include, ...choice.exclude])
  return new Explanation(subject, { tables, choice, growth })
}

export function tableOf(
  categories: Categories,
  sides: readonly ParameterSide[],
  { times, choice }: { readonly times: RequestTimes; readonly choice: ParameterChoice },
): ParameterTable {
  const { flows } = categories
  const rows = sides.flatMap(({ requests, period }) =>
    requests.map((request) => ({ request, period, timeUs: times.of(request) })),
  )
  const all = collectParameters(categories, sides)
  return new ParameterTable(flows, { all, rows: parameterRows(flows, rows) }, choice)
}

function parameterRows(
  flows: FlowSet,
  rows: readonly Pick<EdgeCall, 'request' | 'period' | 'timeUs'>[],
) {
  const requests = Uint32Array.from(rows, ({ request }) => request)
  return {
    requests,
    labels: Uint8Array.from(rows, ({ period }) => period),
    timeUs: Float64Array.from(rows, ({ timeUs }) => timeUs),
    startUs: Float64Array.from(requests, (request) => flows.startUs[request] as number),
    weights: flows.countsOf(requests),
  }
}

/** Calls of an edge that are looked at, drawn at random where there are more. */
const MAX_CALLS = 10_000

type EdgeNodes = Pick<PooledEdge, 'fromNode' | 'toNode'>

interface EdgeCall {
  readonly period: Period
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
  const { question, sample, seed, choice, growth } = explainSettings({
    sample: MAX_CALLS,
    ...options,
  })
  const { categories } = comparison
  const [before, after] = [callsOf(categories, edge, BEFORE), callsOf(categories, edge, AFTER)]
  const name = `${placeName(edge.fromNode)} → ${placeName(edge.toNode)}`
  if (before.length + after.length === 0) {
    throw new FlowdeltaError(`No request has the edge ${name}. Take one of comparison.edges.edges.`)
  }
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
  const subject = { title: `Calls of ${name}`, time: 'latency', rows: 'call', words: PERIOD_WORDS }
  return new Explanation(subject, { tables, choice, growth })
}

function callsOf(categories: Categories, { fromNode, toNode }: EdgeNodes, period: Period) {
  const flows = recordedFlows(categories.flows)
  const { shapes, labels } = flows
  const edgesOf = new Map<number, readonly number[]>()
  const matching = (shape: number, root: NodeLabel) => {
    const codes = shapes.labels(shape)
    const [from, to] = [shapes.from(shape), shapes.to(shape)]
    // A folded flow's root says how often what repeats; recorded, it is called otherwise.
    const isAt = (node: number | undefined, label: NodeLabel) =>
      isSame(node === 0 ? root : labels.get(codes[node as number] as number), label)
    return Array.from(from, (_, edge) => edge).filter(
      (edge) => isAt(from[edge], fromNode) && isAt(to[edge], toNode),
    )
  }
  const calls: EdgeCall[] = []
  for (let request = 0; request < flows.size; request++) {
    if (flows.period[request] !== period) continue
    const shape = flows.shapeOf[request] as number
    const edges = getOrInsert(edgesOf, shape, () => matching(shape, rootLabel(categories, request)))
    for (const edge of edges) {
      const [from, to] = [shapes.from(shape)[edge] as number, shapes.to(shape)[edge] as number]
      calls.push({ period, request, from, to, timeUs: flows.latencies(request)[edge] as number })
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
  { choice, withRoot }: { readonly choice: ParameterChoice; readonly withRoot: boolean },
): ParameterTable {
  const flows = recordedFlows(categories.flows)
  const records = new NodeRecords(flows)
  const requests = rows.map(({ request }) => request)
  const root = commonRoot(categories, requests) ?? REQUEST
  const { fromNode, toNode } = edge
  // An edge from a span's call to its reply has one place.
  const isOneSpan = fromNode.phase === 'call' && toNode.phase === 'reply'
  const ends = isOneSpan && isSameCall(fromNode, toNode) ? [fromNode] : [fromNode, toNode]
  const hasRoot = withRoot && !ends.some((end) => isSameCall(end, root))
  const places = [...(hasRoot ? [root] : []), ...ends]
  const columns = new ParameterColumns(rows.length, places)
  // The parameters of a span are at its call, the node before its reply.
  const callNode = (node: number) =>
    flows.spanRows !== undefined && node % 2 === 1 ? node - 1 : node
  rows.forEach(({ request, from, to }, row) => {
    const nodes = [...(hasRoot ? [0] : []), from, ...(ends.length === 1 ? [] : [to])]
    nodes.forEach((node, place) => {
      columns.add(row, place, records.of(request, callNode(node)))
      columns.add(row, place, records.logged(request, callNode(node)))
    })
    if (hasRoot && root === REQUEST) {
      columns.add(row, 0, [['operation', placeName(rootLabel(categories, request))]])
    }
  })
  const all = columns.finish()
  return new ParameterTable(flows, { all, rows: parameterRows(flows, rows) }, choice)
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

type TemplateNode = Readonly<Record<'before' | 'after', number>>

/**
 * The part that two structures share, depth first from their roots, up to the first difference on
 * each path. Source: Sambasivan 2013, §2.6.6.
 */
export function commonTemplate(before: FlowForm, after: FlowForm): TemplateNode[] {
  const seen = [new Set<number>(), new Set<number>()] as const
  const template: TemplateNode[] = []
  // Pushed in reverse: the stack gives the last one back first.
  const push = (of: readonly number[] = [], others: readonly number[] = []) => {
    const free = group(others, (node) => after.labels[node])
    const pairs = of.flatMap((node) => {
      const partner = free.get(before.labels[node])?.shift()
      return partner === undefined ? [] : [{ before: node, after: partner }]
    })
    pending.push(...pairs.reverse())
  }
  const pending: TemplateNode[] = []
  push(roots(before), roots(after))
  for (let pair = pending.pop(); pair !== undefined; pair = pending.pop()) {
    if (seen[0].has(pair.before) || seen[1].has(pair.after)) continue
    seen[0].add(pair.before)
    seen[1].add(pair.after)
    template.push(pair)
    push(before.children[pair.before], after.children[pair.after])
  }
  return template.sort((a, b) => a.before - b.before)
}

function roots({ parents }: FlowForm): number[] {
  return parents.flatMap((above, node) => (above.length === 0 ? [node] : []))
}

interface RequestTimes {
  readonly name: string
  readonly of: (request: number) => number
}

export function responseTimes({ responseTimeUs }: FlowSet): RequestTimes {
  return { name: 'response time', of: (request) => responseTimeUs[request] as number }
}

/** The time in which a change shows most: the edge whose mean moved furthest, or response time. */
function requestTimes(
  { categories, responseTime }: Comparison,
  before: FlowChoice,
  after: FlowChoice,
): RequestTimes {
  const { flows } = categories
  const { category } = after
  if (before.category !== category) return responseTimes(flows)
  const moved = responseTime
    .edges(category)
    .map((edge, number) => ({
      ...edge,
      number,
      shiftUs: Math.abs(edge.afterMeanUs - edge.beforeMeanUs),
    }))
    .filter(({ test }) => test?.rejected === true)
    .sort((a, b) => b.shiftUs - a.shiftUs)[0]
  if (moved === undefined) return responseTimes(flows)
  return {
    name: `${moved.edge.from} → ${moved.edge.to}`,
    of: (request) => {
      const classes = categories.recordedClassOf(request)
      const latencies = recordedFlows(flows).latencies(request)
      let [sum, calls] = [0, 0]
      classes.forEach((edgeClass, edge) => {
        if (edgeClass !== moved.number) return
        sum += latencies[edge] as number
        calls++
      })
      return sum / calls
    },
  }
}
