import { Comparison } from '../../compare/comparison.ts'
import type { WholeShift } from '../../compare/findings/whole-shift.ts'
import { requireStage } from '../../core/errors.ts'
import { custom, defineOptions, type OptionsOf, readOptions, text } from '../../core/options.ts'
import { type Quantity, TIME } from '../../core/quantity.ts'
import { traceTemplate } from '../../core/trace-links.ts'
import { LogComparison } from '../../logs/compare-logs.ts'
import { differenceText, durationText, headline, intervalText, periodTimes } from './headline.ts'
import { type Html, html, htmlTable, reportPage } from './html.ts'
import { findingCharts, htmlFinding } from './html-finding.ts'
import {
  accountingSection,
  breakdownSection,
  fairnessSection,
  mutationsSection,
  powerSection,
} from './html-sections.ts'
import { logsPage } from './logs-report.ts'
import { power } from './power.ts'

/** Options of `reportHtml` and `reportMarkdown`. */
export const REPORT_OPTIONS = defineOptions({
  traceUrl: text({
    default: null,
    or: null,
    flag: 'trace-url <template>',
    sentence:
      'Address of traces with {traceId} in it, or jaeger=BASE, tempo=BASE (Grafana), zipkin=BASE',
  }),
  files: custom<{ readonly before: readonly string[]; readonly after: readonly string[] } | null>({
    default: null,
    accepts: (value) =>
      value === null || (typeof value === 'object' && 'before' in value && 'after' in value),
    expected: '{ before: […], after: […] } or null',
    sentence: 'Files that were compared, to be named in the report',
  }),
  madeBy: text({ default: 'flowdelta', sentence: 'Program and version to name in the report' }),
})

/** Options of a report; see `REPORT_OPTIONS`. */
export type ReportOptions = Partial<OptionsOf<typeof REPORT_OPTIONS>>

const MAX_KINDS = 5

/**
 * A comparison as one HTML page to attach to an incident: what got slower, by how much, how sure,
 * and where to look, with pictures. The page needs no network and no script.
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
  const { traceUrl, files, madeBy } = readOptions(REPORT_OPTIONS, options)
  if (comparison instanceof LogComparison) {
    return logsPage(comparison, { madeBy, periods: fileLines(files) })
  }
  requireStage('reportHtml(comparison)', comparison, Comparison)
  const template = traceUrl === null ? undefined : traceTemplate(traceUrl)
  const { title, sentences, shifts } = headline(comparison)
  const { findings, omitted } = comparison.findings
  const charts = findingCharts(comparison)
  const known = power(comparison, MAX_KINDS)
  const of = comparison.flows.quantity
  const none = findings.length === 0
  const seen = powerSection(known)
  return reportPage(
    title,
    html`<header>
<p class="kicker">Traces of two periods compared</p>
<h1>${title}</h1>
<p class="lead">${sentences.map((sentence) => html`${sentence} `)}</p>
${shifts.length === 0 ? '' : shiftTable(shifts, of)}
${periods(comparison, files)}
</header>
<main>
${fairnessSection(comparison)}
${
  none
    ? seen
    : html`<section><h2>What changed</h2>${findings.map((finding) =>
        htmlFinding(finding, { chart: charts.get(finding.rank), traceUrl: template, of }),
      )}${omitted > 0 ? html`<p class="soft">${omitted} smaller findings are left out.</p>` : ''}</section>
${accountingSection(comparison)}`
}
${breakdownSection(comparison)}
${mutationsSection(comparison)}
${none ? '' : seen}
</main>
<footer class="soft">Made by ${madeBy}. ${comparison.findings.testedAgainst} Findings rest on tests corrected for their number: of periods that do not differ, at most ${percentOf(comparison.options.alpha)} of all comparisons find anything. ${of === TIME ? 'Durations are wall-clock times as the traces say them.' : `Requests are compared by ${of.name}, summed over their spans.`}</footer>`,
  )
}

function percentOf(level: number): string {
  return `${Number((100 * level).toPrecision(3))} %`
}

function shiftTable(shifts: readonly WholeShift[], of: Quantity): Html {
  return htmlTable(
    [
      { title: 'all requests' },
      { title: 'before', amounts: true },
      { title: 'after', amounts: true },
      { title: 'difference', amounts: true },
      { title: '95 % interval', amounts: true },
    ],
    shifts.map(({ measure, beforeUs, afterUs, shiftUs, interval }) => [
      measure,
      durationText(beforeUs, of),
      durationText(afterUs, of),
      differenceText(shiftUs, of),
      intervalText(interval, of),
    ]),
  )
}

function periods(
  comparison: Comparison,
  files: OptionsOf<typeof REPORT_OPTIONS>['files'],
): Html | string {
  const times = periodTimes(comparison)
  const line = (period: 'before' | 'after') => {
    const parts = [
      ...(times[period] === undefined ? [] : [times[period]]),
      ...(files === null ? [] : [fileList(files[period])]),
    ]
    return parts.length === 0
      ? ''
      : html`<dt class="${period}">${period}</dt><dd>${parts.join(' · ')}</dd>`
  }
  const lines = [line('before'), line('after')].filter((each) => each !== '')
  return lines.length === 0 ? '' : html`<dl class="periods">${lines}</dl>`
}

/** Which files were compared, where no times of day are known. */
function fileLines(files: OptionsOf<typeof REPORT_OPTIONS>['files']): Html | string {
  if (files === null) return ''
  const line = (period: 'before' | 'after') =>
    files[period].length === 0
      ? ''
      : html`<dt class="${period}">${period}</dt><dd>${fileList(files[period])}</dd>`
  const isOne = files.before.join() === files.after.join()
  return isOne
    ? html`<p class="soft">${fileList(files.before)}</p>`
    : html`<dl class="periods">${line('before')}${line('after')}</dl>`
}

const MAX_FILES = 3

function fileList(files: readonly string[]): string {
  const left = files.length - MAX_FILES
  const shown = files.slice(0, MAX_FILES).join(', ')
  return left > 0 ? `${shown} and ${left} more` : shown
}
