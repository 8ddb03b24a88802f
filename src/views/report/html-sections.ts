import type { Comparison } from '../../compare/comparison.ts'
import { counted, grouped } from '../../core/words.ts'
import { breakdownChart } from '../charts/breakdown.ts'
import { type Breakdown, breakdownRows, KIND_NAMES } from '../charts/breakdown-rows.ts'
import { accounting, type Part } from './accounting.ts'
import { chanceText, differenceText, durationText, intervalText, shareText } from './amounts.ts'
import type { Power } from './detectable.ts'
import { figure, htmlTable } from './html-parts.ts'
import { type Html, html, named, trusted } from './html-template.ts'
import { mutationRows } from './mutation-rows.ts'
import { detectableText, powerNote } from './power-words.ts'

const MOST_PLACES = 9
const MOST_MUTATIONS = 12

/** Is this comparison fair? */
export function fairnessSection(comparison: Comparison): Html {
  const warnings = comparison.warnings()
  return html`<section><h2>Is this comparison fair?</h2>${
    warnings.length === 0
      ? html`<p>Nothing was found that speaks against it.</p>`
      : html`<ul class="warnings">${warnings.map(
          ({ code, message, detail }) =>
            html`<li><details><summary><b>${code}</b> ${withCode(message)}</summary>${withCode(detail)}</details></li>`,
        )}</ul>`
  }</section>`
}

/** What stands between backticks as code. */
function withCode(message: string): Html {
  return trusted(named(message, 2000).markup.replace(/`([^`]*)`/g, '<code>$1</code>'))
}

/** How the findings add up against what was observed. */
export function accountingSection(comparison: Comparison): Html {
  const { findings, remainder, observed } = accounting(comparison)
  const largest = Math.max(
    ...[...findings, remainder, observed].map(({ totalUs }) => Math.abs(totalUs)),
  )
  return html`<section><h2>Do the findings add up?</h2>${htmlTable(
    [
      ...[
        { title: '' },
        { title: 'finding', names: true },
        { title: 'per request', amounts: true },
      ],
      ...[{ title: 'in all', amounts: true }, { title: 'share', amounts: true }, { title: '' }],
    ],
    [...findings, remainder].map((part) => partRow(part, largest)),
    { foot: [partRow(observed, largest)] },
  )}<p class="soft"><b>How to read this.</b> “In all” is added up over all requests after, against what they would have taken at the mean of before; “per request” is the same spread over all of them, concerned or not. Findings can overlap or hide behind each other, so they need not add up to 100 %. ${comparison.findings.changeIsClear ? '' : ' Shares are left out: all in all the times may as well not differ.'}</p></section>`
}

function partRow({ rank, name, perRequestUs, totalUs, share }: Part, largestUs: number) {
  const width = largestUs > 0 ? Math.round((Math.abs(totalUs) / largestUs) * 100) : 0
  const look = rank === null ? 'rest' : totalUs < 0 ? 'faster' : 'slower'
  return [
    rank === null ? '' : html`<a href="#finding-${rank}">${rank}</a>`,
    rank === null ? html`<i>${name}</i>` : named(name, 90),
    ...[differenceText(perRequestUs), differenceText(totalUs), shareText(share)],
    html`<span class="bar ${look}" style="width:${width}px"></span>`,
  ]
}

/** Where the time of a mean request goes, before and after. */
export function breakdownSection({ edges }: Comparison): Html {
  const breakdown = breakdownRows(edges, MOST_PLACES)
  if (breakdown.rows.length === 0) return html``
  return html`<section><h2>Where the time goes</h2>${figure(
    breakdownChart(edges, { limit: MOST_PLACES }),
    'Each place has two bars, orange before and blue after; where the blue one is longer, requests lose time. Time that another branch of the request covers is left out, so that the bars of one colour add up to a mean request.',
  )}${breakdownTable(breakdown)}</section>`
}

function breakdownTable({ rows, beforeUs, afterUs }: Breakdown): Html {
  const amounts = (before: number, after: number) => [
    ...[durationText(before), durationText(after), differenceText(after - before)],
  ]
  return htmlTable(
    [
      ...[{ title: 'service', names: true }, { title: 'kind' }, { title: 'before', amounts: true }],
      ...[
        { title: 'after', amounts: true },
        { title: 'change', amounts: true },
      ],
    ],
    rows.map((row) => [
      ...[row.service === '' ? html`<i>unnamed</i>` : named(row.service), KIND_NAMES[row.kind]],
      ...amounts(row.beforeUs, row.afterUs),
    ]),
    { foot: [['a mean request', '', ...amounts(beforeUs, afterUs)]] },
  )
}

/** What else the ranked list has, kind of request by kind of request. */
export function mutationsSection(comparison: Comparison): Html {
  const rows = mutationRows(comparison, MOST_MUTATIONS)
  const all = comparison.ranking.mutations.length
  const { alpha, correction } = comparison.options
  if (rows.length === 0) {
    return html`<section><h2>Kinds of request that changed</h2><p>No single kind has changed by enough to say so of it alone; findings pool several kinds.</p></section>`
  }
  const strict =
    correction === 'none'
      ? `Each kind is tested by itself at the ${Number((alpha * 100).toPrecision(3))} % level, so that among many kinds some are here by chance: trust those with a small q.`
      : 'The tests are corrected for their number.'
  return html`<section><h2>Kinds of request that changed</h2>${htmlTable(
    [
      ...[
        { title: 'rank', amounts: true },
        { title: 'kind of request', names: true },
        { title: 'what' },
      ],
      ...[
        { title: 'requests', amounts: true },
        { title: 'median before → after', amounts: true },
      ],
      ...[
        { title: 'likely between', amounts: true },
        { title: 'chance (q)', amounts: true },
      ],
    ],
    rows.map(({ rank, name, category, kind, requests, beforeUs, afterUs, interval, q }) => [
      ...[rank, html`${named(name, 60)} <span class="soft">(${category})</span>`],
      ...[kind === 'structural' ? 'other work' : 'other time', grouped(requests)],
      html`${durationText(beforeUs)} → ${durationText(afterUs)}`,
      ...[intervalText(interval), chanceText(q)],
    ]),
  )}${
    all > rows.length
      ? html`<p class="soft">… and ${counted(all - rows.length, 'more', 'more')}.</p>`
      : ''
  }<p class="soft"><b>How to read this.</b> Requests that do the same work in the same order are of one kind (its number in brackets), ranked by what its change costs. “Other time”: the same work takes another time. “Other work”: more requests than before do this work, and the median before is that of what they most likely did then. q is how often chance does as much, corrected for the number of tests. ${strict}</p></section>`
}

/** What smaller changes could have been missed. */
export function powerSection(known: Power): Html {
  if (known.kinds.length === 0) return html``
  return html`<section><h2>The smallest slowdown that would have been noticed</h2>${htmlTable(
    [
      ...[
        { title: 'kind of request', names: true },
        { title: 'requests before → after', amounts: true },
      ],
      ...[
        { title: 'median before', amounts: true },
        { title: 'noticeable from', amounts: true },
      ],
    ],
    known.kinds.map((kind) => [
      html`${named(kind.name, 60)} <span class="soft">(${kind.category})</span>`,
      `${grouped(kind.beforeCount)} → ${grouped(kind.afterCount)}`,
      ...[durationText(kind.medianBeforeUs), trusted(detectableText(kind))],
    ]),
  )}<p class="soft"><b>How to read this.</b> ${powerNote(known)}</p></section>`
}
