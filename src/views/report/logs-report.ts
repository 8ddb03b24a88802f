import { counted, shortText } from '../../core/words.ts'
import type { LogComparison } from '../../logs/compare-logs.ts'
import { strongestDifference } from '../../logs/divergence/divergence.ts'
import { tText } from '../charts/log-values.ts'
import { logVariableChart } from '../charts/logs.ts'
import { dependenciesDrawing } from '../drawing/drawn-stages.tsx'
import { figure, type Html, html, htmlTable, named, reportPage } from './html.ts'
import {
  differenceOf,
  differences,
  differencesText,
  graphLines,
  graphTitle,
  inputText,
  leftOutSentences,
  logsTitle,
  newComesFirst,
  newEvents,
  newnessText,
  performanceSentences,
  tellingGraphs,
} from './log-words.ts'
import { markdownTable, written } from './markdown-text.ts'

/** Of a page, and of a comment, which is read at a glance. */
const [MAX_ROWS, MAX_ROWS_IN_COMMENT] = [20, 8]
const MAX_NAME_LENGTH = 160

/** A comparison of logs as a page: what only after logged, what differs, what performance depends on. */
export function logsPage(
  compared: LogComparison,
  { madeBy, periods }: { readonly madeBy: string; readonly periods: Html | string },
): string {
  const title = logsTitle(compared)
  const sections = [newSection(compared), variableSection(compared)]
  if (!newComesFirst(compared)) sections.reverse()
  return reportPage(
    title,
    html`<header>
<p class="kicker">Logs of two periods compared</p>
<h1>${title}</h1>
<p class="lead">${performanceSentences(compared).join(' ')}</p>
<p class="soft">${inputText(compared)}</p>
${periods}
</header>
<main>
${warningSection(compared)}
${sections}
${graphSection(compared)}
</main>
<footer class="soft">Made by ${madeBy}. Tests are Welch’s t, corrected for their number; what only one period logged is listed whether or not it may be chance.</footer>`,
  )
}

function warningSection(compared: LogComparison): Html | string {
  const warnings = compared.warnings()
  if (warnings.length === 0) return ''
  return html`<section><h2>Is this comparison fair?</h2><ul class="warnings">${warnings.map(
    ({ code, message }) => html`<li>${message} <span class="soft">(${code})</span></li>`,
  )}</ul></section>`
}

function newSection(compared: LogComparison): Html {
  const found = newEvents(compared.divergence)
  if (found.length === 0) return html``
  return html`<section><h2>Logged only after</h2>${htmlTable(
    [
      { title: 'message, the gravest first', names: true },
      { title: 'in', amounts: true },
    ],
    found
      .slice(0, MAX_ROWS)
      .map((one) => [named(one.name, 2 * MAX_NAME_LENGTH), newnessText(one, compared)]),
  )}${moreText(found.length - MAX_ROWS)}</section>`
}

function moreText(left: number): Html | string {
  return left > 0 ? html`<p class="soft">… and ${counted(left, 'more', 'more')}.</p>` : ''
}

function variableSection(compared: LogComparison): Html {
  const found = differences(compared)
  const { told } = found
  const [first] = told
  const drawn =
    first === undefined
      ? ''
      : figure(
          logVariableChart(compared.divergence, {
            ...{ name: first.name, kind: first.kind },
            feature: strongestDifference(first)?.feature ?? null,
          }),
          'Each dot is an instance: orange before, blue after; the lines are means.',
        )
  return html`<section><h2>What differs</h2><p>${differencesText(compared, told.length)}</p>${
    first === undefined
      ? ''
      : htmlTable(
          [
            { title: 'variable', names: true },
            { title: 'kind' },
            { title: 'what differs most' },
            { title: 't', amounts: true },
            { title: 'score', amounts: true },
          ],
          told.slice(0, MAX_ROWS).map((variable) => {
            const { what, t } = differenceOf(variable)
            const name = named(variable.name, MAX_NAME_LENGTH)
            return [name, variable.kind, what, t, tText(variable.score)]
          }),
        )
  }${moreText(told.length - MAX_ROWS)}<p class="soft">${leftOutSentences(found).join(' ')}</p>${drawn}</section>`
}

function graphSection(compared: LogComparison): Html | string {
  const graphs = tellingGraphs(compared)
  if (graphs.length === 0) return ''
  return html`<section><h2>What performance depends on</h2>${graphs.map((graph) =>
    figure(
      dependenciesDrawing(graph),
      'Performance is at the right end. Letters are large where a variable differs much, lines thick where the dependency is strong; an arrow leads from what always happens first.',
    ),
  )}</section>`
}

export function logsMarkdown(compared: LogComparison, madeBy: string): string {
  const found = newEvents(compared.divergence)
  const { told, ...left } = differences(compared)
  const cell = (text: string) => written(text, MAX_NAME_LENGTH)
  const news =
    found.length === 0
      ? []
      : markdownTable(
          ['logged only after', 'in'],
          found
            .slice(0, MAX_ROWS_IN_COMMENT)
            .map((one) => [cell(one.name), newnessText(one, compared)]),
          ['left', 'left'],
        )
  const differing =
    told.length === 0
      ? []
      : markdownTable(
          ['what differs', 'how', 't'],
          told.slice(0, MAX_ROWS_IN_COMMENT).map((variable) => {
            const { what, t } = differenceOf(variable)
            return [cell(variable.name), cell(what), t]
          }),
          ['left', 'left', 'right'],
        )
  const tables = [
    [...news, ...moreLines(found.length)],
    [
      cell(differencesText(compared, told.length)),
      '',
      ...differing,
      ...moreLines(told.length),
      ...leftOutSentences({ told, ...left }).flatMap((sentence) => ['', sentence]),
    ],
  ].filter((lines) => lines.length > 0)
  if (!newComesFirst(compared)) tables.reverse()
  return [
    `### ${cell(logsTitle(compared))}`,
    '',
    performanceSentences(compared)
      .map((sentence) => written(sentence, 600))
      .join(' '),
    '',
    ...compared.warnings().map(({ message }) => `> ${written(message, 600)}\n`),
    ...tables.flatMap((lines) => [...lines, '']),
    ...tellingGraphs(compared).flatMap((graph) => [
      `<details><summary>Look first at ${cell(graphTitle(graph))} …</summary>`,
      '',
      ...graphLines(graph)
        .slice(0, MAX_ROWS_IN_COMMENT)
        .map(
          (line) => `${line.replace(/\S.*/, '').slice(3)}- ${cell(shortText(line.trim(), 200))}`,
        ),
      '',
      '</details>',
      '',
    ]),
    `<sub>${cell(inputText(compared))} Made by ${cell(madeBy)}.</sub>`,
    '',
  ].join('\n')
}

function moreLines(all: number): string[] {
  const left = all - MAX_ROWS_IN_COMMENT
  return left > 0 ? ['', `… and ${counted(left, 'more', 'more')}.`] : []
}
