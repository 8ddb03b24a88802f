import { greatest, group, range } from 'd3-array'
import type { Categories } from '../../compare/categories/categories.ts'
import type { PooledEdge } from '../../compare/edges/edge-times.ts'
import type { Finding } from '../../compare/findings/finding.ts'
import type { Segment } from '../../compare/segments/segments.ts'
import { Comparison } from '../../comparison/comparison.ts'
import { at } from '../../core/entries.ts'
import { FlowdeltaError, requireStage } from '../../core/errors.ts'
import { TIME } from '../../core/quantity.ts'
import { memoized } from '../../core/remembered.ts'
import { AFTER, BEFORE, type FlowSet, type Period } from '../../flows/flow-set.ts'
import { recordedFlows } from '../../flows/fold/folded-flows.ts'
import { isSame, type NodeLabel } from '../../flows/node-labels.ts'
import { randomSource } from '../../stats/random.ts'
import { PRESENCE } from '../../traces/attribute-names.ts'
import { saysOutcome } from '../../traces/outcomes.ts'
import {
  chooseFlows,
  type FlowChoice,
  type FlowForm,
  type FlowsToCompare,
  flowForm,
} from '../flow-pair/flow-form.ts'
import {
  CHOICE_WORDS,
  type ExplainOptions,
  Explanation,
  type ExplanationSubject,
  explainSettings,
  FAILURE_WORDS,
  type GroupWords,
  MUTATION_WORDS,
  PERIOD_WORDS,
} from './explanation.ts'
import { askWhatIsSlow, slowFrom } from './parameter-question.ts'
import {
  type LeftOutRule,
  type Parameter,
  type ParameterChoice,
  type ParameterTable,
  placeName,
  readTable,
  requireColumns,
  sampleRequests,
} from './parameter-table.ts'

/**
 * Explains a change by low-level parameters: those that separate changed requests from earlier ones, and those of slow
 * requests.
 *
 * Compared are, by kind of finding:
 * - about steps, or for an edge: the calls of these steps in all requests, first the calls that parameters distinguish
 *   best (the rest are in `others`); if the finding holds in a segment only, the calls of that alone, too;
 * - more or fewer calls fail: failing calls and the others, in the period with more failures;
 * - calls are made otherwise: the calls after that are, and the others;
 * - other work: the requests that moved most from one category to another;
 * - any other finding: the requests of its largest category.
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
  finding: Finding,
  options: ExplainOptions,
): Explanation {
  const { kind, consequences, moves, categories, calls, direction, doing, segment } = finding
  // A finding that sums up others takes their edges.
  const changedEdges =
    finding.changedEdges.length > 0 || moves.length > 0
      ? finding.changedEdges
      : consequences.flatMap((one) => one.changedEdges)
  const { service, operation } = calls[0]?.of ?? REQUEST
  if (kind === 'errors') {
    const { errors, flows } = comparison.steps
    const fails = errors.find((one) => one.service === service && one.operations[0] === operation)
    return explainCallsOf(comparison, options, {
      of: { service, operations: fails?.operations ?? [operation] },
      period: direction === 'slower' ? AFTER : BEFORE,
      isSo: (request, span) => flows.outcomes?.failed(request, span) === true,
      words: FAILURE_WORDS,
      isLeftOut: followsFailure,
    })
  }
  if (doing !== undefined && calls.length > 0) {
    const all = new Set(doing)
    const why = explainCallsOf(comparison, options, {
      of: { service, operations: [operation] },
      period: AFTER,
      isSo: (request) => all.has(request),
      words: CHOICE_WORDS,
    })
    // If nothing distinguishes requests by what they do after, what they did before may.
    if (why.questions.some(({ paths }) => paths.length > 0)) return why
  }
  if (kind === 'latency' && changedEdges.length > 0) {
    return explainSteps(comparison, changedEdges, { segment, options })
  }
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

/** Most steps of a finding that are explained. */
const MAX_STEPS = 4

/** Explains the calls of changed edges, a step each, and within the finding's segment; the best stands for all. */
function explainSteps(
  comparison: Comparison,
  changedEdges: readonly PooledEdge[],
  { segment, options }: { readonly segment: Segment | undefined; readonly options: ExplainOptions },
): Explanation {
  const ofStep = (edge: PooledEdge) =>
    `${edge.kind} ${[edge.fromNode, edge.toNode].map(({ service }) => service)}`
  const steps = [...group(changedEdges, ofStep).values()].slice(0, MAX_STEPS)
  const isConfined = segment !== undefined && segment.conditions.length > 0
  // The best of several is as likely by chance as any of them.
  const alpha = explainSettings(options).growth.alpha / steps.length / (isConfined ? 2 : 1)
  const [best, ...others] = steps
    .flatMap(([edge]) => {
      const each = { ...options, alpha }
      const whole = explainEdge(comparison, edge as PooledEdge, each)
      const within =
        isConfined &&
        isAt(edge as PooledEdge, segment.step) &&
        explainWithin(comparison, edge as PooledEdge, { segment, options: each })
      if (!within) return whole
      // Saying that no parameter separates all calls would deny the segment.
      return whole.paths.length === 0 ? within : [whole, within]
    })
    .toSorted((a, b) => separationOf(b) - separationOf(a))
  return (best as Explanation).beside(others)
}

function isAt({ fromNode, toNode }: PooledEdge, step: Segment['step']): boolean {
  return [fromNode, toNode].some(({ service }) => service === step?.service)
}

function separationOf({ questions: [first] }: Explanation): number {
  return first?.separation ?? 0
}

const MOST_SLOW = 10_000

/**
 * Explains a change by low-level parameters. *What differs?* compares the mutation's requests with its precursor's,
 * from both periods, on the common part of the flow; for one category, it compares requests after with those before;
 * *what is slow?* asks which parameters the slow requests after have. The question that separates better comes first.
 * Source: Sambasivan 2013, §2.6.6; the second question is an addition.
 */
export function explainMutation(
  comparison: Comparison,
  what: FlowsToCompare,
  options: ExplainOptions = {},
): Explanation {
  const settings = explainSettings(options)
  const { sample, seed, choice } = settings
  const { categories } = comparison
  const { before, after } = chooseFlows(comparison, what)
  const own = before.category === after.category
  const members = ({ category, period }: FlowChoice) => [...categories.members(category, period)]
  const inBoth = ({ category }: FlowChoice) =>
    ([BEFORE, AFTER] as const).flatMap((period) => members({ category, period }))
  const times = requestTimes(comparison, before, after)
  const table = (sides: readonly ParameterSide[]) =>
    tableOf(categories, sides, { timeOf: times.of, choice })
  const differs = () => {
    const grouped = [before, after].map(own ? members : inBoth)
    const groups = sampleRequests(grouped, { sample, seed })
    const form = ({ category }: FlowChoice) => flowForm(categories, category)
    const template = commonTemplate(form(before), form(after))
    const side = (which: 'before' | 'after', { category }: FlowChoice, label: 0 | 1) => {
      const positions = template.map((node) => node[which])
      return { category, label, positions, requests: groups[label] ?? [] }
    }
    return table([side('before', before, 0), side('after', after, 1)])
  }
  const slow = () => {
    const slowSample = sample === 'tenth' ? MOST_SLOW : sample
    const sampled = sampleRequests([members(after)], { sample: slowSample, seed }).flat()
    const requests = sampled.filter((request) => !Number.isNaN(times.of(request)))
    const { category } = after
    const positions = range(categories.nodeCount(category))
    return table([{ requests, category, positions, label: 1 }])
  }
  const timesOf = (flow: FlowChoice) =>
    members(flow).map((request) => ({ request, timeUs: times.of(request) }))
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
  const slowAboveUs = slowFrom(categories.flows, [timesOf(before), timesOf(after)])
  return answered(categories.flows, subject, { ...settings, differs, slow, slowAboveUs })
}

interface Asked extends ReturnType<typeof explainSettings> {
  readonly differs: () => ParameterTable
  readonly slow?: (() => ParameterTable) | undefined
  readonly slowAboveUs?: number
}

/** Asks parameters the questions of the settings. */
export function answered(
  { quantity }: FlowSet,
  subject: ExplanationSubject,
  { question, choice, growth, differs, slow, slowAboveUs = Number.NaN }: Asked,
): Explanation {
  const tables = {
    differs: question === 'what-is-slow' ? null : differs(),
    // Only times can be slow.
    slow: question === 'what-differs' || quantity !== TIME ? null : (slow?.() ?? null),
    slowAboveUs,
  }
  requireColumns(tables, [...choice.include, ...choice.exclude])
  return new Explanation(subject, { tables, choice, growth })
}

/** Requests of one category, and where in its depth-first order the places of the template are. */
interface ParameterSide {
  readonly requests: readonly number[]
  readonly category: number
  /** Group that they are in, of the two. */
  readonly label: 0 | 1
  readonly positions: readonly number[]
}

interface TableOptions {
  readonly choice: ParameterChoice
  /** Time to judge as slow or not; default the response time. */
  readonly timeOf?: (request: number) => number
}

/** Returns the parameters at the places of a template: a row a request, a column a place and attribute. */
export function tableOf(
  categories: Categories,
  sides: readonly ParameterSide[],
  { choice, timeOf }: TableOptions,
): ParameterTable {
  const { flows } = categories
  const { category, positions } = sides[0] as ParameterSide
  const { preorder } = categories.structure(category)
  const places = positions.map((at) => categories.nodeLabel(category, preorder[at] as number))
  const rows = sides.flatMap(({ requests, label, positions }) => {
    const nodesOf = memoized((shape: number) => {
      const nodes = categories.preorderOf(shape)
      return positions.map((at) => nodes[at] as number)
    })
    return requests.map((request) => {
      const nodes = nodesOf(flows.shapeOf[request] as number)
      const timeUs = timeOf?.(request) ?? at(flows.responseTimeUs, request)
      return { request, label, timeUs, nodes }
    })
  })
  return readTable(flows, { places, rows }, choice)
}

type TemplateNode = Readonly<Record<'before' | 'after', number>>

/**
 * Returns the part that two structures share, depth first from their roots, up to the first difference on each path.
 * Source: Sambasivan 2013, §2.6.6.
 */
export function commonTemplate(before: FlowForm, after: FlowForm): TemplateNode[] {
  const seen = [new Set<number>(), new Set<number>()] as const
  const template: TemplateNode[] = []
  const pairUp = (of: readonly number[] = [], others: readonly number[] = []) => {
    const free = group(others, (node) => after.kinds[node])
    for (const node of of) {
      const partner = free.get(before.kinds[node] as string)?.shift()
      if (partner === undefined || seen[0].has(node) || seen[1].has(partner)) continue
      seen[0].add(node)
      seen[1].add(partner)
      template.push({ before: node, after: partner })
    }
  }
  pairUp(roots(before), roots(after))
  // Pairs added on the way are visited, too.
  for (const pair of template) pairUp(before.children[pair.before], after.children[pair.after])
  return template.sort((a, b) => a.before - b.before)
}

function roots({ parents }: FlowForm): number[] {
  return parents.flatMap((above, node) => (above.length === 0 ? [node] : []))
}

/** Returns the time in which a change shows most: the edge whose mean moved furthest, or response time. */
function requestTimes(
  { categories, responseTime }: Comparison,
  before: FlowChoice,
  after: FlowChoice,
): { readonly name: string; readonly of: (request: number) => number } {
  const { flows } = categories
  const { category } = after
  const whole = {
    name: 'response time',
    of: (request: number) => at(flows.responseTimeUs, request),
  }
  if (before.category !== category) return whole
  const moved = greatest(
    responseTime.edges(category).filter(({ test }) => test.rejected === true),
    ({ beforeMeanUs, afterMeanUs }) => Math.abs(afterMeanUs - beforeMeanUs),
  )
  if (moved === undefined) return whole
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

/** Most calls of an edge that are looked at; of more, a random sample. */
const MAX_CALLS = 10_000

type EdgeNodes = Pick<PooledEdge, 'fromNode' | 'toNode'>

interface EdgeCall {
  /** Period of the request; for failures, whether it fails. */
  readonly label: number
  readonly request: number
  readonly from: number
  readonly to: number
  readonly timeUs: number
}

/**
 * Explains a changed edge by parameters recorded at its ends, over all requests that have it, whatever their category;
 * for folded flows, over every repetition. *What differs?* looks at one random call of each request, because calls of
 * one request are not independent; *what is slow?* at all calls after.
 */
export function explainEdge(
  comparison: Comparison,
  edge: EdgeNodes,
  options: ExplainOptions = {},
): Explanation {
  const calls = edgeCalls(comparison.categories, edge)
  if (calls.flat().length === 0) {
    throw new FlowdeltaError(
      `No request has the edge ${edgeName(edge)}. Take one of comparison.edges.edges.`,
    )
  }
  return explainEdgeCalls(comparison, edge, { calls, title: `Calls of ${edgeName(edge)}`, options })
}

/** Explains the calls of a segment alone; `null` if a period has none. */
function explainWithin(
  comparison: Comparison,
  edge: EdgeNodes,
  { segment, options }: { readonly segment: Segment; readonly options: ExplainOptions },
): Explanation | null {
  const requests = new Set(segment.requests)
  const calls = edgeCalls(comparison.categories, edge).map((own) =>
    own.filter(({ request }) => requests.has(request)),
  )
  if (calls.some(({ length }) => length === 0)) return null
  const title = `Calls of ${edgeName(edge)} where ${segment.text}`
  return explainEdgeCalls(comparison, edge, { calls, title, options })
}

function edgeName({ fromNode, toNode }: EdgeNodes): string {
  return [...new Set([fromNode, toNode].map(placeName))].join(' → ')
}

function explainEdgeCalls(
  { categories }: Comparison,
  edge: EdgeNodes,
  {
    calls,
    title,
    options,
  }: {
    /** By period. */
    readonly calls: readonly (readonly EdgeCall[])[]
    readonly title: string
    readonly options: ExplainOptions
  },
): Explanation {
  const settings = explainSettings({ sample: MAX_CALLS, ...options })
  const { sample, seed, choice } = settings
  const table = (groups: readonly (readonly EdgeCall[])[], withRoot: boolean) => {
    const rows = sampleRequests(groups, { sample, seed }).flat()
    return callTable(categories, edge, rows, { choice, withRoot })
  }
  const oneEach = calls.map((all) => oneCallEach(all, seed))
  const slowAboveUs = slowFrom(categories.flows, calls)
  const slow = () => {
    const own = oneEach.slice(AFTER)
    if (own[0]?.length === calls[AFTER]?.length) return table(own, true)
    const all = table(calls.slice(AFTER), false)
    const isExplained = askWhatIsSlow(all, slowAboveUs).paths.length > 0
    return isExplained ? all : table(own, true)
  }
  const subject = { title, time: 'latency', rows: 'call', words: PERIOD_WORDS }
  const differs = () => table(oneEach, true)
  return answered(categories.flows, subject, { ...settings, differs, slow, slowAboveUs })
}

/** Explains by parameters which calls of some operations meet a condition, in one period, one per request. */
function explainCallsOf(
  { steps: { flows, sites }, categories }: Comparison,
  options: ExplainOptions,
  { of: { service, operations }, period, isSo, words, ...left }: CallsAsked,
): Explanation {
  const settings = explainSettings({ sample: MAX_CALLS, ...options })
  const { sample, seed, choice } = settings
  const { shapeOf, responseTimeUs } = flows
  const spansOf = (request: number) =>
    (sites?.callers[shapeOf[request] as number] ?? []).flatMap(({ kind: { of }, span }) =>
      of.service === service && operations.includes(of.operation) ? span : [],
    )
  const callsIn = (spansOf: (request: number) => readonly number[]) =>
    range(flows.size).flatMap((request): EdgeCall[] => {
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
  const how = { choice, withRoot: true, ...left }
  const subject = {
    title: `${isOfCalls ? `Calls of ${placeName(place)}` : 'Requests'} ${period === AFTER ? 'after' : 'before'}`,
    time: 'response time',
    rows: isOfCalls ? 'call' : 'request',
    words,
  }
  const differs = () => callTable(categories, { fromNode: place, toNode: place }, rows, how)
  return answered(flows, subject, { ...settings, question: 'what-differs', differs })
}

interface CallsAsked {
  readonly of: { readonly service: string; readonly operations: readonly string[] }
  readonly period: Period
  readonly isSo: (request: number, span: number) => boolean
  readonly words: GroupWords
  readonly isLeftOut?: LeftOutRule
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

/** Returns the calls of an edge in all requests, by period. */
function edgeCalls(categories: Categories, { fromNode, toNode }: EdgeNodes) {
  const flows = recordedFlows(categories.flows)
  const { shapes, labels } = flows
  const edgesOf = memoized((shape: number) => {
    const codes = shapes.labels(shape)
    const [from, to] = [shapes.from(shape), shapes.to(shape)]
    const isAt = (node: number, label: NodeLabel) =>
      isSameNode(labels.get(codes[node] as number), label)
    return Array.from(from, (node, edge) => ({ edge, from: node, to: to[edge] as number })).filter(
      ({ from, to }) => isAt(from, fromNode) && isAt(to, toNode),
    )
  })
  const calls: [before: EdgeCall[], after: EdgeCall[]] = [[], []]
  for (let request = 0; request < flows.size; request++) {
    const label = flows.period[request] as Period
    for (const { edge, from, to } of edgesOf(flows.shapeOf[request] as number)) {
      const timeUs = flows.latencies(request)[edge] as number
      calls[label].push({ label, request, from, to, timeUs })
    }
  }
  return calls
}

function oneCallEach(calls: readonly EdgeCall[], seed: number): EdgeCall[] {
  const random = randomSource(seed)
  const ofRequest = group(calls, ({ request }) => request)
  return Array.from(ofRequest.values(), (own) => own[random.integer(own.length)] as EdgeCall)
}

/** Whether two labels are the same except for hosts. */
function isSameNode(a: NodeLabel, b: NodeLabel): boolean {
  return isSame(a, b) && a.phase === b.phase
}

/** @param withRoot whether attributes of the requests' roots are parameters as well */
function callTable(
  categories: Categories,
  edge: EdgeNodes,
  rows: readonly EdgeCall[],
  {
    choice,
    withRoot,
    isLeftOut,
  }: Pick<CallsAsked, 'isLeftOut'> & {
    readonly choice: ParameterChoice
    readonly withRoot: boolean
  },
): ParameterTable {
  const flows = recordedFlows(categories.flows)
  const requests = rows.map(({ request }) => request)
  const [first, ...others] = [...new Set(requests)].map((request) => rootLabel(categories, request))
  const isOne = first !== undefined && others.every((other) => isSameNode(first, other))
  const root = isOne ? first : REQUEST
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
  return a.phase !== 'point' && isSame(a, b)
}

/** Stands for the beginnings of requests of several kinds. */
const REQUEST: NodeLabel = { service: '', operation: 'request', host: '', phase: 'call' }

function rootLabel({ flows }: Categories, request: number): NodeLabel {
  const { shapes, labels, shapeOf } = flows
  return labels.get(shapes.labels(shapeOf[request] as number)[0] as number)
}
