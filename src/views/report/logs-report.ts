import { counted, spoken } from '../../core/words.ts'
import type { LogComparison } from '../../logs/compare-logs.ts'
import { strongestDifference } from '../../logs/divergence/find-divergence.ts'
import { tText } from '../charts/log-values.ts'
import { logVariableChart } from '../charts/logs.ts'
import { dependenciesDrawing } from '../drawing/drawn-stages.tsx'
import { figure, type Html, html, htmlTable, named, reportPage } from './html.ts'
import { decoyText, fewText, logsTitle, phaseShareText } from './log-headline.ts'
import {
  differenceOf,
  differences,
  differencesText,
  graphLines,
  graphTitle,
  inputText,
  leftOutSentences,
  newComesFirst,
  newEvents,
  newnessText,
  performanceSentences,
  tellingGraphs,
} from './log-words.ts'
import { markdownTable, written } from './markdown-text.ts'

const MAX_NAME_LENGTH = 160
/** Most characters of a sentence in Markdown that names several variables. */
const MAX_SENTENCE_LENGTH = 1200

function performanceLead(compared: LogComparison): string[] {
  return spoken([
    ...performanceSentences(compared),
    decoyText(compared),
    phaseShareText(compared),
    fewText(compared),
  ])
}

interface Part {
  readonly heading: string
  readonly lead: string
  readonly columns: readonly string[]
  readonly rows: readonly (readonly string[])[]
  readonly notes: readonly string[]
}

/** Returns the messages that only after logged, and the differences, the most informative first. */
function partsOf(compared: LogComparison, maxRows: number): readonly Part[] {
  const news = newEvents(compared.divergence)
  const found = differences(compared)
  const { told } = found
  const more = (all: number) =>
    all > maxRows ? [`… and ${counted(all - maxRows, 'more', 'more')}.`] : []
  const parts: Part[] = [
    {
      heading: 'Logged only after',
      lead: '',
      columns: ['message, the gravest first', 'in'],
      rows: news.slice(0, maxRows).map((one) => [one.name, newnessText(one, compared)]),
      notes: more(news.length),
    },
    {
      heading: 'What differs',
      lead: differencesText(compared, told.length),
      columns: ['variable', 'kind', 'what differs most', 't', 'score'],
      rows: told.slice(0, maxRows).map((variable) => {
        const { what, t } = differenceOf(variable, compared)
        return [variable.name, variable.kind, what, t, tText(variable.score)]
      }),
      notes: [...more(told.length), ...leftOutSentences(found, compared)],
    },
  ]
  if (!newComesFirst(compared)) parts.reverse()
  return parts.filter(({ lead, rows }) => lead !== '' || rows.length > 0)
}

/** Returns a comparison of logs as a page: messages only after, differences, and dependencies of performance. */
export function logsPage(
  compared: LogComparison,
  { madeBy, periods }: { readonly madeBy: string; readonly periods: Html | string },
): string {
  const title = logsTitle(compared)
  const warnings = compared.warnings()
  const graphs = tellingGraphs(compared)
  return reportPage(
    title,
    html`<header>
<p class="kicker">Logs of two periods compared</p>
<h1>${title}</h1>
<p class="lead">${performanceLead(compared).join(' ')}</p>
<p class="soft">${inputText(compared)}</p>
${periods}
</header>
<main>
${warnings.length === 0 ? '' : html`<section><h2>Is this comparison fair?</h2><ul class="warnings">${warnings.map(({ code, message }) => html`<li>${message} <span class="soft">(${code})</span></li>`)}</ul></section>`}
${partsOf(compared, 20).map(partSection)}
${variableFigure(compared)}
${
  graphs.length === 0
    ? ''
    : html`<section><h2>What performance depends on</h2>${graphs.map((graph) =>
        figure(
          dependenciesDrawing(graph),
          'Performance is at the right end. Larger letters: the variable differs more. Thicker lines: a stronger dependency. Arrows start at what always happens first.',
        ),
      )}</section>`
}
</main>
<footer class="soft">Made by ${madeBy}. Tests are Welch’s t, corrected for their number; what only one period logged is listed whether or not it may be chance.</footer>`,
  )
}

function partSection({ heading, lead, columns, rows, notes }: Part): Html {
  const table = htmlTable(
    columns.map((title, i) => ({ title, names: i === 0, amounts: i > 2 })),
    rows.map(([name = '', ...cells]) => [named(name, 2 * MAX_NAME_LENGTH), ...cells]),
  )
  return html`<section><h2>${heading}</h2><p>${lead}</p>${rows.length === 0 ? '' : table}<p class="soft">${notes.join(' ')}</p></section>`
}

function variableFigure(compared: LogComparison): Html | string {
  const [first] = differences(compared).told
  if (first === undefined) return ''
  const { graph, path } = compared.attention.headline ?? {}
  const isHeadline = path?.at(-1)?.name === first.name
  const feature = (isHeadline ? graph?.featureType : strongestDifference(first)?.feature) ?? null
  const { name, kind } = first
  return figure(
    logVariableChart(compared.divergence, { name, kind, feature }),
    'Each dot is an instance: orange before, blue after; the lines are means.',
  )
}

export function logsMarkdown(compared: LogComparison, madeBy: string): string {
  const cell = (text: string) => written(text, MAX_NAME_LENGTH)
  const sentence = (text: string) => written(text, MAX_SENTENCE_LENGTH)
  const parts = partsOf(compared, 8).flatMap(({ heading, lead, columns, rows, notes }) => [
    `**${heading}.** ${sentence(lead)}`,
    '',
    ...(rows.length === 0
      ? []
      : markdownTable(
          columns,
          rows.map(([name = '', ...said]) => [cell(name), ...said.map(sentence)]),
          columns.map(() => 'left'),
        )),
    ...notes.flatMap((note) => ['', sentence(note)]),
    '',
  ])
  const graphs = tellingGraphs(compared).flatMap((graph) => [
    `<details><summary>Look first at ${cell(graphTitle(graph, compared))} …</summary>`,
    '',
    ...graphLines(graph, compared)
      .slice(0, 8)
      .map((line) => `${line.replace(/\S.*/, '').slice(3)}- ${cell(line.trim())}`),
    '',
    '</details>',
    '',
  ])
  const sentences = performanceLead(compared).map(sentence)
  return [
    `### ${cell(logsTitle(compared))}`,
    '',
    sentences.join(' '),
    '',
    ...compared.warnings().map(({ message }) => `> ${sentence(message)}\n`),
    ...parts,
    ...graphs,
    `<sub>${sentence(inputText(compared))} Made by ${cell(madeBy)}.</sub>\n`,
  ].join('\n')
}
