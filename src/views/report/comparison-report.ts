import { greatest, group, sum } from 'd3-array'
import type { EdgeChange } from '../../compare/edges/find-edge-changes.ts'
import { type Finding, isStructural } from '../../compare/findings/finding.ts'
import { typicalTimeUs } from '../../compare/ranking/rank-mutations.ts'
import { withoutSmall } from '../../comparison/account.ts'
import type { Comparison } from '../../comparison/comparison.ts'
import { isHint } from '../../comparison/fairness/comparison-warnings.ts'
import { belowText } from '../../comparison/words/finding-facts.ts'
import { changeWords, fromToText, partText, signedAmount, TIME } from '../../core/quantity.ts'
import { traceLink } from '../../core/trace-links.ts'
import { counted, firstOf, formatDuration, grouped, percent, spoken } from '../../core/words.ts'
import {
  accounting,
  amountTexts,
  certainty,
  chanceText,
  differenceText,
  durationText,
  headline,
  intervalText,
  periodTimes,
  power,
  powerNote,
  shareText,
} from '../../explain/headline.ts'
import { mutationEffect, originOf } from '../../explain/listed-findings.ts'
import { AFTER, BEFORE, type Period } from '../../flows/flow-set.ts'
import { place } from '../../flows/node-labels.ts'
import {
  causeText,
  type ExplainedFinding,
  type LatencyDiagnosis,
} from '../../whatif/diagnosis/latency-diagnosis.ts'
import { findingCaption, findingChart } from '../charts/finding-chart.ts'
import { latencyProfilesChart } from '../charts/latency-profiles.ts'
import { rootName } from '../charts/node-names.ts'
import { PAGE_WIDTH, ribbonChart, ribbonLines, stepName } from '../charts/ribbon.ts'
import {
  amounts,
  article,
  type Blocks,
  drawn,
  fold,
  heading,
  joined,
  type Line,
  list,
  looking,
  named,
  names,
  type Phrase,
  periods,
  picture,
  reading,
  section,
  table,
  text,
  warnings,
} from './blocks.ts'

/** Most characters of names, and of what is said of one thing. */
const MAX_NAME_LENGTH = 60
const MAX_CAUSE_LENGTH = 160
const MAX_TITLE_LENGTH = 200
const MAX_TEXT_LENGTH = 900
/** Width of a ribbon: pixels on a page, and characters of a line of blocks. */
const DRAWN_WIDTH = 100
const MAX_FILES = 3
const MAX_ROWS = 8
const MAX_STEPS = 10
const MAX_KINDS = 5
const MAX_MUTATIONS = 12
/** A comment is read at a glance: more is counted, and on the page. */
const BRIEF = { findings: 5, warnings: 4, kinds: 3, traces: 1 }

const PERIODS = ['before', 'after'] as const

/** Files that were compared. */
export type PeriodFiles = Readonly<Record<(typeof PERIODS)[number], readonly string[]>> | null

export interface ReportContext {
  /** Address of traces with `{traceId}` in it; `undefined` for no links. */
  readonly traceUrl: string | undefined
  readonly files: PeriodFiles
  readonly whatIf: LatencyDiagnosis | null
  readonly madeBy: string
}

/** Result of an analysis, from which every format is written. */
export interface Report {
  readonly title: string
  readonly head: Blocks
  readonly body: Blocks
  readonly foot: Line
}

/** Returns a comparison as a page: how much slower, where, what changed, does it add up, is it fair, what else. */
export function comparisonReport(comparison: Comparison, context: ReportContext): Report {
  const { files, whatIf, madeBy } = context
  const { title, sentences, shifts } = headline(comparison)
  const { findings, omitted, testedAgainst } = comparison.findings
  const explained = whatIf?.explains(comparison.findings) ?? []
  const { quantity: of } = comparison.flows
  const none = findings.length === 0
  const ribbon = ribbonSection(comparison)
  const all = comparison.warnings()
  // What may be wrong comes before the findings; hints, or that nothing is, after them.
  const isInDoubt = none || !all.every(isHint)
  const fairness = warnings(all)
  const noticed = section(noticedTitle(comparison), powerBlocks(comparison, MAX_KINDS))
  const shiftRows = shifts.map(({ measure, beforeUs, afterUs, interval }) => [
    measure,
    ...amountTexts(beforeUs, afterUs, of),
    intervalText(interval, of),
  ])
  return {
    title,
    head: [
      text('Traces of two periods compared', 'kicker'),
      heading(1, title),
      text(sentences.slice(0, 2).join(' '), 'lead'),
      sentences.slice(2).map((sentence) => text(sentence)),
      shiftRows.length > 0 &&
        table(
          ['all requests', ...amounts('before', 'after', 'difference', '95 % interval')],
          shiftRows,
        ),
      filesBlock(files, periodTimes(comparison)),
    ],
    body: [
      !none && ribbon,
      isInDoubt && fairness,
      none
        ? noticed
        : [
            section('What changed', [
              findings.map((finding) => {
                const cause = explained.find((one) => one.finding === finding)
                return findingArticle(finding, { ...context, comparison, cause })
              }),
              omitted > 0 && text(`${omitted} smaller findings are left out.`, 'soft'),
            ]),
            section('What the change is made of', [
              accountTable(comparison, 'finding', findings.length),
              reading(
                `“In all” compares all requests after with the same number at the mean before; “per request” divides that by all requests, affected or not. No time counts twice, so all rows add up to the last one.${comparison.findings.changeIsClear ? '' : ' Shares are left out because the times may not differ overall.'}`,
              ),
            ]),
          ],
      !isInDoubt && fairness,
      section('Which single change explains it?', whatIfBlocks(whatIf, explained), 'what-if'),
      none && ribbon,
      section('Kinds of request that changed', mutationBlocks(comparison)),
      !none && noticed,
    ],
    foot: `Made by ${madeBy}. ${testedAgainst} Findings rest on tests corrected for their number: of periods that do not differ, at most ${Number((100 * comparison.options.alpha).toPrecision(3))} % of all comparisons find anything. ${of === TIME ? 'Durations are wall-clock times from the traces.' : `Requests are compared by ${of.name}, summed over their spans.`}`,
  }
}

/** Returns a comparison as a comment of at most 65 lines (80 with `whatIf`), details folded. */
export function briefReport(
  comparison: Comparison,
  { whatIf, madeBy, traceUrl }: ReportContext,
): Report {
  const { title, sentences, shifts } = headline(comparison)
  const { findings, omitted } = comparison.findings
  const explained = whatIf?.explains(comparison.findings) ?? []
  const shown = findings.slice(0, BRIEF.findings)
  const left = findings.length - shown.length + omitted
  const doubts = comparison.warnings().filter((one) => !isHint(one))
  const lines = ribbonLines(comparison, DRAWN_WIDTH)
  const lead = [...sentences, certainty(shifts, comparison.flows.quantity)].join(' ')
  return {
    title,
    head: [text(named(lead, MAX_TEXT_LENGTH)), lines.length > 0 && drawn(lines)],
    body: [
      doubts.length > 0 &&
        warnings(doubts.slice(0, BRIEF.warnings), doubts.length - BRIEF.warnings),
      shown.length > 0 && [
        accountTable(comparison, 'what changed', BRIEF.findings),
        left > 0 && text(`… and ${counted(left, 'smaller finding')}.`),
        fold('How sure, and where to look', [
          list(
            shown.map((finding) => [
              named(`${finding.text} · look at ${finding.look}.`, MAX_TEXT_LENGTH),
              briefTraces(finding, traceUrl),
            ]),
            { isOrdered: true },
          ),
        ]),
      ],
      fold('Which single change explains it', whatIfBlocks(whatIf, explained)),
      fold(noticedTitle(comparison), powerBlocks(comparison, BRIEF.kinds)),
    ],
    foot: ['Made by ', named(madeBy, MAX_NAME_LENGTH), '.'],
  }
}

function noticedTitle({ flows }: Comparison): string {
  return `The smallest ${changeWords(flows.quantity, true).change} that would have been noticed`
}

/** Returns the times of the periods, if known, and the compared files. */
export function filesBlock(
  files: PeriodFiles,
  times: Partial<ReturnType<typeof periodTimes>> = {},
): Blocks {
  const lines = PERIODS.flatMap((name) => {
    const line = spoken([times[name], files && filesText(files[name])]).join(' · ')
    return line === '' ? [] : [[name, line] as const]
  })
  return lines.length === 0 ? [] : [periods(Object.fromEntries(lines))]
}

export function filesText(files: readonly string[]): string {
  return firstOf(files, { most: MAX_FILES })
}

function ribbonSection(comparison: Comparison): Blocks {
  const { account, flows } = comparison
  const of = flows.quantity
  if (flows.count(BEFORE) === 0 || flows.count(AFTER) === 0) return []
  const meanOf = (us: 'beforeUs' | 'afterUs') => sum(account.steps, (step) => step[us])
  const rows = withoutSmall(account.steps, MAX_STEPS).map((step) => [
    named(stepName(step)),
    ...amountTexts(step.beforeUs, step.afterUs, of),
  ])
  const means = ['a mean request', ...amountTexts(meanOf('beforeUs'), meanOf('afterUs'), of)]
  return [
    section(`Where the ${of.name} goes`, [
      picture(
        ribbonChart(comparison, { width: PAGE_WIDTH }),
        'Both bars have one scale. Each is a mean request, cut into the steps that it waits for, in their order. Strong colors are what changed: they and the change of the gray parts add up.',
      ),
      fold('The same as a table', [
        table([...names('step'), ...amounts('before', 'after', 'change')], rows, [means]),
      ]),
    ]),
  ]
}

function accountTable(comparison: Comparison, title: string, most: number) {
  const { findings, others, observed } = accounting(comparison)
  const of = comparison.flows.quantity
  const all = [...findings, ...others, observed]
  const largestUs = Math.max(...all.map(({ totalUs }) => Math.abs(totalUs)))
  const row = ({ rank, name, perRequestUs, totalUs, share }: typeof observed) => [
    rank === null ? '' : { text: String(rank), href: `#finding-${rank}` },
    rank === null ? looking('em', name) : named(name, MAX_TITLE_LENGTH),
    differenceText(perRequestUs, of),
    differenceText(totalUs, of),
    shareText(share),
    {
      share: largestUs > 0 ? Math.abs(totalUs) / largestUs : 0,
      bar: rank === null ? 'rest' : totalUs < 0 ? 'faster' : 'slower',
    },
  ]
  return table(
    ['', ...names(title), ...amounts('per request', 'in total', 'share'), { title: '', of: 'bar' }],
    [...findings.slice(0, most), ...others].map(row),
    [row(observed)],
  )
}

interface FindingContext extends ReportContext {
  readonly comparison: Comparison
  readonly cause: ExplainedFinding | undefined
}

function findingArticle(finding: Finding, { comparison, traceUrl, cause }: FindingContext) {
  const { rank, kind, direction, contributionUs, consequences, exemplars } = finding
  const { quantity: of } = comparison.flows
  const pictured = findingChart(comparison, finding)
  const explains = cause && causeText(cause, MAX_TITLE_LENGTH)
  const isSlower = direction === 'slower'
  const tag =
    kind === 'errors' ? `fails ${isSlower ? 'more' : 'less'}` : changeWords(of, isSlower).how
  const { observedChangeUs } = comparison.findings
  const share = finding.shareOfChange > 0 ? partText(contributionUs, observedChangeUs, of) : ''
  const facts = spoken([
    finding.text,
    contributionUs !== 0 &&
      `${differenceText(contributionUs, of)} in total${belowText(consequences)}`,
  ])
  const traces = PERIODS.filter((period) => exemplars[period].length > 0).map((period) => {
    const ids = exemplars[period].map((id) => traceOf(id, traceUrl))
    return text([looking(`period ${period}`, period), ' ', joined(ids, ' ')], 'traces')
  })
  const title = [looking('rank', String(rank)), ' ', named(finding.title, 300)]
  return article(`finding-${rank}`, `finding ${direction}`, [
    heading(3, [...title, ' ', looking('share', share)]),
    text([looking('tag', tag), ' ', facts.join(' · ')], 'facts'),
    text(`Look at ${finding.look}`, 'look'),
    typeof explains === 'string' &&
      text([{ text: 'What-if', href: '#what-if' }, ' ', named(explains, 300), '.'], 'soft'),
    consequences.map((seen) =>
      text(['Also seen in ', named(seen.title, 300), ': ', seen.text], 'soft'),
    ),
    stepBlocks(finding, comparison),
    structureBlocks(finding),
    traces.length > 0 && [heading(4, 'Traces to look at'), traces],
    picture(pictured.chart, findingCaption(finding, pictured.of)),
  ])
}

function traceOf(id: string, traceUrl: string | undefined): Phrase {
  const code = looking('code', id)
  return traceUrl === undefined ? code : { ...code, href: traceLink(traceUrl, id) }
}

/** Returns the first example traces on a line: `Traces: before a1; after b2.` */
function briefTraces({ exemplars }: Finding, traceUrl: string | undefined): Line {
  const parts = PERIODS.flatMap((period): Line[] => {
    const ids = exemplars[period].slice(0, BRIEF.traces).map((id) => {
      return { ...traceOf(id, traceUrl), longest: MAX_NAME_LENGTH }
    })
    return ids.length === 0 ? [] : [[`${period} `, joined(ids, ', ')]]
  })
  return parts.length === 0 ? '' : [' Traces: ', joined(parts, '; '), '.']
}

/** Steps of fewer of a finding's requests than this share would look like all that changed. */
const MIN_COVERED = 0.5

/** Returns the edges that changed, unless those that could be tested stand for few of the requests. */
function stepBlocks(finding: Finding, { flows }: Comparison): Blocks {
  const of = flows.quantity
  const tested = finding.changedEdges.filter((edge) => !Number.isNaN(edge.probabilitySlower))
  // The same step on another host has the same key.
  const steps = [
    ...group(tested, ({ fromNode, toNode, kind }) => {
      const ends = [fromNode, toNode].map((node) => [place(node), node.operation, node.phase])
      return JSON.stringify([ends, kind])
    }).values(),
  ]
  const covered = sum(tested, ({ afterRequests }) => afterRequests)
  const isPart = !isStructural(finding) && covered < MIN_COVERED * finding.requests
  if (tested.length === 0 || isPart) return []
  const some = finding.segment === undefined ? '' : ', over requests of the segment and others'
  const about = isStructural(finding)
    ? 'Other changed steps, within the call answered just before'
    : `Changed steps${some}`
  const slower = `after is ${changeWords(of, true).how} in`
  const rows = steps.slice(0, MAX_ROWS).map((alike) => {
    const edge = greatest(alike, ({ afterRequests }) => afterRequests) as EdgeChange
    const others = alike.length - 1
    return [
      named(edge.from),
      [
        named(edge.to),
        others === 0 ? '' : [' ', looking('soft', `and ${counted(others, 'more host')}`)],
      ],
      edge.kind === 'self' ? 'work' : 'network',
      differenceText(edge.shiftUs, of),
      intervalText(edge.interval, of),
      percent(edge.probabilitySlower),
      `${grouped(edge.beforeRequests)} → ${grouped(edge.afterRequests)}`,
    ]
  })
  const sizes = amounts('one step takes', 'likely between', slower, 'requests before → after')
  return [
    heading(4, about),
    table([...names('from', 'to'), 'where', ...sizes], rows),
    more(steps.length - MAX_ROWS, 'more step'),
  ]
}

function structureBlocks({ changedStructure }: Finding): Blocks {
  if (changedStructure.length === 0) return []
  const rows = changedStructure
    .slice(0, MAX_ROWS)
    .map(({ change, label, after }) => [
      change === 'added' ? 'new' : 'gone',
      named(label),
      after === null ? looking('em', 'begins the request') : named(after.label),
    ])
  return [
    heading(4, 'What requests do differently'),
    table(['', ...names('step', 'follows')], rows),
    more(changedStructure.length - MAX_ROWS, 'more part'),
  ]
}

function more(left: number, what: string, many?: string) {
  return left > 0 && text(`… and ${counted(left, what, many)}.`, 'soft')
}

const NO_INTERVAL = [Number.NaN, Number.NaN] as const

export function mutationRows(comparison: Comparison, limit: number) {
  const { categories, responseTime, structural } = comparison
  const median = (category: number, [first, other]: readonly [Period, Period]) => {
    const period = categories.count(category, first) > 0 ? first : other
    return typicalTimeUs(categories, { category, period, centre: 'median' })
  }
  return comparison.ranking.mutations.slice(0, limit).map((mutation) => {
    const { rank, kind, category, requests, contributionUs } = mutation
    const origin = originOf(mutation)
    return {
      rank,
      kind,
      category,
      requests: Math.round(requests),
      contributionUs,
      name: rootName(categories, category, MAX_NAME_LENGTH),
      beforeUs: origin === undefined ? Number.NaN : median(origin, [BEFORE, AFTER]),
      afterUs: median(category, [AFTER, BEFORE]),
      interval: mutationEffect(comparison, mutation)?.interval ?? NO_INTERVAL,
      q: (kind === 'structural' ? structural : responseTime).test(category).q,
    }
  })
}

function mutationBlocks(comparison: Comparison): Blocks {
  const found = mutationRows(comparison, MAX_MUTATIONS)
  const of = comparison.flows.quantity
  const { alpha, correction } = comparison.options
  if (found.length === 0) {
    const none = comparison.findings.findings.length === 0
    const pooled = none ? '' : '; findings pool several kinds'
    return [text(`No single kind of request changed significantly${pooled}.`)]
  }
  const strict =
    correction === 'none'
      ? `Each kind is tested at the ${Number((alpha * 100).toPrecision(3))} % level, so a few are here by chance: trust those with a small q.`
      : 'The tests are corrected for their number.'
  const rows = found.map((one) => [
    one.rank,
    [named(one.name, MAX_NAME_LENGTH), ' ', looking('soft', `(${one.category})`)],
    one.kind === 'structural' ? 'other work' : `other ${of.name}`,
    grouped(one.requests),
    fromToText(one.beforeUs, one.afterUs, of),
    intervalText(one.interval, of),
    chanceText(one.q),
  ])
  const sizes = amounts('requests', 'median before → after', 'likely between', 'chance (q)')
  return [
    table([...amounts('rank'), ...names('kind of request'), 'what', ...sizes], rows),
    more(comparison.ranking.mutations.length - rows.length, 'more', 'more'),
    reading(
      `Requests that do the same work in the same order are of one kind (number in brackets). Kinds are ranked by the cost of their change. “Other ${of.name}”: the same work takes a different ${of === TIME ? 'time' : 'amount of it'}. “Other work”: more requests do this work than before; the median before is of the work they most likely did then. q is the chance of a false alarm, corrected for the number of tests. It compares all times, not just medians, so it can be small where the interval of the median includes 0. ${strict}`,
    ),
  ]
}

function powerBlocks(comparison: Comparison, limit: number): Blocks {
  const known = power(comparison, limit)
  const { kinds, quantity } = known
  if (kinds.length === 0) return []
  const rows = kinds.map(({ name, before, after, medianUs, shiftUs }) => [
    named(name, MAX_NAME_LENGTH),
    `${grouped(before)} → ${grouped(after)}`,
    durationText(medianUs, quantity),
    Number.isFinite(shiftUs) ? signedAmount(shiftUs, quantity) : 'never: too few',
  ])
  const sizes = amounts('requests before → after', 'median before', 'noticeable from')
  return [table([...names('type of request'), ...sizes], rows), reading(powerNote(known))]
}

const MAX_CAUSES = 5

/** Returns one row per significant cause, the best first, with before and after as they were recorded around them. */
function whatIfBlocks(
  diagnosis: LatencyDiagnosis | null,
  explained: readonly ExplainedFinding[],
): Blocks {
  if (diagnosis === null) return []
  const { base, target, ranked, best } = diagnosis
  if (!best?.significant) return [text('No single change explains more than chance.')]
  const told = new Set(explained.map(({ cause }) => cause?.rank))
  const causes = ranked
    .filter(({ significant, rank }) => significant && (rank <= MAX_CAUSES || told.has(rank)))
    .slice(0, MAX_ROWS)
  const recorded = (name: string, share: string, profile: typeof base) => {
    const times = [0.5, 0.99].map((q) => formatDuration(profile.quantile(q)))
    return ['', name, share, ...times, '']
  }
  const findingsOf = (cause: number) =>
    explained
      .filter((one) => one.cause?.rank === cause)
      .map(({ finding: { rank } }) => ({ text: String(rank), href: `#finding-${rank}` }))
  const change = names('single change, the rest as before')
  return [
    table(
      ['', ...change, ...amounts('explains', 'p50', 'p99'), 'finding'],
      [
        recorded('before, as recorded', '0 %', base),
        ...causes.map(({ rank, scenario, gain, p50Us, p99Us }) => [
          String(rank),
          named(scenario.title, MAX_CAUSE_LENGTH),
          gain < 0 ? 'none' : percent(gain),
          formatDuration(p50Us),
          formatDuration(p99Us),
          joined(findingsOf(rank), ', '),
        ]),
        recorded('after, as recorded', '100 %', target),
      ],
    ),
    picture(
      latencyProfilesChart(diagnosis.profile(1), { targetName: 'after' }),
      'Every request before was recomputed with the first change of the table and nothing else. The closer this curve comes to the one after, the more the change explains.',
    ),
  ]
}
