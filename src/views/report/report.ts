import { Comparison } from '../../compare/comparison.ts'
import { requireStage } from '../../core/errors.ts'
import {
  custom,
  defineOptions,
  type OptionsOf,
  optionalText,
  readOptions,
  text,
} from '../../core/options.ts'
import { traceTemplate } from '../../core/trace-links.ts'
import { LogComparison } from '../../logs/compare-logs.ts'
import { LatencyDiagnosis } from '../../whatif/diagnosis/latency-diagnosis.ts'
import { REPORT_STYLE } from '../page/report-style.ts'
import { htmlOf, markdownOf } from './blocks.ts'
import {
  briefReport,
  comparisonReport,
  type PeriodFiles,
  type Report,
  type ReportContext,
} from './comparison-report.ts'
import { lineHtml, lineMarkdown, named } from './lines.ts'
import { briefLogsReport, logsReport } from './logs-report.ts'

/** Options of `reportHtml` and `reportMarkdown`. */
export const REPORT_OPTIONS = defineOptions({
  traceUrl: optionalText(
    'Address of traces with {traceId} in it, or jaeger=BASE, tempo=BASE (Grafana), zipkin=BASE',
    'trace-url <template>',
  ),
  files: custom<PeriodFiles>({
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
  const forms = { ofTraces: comparisonReport, ofLogs: logsReport }
  return toHtml(reportOf('reportHtml', comparison, options, forms))
}

/**
 * Returns a comparison as GitHub-flavoured Markdown for a pull request, at most 65 lines long (80 with `whatIf`): what
 * got slower, by how much, how sure, and where to look; details folded. No name from a trace can mention anybody, refer
 * to an issue or become markup.
 *
 * @param comparison from `compare` or `compareLogs`
 * @param options see {@link ReportOptions}
 * @throws OptionError for a `traceUrl` that is no template
 *
 * @example
 * reportMarkdown(comparison).split('\n').length < 66 // true
 */
export function reportMarkdown(
  comparison: Comparison | LogComparison,
  options: ReportOptions = {},
): string {
  const forms = { ofTraces: briefReport, ofLogs: briefLogsReport }
  return toMarkdown(reportOf('reportMarkdown', comparison, options, forms))
}

interface Forms {
  readonly ofTraces: (comparison: Comparison, context: ReportContext) => Report
  readonly ofLogs: (compared: LogComparison, context: ReportContext) => Report
}

function reportOf(
  name: string,
  comparison: Comparison | LogComparison,
  options: ReportOptions,
  { ofTraces, ofLogs }: Forms,
): Report {
  const { traceUrl, ...given } = readOptions(REPORT_OPTIONS, options)
  const context = {
    ...given,
    traceUrl: traceUrl === null ? undefined : traceTemplate(traceUrl),
  }
  if (comparison instanceof LogComparison) return ofLogs(comparison, context)
  requireStage(`${name}(comparison)`, comparison, Comparison)
  return ofTraces(comparison, context)
}

/** Policy that runs and fetches nothing, even if an escape were missing. */
const POLICY = 'default-src &#39;none&#39;; style-src &#39;unsafe-inline&#39;'

/** Most characters of a comment's title. */
const MAX_TITLE_LENGTH = 200

function toHtml({ title, head, body, foot }: Report): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<title>${lineHtml(title)}</title>
<style>
${REPORT_STYLE}
</style>
</head>
<body>
<header>
${htmlOf(head)}
</header>
<main>
${htmlOf(body)}
</main>
<footer class="soft">${lineHtml(foot)}</footer>
</body>
</html>
`
}

function toMarkdown({ title, head, body, foot }: Report): string {
  const content = markdownOf([head, body])
  return `### ${lineMarkdown(named(title, MAX_TITLE_LENGTH))}\n\n${content}\n\n<sub>${lineMarkdown(foot)}</sub>\n`
}
