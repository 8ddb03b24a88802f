import { counted, spoken } from '../../core/words.ts'
import {
  decoyText,
  differenceOf,
  differences,
  differencesText,
  fewText,
  graphLines,
  graphTitle,
  inputText,
  leftOutSentences,
  logsTitle,
  newComesFirst,
  newEvents,
  newnessText,
  performanceSentences,
  phaseShareText,
  tellingGraphs,
  tText,
} from '../../explain/logs/log-words.ts'
import type { LogComparison } from '../../logs/compare-logs.ts'
import { strongestDifference } from '../../logs/divergence/find-divergence.ts'
import { logVariableChart } from '../charts/logs.ts'
import { dependenciesDrawing } from '../drawing/drawn-stages.tsx'
import {
  amounts,
  type Block,
  fold,
  heading,
  list,
  looking,
  named,
  names,
  picture,
  section,
  table,
  text,
  warnings,
} from './blocks.ts'
import { filesBlock, filesText, type Report, type ReportContext } from './comparison-report.ts'

const MAX_NAME_LENGTH = 160
/** Most characters of a sentence in a comment that names several variables. */
const MAX_SENTENCE_LENGTH = 1200
const MAX_ROWS = { whole: 20, brief: 8 }

/** Returns a comparison of logs as a page: messages only after, differences, and dependencies of performance. */
export function logsReport(compared: LogComparison, { madeBy, files }: ReportContext): Report {
  const title = logsTitle(compared)
  const isOne = files !== null && files.before.join() === files.after.join()
  return {
    title,
    head: [
      text('Logs of two periods compared', 'kicker'),
      heading(1, title),
      text(performanceLead(compared), 'lead'),
      text(inputText(compared), 'soft'),
      isOne ? text(filesText(files.before), 'soft') : filesBlock(files),
    ],
    body: [
      warningsOf(compared),
      partsOf(compared, MAX_ROWS.whole).map(({ title, lead, rows, notes }) =>
        section(title, [text(lead), rows, text(notes.join(' '), 'soft')]),
      ),
      variablePicture(compared),
      section(
        'What performance depends on',
        tellingGraphs(compared).map((graph) =>
          picture(
            dependenciesDrawing(graph),
            'Performance is at the right end. Larger letters: the variable differs more. Thicker lines: a stronger dependency. Arrows start at what always happens first.',
          ),
        ),
      ),
    ],
    foot: `Made by ${madeBy}. Tests are Welch’s t, corrected for their number; what only one period logged is listed whether or not it may be chance.`,
  }
}

/** Returns a comparison of logs as a comment, with dependencies folded. */
export function briefLogsReport(compared: LogComparison, { madeBy }: ReportContext): Report {
  const sentence = (said: string) => named(said, MAX_SENTENCE_LENGTH)
  return {
    title: logsTitle(compared),
    head: [text(performanceLead(compared))],
    body: [
      warningsOf(compared),
      partsOf(compared, MAX_ROWS.brief).map(({ title, lead, rows, notes }) => [
        text([looking('strong', `${title}.`), ' ', sentence(lead)]),
        rows,
        notes.map((note) => text(sentence(note))),
      ]),
      tellingGraphs(compared).map((graph) => {
        const lines = graphLines(graph, compared).slice(0, MAX_ROWS.brief)
        const items = lines.map((line) => named(line.trim(), MAX_NAME_LENGTH))
        const indents = lines.map((line) => line.replace(/\S.*/, '').slice(3))
        return fold(`Look first at ${graphTitle(graph, compared)} …`, [list(items, { indents })])
      }),
    ],
    foot: [sentence(inputText(compared)), ` Made by ${madeBy}.`],
  }
}

function warningsOf(compared: LogComparison): Block | false {
  const items = compared.warnings().map(({ code, message }) => ({ code, finding: message }))
  return items.length > 0 && warnings(items)
}

function performanceLead(compared: LogComparison): string {
  return spoken([
    ...performanceSentences(compared),
    decoyText(compared),
    phaseShareText(compared),
    fewText(compared),
  ]).join(' ')
}

function partsOf(compared: LogComparison, maxRows: number) {
  const news = newEvents(compared.divergence)
  const found = differences(compared)
  const { told } = found
  const more = (all: number) =>
    all > maxRows ? [`… and ${counted(all - maxRows, 'more', 'more')}.`] : []
  const name = (said: string) => named(said, MAX_NAME_LENGTH)
  const newRows = news.slice(0, maxRows).map((one) => [name(one.name), newnessText(one, compared)])
  const toldRows = told.slice(0, maxRows).map((variable) => {
    const { what, t } = differenceOf(variable, compared)
    return [name(variable.name), variable.kind, what, t, tText(variable.score)]
  })
  const differing = ['kind', 'what differs most', ...amounts('t', 'score')]
  const parts = [
    {
      title: 'Logged only after',
      lead: '',
      rows: [news.length > 0 && table([...names('message, the gravest first'), 'in'], newRows)],
      notes: more(news.length),
    },
    {
      title: 'What differs',
      lead: differencesText(compared, told.length),
      rows: [told.length > 0 && table([...names('variable'), ...differing], toldRows)],
      notes: [...more(told.length), ...leftOutSentences(found, compared)],
    },
  ]
  if (!newComesFirst(compared)) parts.reverse()
  return parts.filter(({ lead, rows }) => lead !== '' || rows.some(Boolean))
}

function variablePicture(compared: LogComparison): Block | false {
  const [first] = differences(compared).told
  if (first === undefined) return false
  const { graph, path } = compared.attention.headline ?? {}
  const isHeadline = path?.at(-1)?.name === first.name
  const feature = (isHeadline ? graph?.featureType : strongestDifference(first)?.feature) ?? null
  const { name, kind } = first
  return picture(
    logVariableChart(compared.divergence, { name, kind, feature }),
    'Each dot is an instance: orange before, blue after; the lines are means.',
  )
}
