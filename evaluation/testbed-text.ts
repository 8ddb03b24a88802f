import { performance } from 'node:perf_hooks'
import { textWidth } from '../src/cli/printing.ts'
import { MEASURED } from '../src/core/json-parts.ts'
import type { StageTable } from '../src/core/stage.ts'
import { textTable } from '../src/core/text-layout.ts'
import { counted, grouped } from '../src/core/words.ts'
import type { CauseRanks, EvaluatedChange } from './testbed/evaluate-change.ts'
import { evaluateWhatIf } from './testbed/evaluate-whatif.ts'
import { RANKINGS, type WhatIfEvaluation } from './testbed/whatif-evaluation.ts'

/** What `flowdelta evaluate --whatif` can be asked. */
export interface WhatIfFlags {
  readonly json: boolean
  readonly changes: number
  readonly services: number
  readonly requests: number
  readonly drift: number
  readonly decoys: boolean
  readonly seed: number
}

/** Changes one simulated service at a time, and prints how well each was found and ranked. */
export function runWhatIfEvaluation(flags: WhatIfFlags): void {
  const { changes, services, requests, drift, decoys, seed } = flags
  const start = performance.now()
  const evaluation = evaluateWhatIf({
    changes,
    services,
    requests,
    drift,
    decoys,
    seed,
    progress: (done, all, change) => {
      const seconds = ((performance.now() - start) / 1000).toFixed(0)
      process.stderr.write(`${done} of ${all}, ${seconds} s: ${progressText(change)}\n`)
    },
  })
  const seconds = (performance.now() - start) / 1000
  process.stdout.write(
    flags.json
      ? `${JSON.stringify(whatIfDocument(evaluation, flags, seconds), null, 1)}\n`
      : whatIfText(evaluation, seconds),
  )
}

function progressText({ kind, path, detected, ranks }: EvaluatedChange): string {
  const score = ranks[ranks.length - 1]?.diagnosis ?? Number.NaN
  return `${path} ${kind}, ${detected ? 'detected' : 'missed'}, score ${score.toFixed(2)}`
}

function whatIfDocument(evaluation: WhatIfEvaluation, flags: WhatIfFlags, seconds: number) {
  const { changes, services, requests, drift, decoys, seed } = flags
  return {
    schema: 'flowdelta.whatif-evaluation/1',
    parameters: { changes, services, requests, drift, decoys, seed },
    system: evaluation.options.size,
    seconds,
    rankings: RANKINGS,
    means: rowsOf(evaluation.meanTable()),
    summary: rowsOf(evaluation.summaryTable()),
    detectedByDepth: rowsOf(evaluation.depthTable()),
    detectedByCalls: rowsOf(evaluation.callsTable()),
    scores: rowsOf(evaluation.scoreTable()),
    distribution: rowsOf(evaluation.distributionTable()),
    changes: rowsOf(evaluation.table()),
  }
}

function rowsOf(table: StageTable): Record<string, unknown>[] {
  return (table.objects() as Record<string, unknown>[]).map((row) =>
    Object.fromEntries(
      Object.entries(row).map(([name, value]) => [
        name,
        typeof value === 'number' ? MEASURED.write(value) : value,
      ]),
    ),
  )
}

function whatIfText(evaluation: WhatIfEvaluation, seconds: number): string {
  const { size, requests, drift, decoys } = evaluation.options
  return [
    `${counted(evaluation.changes.length, 'change')} of ${counted(size.services, 'service')} ` +
      `(${counted(size.models, 'execution model')}, ${counted(size.nodes, 'node')}), each a run of ` +
      `${grouped(requests)} requests before and after, drift ${Number((drift * 100).toPrecision(3))} %${decoys ? ', with decoys' : ''}; ${seconds.toFixed(0)} s`,
    '',
    'Mean score of the genuine cause: 0 % ranked first among its siblings, 100 % last. Detected: in the tree,',
    `with a score up to ${evaluation.options.diagnosis.pruning * 100} %; labelled: said to be beyond chance as well.`,
    ...WAYS.map((way) => `  ${SHORT[way].padEnd(10)}  ${MEANINGS[way]}`),
    tableText(evaluation.meanTable()),
    '',
    tableText(evaluation.summaryTable()),
    '',
    'Detected and missed, by depth of the service that changed (Ostrowski et al. 2011, Figure 2, left)',
    tableText(evaluation.depthTable()),
    '',
    'Detected and missed, by calls to it per request, up to (Figure 2, right)',
    tableText(evaluation.callsTable()),
    '',
    'Mean scores of causes at depth n and of those at depth k they lie within: T terminal, S substitute (Figure 3)',
    tableText(evaluation.scoreTable()),
    '',
    'Share of causes with a score up to 0, 10, 25, 50 % (Figure 4; all of it with --json)',
    distributionText(evaluation.distributionTable()),
    '',
  ].join('\n')
}

const WAYS = Object.keys(RANKINGS) as (keyof CauseRanks)[]

/** Names of columns that hold scores. */
const SHORT: Readonly<Record<keyof CauseRanks, string>> = {
  diagnosis: 'diagnosis',
  diagnosisOfCalls: 'calls only',
  divergenceOfCalls: 'divergence',
  ksOfServices: 'KS all',
  ksOfServicesByLevel: 'KS levels',
  ksOfServicesAhead: 'KS all+',
  ksOfCalls: 'KS calls',
  ksOfCallsAhead: 'KS calls+',
}

const MEANINGS: Readonly<Record<keyof CauseRanks, string>> = {
  diagnosis: 'of all that the diagnosis tries at that place',
  diagnosisOfCalls: 'of these, only the calls that the same caller makes',
  divergenceOfCalls: 'of the same calls by divergence alone',
  ksOfServices: 'baseline: of all services, by p of the KS test',
  ksOfServicesByLevel:
    'baseline: of all services, by the level at which the KS test is passed; many are equals',
  ksOfServicesAhead:
    'baseline: of all services, each by the smallest p of itself and all that it calls, as the diagnosis looks ahead',
  ksOfCalls: 'baseline: of the calls that the same caller makes, by p of the KS test',
  ksOfCallsAhead: 'baseline: the same, each by the smallest p of itself and the calls below it',
}

function tableText(table: StageTable): string {
  const names = table.columnNames()
  const rows = (table.objects() as Record<string, unknown>[]).map((row) =>
    names.map((name) => cellText(row[name], name in SHORT)),
  )
  const heads: Readonly<Record<string, string>> = { ...HEADS, ...SHORT }
  return textTable(
    names.map((name) => heads[name] ?? name),
    rows,
    textWidth(),
  )
}

const HEADS = { callsUpTo: 'calls', label: 't-k/n' }

function cellText(value: unknown, isScore: boolean): string {
  if (typeof value !== 'number') return String(value)
  if (!isScore) return value === Number.POSITIVE_INFINITY ? 'more' : String(value)
  return Number.isNaN(value) ? '–' : `${(value * 100).toFixed(1)} %`
}

const LEVELS = [0, 0.1, 0.25, 0.5]

function distributionText(table: StageTable): string {
  const rows = table.objects() as { label: string; ranking: string; score: number; share: number }[]
  const shares = new Map<string, string[]>()
  for (const { label } of rows) {
    if (shares.has(label)) continue
    shares.set(
      label,
      WAYS.map((way) => {
        const steps = rows.filter((row) => row.label === label && row.ranking === RANKINGS[way])
        return LEVELS.map((level) => {
          const share = steps.filter(({ score }) => score <= level).at(-1)?.share ?? 0
          return (share * 100).toFixed(0)
        }).join(' ')
      }),
    )
  }
  return textTable(
    ['k/n', ...WAYS.map((way) => SHORT[way])],
    Array.from(shares, ([label, cells]) => [label, ...cells]),
    textWidth(),
  )
}
