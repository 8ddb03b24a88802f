import { textWidth } from '../src/cli/printing.ts'
import { textTable } from '../src/core/text-layout.ts'
import type { EvaluatedCase } from './evaluate-case.ts'
import type { NullCase } from './evaluate-null.ts'
import type { RankedQuality } from './ranked-quality.ts'

const ALPHA = 0.05

/** The evaluation as tables: ours beside the thesis's numbers, the baselines, false alarms. */
export function evaluationText(
  cases: readonly EvaluatedCase[],
  nullRates: readonly NullCase[] | null,
): string {
  return [
    'Ranked results, the thesis’s numbers in brackets (Sambasivan 2013, Table 3.4).',
    'The thesis compared nightly benchmark runs, sampled at 10 %. These are 1,000 to 10,000 requests,',
    'recorded fully, the periods taking turns request by request (but periodic-spikes and create-behaviour).',
    qualityTable(cases),
    ...spreads(cases),
    '',
    'Operations compared without flows: results, top-10 relevant %, first relevant rank',
    baselineTable(cases),
    ...(nullRates === null
      ? []
      : [
          '',
          'False alarms: random halves of each before period. In brackets: standard errors from 5 %, a split as one draw;',
          'any finding: without correction any mutation, with it any finding, which should be 5 % at most',
          nullTable(nullRates),
        ]),
    '',
  ].join('\n')
}

function qualityTable(cases: readonly EvaluatedCase[]): string {
  const head = ['case', 'SM', 'categories', 'results', 'top-10 %', 'false +%', 'coverage %']
  const rows = cases.map((row) => [
    rowName(row),
    String(row.smPThreshold),
    String(row.categories),
    beside(row.results, row.thesis?.results),
    beside(row.top10RelevantPct, row.thesis?.top10RelevantPct),
    beside(row.falsePositivesPct, row.thesis?.falsePositivesPct),
    beside(row.coveragePct, row.thesis?.coveragePct),
    number(row.ndcg, 2),
    number(row.firstRelevantRank),
    `${number(row.firstRelevantFinding)} of ${row.findings}`,
    number(row.variancesP, 2),
    number(row.seconds, 2),
  ])
  return textTable([...head, 'nDCG', 'first', 'finding', 'variances p', 's'], rows, textWidth())
}

/** A case's second recording is `<case> (2)`. */
function rowName({ name, recording }: { name: string; recording: number }): string {
  return recording === 1 ? name : `${name} (${recording})`
}

/** The spread over the recordings of each case that was recorded more than once. */
function spreads(cases: readonly EvaluatedCase[]): string[] {
  const groups = new Map<string, EvaluatedCase[]>()
  for (const row of cases) {
    const title = `${row.name}, SM ${row.smPThreshold}`
    groups.set(title, [...(groups.get(title) ?? []), row])
  }
  return [...groups].flatMap(([title, rows]) => {
    if (rows.length === 1) return []
    const range = (value: (row: EvaluatedCase) => number | null) => {
      const values = rows.map(value).filter((one) => one !== null)
      return values.length === 0
        ? '–'
        : `${number(Math.min(...values))} to ${number(Math.max(...values))}`
    }
    return [
      `${title}, ${rows.length} recordings: ${range((row) => row.results)} results, ` +
        `top-10 % ${range((row) => row.top10RelevantPct)}, ` +
        `false +% ${range((row) => row.falsePositivesPct)}, ` +
        `coverage % ${range((row) => row.coveragePct)}`,
    ]
  })
}

function baselineTable(cases: readonly EvaluatedCase[]): string {
  const rows = cases.flatMap(({ name, recording, baselines }) =>
    baselines === null
      ? []
      : [
          [
            rowName({ name, recording }),
            summary(baselines.p95Tripled),
            summary(baselines.ksStatistic),
          ],
        ],
  )
  const unique = rows.filter(([name], i) => rows.findIndex(([other]) => other === name) === i)
  return textTable(['case', 'P95 tripled', 'KS statistic'], unique, textWidth())
}

function nullTable(rates: readonly NullCase[]): string {
  const head = ['case', 'correction', 'comparisons', 'categories %', 'edges %', 'any finding %']
  const level = (rate: number, count: number, error: number, correction: string) => {
    const beside = correction === 'none' ? ` (${standardErrors(rate, error)} SE)` : ''
    return `${number(100 * rate, 2)} of ${count}${beside}`
  }
  return textTable(
    head,
    rates.map((row) => [
      rowName(row),
      row.correction,
      String(row.comparisons),
      level(
        row.categoryRejectionRate,
        row.testableCategories,
        row.categoryStandardError,
        row.correction,
      ),
      level(row.edgeRejectionRate, row.testableEdges, row.edgeStandardError, row.correction),
      number(100 * row.anyFindingRate),
    ]),
    textWidth(),
  )
}

/** How many standard errors a rate lies above (or below) the level of the tests. */
function standardErrors(rate: number, error: number): string {
  const errors = (rate - ALPHA) / error
  return `${errors > 0 ? '+' : ''}${number(errors, 1)}`
}

function summary({ results, top10RelevantPct, firstRelevantRank }: RankedQuality): string {
  return `${results}, ${number(top10RelevantPct)}, ${number(firstRelevantRank)}`
}

function beside(ours: number | null, thesis: number | null | undefined): string {
  return thesis === undefined ? number(ours) : `${number(ours)} (${number(thesis)})`
}

function number(value: number | null, digits = 0): string {
  return value === null ? '–' : value.toFixed(digits)
}
