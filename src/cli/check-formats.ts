import type { CheckedType, Estimate, RunCheck } from '../compare/baseline/check-run.ts'
import { visibleText } from '../core/errors.ts'
import { escapeHtml } from '../core/escape.ts'
import { counted, formatDuration, grouped, shortText } from '../core/words.ts'
import { COUNT, document, listOf, MEASURED, made, orNull, record, TEXT, words } from './document.ts'
import { printedJson, textTable } from './printing.ts'

/** A type of requests with what `--fail-on` and `--warn-on` make of it. */
export interface JudgedType extends CheckedType {
  readonly verdict: 'pass' | 'warn' | 'fail'
  /** Conditions that make it fail, or else warn. */
  readonly conditions: readonly string[]
  /** Conditions of `--fail-on` that its interval does not rule out. */
  readonly possible: readonly string[]
}

export interface CheckResults {
  readonly check: RunCheck
  readonly types: readonly JudgedType[]
}

export const CHECK_FORMATS = [
  'text',
  'json',
  'github',
  'junit',
  'bencher',
  'benchmark-action',
] as const

const ESTIMATE = record<Estimate>({ value: MEASURED, low: MEASURED, high: MEASURED })
const PAIR = ([baseline, run]: readonly [number, number]) => ({ baseline, run })

export const CHECK_DOCUMENT = document<CheckResults>(
  'check',
  'A run checked against the runs of a history.',
  {
    verdict: made(verdictOf, words('pass', 'warn', 'fail')),
    run: made(({ check }) => check.run.name, TEXT),
    baseline: made(({ check }) => check.baseline.map(({ name }) => name), listOf(TEXT)),
    types: listOf(
      record<JudgedType>({
        name: TEXT,
        verdict: words('pass', 'warn', 'fail'),
        conditions: listOf(TEXT),
        possible: listOf(TEXT),
        requests: made((type) => PAIR(type.requests), record({ baseline: COUNT, run: COUNT })),
        medianUs: made(
          (type) => PAIR(type.medianUs),
          record({ baseline: MEASURED, run: MEASURED }),
        ),
        shift: ESTIMATE,
        errors: orNull(record({ share: MEASURED, growth: ESTIMATE })),
      }),
    ),
    added: made(({ check }) => check.added, listOf(TEXT)),
  },
)

export function checkOutput(format: (typeof CHECK_FORMATS)[number], results: CheckResults): string {
  return WRITERS[format](results)
}

const WRITERS: Readonly<Record<(typeof CHECK_FORMATS)[number], (results: CheckResults) => string>> =
  {
    text: (results) => `${visibleText(checkText(results))}\n`,
    json: (results) => printedJson(CHECK_DOCUMENT.write(results)),
    github: githubCommands,
    junit: junitXml,
    bencher: bencherMetrics,
    'benchmark-action': benchmarkActionList,
  }

function verdictOf({ types }: CheckResults): JudgedType['verdict'] {
  const given = types.map(({ verdict }) => verdict)
  return given.includes('fail') ? 'fail' : given.includes('warn') ? 'warn' : 'pass'
}

const MAX_NAME_LENGTH = 60

function checkText(results: CheckResults): string {
  const { check, types } = results
  const { baseline, changes, added, run } = check
  const runs = baseline.map(({ name }) => shortText(name, MAX_NAME_LENGTH))
  const range = runs.length === 1 ? runs[0] : `${runs[0]} to ${runs.at(-1)}`
  const last = changes.at(-1)
  const unsure = types.filter(({ verdict, possible }) => verdict !== 'fail' && possible.length > 0)
  return [
    `${verdictOf(results)}: ${shortText(run.name, MAX_NAME_LENGTH)} against ${counted(runs.length, 'run')} (${range})`,
    ...(last === undefined ? [] : [`The history is at another level since ${last.run}.`]),
    '',
    textTable(
      ['type of request', 'requests', 'median', 'shift', '', 'fails', 'verdict'],
      types.map((type) => [
        shortText(type.name, MAX_NAME_LENGTH),
        type.requests.map(grouped).join(' → '),
        type.medianUs.map(durationText).join(' → '),
        signedPercent(type.shift.value),
        intervalText(type.shift),
        type.errors === null ? '' : signedPercent(type.errors.share).replace('+', ''),
        [type.verdict, ...type.conditions].join(' '),
      ]),
    ),
    ...(added.length === 0
      ? []
      : [`New: ${added.map((name) => shortText(name, MAX_NAME_LENGTH)).join(', ')}`]),
    ...(unsure.length === 0
      ? []
      : [
          `Not ruled out, with so few requests or runs, for ${counted(unsure.length, 'type')}: ${[...new Set(unsure.flatMap(({ possible }) => possible))].join(', ')}.`,
        ]),
    ...(baseline.length > 1
      ? []
      : ['Only one run before: intervals do not count how much runs differ by themselves.']),
  ].join('\n')
}

function durationText(us: number): string {
  return Number.isNaN(us) ? 'none' : formatDuration(us)
}

function signedPercent(share: number): string {
  if (Number.isNaN(share)) return ''
  if (!Number.isFinite(share)) return '∞ %'
  return `${share > 0 ? '+' : ''}${(100 * share).toFixed(1)} %`.replace('-', '−')
}

function intervalText({ low, high }: Estimate): string {
  return Number.isNaN(low) ? '' : `${signedPercent(low)} to ${signedPercent(high)}`
}

/** One sentence of a type, for annotations and test reports. */
function sentenceOf({ requests, medianUs, shift, errors, conditions }: JudgedType): string {
  if (requests[1] === 0) return `no request came (${grouped(requests[0])} before)`
  const failing = errors === null ? '' : `; ${signedPercent(errors.share).replace('+', '')} fail`
  return (
    `${medianUs.map(durationText).join(' → ')}, ${signedPercent(shift.value)} ` +
    `(${intervalText(shift)})${failing}${conditions.length === 0 ? '' : `: ${conditions.join(', ')}`}`
  )
}

/** Workflow commands: GitHub shows each as an annotation of the check. */
function githubCommands(results: CheckResults): string {
  const data = (text: string) =>
    text.replace(
      /[%\r\n]/g,
      (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
    )
  const property = (text: string) => data(text).replace(/:/g, '%3A').replace(/,/g, '%2C')
  const told = results.types.filter(({ verdict }) => verdict !== 'pass')
  const lines = told.map((type) => {
    const kind = type.verdict === 'fail' ? 'error' : 'warning'
    const title = property(shortText(type.name, MAX_NAME_LENGTH))
    return `::${kind} title=flowdelta ${title}::${data(sentenceOf(type))}`
  })
  const [summary = ''] = checkText(results).split('\n')
  return `${[...lines, `::notice title=flowdelta::${data(visibleText(summary))}`].join('\n')}\n`
}

function junitXml({ types }: CheckResults): string {
  const text = (given: string) => escapeHtml(shortText(given, 8 * MAX_NAME_LENGTH))
  const failures = types.filter(({ verdict }) => verdict === 'fail').length
  const cases = types.map((type) => {
    const inside =
      type.verdict === 'fail'
        ? `<failure message="${text(type.conditions.join(', '))}">${text(sentenceOf(type))}</failure>`
        : `<system-out>${text(`${type.verdict}: ${sentenceOf(type)}`)}</system-out>`
    const seconds = Number.isNaN(type.medianUs[1]) ? 0 : type.medianUs[1] / 1e6
    return `  <testcase classname="flowdelta" name="${text(type.name)}" time="${seconds}">${inside}</testcase>\n`
  })
  return `<?xml version="1.0" encoding="UTF-8"?>
<testsuite name="flowdelta" tests="${types.length}" failures="${failures}">
${cases.join('')}</testsuite>
`
}

/** Medians in ns; as far around them as the interval of the shift goes around that. */
function bencherMetrics({ types }: CheckResults): string {
  const metrics = types
    .filter(({ requests }) => requests[1] > 0)
    .map(({ name, medianUs: [, now], shift: { value, low, high } }) => {
      const bound = (shift: number) => (1e3 * now * (1 + shift)) / (1 + value)
      const bounds = { lower_value: bound(low), upper_value: bound(high) }
      const known = Number.isFinite(low) && Number.isFinite(high)
      return [name, { latency: { value: 1e3 * now, ...(known && bounds) } }] as const
    })
  return printedJson(Object.fromEntries(metrics))
}

function benchmarkActionList({ types }: CheckResults): string {
  const entries = types
    .filter(({ requests }) => requests[1] > 0)
    .map((type) => ({
      name: type.name,
      unit: 'µs',
      value: type.medianUs[1],
      extra: sentenceOf(type),
    }))
  return printedJson(entries)
}
