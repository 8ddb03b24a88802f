import { Comparison } from '../../compare/comparison.ts'
import { isHint } from '../../compare/fairness/comparison-warnings.ts'
import type { Finding } from '../../compare/findings/finding.ts'
import { notesIn } from '../../compare/subjects.ts'
import { threadText } from '../../compare/words/notes.ts'
import { requireStage } from '../../core/errors.ts'
import { readOptions } from '../../core/options.ts'
import { changeWords } from '../../core/quantity.ts'
import { traceLink, traceTemplate } from '../../core/trace-links.ts'
import { counted, grouped, shortText } from '../../core/words.ts'
import { LogComparison } from '../../logs/compare-logs.ts'
import { ribbonLines } from '../charts/ribbon-text.ts'
import { certainty, differenceText, durationText, headline, shareText } from './headline.ts'
import { accounting, elsewhereText, type Part } from './html-sections.ts'
import { logsMarkdown } from './logs-report.ts'
import {
  markdownId,
  markdownLink,
  markdownTable,
  markdownWithCode,
  written,
} from './markdown-text.ts'
import { detectableText, type Power, power, powerNote } from './power.ts'
import { REPORT_OPTIONS, type ReportOptions } from './report-html.ts'
import { whatIfMarkdown } from './what-if-section.ts'

/** A comment is read at a glance: more is counted, and in the HTML report. */
const MAX_FINDINGS = 5
const MAX_WARNINGS = 4
/** Characters of a line of blocks. */
const WIDTH = 100
const MAX_NOTES = 4
const MAX_KINDS = 3
const MAX_TRACES = 1
const MAX_TITLE_LENGTH = 200
const MAX_TEXT_LENGTH = 900
const MAX_WARNING_LENGTH = 600
const MAX_NAME_LENGTH = 60

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
  const { traceUrl, madeBy, whatIf } = readOptions(REPORT_OPTIONS, options)
  if (comparison instanceof LogComparison) return logsMarkdown(comparison, madeBy)
  requireStage('reportMarkdown(comparison)', comparison, Comparison)
  const template = traceUrl === null ? undefined : traceTemplate(traceUrl)
  const head = headline(comparison)
  const none = comparison.findings.findings.length === 0
  const { quantity } = comparison.flows
  const lead = [...head.sentences, certainty(head.shifts, quantity)].join(' ')
  const lines = [
    `### ${written(head.title, MAX_TITLE_LENGTH)}`,
    '',
    written(lead, MAX_TEXT_LENGTH),
    '',
    ...picture(comparison),
    ...warnings(comparison),
    ...(none ? [] : [...findingsTable(comparison), '', ...details(comparison, template)]),
    ...folded(
      'Which single change explains it',
      whatIf === null ? [] : whatIfMarkdown(whatIf, whatIf.explains(comparison.findings)),
    ),
    ...folded(
      `The smallest ${changeWords(quantity, true).change} that would have been noticed`,
      seen(power(comparison, MAX_KINDS)),
    ),
    ...notes(comparison),
    `<sub>Made by ${written(madeBy, MAX_NAME_LENGTH)}.</sub>`,
    '',
  ]
  return lines.join('\n')
}

/** Draws the ribbon as text: comments show neither SVG nor embedded pictures, but text is shown everywhere. */
function picture(comparison: Comparison): string[] {
  const lines = ribbonLines(comparison, WIDTH)
  // Breaks mentions and references, which some hosts find even within code.
  const plain = lines.map((line) => line.replace(/[@#](?=\w)/g, '$&\u200b'))
  return lines.length === 0 ? [] : ['```', ...plain, '```', '']
}

function notes(comparison: Comparison): string[] {
  const { told, elsewhere } = notesIn(comparison)
  const left = told.length - MAX_NOTES
  return folded('What people noted', [
    ...told
      .slice(0, MAX_NOTES)
      .map(
        ({ what, thread }) =>
          `- **${written(what, MAX_TITLE_LENGTH)}**: ${written(threadText(thread), MAX_TEXT_LENGTH)}`,
      ),
    ...(left > 0 ? [`- … and ${left} more`] : []),
    ...(elsewhere > 0 ? [`- ${elsewhereText(elsewhere)}`] : []),
  ])
}

function warnings(comparison: Comparison): string[] {
  const all = comparison.warnings().filter((one) => !isHint(one))
  if (all.length === 0) return []
  const shown = all.slice(0, MAX_WARNINGS)
  const left = all.length - shown.length
  return [
    '> [!WARNING]',
    '> **Is this comparison fair?**',
    ...shown.map(
      ({ finding }) => `> - ${markdownWithCode(shortText(finding, MAX_WARNING_LENGTH))}`,
    ),
    ...(left > 0 ? [`> - … and ${left} more`] : []),
    '',
    ...folded(
      'What the warnings mean',
      shown.map(
        ({ code, effect, answer }) =>
          `- **${code}**: ${markdownWithCode(shortText(`${effect} ${answer}`, MAX_WARNING_LENGTH))}`,
      ),
    ),
  ]
}

function findingsTable(comparison: Comparison): string[] {
  const { findings, others, observed } = accounting(comparison)
  const shown = findings.slice(0, MAX_FINDINGS)
  const left = findings.length - shown.length + comparison.findings.omitted
  const row = ({ rank, name, perRequestUs, totalUs, share }: Part) => [
    rank === null ? '' : String(rank),
    rank === null ? `*${name}*` : written(name, MAX_TITLE_LENGTH),
    differenceText(perRequestUs, comparison.flows.quantity),
    differenceText(totalUs, comparison.flows.quantity),
    shareText(share),
  ]
  return [
    ...markdownTable(
      ['', 'what changed', 'per request', 'in all', 'share'],
      [...shown, ...others, observed].map(row),
      ['left', 'left', 'right', 'right', 'right'],
    ),
    ...(left > 0 ? ['', `… and ${counted(left, 'smaller finding')}.`] : []),
  ]
}

function details({ findings: { findings } }: Comparison, template: string | undefined): string[] {
  const shown = findings.slice(0, MAX_FINDINGS)
  return folded(
    'How sure, and where to look',
    shown.map(
      (finding) =>
        `${finding.rank}. ${written(`${finding.text} · look at ${finding.look}.`, MAX_TEXT_LENGTH)}${traces(finding, template)}`,
    ),
  )
}

function traces({ exemplars }: Finding, template: string | undefined): string {
  const listed = (ids: readonly string[]) =>
    ids.slice(0, MAX_TRACES).map((id) => {
      const shown = markdownId(shortText(id, MAX_NAME_LENGTH))
      return template === undefined ? shown : markdownLink(shown, traceLink(template, id))
    })
  const parts = (['before', 'after'] as const).flatMap((period) =>
    exemplars[period].length === 0 ? [] : [`${period} ${listed(exemplars[period]).join(', ')}`],
  )
  return parts.length === 0 ? '' : ` Traces: ${parts.join('; ')}.`
}

function seen(known: Power): string[] {
  if (known.kinds.length === 0) return []
  return [
    ...markdownTable(
      ['type of request', 'requests before → after', 'median before', 'noticeable from'],
      known.kinds.map((kind) => [
        written(kind.name, MAX_NAME_LENGTH),
        `${grouped(kind.before)} → ${grouped(kind.after)}`,
        durationText(kind.medianUs, known.quantity),
        detectableText(kind, known.quantity),
      ]),
      ['left', 'right', 'right', 'right'],
    ),
    '',
    powerNote(known),
  ]
}

/** Folds lines below a summary; returns nothing for no lines. */
function folded(summary: string, lines: readonly string[]): string[] {
  if (lines.length === 0) return []
  return [`<details><summary>${summary}</summary>`, '', ...lines, '', '</details>', '']
}
