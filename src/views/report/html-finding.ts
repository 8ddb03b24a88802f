import type { Comparison } from '../../compare/comparison.ts'
import type { EdgeChange } from '../../compare/edges/find-edge-changes.ts'
import { type Finding, isStructural, type StructureChange } from '../../compare/findings/finding.ts'
import { changeWords, type Quantity } from '../../core/quantity.ts'
import { counted, grouped, percent } from '../../core/words.ts'
import type { Chart } from '../charts/chart.ts'
import { responseTimesChart } from '../charts/response-times.ts'
import { differenceText, intervalText, shareText } from './headline.ts'
import { figure, type Html, html, htmlTable, named, traceIds } from './html.ts'

const MAX_CHARTS = 3

/** What is drawn beside a finding: a chart of its own, that of another, or nothing. */
export type FindingChart =
  | { readonly kind: 'chart'; readonly chart: Chart }
  | { readonly kind: 'see'; readonly rank: number }

/** Response times of the kind that most of a finding's requests are of; each is drawn once. */
export function findingCharts({ findings, responseTime }: Comparison) {
  const charts = new Map<number, FindingChart>()
  const drawn = new Map<number, number>()
  for (const finding of findings.findings as readonly Finding[]) {
    const {
      rank,
      categories: [category],
    } = finding
    if (isStructural(finding) || category === undefined) continue
    if (!responseTime.test(category).testable) continue
    const known = drawn.get(category)
    if (known !== undefined) charts.set(rank, { kind: 'see', rank: known })
    else if (drawn.size < MAX_CHARTS) {
      drawn.set(category, rank)
      charts.set(rank, { kind: 'chart', chart: responseTimesChart(responseTime, { category }) })
    }
  }
  return charts
}

const MAX_ROWS = 8

export function htmlFinding(
  finding: Finding,
  {
    chart,
    traceUrl,
    of,
  }: { chart: FindingChart | undefined; traceUrl: string | undefined; of: Quantity },
): Html {
  const { rank, title, text, look, direction, contributionUs, shareOfChange, exemplars } = finding
  const share = shareOfChange > 0 ? `${shareText(shareOfChange)} of the change` : ''
  return html`<article class="finding ${direction}" id="finding-${rank}">
<h3><span class="rank">${rank}</span> ${named(title, 300)} <span class="share">${share}</span></h3>
<p class="facts"><span class="tag">${changeWords(of, direction === 'slower').how}</span> ${text} · ${differenceText(contributionUs, of)} in all</p>
<p class="look">Look at ${look}</p>
${finding.consequences.map(
  (seen) => html`<p class="soft">Also seen in ${named(seen.title, 300)}: ${seen.text}</p>`,
)}
${finding.changedEdges.length === 0 ? '' : stepsTable(finding, of)}
${finding.changedStructure.length === 0 ? '' : structureTable(finding)}
${exemplars.before.length + exemplars.after.length === 0 ? '' : html`<h4>Traces to look at</h4>`}${exampleTraces('before', exemplars.before, traceUrl)}${exampleTraces('after', exemplars.after, traceUrl)}
${chart === undefined ? '' : chartOf(finding, chart)}
</article>`
}

function stepsTable(finding: Finding, of: Quantity): Html {
  const { changedEdges } = finding
  const about = isStructural(finding)
    ? 'Steps that also changed within the call that was answered before'
    : 'Changed steps'
  return html`<h4>${about}</h4>${htmlTable(
    [
      { title: 'from', names: true },
      { title: 'to', names: true },
      { title: 'where' },
      { title: 'one step takes', amounts: true },
      { title: 'likely between', amounts: true },
      { title: `after is ${changeWords(of, true).how} in`, amounts: true },
      { title: 'requests before → after', amounts: true },
    ],
    changedEdges.slice(0, MAX_ROWS).map((edge) => stepRow(edge, of)),
  )}${more(changedEdges.length, 'step')}`
}

function stepRow(edge: EdgeChange, of: Quantity) {
  const { from, to, kind, shiftUs, interval, probabilitySlower } = edge
  return [
    ...[named(from), named(to), kind === 'self' ? 'work' : 'network'],
    differenceText(shiftUs, of),
    intervalText(interval, of),
    percent(probabilitySlower),
    `${grouped(edge.beforeRequests)} → ${grouped(edge.afterRequests)}`,
  ]
}

function structureTable({ changedStructure }: Finding): Html {
  return html`<h4>What requests do differently</h4>${htmlTable(
    [{ title: '' }, { title: 'step', names: true }, { title: 'follows', names: true }],
    changedStructure.slice(0, MAX_ROWS).map(structureRow),
  )}${more(changedStructure.length, 'part')}`
}

function structureRow({ change, label, after }: StructureChange) {
  const place = after === null ? html`<i>begins the request</i>` : named(after.label)
  return [change === 'added' ? 'new' : 'gone', named(label), place]
}

function more(all: number, what: string): Html | string {
  const left = all - MAX_ROWS
  return left > 0 ? html`<p class="soft">… and ${counted(left, `more ${what}`)}.</p>` : ''
}

function exampleTraces(
  period: 'before' | 'after',
  ids: readonly string[],
  traceUrl: string | undefined,
): Html | string {
  if (ids.length === 0) return ''
  return html`<p class="traces"><span class="period ${period}">${period}</span> ${traceIds(ids, traceUrl)}</p>`
}

function chartOf({ categories }: Finding, shown: FindingChart): Html {
  if (shown.kind === 'see') {
    return html`<p class="soft">Most of these requests are of the kind drawn at finding <a href="#finding-${shown.rank}">${shown.rank}</a>.</p>`
  }
  const kinds =
    categories.length === 1
      ? 'All affected requests are of this kind.'
      : `Of the ${categories.length} affected kinds of request, this one has the most requests.`
  return figure(
    shown.chart,
    `These are times of whole requests, not of the one step. Curves climb as requests finish. Where blue (after) runs to the right of orange (before), requests take longer; the vertical line marks where the two are furthest apart. ${kinds}`,
  )
}
