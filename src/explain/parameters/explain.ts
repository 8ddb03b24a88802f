import { group } from 'd3-array'
import type { Categories } from '../../compare/categories/categories.ts'
import { Comparison } from '../../compare/comparison.ts'
import type { PooledEdge } from '../../compare/edges/edge-pool.ts'
import type { Finding } from '../../compare/findings/finding.ts'
import type { Segment } from '../../compare/segments/segments.ts'
import { requireStage } from '../../core/errors.ts'
import { TIME } from '../../core/quantity.ts'
import { memoized } from '../../core/remembered.ts'
import { AFTER, BEFORE, type FlowSet } from '../../flows/flow-set.ts'
import { recordedFlows } from '../../flows/fold/folded-flows.ts'
import { type FlowForm, flowForm } from '../flow-pair/flow-form.ts'
import { chooseFlows, type FlowChoice, type FlowsToCompare } from '../flow-pair/flow-pair.ts'
import { explainChoice, explainEdge, explainFailures, explainWithin } from './explain-calls.ts'
import { type ExplainOptions, Explanation, explainSettings } from './explanation.ts'
import { MUTATION_WORDS, PERIOD_WORDS } from './explanation-words.ts'
import { slowFrom } from './parameter-question.ts'
import {
  type ParameterChoice,
  type ParameterTable,
  placeName,
  readTable,
  requireColumns,
  sampleRequests,
} from './parameter-table.ts'

/**
 * Explains a change by low-level parameters: which ones separate the requests that changed from
 * what they were, and which ones slow requests have.
 *
 * Of a finding about steps, and of an edge, the calls of these steps in all requests are explained,
 * first those that parameters tell apart best (others: `others`), and where the finding holds only in a
 * segment, the calls of that alone, too; of a finding that more or fewer
 * calls fail, which calls do, of the period in which more do; of one that calls are made otherwise,
 * which calls after do; of one about other work, the requests that moved most from one category to
 * another; of any other, those of its largest category.
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

/** Most steps of a finding that are explained. */
const MAX_STEPS = 4

function explainFinding(
  comparison: Comparison,
  finding: Finding,
  options: ExplainOptions,
): Explanation {
  const { kind, consequences, moves, categories, calls, doing, segment } = finding
  // Of one that sums up others, what these say.
  const changedEdges =
    finding.changedEdges.length > 0 || moves.length > 0
      ? finding.changedEdges
      : consequences.flatMap((one) => one.changedEdges)
  if (kind === 'errors') return explainFailures(comparison, finding, options)
  if (doing !== undefined && calls[0] !== undefined) {
    const why = explainChoice(comparison, { of: calls[0].of, doing }, options)
    // Where nothing after tells some from others, what they did before may.
    if (why.questions.some(({ paths }) => paths.length > 0)) return why
  }
  if (kind === 'latency' && changedEdges.length > 0) {
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
        // That no parameter alone tells all calls apart would deny the segment.
        return whole.paths.length === 0 ? within : [whole, within]
      })
      .toSorted((a, b) => separationOf(b) - separationOf(a))
    return (best as Explanation).beside(others)
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

function isAt({ fromNode, toNode }: PooledEdge, step: Segment['step']): boolean {
  return [fromNode, toNode].some(({ service }) => service === step?.service)
}

function separationOf({ questions: [first] }: Explanation): number {
  return first?.separation ?? 0
}

const MOST_SLOW = 10_000

/**
 * Explains a change by low-level parameters. *What differs?* compares the mutation's requests with
 * its precursor's, those of both periods, on the part of the flow that both have; of one category,
 * requests after with those before; *what is slow?* asks which parameters the
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
  const own = before.category === after.category
  const members = ({ category, period }: FlowChoice) => [...categories.members(category, period)]
  const inBoth = ({ category }: FlowChoice) =>
    ([BEFORE, AFTER] as const).flatMap((period) => members({ category, period }))
  const times = requestTimes(comparison, before, after)
  const table = (sides: readonly ParameterSide[]) => tableOf(categories, sides, { times, choice })
  const differingTable = () => {
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
  const slowTable = () => {
    const slowSample = sample === 'tenth' ? MOST_SLOW : sample
    const sampled = sampleRequests([members(after)], { sample: slowSample, seed }).flat()
    const requests = sampled.filter((request) => !Number.isNaN(times.of(request)))
    const { category } = after
    const positions = [...Array(categories.nodeCount(category)).keys()]
    return table([{ requests, category, positions, label: 1 }])
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

/** Requests of one category, and where in its depth-first order the places of the template are. */
interface ParameterSide {
  readonly requests: readonly number[]
  readonly category: number
  /** Which of the two groups they are in. */
  readonly label: 0 | 1
  readonly positions: readonly number[]
}

/** The parameters at the places of a template: a row a request, a column a place and attribute. */
export function tableOf(
  categories: Categories,
  sides: readonly ParameterSide[],
  { times, choice }: { readonly times: RequestTimes; readonly choice: ParameterChoice },
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
      return { request, label, timeUs: times.of(request), nodes }
    })
  })
  return readTable(flows, { places, rows }, choice)
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
    const free = group(others, (node) => after.kinds[node])
    const pairs = of.flatMap((node) => {
      const partner = free.get(before.kinds[node])?.shift()
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
    .filter(({ test }) => test.rejected === true)
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
