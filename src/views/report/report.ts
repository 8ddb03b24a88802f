import { Comparison } from '../../comparison/comparison.ts'
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
import { DARK_COLORS, PALETTE } from '../page/palette.ts'
import { htmlOf, lineHtml, lineMarkdown, markdownOf, named } from './blocks.ts'
import {
  briefReport,
  comparisonReport,
  type PeriodFiles,
  type Report,
} from './comparison-report.ts'
import { briefLogsReport, logsReport } from './logs-report.ts'

const DARK_CHART = [['white', '#1b1e23'], ...DARK_COLORS]

const darkCharts = DARK_CHART.map(
  ([light, dark]) =>
    `.chart [fill="${light}"]{fill:${dark}}.chart [stroke="${light}"]{stroke:${dark}}`,
).join('\n')

/** The page's style: light and dark, on screens and on paper, without fonts from elsewhere. */
export const REPORT_STYLE = `
:root{color-scheme:light dark;--page:#fff;--text:#22262b;--soft:#5c646d;--line:#dde1e6;--card:#f7f8fa;--link:#005b94;
--slower:${PALETTE.change};--before:#9a6700;--after:${PALETTE.after};--rest:#8a929b}
@media screen and (prefers-color-scheme:dark){
:root{--page:#1b1e23;--text:#dfe3e8;--soft:#a9b0b8;--line:#3a4049;--card:#23272e;--link:#7cc0ee;--slower:#ff8a4c;--before:#f0b429;--after:#4fa9e2;--rest:#7d868f}
${darkCharts}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:62rem;padding:2rem 1.25rem 3rem;background:var(--page);color:var(--text);
font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
h1{text-wrap:balance;font-size:1.75rem;line-height:1.2;margin:.2rem 0 .8rem}
h2{font-size:1.25rem;margin:2.4rem 0 .7rem;padding-top:.9rem;border-top:1px solid var(--line)}
h3{font-size:1.05rem;line-height:1.35;margin:0 0 .4rem;overflow-wrap:anywhere}
h4{font-size:.85rem;margin:1rem 0 .2rem;color:var(--soft)}
p{margin:.5rem 0;max-width:46rem;overflow-wrap:anywhere}
a{color:var(--link)}
code{font:.8125rem/1.4 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;overflow-wrap:anywhere}
.kicker,.soft,figcaption{color:var(--soft);font-size:.875rem}
.kicker{letter-spacing:.03em;margin:0}
.lead{font-size:1.05rem}
.periods{margin:1rem 0 0;font-size:.875rem;display:grid;grid-template-columns:max-content 1fr;gap:.15rem .9rem}
.periods dd{margin:0;overflow-wrap:anywhere}
.period,.periods dt{font-weight:600;font-size:.875rem}
.period{display:inline-block;min-width:3.75rem;text-indent:0}
.before{color:var(--before)}.after{color:var(--after)}
.warnings{list-style:none;padding-left:0;max-width:46rem}
.warnings li{margin:.4rem 0;overflow-wrap:anywhere}
.finding{background:var(--card);border:1px solid var(--line);border-left:5px solid var(--rest);border-radius:6px;padding:1rem 1.1rem;margin:1rem 0}
.finding.slower{border-left-color:var(--slower)}
.rank{display:inline-block;min-width:1.2rem;color:var(--soft);font-weight:400}
.facts{font-size:.9375rem}
.look{font-size:.9375rem}
.share{color:var(--soft);font-weight:400;font-size:.9375rem;white-space:nowrap;}
summary{cursor:pointer}
.warnings details{color:var(--soft)}.warnings summary{color:var(--text)}
.tag{font-size:.75rem;font-weight:600;border:1px solid currentColor;border-radius:999px;padding:.05rem .5rem;margin-right:.3rem;color:var(--rest)}
.slower .tag{color:var(--slower)}
.traces{margin:.35rem 0;max-width:none;padding-left:4rem;text-indent:-4rem}
.traces code{margin-right:.5rem}
.scroll{overflow-x:auto;margin:.4rem 0}
table{border-collapse:collapse;font-size:.875rem;line-height:1.35}
th,td{text-align:left;vertical-align:baseline;padding:.28rem .9rem .28rem 0;border-bottom:1px solid var(--line)}
.name{overflow-wrap:anywhere;min-width:7.5rem}
th{font-weight:600;color:var(--soft);font-size:.8125rem;vertical-align:bottom}
.amount{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}
th.amount{white-space:normal}
tfoot td{font-weight:600;border-bottom:0}
.bar{display:inline-block;height:.7rem;background:var(--rest);print-color-adjust:exact;-webkit-print-color-adjust:exact}
.bar.slower{background:var(--slower)}
figure{margin:1rem 0}
.chart{overflow-x:auto}
.chart svg{display:block;print-color-adjust:exact;-webkit-print-color-adjust:exact}
.finding .chart svg{border-radius:4px}
figcaption{max-width:46rem;margin-top:.3rem}
footer{margin-top:2.5rem;padding-top:.9rem;border-top:1px solid var(--line)}
@media print{
body{max-width:none;padding:0;font-size:10.5pt}
.finding{background:none}
table{font-size:8.5pt}
th{font-size:8pt}
th,td{padding-right:.5rem}
.amount{white-space:normal}
.name{min-width:6rem}
.scroll,.chart{overflow:visible}
.chart svg{max-width:100%;height:auto}
figure,tr,.warnings li,.traces{break-inside:avoid}
h1,h2,h3,h4{break-after:avoid}
a{color:inherit}
@page{margin:16mm}}
`.trim()

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
  const { title, head, body, foot } = reportOf('reportHtml', comparison, options)
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
  const { title, head, body, foot } = reportOf('reportMarkdown', comparison, options)
  const short = lineMarkdown(named(title, MAX_TITLE_LENGTH))
  return `### ${short}\n\n${markdownOf([head, body])}\n\n<sub>${lineMarkdown(foot)}</sub>\n`
}

const FORMS = {
  reportHtml: { ofTraces: comparisonReport, ofLogs: logsReport },
  reportMarkdown: { ofTraces: briefReport, ofLogs: briefLogsReport },
}

function reportOf(
  name: keyof typeof FORMS,
  comparison: Comparison | LogComparison,
  options: ReportOptions,
): Report {
  const { traceUrl, ...given } = readOptions(REPORT_OPTIONS, options)
  const context = { ...given, traceUrl: traceUrl === null ? undefined : traceTemplate(traceUrl) }
  if (comparison instanceof LogComparison) return FORMS[name].ofLogs(comparison, context)
  requireStage(`${name}(comparison)`, comparison, Comparison)
  return FORMS[name].ofTraces(comparison, context)
}

/** Policy that runs and fetches nothing, even if an escape were missing. */
const POLICY = 'default-src &#39;none&#39;; style-src &#39;unsafe-inline&#39;'

const MAX_TITLE_LENGTH = 200
