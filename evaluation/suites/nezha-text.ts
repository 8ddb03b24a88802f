import { textWidth } from '../../src/cli/printing.ts'
import { textTable } from '../../src/core/text-layout.ts'
import { counted } from '../../src/core/words.ts'
import type { CheckedPart, CheckedSentence } from './check-sentences.ts'
import {
  accuracyRows,
  evaluateNezha,
  METHODS,
  type NezhaResult,
  splitCases,
} from './nezha-suite.ts'
import { APART, alarmLines, reportingShare } from './null-text.ts'
import { PUBLISHED } from './published-numbers.ts'
import { FIRST } from './service-ranks.ts'
import { type Half, sharedData } from './shared-data.ts'

/** What `npm run evaluate -- --suite nezha` can be asked. */
export interface NezhaFlags {
  readonly json: boolean
  readonly half: Half
  readonly cases: boolean
  readonly checkSentences: boolean
  readonly logs: boolean
  readonly late: number
}

const FOLDER = 'data/nezha-faults'

/** Judges findings on Nezha's labelled faults, and prints how often they name the right service. */
export async function runNezhaSuite(names: readonly string[], flags: NezhaFlags): Promise<void> {
  const folder = sharedData(FOLDER)
  if (folder === null) {
    process.stdout.write(`Not run: needs ../shared/${FOLDER} (or the folder FLOWDELTA_SHARED).\n`)
    return
  }
  const start = performance.now()
  const results = await evaluateNezha(folder, {
    names,
    half: flags.half,
    checksSentences: flags.checkSentences,
    logs: flags.logs,
    late: flags.late,
    progress: (done, all, { id, service, ranks }) => {
      const seconds = ((performance.now() - start) / 1000).toFixed(0)
      const rank = service === null ? '' : `, ${service} ${ranks.flowdelta ?? 'not named'}`
      process.stderr.write(`${done} of ${all}, ${seconds} s: ${id}${rank}\n`)
    },
  })
  process.stdout.write(
    flags.json
      ? `${JSON.stringify(nezhaDocument(results, flags), null, 1)}\n`
      : nezhaText(results, flags),
  )
}

/** Returns the suite's results as a document. */
export function nezhaDocument(
  results: readonly NezhaResult[],
  { half, logs, late }: Pick<NezhaFlags, 'half' | 'logs' | 'late'>,
) {
  const { nulls } = splitCases(results)
  const sentences = sentencesOf(results)
  return {
    schema: 'flowdelta.nezha-evaluation/1',
    parameters: { half, logs, late, first: FIRST },
    accuracy: accuracyRows(results),
    published: PUBLISHED,
    nullAlarms: {
      comparisons: nulls.length,
      reporting: nulls.filter(({ titles }) => titles.length > 0).length,
      alarms: nulls.flatMap(({ id, titles, apart }) =>
        titles.length > 0 ? [{ id, titles, apart }] : [],
      ),
    },
    ...(sentences !== null && { sentences: tallies(sentences) }),
    cases: results,
  }
}

/** Returns the suite's results as tables. */
export function nezhaText(
  results: readonly NezhaResult[],
  { cases, half }: Pick<NezhaFlags, 'cases' | 'half'>,
): string {
  const { faults, nulls } = splitCases(results)
  const sentences = sentencesOf(results)
  return [
    `${counted(faults.length, 'fault')} of Nezha’s benchmark${half === null ? '' : ` (${half} half)`}: ` +
      'share in % whose service is among the first 1 / 3 / 5 that findings name.',
    accuracyTable(results),
    '',
    'Published, over all 101 faults (Yu et al. 2023)',
    publishedTable(),
    ...(nulls.length === 0
      ? []
      : ['', `Without a fault: ${reportingShare(nulls)}`, ...alarmLines(nulls), APART]),
    ...statementLines(faults),
    ...(sentences === null ? [] : ['', ...sentenceLines(sentences)]),
    ...(cases ? ['', caseTable(results)] : []),
    '',
  ].join('\n')
}

/** How many faults in the code have a line of code of the right service in their findings. */
function statementLines(faults: readonly NezhaResult[]): string[] {
  const ofCode = faults.filter(
    ({ type, statements }) => statements !== undefined && CODE_FAULTS.has(type),
  )
  const named = ofCode.filter(({ statements }) => statements?.length)
  if (ofCode.length === 0) return []
  return [
    '',
    `Log statements of the service named in ${named.length} of ${ofCode.length} code faults:`,
    ...ofCode.map(({ id, statements }) => `  ${id}  ${statements?.join(', ') || '–'}`),
  ]
}

/** An early return, or an exception, in one method. */
const CODE_FAULTS: ReadonlySet<string> = new Set(['return', 'exception'])

function accuracyTable(results: readonly NezhaResult[]): string {
  const head = ['system, fault', 'faults', 'flowdelta', 'P95 tripled', 'own time rise', 'KS D']
  return textTable(
    head,
    accuracyRows(results).map(({ system, type, faults, accuracy }) => [
      type === 'all' ? system : `  ${type}`,
      String(faults),
      ...METHODS.map((method) => triple(accuracy[method].map((share) => 100 * share))),
    ]),
    textWidth(),
  )
}

function publishedTable(): string {
  return textTable(
    ['method', 'reads', 'OB', 'TT'],
    PUBLISHED.map(({ method, reads, accuracyPct }) => [
      method,
      reads,
      triple(accuracyPct.OB),
      triple(accuracyPct.TT),
    ]),
    textWidth(),
  )
}

function triple(percents: readonly (number | null)[]): string {
  return percents.map((value) => value?.toFixed(0) ?? '–').join(' / ')
}

function caseTable(results: readonly NezhaResult[]): string {
  const head = ['case', 'system', 'type', 'service', ...METHODS, 's', 'services named']
  return textTable(
    head,
    results.map(({ id, system, type, service, ranks, services, seconds }) => [
      id,
      system,
      type,
      service ?? '–',
      ...METHODS.map((method) => String(ranks[method] ?? '–')),
      seconds.toFixed(1),
      services.slice(0, 5).join(' '),
    ]),
    textWidth(),
  )
}

interface SentenceOfCase extends CheckedSentence {
  readonly case: string
}

function sentencesOf(results: readonly NezhaResult[]): SentenceOfCase[] | null {
  if (results.every(({ sentences }) => sentences === undefined)) return null
  return results.flatMap(({ id, sentences = [] }) =>
    sentences.map((sentence) => ({ case: id, ...sentence })),
  )
}

const ABOUT = {
  work: 'work of a service',
  call: 'the way of a call and back',
  request: 'requests as a whole',
  structure: 'what is called',
} as const

function tallies(sentences: readonly SentenceOfCase[]) {
  return (Object.keys(ABOUT) as (keyof typeof ABOUT)[]).flatMap((about) => {
    const some = sentences.filter((sentence) => sentence.about === about)
    const right = some.filter(({ isTrue }) => isTrue).length
    return some.length === 0 ? [] : [{ about, checked: some.length, true: right }]
  })
}

function sentenceLines(sentences: readonly SentenceOfCase[]): string[] {
  const right = sentences.filter(({ isTrue }) => isTrue)
  const parts = sentences.flatMap((sentence) => sentence.parts)
  const share = (some: number, all: number) => `${some} of ${all} true (${percent(some, all)})`
  return [
    `Of ${counted(sentences.length, 'sentence')}, the spans bear out all that each rests on:`,
    `  ${share(right.length, sentences.length)}`,
    `  in what it says first: ${share(
      sentences.filter((sentence) => sentence.parts[0]?.isTrue).length,
      sentences.length,
    )}`,
    ...tallies(sentences).map((row) => `  ${ABOUT[row.about]}: ${share(row.true, row.checked)}`),
    `Steps and changes of calls one by one: ${share(
      parts.filter(({ isTrue }) => isTrue).length,
      parts.length,
    )}`,
    ...sentences.flatMap(({ case: id, title, isTrue, parts: own }) =>
      isTrue ? [] : [`  ${id}  ${title}`, ...own.flatMap(falsePart)],
    ),
  ]
}

function falsePart({ isTrue, measured }: CheckedPart): string[] {
  return isTrue ? [] : [`    ${measured}`]
}

function percent(some: number, all: number): string {
  return `${((100 * some) / all).toFixed(0)} %`
}
