import { range, sort, sum } from 'd3-array'
import type { Finding, FindingCall } from '../../compare/findings/finding.ts'
import { wholeShifts } from '../../compare/findings/request-findings.ts'
import { STRUCTURAL_OPTIONS } from '../../compare/mutations/find-structural-mutations.ts'
import { type LabelCount, labelDifference } from '../../compare/precursors/match-precursors.ts'
import { type RankedMutation, usualTimeUs } from '../../compare/ranking/rank-mutations.ts'
import type { Comparison } from '../../comparison/comparison.ts'
import { isHint, isVital } from '../../comparison/fairness/comparison-warnings.ts'
import {
  amountsName,
  formatAmount,
  fromToText,
  type Quantity,
  signedAmount,
  TIME,
} from '../../core/quantity.ts'
import {
  type Columns,
  cutAtPart,
  leftOutLines,
  MAX_WIDTH,
  proseWidth,
  tableOf,
  textTable,
  wrapped,
} from '../../core/text-layout.ts'
import {
  counted,
  formatDuration,
  grouped,
  percent,
  printable,
  shortText,
  spoken,
} from '../../core/words.ts'
import { flowDifferences } from '../../explain/flow-pair/compare-flow-graphs.ts'
import type { Explained, ListedFinding } from '../../explain/listed-findings.ts'
import { titleOf, unansweredText } from '../../explain/parameters/explanation.ts'
import { countText, type FlowSet } from '../../flows/flow-set.ts'
import type { Operation } from '../../flows/node-labels.ts'
import { AFTER, BEFORE, type Period } from '../../traces/period.ts'
import { causeText, type ExplainedFinding } from '../../whatif/diagnosis/latency-diagnosis.ts'
import { rootName } from '../charts/node-names.ts'
import { ribbonLines } from '../charts/ribbon.ts'
import { ganttCalls } from '../widgets/gantt/gantt-model.ts'

/** Explanations of finding and mutation; where no question has an answer, said once for both. */
export function explanationTexts(explained: Explained | null, width = MAX_WIDTH): string[] {
  if (explained === null) return []
  const { finding, mutation } = explained
  const ofFinding = finding && {
    head: `Finding ${finding.consequenceOf === null ? `#${finding.rank}` : finding.id}`,
    why: finding.why,
  }
  const ofMutation = mutation && { head: `Mutation ${mutation.rank}`, why: mutation.why }
  const all = [ofFinding, ofMutation].filter((one) => one !== null)
  const unanswered = all.length > 1 ? unansweredText(all.map(({ why }) => why)) : null
  const named = (head: string, text: string) => `${head} by parameters: ${text}`
  const heads = all.map(({ head, why }) => named(head, titleOf(why)))
  const texts =
    unanswered === null
      ? all.map(({ head, why }) => named(head, why.text()))
      : [[...heads, unanswered].join('\n')]
  return texts.map((text) =>
    text
      .split('\n')
      .flatMap((line) => wrapped(line, '    ', proseWidth(width)))
      .join('\n'),
  )
}

/** Lines that text takes unless it is verbose: a screen. */
const MAX_LINES = 40
const ALL = Number.POSITIVE_INFINITY

interface TextOptions {
  readonly verbose: boolean
  /** Default: all of the comparison, with options as in code. */
  readonly warnings?: Warnings
  /** Characters of a line. Default: 100. */
  readonly width?: number
}

export interface ComparisonResults {
  readonly comparison: Comparison
  readonly limit: number
  readonly explained: Explained | null
  /** Findings with the results of a diagnosis. Default: no diagnosis. */
  readonly whatIf?: readonly ExplainedFinding[]
}

/** Writes the compared periods, warnings and findings on one screen; verbose, also every ranked mutation. */
export function comparisonText(
  { comparison, limit, explained, whatIf = [] }: ComparisonResults,
  { verbose, warnings = comparison.warnings(), width = MAX_WIDTH }: TextOptions,
): string {
  const explanations = [...whatIfTexts(whatIf), ...explanationTexts(explained, width)]
  if (verbose) {
    const blocks = verboseBlocks(comparison, { limit, warnings, width })
    return wrappedBlocks([...blocks, ...explanations], width)
  }
  const lines = MAX_LINES - 2 * explanations.length
  const blocks = shortBlocks(comparison, { limit: lines, warnings, width })
  return [...blocks, ...explanations].join('\n\n')
}

export interface FindingResults {
  readonly comparison: Comparison
  readonly finding: ListedFinding
  /** Default: none. */
  readonly explained?: Explained | null
}

/** Writes a finding with all that it rests on. */
export function findingText(
  { comparison, finding, explained = null }: FindingResults,
  { width = MAX_WIDTH } = {},
): string {
  const { id, kind, concerned, all, services, consequences, mutations, exemplars } = finding
  const count = (period: Period) => `${grouped(concerned[period])} of ${grouped(all[period])}`
  const names = (ids: readonly string[]) => ids.map(shortName).join(', ')
  const traces = (['before', 'after'] as const).flatMap((period) =>
    exemplars[period].length > 0 ? `Example traces ${period}: ${names(exemplars[period])}` : [],
  )
  const blocks = [
    comparison.findings.textOf(finding, proseWidth(width)),
    spoken([
      `${id} (${kind}): in ${count(BEFORE)} requests before, ${count(AFTER)} after`,
      services.length > 0 && `Services, the prime suspect first: ${names(services)}`,
      ...consequences.map((below) => `Consequence: ${below.id} ${below.title}`),
    ]).join('\n'),
    ...evidenceTables(finding, comparison.flows.quantity, width),
    ...mutations.map((mutation) => `Mutation ${mutationText(comparison, mutation, ALL)}`),
    ...flowText(comparison, mutations[0]),
    ...exampleTexts(comparison.flows, finding, width),
    ...(traces.length === 0 ? [] : [traces.join('\n')]),
    ...explanationTexts(explained, width),
  ]
  return wrappedBlocks(blocks, width)
}

const MAX_DIFFERENCES = 3

function flowText(comparison: Comparison, mutation: ListedFinding['mutations'][0] | undefined) {
  const shown = flowDifferences(comparison, mutation)?.differences.slice(0, MAX_DIFFERENCES) ?? []
  if (mutation === undefined || shown.length === 0) return []
  const lines = shown.map(({ rank, text }) => `  ${rank}. ${shortText(text, 240)}`)
  return [[`Differences within the flow of mutation ${mutation.rank}:`, ...lines].join('\n')]
}

function evidenceTables(
  { steps, calls, changedStructure, changedEdges }: ListedFinding,
  quantity: Quantity,
  width: number,
) {
  const signed = (amount: number) => signedAmount(amount, quantity)
  const name = (of: Operation | null) => (of ? `${of.service} ${of.operation}` : '–')
  const countOf = (period: Period) => (call: FindingCall) =>
    `${grouped(call.made[period])}/${grouped(call.chances[period])}`
  const table = <Row>(title: string, rows: readonly Row[], columns: Columns<Row>) =>
    rows.length > 0 && `${title}\n${tableOf(rows, columns, { longest: MAX_NAME_LENGTH, width })}`
  return spoken([
    table('Steps', steps, {
      operation: ({ operation }) => operation,
      what: ({ kind }) => kind,
      service: ({ service }) => service,
      caller: ({ caller }) => caller ?? '–',
      'one call takes': ({ shiftUs }) => signed(shiftUs),
    }),
    table('Calls', calls, {
      'made by': ({ of }) => name(of),
      call: ({ call }) => name(call),
      counted: ({ kind }) => kind,
      'after the answer of': ({ previous }) => name(previous),
      before: countOf(BEFORE),
      after: countOf(AFTER),
    }),
    table('What requests do differently', changedStructure, {
      step: ({ label }) => label,
      follows: ({ after }) => after?.label ?? 'the start',
      change: ({ change }) => change,
    }),
    table('Edges', changedEdges, {
      from: ({ from }) => from,
      to: ({ to }) => to,
      where: ({ kind }) => (kind === 'self' ? 'work' : 'network'),
      takes: ({ shiftUs }) => signed(shiftUs),
      '95 % CI': ({ interval }) => interval.map(signed).join(' to '),
      'requests before': ({ beforeRequests }) => grouped(beforeRequests),
      after: ({ afterRequests }) => grouped(afterRequests),
    }),
  ])
}

type Warnings = ReturnType<Comparison['warnings']>

interface BlockOptions {
  readonly limit: number
  readonly warnings: Warnings
  readonly width: number
}

function verboseBlocks(comparison: Comparison, { limit, warnings, width }: BlockOptions): string[] {
  const { mutations } = comparison.ranking
  const shown = mutations.slice(0, limit)
  return [
    [overview(comparison), ...ribbonLines(comparison, width)].join('\n'),
    ...warnings.map(({ code, message, detail }) => `! ${code}: ${message} ${detail}`),
    comparison.findings.text(proseWidth(width)),
    mutationCounts(comparison),
    ...thresholdLines(comparison),
    ...shown.map((mutation) => mutationText(comparison, mutation)),
    ...(mutations.length === 0 ? [nothingFound(comparison)] : []),
    ...leftOutLines(mutations.length - shown.length),
  ]
}

/** Shortens blocks to `limit` lines. Findings are cut last: warnings take the remaining lines, but the first ones get a line each. */
function shortBlocks(
  comparison: Comparison,
  { limit, warnings: all, width }: BlockOptions,
): string[] {
  const prose = proseWidth(width)
  const head = [...overview(comparison).split('\n'), ...ribbonLines(comparison, width)]
  const findings = comparison.findings
    .text(prose)
    .split('\n')
    .flatMap((line) => wrapped(line, '', prose))
  const warnings = all.flatMap((one) => (isHint(one) ? [] : `! ${one.code}: ${one.finding}`))
  const mutations = comparison.ranking.mutations.length
  const foot = spoken([
    mutations + comparison.findings.findings.length === 0 && nothingFound(comparison),
    ...thresholdLines(comparison).flatMap((line) => wrapped(line, '', prose)),
    ...moreHint(comparison, all),
  ])
  const room = limit - head.length - foot.length - 4
  const least = all.filter(isVital).length + 1
  const shownWarnings = warningLines(warnings, Math.max(least, room - findings.length), prose)
  const shownFindings = cutLines(findings, room - shownWarnings.length, 'lines of findings')
  return [head, shownWarnings, shownFindings, foot]
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
}

function moreHint({ findings: all, ranking: { mutations } }: Comparison, warnings: Warnings) {
  const [first] = all.findings
  const more = spoken([
    mutations.length > 0 && counted(mutations.length, 'changed category', 'changed categories'),
    warnings.length > 0 && 'warnings in full',
  ])
  const hints = spoken([
    more.length > 0 && `--verbose (${more.join(', ')})`,
    first !== undefined && `--finding ${first.id} (#1 with its traces)`,
    warnings.some(isHint) && '--omit-hosts (hosts left out: fewer and larger categories)',
  ])
  return hints.length === 0 ? [] : [`More: ${hints.join(', ')}.`]
}

/** Warnings in two lines each at most where there is room, else in one. */
function warningLines(warnings: readonly string[], room: number, width: number): readonly string[] {
  const whole = warnings.flatMap((line) => wrapped(cutAtPart(line, 2 * width - 10), '  ', width))
  const short = warnings.map((line) => cutAtPart(line, width))
  return whole.length <= room ? whole : cutLines(short, room, 'warnings')
}

/** Blocks of lines as text of the width that there is; an indented line goes on a step further in. */
function wrappedBlocks(blocks: readonly string[], width: number): string {
  const further = (line: string) => /^ +/.exec(line)?.[0].concat('  ')
  const lines = (block: string) =>
    block.split('\n').flatMap((line) => wrapped(line, further(line), width))
  return blocks.map((block) => lines(block).join('\n')).join('\n\n')
}

function cutLines(lines: readonly string[], max: number, things: string): readonly string[] {
  if (lines.length <= max) return lines
  const kept = lines.slice(0, Math.max(0, max - 1))
  return [...kept, `… ${grouped(lines.length - kept.length)} more ${things}: see --verbose`]
}

function overview(comparison: Comparison): string {
  const { flows, categories } = comparison
  const { quantity } = flows
  const by =
    quantity === TIME ? '' : `\nCompared by ${quantity.name}, summed over the spans of each request`
  const [before, after] = [countText(flows, BEFORE), countText(flows, AFTER)]
  const isDrawn = flows.isOfSample ? '\nA weighted sample of them was compared' : ''
  const isOwn = comparison.options.sample !== 'all' && !comparison.after.quality().isOfSample
  const exactly = `${isDrawn}${isDrawn && isOwn ? '; --sample all compares every request' : ''}`
  return (
    `${before} ${before === '1' ? 'request' : 'requests'} before, ${after} after, ` +
    `in ${counted(categories.size, 'different call structure')}${exactly}${by}${responseTimes(comparison)}`
  )
}

function mutationCounts({ responseTime, structural }: Comparison): string {
  const { mutations, precursors, options, suggestedThreshold } = structural
  const counts = `${grouped(responseTime.mutations.length)} response-time, ${grouped(mutations.length)} structural`
  return `Ranked mutations: ${counts}, ${counted(precursors.length, 'precursor')} (threshold ${options.smPThreshold}, suggested ${suggestedThreshold})`
}

/** Says what a different threshold changed: only the ranking. */
function thresholdLines(comparison: Comparison): string[] {
  const { default: usual } = STRUCTURAL_OPTIONS.smPThreshold
  const { smPThreshold } = comparison.options
  if (smPThreshold === usual) return []
  const [now, then] = [comparison, comparison.with({ smPThreshold: usual })].map(
    ({ structural }) =>
      `${counted(structural.mutations.length, 'structural mutation')} and ${counted(structural.precursors.length, 'precursor')}`,
  )
  const words = now === then ? `${now}, same as with ${usual}` : `${now}; with ${usual}, ${then}`
  return [
    `--sm-p-threshold ${smPThreshold}: the ranking has ${words}. Findings use --findings-threshold.`,
  ]
}

function whatIfTexts(whatIf: readonly ExplainedFinding[]): string[] {
  if (whatIf.length === 0) return []
  const lines = whatIf.map(
    (one) => `Finding ${one.finding.rank}: ${causeText(one, MAX_WIDTH) ?? 'no single change'}`,
  )
  return [['What-if, the single change that explains each:', ...lines].join('\n')]
}

function responseTimes({ flows }: Comparison): string {
  const { quantity } = flows
  if (flows.count(BEFORE) === 0 || flows.count(AFTER) === 0) return ''
  const changes = wholeShifts(flows).map(
    ({ measure, beforeUs, afterUs }) => `${measure} ${fromToText(beforeUs, afterUs, quantity)}`,
  )
  return `\n${quantity === TIME ? 'Response time' : amountsName(quantity)}: ${changes.join(', ')}`
}

/** Says how much could be tested, next to an empty ranking. */
function nothingFound({ categories, responseTime, flows }: Comparison): string {
  const few = range(categories.size).filter((one) => !responseTime.test(one).testable)
  if (few.length === 0) return 'All categories had enough requests to test.'
  const share = sum(few, (one) => categories.count(one, AFTER)) / flows.count(AFTER)
  return `${grouped(few.length)} of ${counted(categories.size, 'category', 'categories')} (${percent(share)} of requests after) ${few.length === 1 ? 'has' : 'have'} too few requests for tests of their own.`
}

const MIN_TOLD = 0.01

function mutationText(comparison: Comparison, mutation: RankedMutation, most = 3): string {
  const { categories } = comparison
  const { quantity } = categories.flows
  const { rank, kind, category, requests, contributionUs, significant } = mutation
  const { remainingUs, noPrecursor } = mutation
  const sign = contributionUs > 0 ? '+' : ''
  const cost = noPrecursor
    ? 'cost unknown'
    : `${sign}${formatAmount(contributionUs, quantity)} in total`
  const those = `${counted(Math.round(requests), 'request')} ${kind === 'structural' ? 'more' : 'before'}`
  const doubt = significant ? '' : '; in no finding, so it may be chance'
  return spoken([
    `${rank}. ${rootName(categories, category, MAX_NAME_LENGTH)}`,
    `   ${kind}, category ${category}: ${cost}, ${those}${doubt}`,
    !(Math.abs(remainingUs - contributionUs) < MIN_TOLD * Math.abs(contributionUs)) &&
      `   ${formatAmount(remainingUs, quantity)} left once those above are repaired`,
    ...(kind === 'structural'
      ? structuralLines(comparison, mutation)
      : responseTimeLines(comparison, category, most)),
  ]).join('\n')
}

function likelySources({ moves, categories }: Comparison, { category }: RankedMutation): string {
  const streams = moves.streams.filter(({ kind, to }) => kind === 'moves' && to === category)
  if (streams.length === 0) return ''
  const addedUs = sum(streams, (stream) => stream.addedUs)
  const all = formatAmount(addedUs, categories.flows.quantity)
  return `; ${counted(streams.length, 'category', 'categories')} together may be its source, adding ${all} in total`
}

function structuralLines(comparison: Comparison, mutation: RankedMutation): string[] {
  const { categories } = comparison
  const { quantity } = categories.flows
  const after = categories.responseTimeMoments(mutation.category, AFTER)
  if (mutation.noPrecursor) {
    const mean = formatAmount(after.mean, quantity)
    return [
      `   mean ${mean}; no precursor: no category lost that many requests${likelySources(comparison, mutation)}`,
    ]
  }
  const [likeliest] = mutation.precursors
  const origins = mutation.precursors.slice(0, 3).map(({ category, weight, nsed }) => {
    const usualUs = usualTimeUs(categories, category, { centre: 'mean' })
    return (
      `   was category ${category} (${Math.round(weight * 100)} %, distance ${nsed.toFixed(2)}): ` +
      fromToText(usualUs, after.mean, quantity)
    )
  })
  const { added, removed } = labelDifference(
    categories.structure(likeliest?.category as number),
    categories.structure(mutation.category),
  )
  return [...origins, ...labelLine('adds', added), ...labelLine('drops', removed)]
}

function labelLine(verb: string, labels: readonly LabelCount[]): string[] {
  if (labels.length === 0) return []
  const named = labels
    .slice(0, 4)
    .map(({ label, count }) => `${shortName(label)}${count > 1 ? ` ×${count}` : ''}`)
  const more = labels.length > named.length ? `, … (${grouped(labels.length)} in all)` : ''
  return [`   ${verb} ${named.join(', ')}${more}`]
}

function responseTimeLines(
  { categories, responseTime }: Comparison,
  category: number,
  most: number,
): string[] {
  const { quantity } = categories.flows
  const before = categories.responseTimeMoments(category, BEFORE)
  const after = categories.responseTimeMoments(category, AFTER)
  const changed = sort(
    responseTime.edges(category).filter((edge) => edge.changed),
    ({ beforeMeanUs, afterMeanUs }) => -Math.abs(afterMeanUs - beforeMeanUs),
  )
  const corrected = responseTime.options.correction === 'none' ? ', not corrected' : ''
  return [
    `   mean ${fromToText(before.mean, after.mean, quantity)}, ` +
      `p = ${responseTime.test(category).p.toPrecision(2)}${corrected}`,
    ...changed.slice(0, most).map(({ edge: { from, to }, beforeMeanUs, afterMeanUs }) => {
      const times = fromToText(beforeMeanUs, afterMeanUs, quantity)
      return `   ${shortName(from)} → ${shortName(to)}: ${times}`
    }),
  ]
}

const MAX_NAME_LENGTH = 120

function shortName(name: string): string {
  return shortText(name, MAX_NAME_LENGTH)
}

const MAX_CALLS = 25
const MAX_CALL_NAME = 76

/** Returns a request of a period by its trace id, call by call; `null` where it is not of that period. */
export function exampleOf(flows: FlowSet, of: Period, id: string) {
  const request = flows.ids.findIndex((one, at) => one === id && flows.period[at] === of)
  if (request < 0) return null
  return {
    request,
    period: of === BEFORE ? 'before' : 'after',
    calls: ganttCalls(flows, [request]),
  }
}

/**
 * Returns the first example traces of a finding. Calls of one kind by one caller are one row; of many rows, those of its
 * service, marked, and the longest, with their callers.
 */
export function exampleTexts(flows: FlowSet, finding: Finding, width = MAX_WIDTH): string[] {
  const { exemplars, services, operation } = finding
  const periods = [
    [BEFORE, exemplars.before[0]],
    [AFTER, exemplars.after[0]],
  ] as const
  return periods.flatMap(([of, id]) => {
    const example = id === undefined ? null : exampleOf(flows, of, id)
    if (example === null) return []
    const { calls, period, request } = example
    const kinds = callKinds(calls)
    const isNamed = ({ service, name }: Call) =>
      service === services[0] && (operation === null || name === operation)
    const shown = shownCalls(kinds, isNamed)
    const rows = shown.map((one) => {
      const indent = '  '.repeat(one.depth)
      const name = shortText(printable(`${one.service} ${one.name}`), MAX_CALL_NAME - indent.length)
      const signs = spoken([
        one.times > 1 && ` × ${one.times}`,
        one.isError && ' (failed)',
        isNamed(one) && ' ◀',
      ])
      const times = [one.startUs, one.endUs - one.startUs].map(formatDuration)
      return [`${indent}${name}${signs.join('')}`, ...times]
    })
    const title = `Trace ${printable(id as string)} (${period}, ${formatDuration(flows.responseTimeUs[request] as number)}), ${counted(calls.length, 'call')} (◀ marks the finding)`
    const left = calls.length - sum(shown, ({ times }) => times)
    const table = textTable(['', 'begins', 'takes'], rows, width)
    return [
      [title, table, ...(left > 0 ? [`… and ${counted(left, 'shorter call')}`] : [])].join('\n'),
    ]
  })
}

type Call = ReturnType<typeof ganttCalls>[number]

/** Calls of one kind by the same, or by such; sorted by path, each stands below its caller. */
type CallKind = Call & { readonly depth: number; readonly path: string; readonly times: number }

/** Calls by who makes them, who is called, and whether they fail, in order; callers stand before. */
function callKinds(calls: readonly Call[]): CallKind[] {
  const kinds: CallKind[] = []
  const kindOf: number[] = []
  const known = new Map<string, number>()
  for (const call of calls) {
    const { service, name, isError, startUs, endUs } = call
    const parent = call.parent < 0 ? -1 : (kindOf[call.parent] as number)
    const key = JSON.stringify([parent, service, name, isError])
    const at = known.get(key) ?? kinds.length
    known.set(key, at)
    kindOf.push(at)
    const { depth = -1, path = '' } = kinds[parent] ?? {}
    const own = `${path}/${String(at).padStart(9, '0')}`
    const first = kinds[at] ?? { ...call, parent, depth: depth + 1, path: own, times: 0 }
    kinds[at] = {
      ...first,
      startUs: Math.min(first.startUs, startUs),
      endUs: Math.max(first.endUs, endUs),
      times: first.times + 1,
    }
  }
  return kinds
}

function shownCalls(calls: readonly CallKind[], isWanted: (call: Call) => boolean): CallKind[] {
  const order = sort(
    calls.keys(),
    (at) => !isWanted(calls[at] as Call),
    (at) => (calls[at] as Call).startUs - (calls[at] as Call).endUs,
  )
  const shown = new Set<number>()
  for (const call of order) {
    const chain: number[] = []
    for (let at = call; at >= 0 && !shown.has(at); at = (calls[at] as Call).parent) chain.push(at)
    if (shown.size + chain.length > MAX_CALLS) continue
    for (const one of chain) shown.add(one)
  }
  return sort(
    calls.filter((_, call) => shown.has(call)),
    ({ path }) => path,
  )
}
