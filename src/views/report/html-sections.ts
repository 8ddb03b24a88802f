import { sum } from 'd3-array'
import { withoutSmall } from '../../compare/account.ts'
import type { Comparison } from '../../compare/comparison.ts'
import { type RankedMutation, typicalTimeUs } from '../../compare/ranking/rank-mutations.ts'
import { notesIn } from '../../compare/subjects.ts'
import { type NoteThread, saidText } from '../../compare/words/notes.ts'
import { changeWords, fromToText, type Quantity, TIME } from '../../core/quantity.ts'
import { counted, grouped } from '../../core/words.ts'
import { AFTER, BEFORE, type Period } from '../../flows/flow-set.ts'
import { rootName } from '../charts/node-names.ts'
import { ribbonChart } from '../charts/ribbon.ts'
import { stepName } from '../charts/ribbon-parts.ts'
import {
  amountTexts,
  chanceText,
  differenceText,
  durationText,
  intervalText,
  shareText,
} from './headline.ts'
import { amounts, figure, type Html, html, htmlTable, named, trusted } from './html.ts'
import { detectableText, type Power, powerNote } from './power.ts'

export type Part = ReturnType<typeof accounting>['observed']

/** Adds up the contributions of findings, for comparison with the extra time of all requests after. */
export function accounting({ account, findings, flows }: Comparison) {
  const observedUs = findings.observedChangeUs
  const mixUs = account.mixUs * flows.countedIn(AFTER)
  const part = (rank: number | null, name: string, totalUs: number) => ({
    /** Rank of the finding; `null` if it is none. */
    rank,
    name,
    totalUs,
    perRequestUs: totalUs / Math.max(1, flows.countedIn(AFTER)),
    /** Share of the observed change; `NaN` if that may be 0. */
    share: findings.changeIsClear ? totalUs / observedUs : Number.NaN,
  })
  const left = findings.omitted > 0 ? `, ${findings.omitted} smaller findings included` : ''
  return {
    findings: findings.findings.map(({ rank, title, contributionUs }) =>
      part(rank, title, contributionUs),
    ),
    /** Together with the findings, they add up to the observed change. */
    others: [
      ...(mixUs === 0 ? [] : [part(null, 'changed request mix', mixUs)]),
      part(null, `unexplained${left}`, observedUs - mixUs - findings.attributedUs),
    ],
    observed: part(null, 'observed', observedUs),
  }
}

export function mutationRows(comparison: Comparison, limit: number) {
  return comparison.ranking.mutations
    .slice(0, limit)
    .map((mutation) => mutationRow(comparison, mutation))
}

const NO_INTERVAL = [Number.NaN, Number.NaN] as const

function mutationRow(comparison: Comparison, mutation: RankedMutation) {
  const { categories, responseTime, structural } = comparison
  const { rank, kind, category, requests, contributionUs, precursors } = mutation
  // Changed work is compared with the likeliest earlier requests.
  const origin = kind === 'structural' ? precursors[0]?.category : category
  const median = (of: number, [first, other]: readonly [Period, Period]) => {
    const period = categories.count(of, first) > 0 ? first : other
    return typicalTimeUs(categories, { category: of, period, centre: 'median' })
  }
  return {
    rank,
    kind,
    category,
    requests: Math.round(requests),
    contributionUs,
    name: rootName(categories, category, 60),
    beforeUs: origin === undefined ? Number.NaN : median(origin, [BEFORE, AFTER]),
    afterUs: median(category, [AFTER, BEFORE]),
    interval:
      origin === undefined ? NO_INTERVAL : responseTime.medianEffect(category, origin).interval,
    q: (kind === 'structural' ? structural : responseTime).test(category).q,
  }
}

const MAX_STEPS = 10
/** Width of a ribbon on a page of a report. */
const RIBBON_WIDTH = 950
const MAX_MUTATIONS = 12

export function fairnessSection(comparison: Comparison): Html {
  const warnings = comparison.warnings()
  return html`<section><h2>Is this comparison fair?</h2>${
    warnings.length === 0
      ? html`<p>No warnings: nothing suggests an unfair comparison.</p>`
      : html`<ul class="warnings">${warnings.map(
          ({ code, finding, effect, answer }) =>
            html`<li><details><summary>${withCode(finding)}</summary>${withCode(effect)} ${withCode(answer)} <span class="soft">(${code})</span></details></li>`,
        )}</ul>`
  }</section>`
}

export function notesSection(comparison: Comparison): Html | '' {
  const { told, elsewhere } = notesIn(comparison)
  if (told.length + elsewhere === 0) return ''
  return html`<section><h2>What people noted</h2><ul class="notes">${told.map(
    ({ what, thread }) =>
      html`<li><strong>${named(what, 200)}</strong><ul>${threadItem(thread)}</ul></li>`,
  )}</ul>${elsewhere === 0 ? '' : html`<p class="soft">${elsewhereText(elsewhere)}</p>`}</section>`
}

export function elsewhereText(notes: number): string {
  return `${counted(notes, 'note')} of the file ${notes === 1 ? 'is' : 'are'} about something not in this comparison.`
}

function threadItem({ note, replies }: NoteThread): Html {
  return html`<li>${named(note.text, 2000)} <span class="soft">${saidText(note)}</span>${
    replies.length === 0 ? '' : html`<ul>${replies.map(threadItem)}</ul>`
  }</li>`
}

function withCode(message: string): Html {
  return trusted(named(message, 2000).markup.replace(/`([^`]*)`/g, '<code>$1</code>'))
}

export function accountingSection(comparison: Comparison): Html {
  const { findings, others, observed } = accounting(comparison)
  const of = comparison.flows.quantity
  const parts = [...findings, ...others]
  const largest = Math.max(...[...parts, observed].map(({ totalUs }) => Math.abs(totalUs)))
  return html`<section><h2>What the change is made of</h2>${htmlTable(
    [
      { title: '' },
      { title: 'finding', names: true },
      ...amounts('per request', 'in all', 'share'),
      { title: '' },
    ],
    parts.map((part) => partRow(part, largest, of)),
    { foot: [partRow(observed, largest, of)] },
  )}<p class="soft"><b>How to read this.</b> “In all” compares all requests after with the same number at the mean before; “per request” divides that by all requests, affected or not. No time counts twice, so all rows add up to the last one.${comparison.findings.changeIsClear ? '' : ' Shares are left out because the times may not differ overall.'}</p></section>`
}

function partRow(
  { rank, name, perRequestUs, totalUs, share }: Part,
  largestUs: number,
  of: Quantity,
) {
  const width = largestUs > 0 ? Math.round((Math.abs(totalUs) / largestUs) * 100) : 0
  const look = rank === null ? 'rest' : totalUs < 0 ? 'faster' : 'slower'
  return [
    rank === null ? '' : html`<a href="#finding-${rank}">${rank}</a>`,
    rank === null ? html`<i>${name}</i>` : named(name, 90),
    differenceText(perRequestUs, of),
    differenceText(totalUs, of),
    shareText(share),
    html`<span class="bar ${look}" style="width:${width}px"></span>`,
  ]
}

/** Begins a report: where the time of a mean request went, as a picture and as a table. */
export function ribbonSection(comparison: Comparison): Html {
  const { account, flows } = comparison
  if (flows.count(BEFORE) === 0 || flows.count(AFTER) === 0) return html``
  const of = flows.quantity
  const means = (['beforeUs', 'afterUs'] as const).map((us) =>
    sum(account.steps, (step) => step[us]),
  )
  return html`<section><h2>Where the ${of.name} goes</h2>${figure(
    ribbonChart(comparison, { width: RIBBON_WIDTH }),
    `Both bars have one scale. Each is a mean request, cut into the steps that it waits for, in their order. Strong colors are what changed: they and the change of the gray parts add up.`,
  )}<details><summary>The same as a table</summary>${htmlTable(
    [{ title: 'step', names: true }, ...amounts('before', 'after', 'change')],
    withoutSmall(account.steps, MAX_STEPS).map((step) => [
      named(stepName(step)),
      ...amountTexts(step.beforeUs, step.afterUs, of),
    ]),
    { foot: [['a mean request', ...amountTexts(means[0] as number, means[1] as number, of)]] },
  )}</details></section>`
}

export function mutationsSection(comparison: Comparison): Html {
  const rows = mutationRows(comparison, MAX_MUTATIONS)
  const of = comparison.flows.quantity
  const all = comparison.ranking.mutations.length
  const { alpha, correction } = comparison.options
  if (rows.length === 0) {
    return html`<section><h2>Kinds of request that changed</h2><p>No single kind of request changed significantly${comparison.findings.findings.length === 0 ? '' : '; findings pool several kinds'}.</p></section>`
  }
  const strict =
    correction === 'none'
      ? `Each kind is tested at the ${Number((alpha * 100).toPrecision(3))} % level, so a few are here by chance: trust those with a small q.`
      : 'The tests are corrected for their number.'
  return html`<section><h2>Kinds of request that changed</h2>${htmlTable(
    [
      { title: 'rank', amounts: true },
      { title: 'kind of request', names: true },
      { title: 'what' },
      ...amounts('requests', 'median before → after', 'likely between', 'chance (q)'),
    ],
    rows.map(({ rank, name, category, kind, requests, beforeUs, afterUs, interval, q }) => [
      rank,
      html`${named(name, 60)} <span class="soft">(${category})</span>`,
      kind === 'structural' ? 'other work' : `other ${of.name}`,
      grouped(requests),
      fromToText(beforeUs, afterUs, of),
      intervalText(interval, of),
      chanceText(q),
    ]),
  )}${
    all > rows.length
      ? html`<p class="soft">… and ${counted(all - rows.length, 'more', 'more')}.</p>`
      : ''
  }<p class="soft"><b>How to read this.</b> Requests that do the same work in the same order are of one kind (number in brackets). Kinds are ranked by the cost of their change. “Other ${of.name}”: the same work takes a different ${of === TIME ? 'time' : 'amount of it'}. “Other work”: more requests do this work than before; the median before is of the work they most likely did then. q is the chance of a false alarm, corrected for the number of tests. It compares all times, not just medians, so it can be small where the interval of the median includes 0. ${strict}</p></section>`
}

export function powerSection(known: Power): Html {
  if (known.kinds.length === 0) return html``
  return html`<section><h2>The smallest ${changeWords(known.quantity, true).change} that would have been noticed</h2>${htmlTable(
    [
      { title: 'type of request', names: true },
      ...amounts('requests before → after', 'median before', 'noticeable from'),
    ],
    known.kinds.map((kind) => [
      named(kind.name, 60),
      `${grouped(kind.before)} → ${grouped(kind.after)}`,
      durationText(kind.medianUs, known.quantity),
      trusted(detectableText(kind, known.quantity)),
    ]),
  )}<p class="soft"><b>How to read this.</b> ${powerNote(known)}</p></section>`
}
