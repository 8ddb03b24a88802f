import type { Categories } from '../../compare/categories/categories.ts'
import type { Comparison } from '../../compare/comparison.ts'
import { AFTER } from '../../flows/flow-set.ts'
import { flowForm } from '../flow-pair/flow-form.ts'
import { chooseFlows, type FlowChoice, type FlowsToCompare } from '../flow-pair/flow-pair.ts'
import { commonTemplate, type RequestTimes, requestTimes } from './explain-edge.ts'
import { type ExplainOptions, Explanation, explainSettings } from './explanation.ts'
import { MUTATION_WORDS, PERIOD_WORDS } from './explanation-words.ts'
import type { Parameter } from './left-out.ts'
import { slowFrom } from './parameter-question.ts'
import {
  collectParameters,
  type ParameterChoice,
  type ParameterSide,
  ParameterTable,
  placeName,
  requireColumns,
} from './parameter-table.ts'
import { sampleRequests } from './request-sample.ts'

const MOST_SLOW = 10_000

/**
 * Explains a change by low-level parameters: sizes, flags, hosts, configuration values, recorded as
 * span attributes, attributes of span events, or attributes of trace points.
 *
 * Two questions, because a parameter can explain a change in two ways. *What differs?* compares the
 * mutation's requests with those of its precursor (or the requests of a category after with those
 * before) on the part of the flow that both have, up to the first difference on each path. *What is
 * slow?* looks at the requests after alone: which parameters do the slow ones have, those above the
 * 95th percentile before of the edge that changed most (of the response time of a structural
 * mutation)? The question whose parameters separate better comes first.
 *
 * Names of parameters are `frontend READ · count`; of several places alike, `frontend READ#2 · …`.
 * Identifiers, times, threads, addresses, counters and text that differs in nearly every request
 * are left out (`leftOut` says which, `include` puts them back).
 *
 * @param comparison from `compare`
 * @param what a category, a mutation of the ranking, or two categories
 * @param options see {@link ExplainOptions}
 * @throws OptionError for a category that is not there or a value that an option cannot have,
 *   FlowdeltaError for an unknown option
 *
 * Source: Sambasivan 2013, §2.6.6; the second question is an addition.
 *
 * @example
 * explainMutation(comparison, 0, { sample: 'all' }).paths
 */
export function explainMutation(
  comparison: Comparison,
  what: FlowsToCompare,
  options: ExplainOptions = {},
): Explanation {
  const { question, sample, seed, choice, growth } = explainSettings(options)
  const { categories } = comparison
  const { before, after } = chooseFlows(comparison, what)
  const members = ({ category, period }: FlowChoice) => categories.members(category, period)
  const groups = [members(before), members(after)]
  const sampled = sampleRequests(groups, { sample, seed }) as [Uint32Array, Uint32Array]
  const slowSample = sample === 'tenth' ? MOST_SLOW : sample
  const [slowRequests] = sampleRequests([members(after)], { sample: slowSample, seed }) as [
    Uint32Array,
  ]
  const times = requestTimes(comparison, before, after)
  const made = { comparison, before, after, times, choice }
  const tables = {
    differs: question === 'what-is-slow' ? null : differingTable(made, sampled),
    slow: question === 'what-differs' ? null : slowTable(made, slowRequests),
    slowAboveUs: slowFrom(timesOf(members(before), times), timesOf(members(after), times)),
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

interface Making {
  readonly comparison: Comparison
  readonly before: FlowChoice
  readonly after: FlowChoice
  readonly times: RequestTimes
  readonly choice: ParameterChoice
}

function differingTable(
  { comparison: { categories }, before, after, times, choice }: Making,
  [precursors, mutations]: readonly [Uint32Array, Uint32Array],
): ParameterTable {
  const template = commonTemplate(
    flowForm(categories, before.category),
    flowForm(categories, after.category),
  )
  const side = (
    requests: Uint32Array,
    { category }: FlowChoice,
    which: 'before' | 'after',
  ): ParameterSide => ({ requests, category, positions: template.map((node) => node[which]) })
  const all = collectParameters(categories, [
    side(precursors, before, 'before'),
    side(mutations, after, 'after'),
  ])
  const requests = Uint32Array.from([...precursors, ...mutations])
  const labels = Uint8Array.from(requests, (_, row) => Number(row >= precursors.length))
  return tableOf(categories, { all, requests, labels, times, choice })
}

function slowTable(
  { comparison: { categories }, after, times, choice }: Making,
  sampled: Uint32Array,
): ParameterTable {
  const requests = sampled.filter((request) => !Number.isNaN(times.of(request)))
  const { category } = after
  const positions = Array.from({ length: categories.nodeCount(category) }, (_, i) => i)
  const all = collectParameters(categories, [{ requests, category, positions }])
  const labels = new Uint8Array(requests.length).fill(AFTER)
  return tableOf(categories, { all, requests, labels, times, choice })
}

function tableOf(
  { flows }: Categories,
  {
    all,
    requests,
    labels,
    times,
    choice,
  }: {
    all: readonly Parameter[]
    requests: Uint32Array
    labels: Uint8Array
  } & Pick<Making, 'times' | 'choice'>,
): ParameterTable {
  const rows = {
    ...{ requests, labels, timeUs: timesOf(requests, times) },
    startUs: Float64Array.from(requests, (request) => flows.startUs[request] as number),
  }
  return new ParameterTable(flows, { all, rows }, choice)
}

function timesOf(requests: Uint32Array, times: RequestTimes): Float64Array {
  return Float64Array.from(requests, (request) => times.of(request))
}
