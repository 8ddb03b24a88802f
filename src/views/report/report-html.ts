import { greatest, group, sum } from 'd3-array'
import { Comparison } from '../../compare/comparison.ts'
import type { EdgeChange } from '../../compare/edges/find-edge-changes.ts'
import { type Finding, isStructural } from '../../compare/findings/finding.ts'
import type { WholeShift } from '../../compare/findings/whole-shift.ts'
import { belowText } from '../../compare/words/finding-facts.ts'
import { requireStage } from '../../core/errors.ts'
import {
  custom,
  defineOptions,
  type OptionsOf,
  optionalText,
  readOptions,
  text,
} from '../../core/options.ts'
import { changeWords, partText, type Quantity, TIME } from '../../core/quantity.ts'
import { traceTemplate } from '../../core/trace-links.ts'
import { counted, firstOf, grouped, percent, spoken } from '../../core/words.ts'
import { place } from '../../flows/node-labels.ts'
import { LogComparison } from '../../logs/compare-logs.ts'
import {
  causeText,
  type ExplainedFinding,
  LatencyDiagnosis,
} from '../../whatif/diagnosis/latency-diagnosis.ts'
import { type FindingChart, findingChart } from '../charts/finding-chart.ts'
import { differenceText, durationText, headline, intervalText, periodTimes } from './headline.ts'
import { amounts, figure, type Html, html, htmlTable, named, reportPage, traceIds } from './html.ts'
import {
  accountingSection,
  fairnessSection,
  mutationsSection,
  notesSection,
  powerSection,
  ribbonSection,
} from './html-sections.ts'
import { logsPage } from './logs-report.ts'
import { power } from './power.ts'
import { whatIfSection } from './what-if-section.ts'

/** Options of `reportHtml` and `reportMarkdown`. */
export const REPORT_OPTIONS = defineOptions({
  traceUrl: optionalText(
    'Address of traces with {traceId} in it, or jaeger=BASE, tempo=BASE (Grafana), zipkin=BASE',
    'trace-url <template>',
  ),
  files: custom<{ readonly before: readonly string[]; readonly after: readonly string[] } | null>({
    default: null,
    accepts: (value) =>
      value === null || (typeof value === 'object' && 'before' in value && 'after' in value),
    expected: '{ before: […], after: […] } or null',
    sentence: 'Files that were compared, to be named in the report',
  }),
  whatIf: custom<LatencyDiagnosis | null>({
    default: null,
    accepts: (value) => value === null || value instanceof LatencyDiagnosis,
    expected: 'what diagnoseLatency returns for the same periods, or null',
    sentence: 'Diagnosis whose causes stand beside the findings',
  }),
  madeBy: text({ default: 'flowdelta', sentence: 'Program and version to name in the report' }),
})

/** Options of a report; see `REPORT_OPTIONS`. */
export type ReportOptions = Partial<OptionsOf<typeof REPORT_OPTIONS>>

const MAX_KINDS = 5

/**
 * Returns a comparison as one HTML page to attach to an incident: what got slower, by how much, how sure, and where to
 * look, with pictures. The page needs no network and no script.
 *
 * @param comparison from `compare` or `compareLogs`
 * @param options see {@link ReportOptions}
 * @throws OptionError for a `traceUrl` that is no template
 *
 * @example
 * reportHtml(comparison, { traceUrl: 'jaeger=http://localhost:16686' }).startsWith('<!doctype html>') // true
 */
export function reportHtml(
  comparison: Comparison | LogComparison,
  options: ReportOptions = {},
): string {
  const { traceUrl, files, madeBy, whatIf } = readOptions(REPORT_OPTIONS, options)
  if (comparison instanceof LogComparison) {
    return logsPage(comparison, { madeBy, periods: logFiles(files) })
  }
  requireStage('reportHtml(comparison)', comparison, Comparison)
  const template = traceUrl === null ? undefined : traceTemplate(traceUrl)
  const { title, sentences, shifts } = headline(comparison)
  const { findings, omitted } = comparison.findings
  const explained = whatIf?.explains(comparison.findings) ?? []
  const known = power(comparison, MAX_KINDS)
  const of = comparison.flows.quantity
  const none = findings.length === 0
  const seen = powerSection(known)
  const ribbon = ribbonSection(comparison)
  return reportPage(
    title,
    html`<header>
<p class="kicker">Traces of two periods compared</p>
<h1>${title}</h1>
<p class="lead">${sentences.slice(0, 2).map((sentence) => html`${sentence} `)}</p>
${sentences.slice(2).map((sentence) => html`<p>${sentence}</p>`)}
${shifts.length === 0 ? '' : shiftTable(shifts, of)}
${periods(files, periodTimes(comparison))}
</header>
<main>
${none ? '' : ribbon}
${fairnessSection(comparison)}
${
  none
    ? seen
    : html`<section><h2>What changed</h2>${findings.map((finding) =>
        htmlFinding(finding, {
          chart: findingChart(comparison, finding),
          traceUrl: template,
          of,
          changeUs: comparison.findings.observedChangeUs,
          cause: explained.find((one) => one.finding === finding),
        }),
      )}${omitted > 0 ? html`<p class="soft">${omitted} smaller findings are left out.</p>` : ''}</section>
${accountingSection(comparison)}`
}
${whatIf === null ? '' : whatIfSection(whatIf, explained)}
${none ? ribbon : ''}
${mutationsSection(comparison)}
${none ? '' : seen}
${notesSection(comparison)}
</main>
<footer class="soft">Made by ${madeBy}. ${comparison.findings.testedAgainst} Findings rest on tests corrected for their number: of periods that do not differ, at most ${Number((100 * comparison.options.alpha).toPrecision(3))} % of all comparisons find anything. ${of === TIME ? 'Durations are wall-clock times from the traces.' : `Requests are compared by ${of.name}, summed over their spans.`}</footer>`,
  )
}

function shiftTable(shifts: readonly WholeShift[], of: Quantity): Html {
  return htmlTable(
    [{ title: 'all requests' }, ...amounts('before', 'after', 'difference', '95 % interval')],
    shifts.map(({ measure, beforeUs, afterUs, shiftUs, interval }) => [
      measure,
      durationText(beforeUs, of),
      durationText(afterUs, of),
      differenceText(shiftUs, of),
      intervalText(interval, of),
    ]),
  )
}

const MAX_FILES = 3

/** Returns the times of the periods, if known, and the compared files. */
function periods(
  files: OptionsOf<typeof REPORT_OPTIONS>['files'],
  times: Partial<ReturnType<typeof periodTimes>> = {},
): Html | string {
  const lines = (['before', 'after'] as const).flatMap((period) => {
    const names = files && firstOf(files[period], { most: MAX_FILES })
    const said = spoken([times[period], names]).join(' · ')
    return said === '' ? [] : html`<dt class="${period}">${period}</dt><dd>${said}</dd>`
  })
  return lines.length === 0 ? '' : html`<dl class="periods">${lines}</dl>`
}

/** Returns the files of logs: of one source that was divided, its own. */
function logFiles(files: OptionsOf<typeof REPORT_OPTIONS>['files']): Html | string {
  const isOne = files !== null && files.before.join() === files.after.join()
  if (!isOne) return periods(files)
  return html`<p class="soft">${firstOf(files.before, { most: MAX_FILES })}</p>`
}

const MAX_ROWS = 8

/** Steps of fewer of a finding's requests than this share would look like all that changed. */
const MIN_COVERED = 0.5

interface FindingContext {
  readonly chart: FindingChart
  readonly traceUrl: string | undefined
  readonly of: Quantity
  readonly changeUs: number
  readonly cause: ExplainedFinding | undefined
}

function htmlFinding(finding: Finding, context: FindingContext): Html {
  const { chart, traceUrl, of, changeUs, cause } = context
  const explains = cause && causeText(cause, 200)
  const {
    rank,
    kind,
    title,
    text,
    look,
    direction,
    contributionUs,
    shareOfChange,
    consequences,
    exemplars,
  } = finding
  const share = shareOfChange > 0 ? partText(contributionUs, changeUs, of) : ''
  return html`<article class="finding ${direction}" id="finding-${rank}">
<h3><span class="rank">${rank}</span> ${named(title, 300)} <span class="share">${share}</span></h3>
<p class="facts"><span class="tag">${kind === 'errors' ? `fails ${direction === 'slower' ? 'more' : 'less'}` : changeWords(of, direction === 'slower').how}</span> ${spoken([text, contributionUs !== 0 && `${differenceText(contributionUs, of)} in all${belowText(consequences)}`]).join(' · ')}</p>
<p class="look">Look at ${look}</p>
${explains ? html`<p class="soft"><a href="#what-if">What-if</a> ${named(explains, 300)}.</p>` : ''}
${consequences.map(
  (seen) => html`<p class="soft">Also seen in ${named(seen.title, 300)}: ${seen.text}</p>`,
)}
${stepsTable(finding, of)}
${finding.changedStructure.length === 0 ? '' : structureTable(finding)}
${exemplars.before.length + exemplars.after.length === 0 ? '' : html`<h4>Traces to look at</h4>`}${exampleTraces('before', exemplars.before, traceUrl)}${exampleTraces('after', exemplars.after, traceUrl)}
${chartOf(finding, chart)}
</article>`
}

/** Returns the edges that changed, unless those that could be tested stand for few of the requests. */
function stepsTable(finding: Finding, of: Quantity): Html | string {
  const tested = finding.changedEdges.filter((edge) => !Number.isNaN(edge.probabilitySlower))
  const steps = [...group(tested, stepKey).values()]
  const covered = sum(tested, ({ afterRequests }) => afterRequests)
  const isPart = !isStructural(finding) && covered < MIN_COVERED * finding.requests
  if (tested.length === 0 || isPart) return ''
  const about = isStructural(finding)
    ? 'Other changed steps, within the call answered just before'
    : finding.segment === undefined
      ? 'Changed steps'
      : 'Changed steps, over requests of the segment and others'
  return html`<h4>${about}</h4>${htmlTable(
    [
      { title: 'from', names: true },
      { title: 'to', names: true },
      { title: 'where' },
      ...amounts(
        'one step takes',
        'likely between',
        `after is ${changeWords(of, true).how} in`,
        'requests before → after',
      ),
    ],
    steps.slice(0, MAX_ROWS).map((alike) => {
      const edge = greatest(alike, ({ afterRequests }) => afterRequests) as EdgeChange
      const others = alike.length - 1
      return [
        named(edge.from),
        html`${named(edge.to)}${others === 0 ? '' : html` <span class="soft">and ${counted(others, 'more host')}</span>`}`,
        edge.kind === 'self' ? 'work' : 'network',
        differenceText(edge.shiftUs, of),
        intervalText(edge.interval, of),
        percent(edge.probabilitySlower),
        `${grouped(edge.beforeRequests)} → ${grouped(edge.afterRequests)}`,
      ]
    }),
  )}${more(steps.length, 'step')}`
}

/** Returns a key that the same step on another host shares. */
function stepKey({ fromNode, toNode, kind }: EdgeChange): string {
  const ends = [fromNode, toNode].map((node) => [place(node), node.operation, node.phase])
  return JSON.stringify([ends, kind])
}

function structureTable({ changedStructure }: Finding): Html {
  return html`<h4>What requests do differently</h4>${htmlTable(
    [{ title: '' }, { title: 'step', names: true }, { title: 'follows', names: true }],
    changedStructure
      .slice(0, MAX_ROWS)
      .map(({ change, label, after }) => [
        change === 'added' ? 'new' : 'gone',
        named(label),
        after === null ? html`<i>begins the request</i>` : named(after.label),
      ]),
  )}${more(changedStructure.length, 'part')}`
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

const READING =
  'Curves climb as requests finish. Where blue (after) runs to the right of orange (before), requests take longer'

function chartOf({ categories }: Finding, { chart, of }: FindingChart): Html {
  const kinds =
    categories.length === 1
      ? 'All affected requests are of this kind.'
      : `This kind has the most requests of the ${categories.length} affected kinds.`
  const captions = {
    step: `Times of the step itself, one per request: the mean of its calls. ${READING}.`,
    requests: `Times of whole requests, not of the step alone. ${READING}; the vertical line marks where the two are furthest apart. ${kinds}`,
    path: 'Mean affected request, before and after, cut into the steps that it waits for.',
    errors: 'Share of requests that failed, over time.',
    arrivals: 'Response times of requests, by time of arrival.',
  }
  return figure(chart, captions[of])
}
