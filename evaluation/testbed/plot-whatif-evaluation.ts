import { OptionError, rejectUnknownOptions } from '../../src/core/errors.ts'
import { counted, percent } from '../../src/core/words.ts'
import { shareAxis } from '../../src/views/charts/axes.ts'
import type { Chart } from '../../src/views/charts/chart.ts'
import {
  framedChart,
  type Heading,
  PALETTE,
  type SpecPart,
} from '../../src/views/charts/chart-frame.ts'
import type { CauseRanks } from './evaluate-change.ts'
import { RANKINGS, type WhatIfEvaluation } from './whatif-evaluation.ts'

/** What of an evaluation is drawn. */
export type WhatIfFigure = 'detected' | 'scores' | 'distribution'

export interface WhatIfEvaluationChartOptions {
  /**
   * `'detected'`: how many causes were detected and missed, by depth and by calls per request;
   * `'scores'`: mean scores of causes and of what they lie within, beside the baselines;
   * `'distribution'`: how these scores are distributed. Default `'scores'`.
   */
  readonly figure?: WhatIfFigure
}

const FIGURES: readonly WhatIfFigure[] = ['detected', 'scores', 'distribution']

/** The rankings that are drawn, and how. */
const DRAWN: readonly (readonly [keyof CauseRanks, color: string, shape: string])[] = [
  ['diagnosis', PALETTE.after, 'circle'],
  ['ksOfServices', PALETTE.rest, 'square'],
  ['ksOfServicesByLevel', PALETTE.faint, 'diamond'],
  ['ksOfCalls', PALETTE.change, 'triangle-up'],
]
const NAMES = DRAWN.map(([way]) => RANKINGS[way])

const WHAT_CHANGED =
  'Terminal: a service answers at once and calls nothing; substitute: a call goes to another system’s service.'

const KINDS = { terminal: 'T: terminal', substitute: 'S: substitute' }

/**
 * Draws how well `diagnoseLatency` found what was changed on purpose.
 *
 * @param evaluation of `evaluateWhatIf`
 * @param options see {@link WhatIfEvaluationChartOptions}
 * @throws OptionError for an unknown figure, FlowdeltaError for an unknown option
 *
 * Source: Ostrowski, Mann and Sandler 2011, Figures 2, 3 and 4; the baselines of KS by level and among
 * the calls of one caller are flowdelta's own.
 *
 * @example
 * const evaluation = evaluateWhatIf({ changes: 2, services: 6, requests: 100 })
 * plotWhatIfEvaluation(evaluation, { figure: 'detected' }).title // 'Causes that were detected'
 */
export function plotWhatIfEvaluation(
  evaluation: WhatIfEvaluation,
  options: WhatIfEvaluationChartOptions = {},
): Chart {
  rejectUnknownOptions(options, ['figure'])
  const { figure = 'scores' } = options
  if (!FIGURES.includes(figure)) {
    throw new OptionError('figure', figure, `one of ${FIGURES.join(', ')}`)
  }
  if (figure === 'detected') return detected(evaluation)
  return figure === 'scores' ? scores(evaluation) : distribution(evaluation)
}

function detected(evaluation: WhatIfEvaluation): Chart {
  const { changes, options } = evaluation
  const found = changes.filter((change) => change.detected).length
  const calls = rowsOf(evaluation.callsTable())
  const ends = [...new Set(calls.map(({ callsUpTo }) => callsUpTo as number))]
  const below = (end: number | undefined) => (end === undefined ? '0' : String(end))
  const rangeOf = (end: number) => {
    const i = ends.indexOf(end)
    return end === Number.POSITIVE_INFINITY ? `over ${below(ends[i - 1])}` : `to ${end}`
  }
  return framedChart(
    headed(evaluation, 'Causes that were detected', [
      `${found} of ${changes.length} were: the tree has them, with a score up to ${percent(options.diagnosis.pruning)}.`,
      'The less often a service is called, and the deeper it lies, the less there is to see of its change.',
    ]),
    {
      hconcat: [
        bars(
          rowsOf(evaluation.depthTable()).map((row) => ({ ...row, at: String(row['depth']) })),
          'depth of the changed service',
        ),
        bars(
          calls.map((row) => ({
            ...row,
            at: rangeOf(row['callsUpTo'] as number),
            callsUpTo: null,
          })),
          'calls to it per request',
        ),
      ],
    },
  )
}

function bars(rows: readonly Record<string, unknown>[], title: string): SpecPart {
  const values = rows.flatMap(({ at, kind, detected, missed }) =>
    [
      { outcome: 'detected', changes: detected },
      { outcome: 'missed', changes: missed },
    ].map((part) => ({ at, kind: KINDS[kind as keyof typeof KINDS], ...part })),
  )
  const order = [...new Set(values.map(({ at }) => at))]
  return {
    data: { values },
    facet: { row: { field: 'kind', type: 'nominal', sort: Object.values(KINDS), title: null } },
    spec: {
      width: 250,
      height: 110,
      mark: { type: 'bar', tooltip: true },
      encoding: {
        x: { field: 'at', type: 'nominal', sort: order, axis: { title, labelAngle: 0 } },
        y: {
          field: 'changes',
          type: 'quantitative',
          axis: { title: 'changes', tickMinStep: 1, tickCount: 4 },
        },
        color: {
          field: 'outcome',
          type: 'nominal',
          legend: { title: null },
          scale: { domain: ['detected', 'missed'], range: [PALETTE.after, PALETTE.faint] },
        },
        // Detected ones stand below.
        order: { field: 'outcome', type: 'ordinal' },
      },
    },
  }
}

function scores(evaluation: WhatIfEvaluation): Chart {
  const rows = rowsOf(evaluation.scoreTable())
  const values = rows.flatMap((row) =>
    DRAWN.map(([way]) => ({
      place: `${row['k']}/${row['n']}`,
      kind: KINDS[row['kind'] as keyof typeof KINDS],
      changes: row['changes'],
      ranking: RANKINGS[way],
      score: rounded(row[way]),
    })),
  )
  const places = [...new Set(values.map(({ place }) => place))]
  return framedChart(
    headed(evaluation, 'Where causes are ranked', [
      'Mean score: 0 % is first among its siblings, 100 % last.',
      'k/n: a cause at depth n, or what it lies within at depth k. The cause itself where k is n.',
    ]),
    {
      data: { values },
      spacing: 45,
      facet: {
        column: { field: 'kind', type: 'nominal', sort: Object.values(KINDS), title: null },
      },
      spec: {
        width: 270,
        height: { step: 22 },
        mark: { type: 'point', filled: true, size: 60, opacity: 0.9, tooltip: true },
        encoding: {
          x: shareChannel('score', 'mean score'),
          y: { field: 'place', type: 'nominal', sort: places, axis: { title: 'k/n', grid: true } },
          ...rankingLook(['color', 'shape']),
          tooltip: [
            { field: 'ranking', type: 'nominal', title: 'ranked by' },
            { field: 'score', type: 'quantitative', title: 'mean score', format: '.1%' },
            { field: 'changes', type: 'quantitative', title: 'changes' },
          ],
        },
      },
    },
  )
}

function distribution(evaluation: WhatIfEvaluation): Chart {
  const rows = rowsOf(evaluation.distributionTable()).filter(({ ranking }) =>
    NAMES.includes(ranking as string),
  )
  const curves = new Map<string, Record<string, unknown>[]>()
  for (const row of rows) {
    const name = `${row['label']} ${row['ranking']}`
    curves.set(name, [...(curves.get(name) ?? [{ ...row, score: 0, share: 0 }]), row])
  }
  const values = Array.from(curves.values(), (curve) => [...curve, { ...curve.at(-1), score: 1 }])
    .flat()
    .map(({ k, n, ranking, score, share }) => ({
      k: `k = ${k}`,
      n: `n = ${n}`,
      ranking,
      score: rounded(score),
      share: rounded(share),
    }))
  return framedChart(
    headed(evaluation, 'How scores are distributed', [
      'Share of causes with a score up to each: the further to the upper left, the better.',
      'n: depth of the cause. k: depth of itself, or of what it lies within.',
    ]),
    {
      data: { values },
      facet: {
        row: { field: 'n', type: 'nominal', title: null },
        column: { field: 'k', type: 'nominal', title: null },
      },
      spec: {
        width: 110,
        height: 90,
        mark: { type: 'line', interpolate: 'step-after', strokeWidth: 2, tooltip: false },
        encoding: {
          x: shareChannel('score', 'score'),
          y: shareChannel('share', 'share of causes'),
          ...rankingLook(['color']),
        },
      },
    },
  )
}

function shareChannel(field: string, title: string): SpecPart {
  const { scale, axis } = shareAxis(title)
  return { field, type: 'quantitative', scale, axis }
}

function rankingLook(channels: readonly ('color' | 'shape')[]): SpecPart {
  const look = (range: readonly string[]) => ({
    field: 'ranking',
    type: 'nominal',
    scale: { domain: NAMES, range },
    legend: { title: null, columns: 2 },
  })
  return {
    ...(channels.includes('color') && { color: look(DRAWN.map(([, color]) => color)) }),
    ...(channels.includes('shape') && { shape: look(DRAWN.map(([, , shape]) => shape)) }),
  }
}

function headed(
  { changes, options }: WhatIfEvaluation,
  title: string,
  subtitle: string[],
): Heading {
  const { size, requests, drift } = options
  const what =
    `${counted(changes.length, 'change')} of ${counted(size.services, 'simulated service')}, ` +
    `${counted(requests, 'request')} before and after, drift ${Number((drift * 100).toPrecision(3))} %.`
  return { title, subtitle: [...subtitle, what, WHAT_CHANGED], width: 600 }
}

function rowsOf(table: { objects(): object[] }): Record<string, unknown>[] {
  return table.objects() as Record<string, unknown>[]
}

function rounded(value: unknown): number {
  return Number(Number(value).toPrecision(6))
}
