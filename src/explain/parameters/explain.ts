import type { Categories } from '../../compare/categories/categories.ts'
import { Comparison } from '../../compare/comparison.ts'
import type { PooledEdge } from '../../compare/edges/edge-pool.ts'
import type { Finding } from '../../compare/findings/finding.ts'
import { requireStage } from '../../core/errors.ts'
import { TIME } from '../../core/quantity.ts'
import { AFTER, BEFORE, type Period } from '../../flows/flow-set.ts'
import { flowForm } from '../flow-pair/flow-form.ts'
import { chooseFlows, type FlowChoice, type FlowsToCompare } from '../flow-pair/flow-pair.ts'
import { commonTemplate, explainEdge, type RequestTimes, requestTimes } from './explain-edge.ts'
import { type ExplainOptions, Explanation, explainSettings } from './explanation.ts'
import { MUTATION_WORDS, PERIOD_WORDS } from './explanation-words.ts'
import { slowFrom } from './parameter-question.ts'
import {
  collectParameters,
  type ParameterChoice,
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
    const side = (which: 'before' | 'after', { category }: FlowChoice, period: Period) => ({
      ...{ category, period, positions: template.map((node) => node[which]) },
      requests: groups[period] ?? [],
    })
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
  const timesOf = (flow: FlowChoice) => Float64Array.from(members(flow), times.of)
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

function tableOf(
  categories: Categories,
  sides: readonly ParameterSide[],
  { times, choice }: { readonly times: RequestTimes; readonly choice: ParameterChoice },
): ParameterTable {
  const { flows } = categories
  const requests = sides.flatMap((side) => side.requests)
  const rows = {
    requests: Uint32Array.from(requests),
    labels: Uint8Array.from(sides.flatMap((side) => side.requests.map(() => side.period))),
    timeUs: Float64Array.from(requests, times.of),
    startUs: Float64Array.from(requests, (request) => flows.startUs[request] as number),
  }
  return new ParameterTable(flows, { all: collectParameters(categories, sides), rows }, choice)
}
