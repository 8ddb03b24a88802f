import { extent, group } from 'd3-array'
import {
  counted,
  formatDuration,
  grouped,
  percent,
  pValue,
  shortText,
  tooltipText,
} from '../../core/words.ts'
import { type DivergenceName, divergenceText } from '../../whatif/diagnosis/evaluate-scenario.ts'
import type {
  DiagnosedScenario,
  LatencyDiagnosis,
} from '../../whatif/diagnosis/latency-diagnosis.ts'
import { profileQuantiles } from '../../whatif/recompute/latency-profile.ts'
import { linearDurationAxis, plainAxis } from './axes.ts'
import { bars, colorBy, digits, rowNames, ruleAt, textBeside } from './builders.ts'
import { defineChart, framedChart, mostDrawn, PALETTE, type SpecPart } from './chart-frame.ts'

type DiagnosisRow = ReturnType<typeof diagnosisRows>[number]

/** Returns the best `limit` scenarios and those that contain them, each below its parent, best first. */
export function diagnosisRows({ ranked }: LatencyDiagnosis, limit: number) {
  const kept = new Set<number>()
  for (const each of ranked.slice(0, limit)) {
    for (let at: DiagnosedScenario | null = each; at !== null; at = at.parent) kept.add(at.rank)
  }
  const children = group(
    ranked.filter(({ rank }) => kept.has(rank)),
    ({ parent }) => parent?.rank ?? 0,
  )
  const rows: { cause: DiagnosedScenario; level: number }[] = []
  const list = (parent: number, level: number) => {
    for (const cause of children.get(parent) ?? []) {
      rows.push({ cause, level })
      list(cause.rank, level + 1)
    }
  }
  list(0, 0)
  return rows
}

const MAX_NAME_LENGTH = 46
const MAX_LEVEL = 8
const DIVERGENCE_TITLES: Readonly<Record<DivergenceName, string>> = {
  kl: 'divergence from the target',
  wasserstein: 'distance from the target',
  ks: 'largest gap to the target',
}
/** Narrower than this share of its times, an axis shows differences that nobody can tell. */
const MIN_SPAN = 0.02
const CHANCE = 'may be chance'

/**
 * Draws a diagnosis: the tried scenarios, each indented below the one it refines, with the remaining distance of the
 * profile from the target, and the new p50 and p99.
 *
 * Source: Ostrowski, Mann and Sandler 2011, §4; the drawing is flowdelta's own.
 */
export const diagnosisChart = defineChart(
  {
    limit: mostDrawn(15, 'scenarios', 'best first, with the scenarios they refine'),
  },
  (diagnosis: LatencyDiagnosis, { limit }) => {
    const rows = diagnosisRows(diagnosis, limit).map((row) => rowOf(diagnosis, row))
    return framedChart(
      {
        title: 'Which single change brings response times closest to the target?',
        subtitle: subtitle(diagnosis),
        omissions:
          rows.length !== diagnosis.size &&
          `Shows ${grouped(rows.length)} of ${counted(diagnosis.size, 'scenario')}: the best, and those they refine.`,
        width: 760,
      },
      {
        data: { values: rows },
        spacing: 16,
        hconcat: [
          divergencePanel(diagnosis, rows),
          quantilePanel(diagnosis, rows, 'p50'),
          quantilePanel(diagnosis, rows, 'p99'),
        ],
      },
    )
  },
)

function subtitle(diagnosis: LatencyDiagnosis): string[] {
  const { best, targetTitle, changeP, options, state } = diagnosis
  const target = `Target: ${shortText(targetTitle, 80)}.`
  const closest =
    best === null
      ? 'No scenario was tried.'
      : `Closest: ${shortText(best.scenario.title, 160)}, ${percent(Math.max(0, best.gain))} of the way.`
  const differ = changeP < options.alpha ? 'differ' : 'may be the same'
  return [
    ...(isOfTraces(diagnosis)
      ? [
          `${target} Before and target ${differ} (${pValue(changeP)}).`,
          closest,
          'Each row sets one thing to what it was after and leaves the rest as before.',
        ]
      : [target, closest, 'Each row changes one thing and leaves the rest as before.']),
    'Orange lines: as recorded before. Blue lines: the target.',
    ...(state === 'complete' ? [] : ['The diagnosis was stopped before everything was tried.']),
  ]
}

function isOfTraces({ models }: LatencyDiagnosis): boolean {
  return models.forests.length > 1
}

function looks(diagnosis: LatencyDiagnosis) {
  const sure = isOfTraces(diagnosis) ? 'explains a change' : 'comes closer'
  return [
    { name: sure, color: PALETTE.change },
    { name: CHANCE, color: PALETTE.faint },
  ] as const
}

function rowOf(diagnosis: LatencyDiagnosis, { cause, level }: DiagnosisRow) {
  const { base, target, options } = diagnosis
  const [before, aim] = [profileQuantiles(base), profileQuantiles(target)]
  const { title } = cause.scenario
  // The subtitle says of every row that it is as after.
  const name = isOfTraces(diagnosis) ? title.replace(/,? as after$/, '') : title
  const indent = level === 0 ? '' : `${'\u2003'.repeat(Math.min(level, MAX_LEVEL) - 1)}└ `
  return {
    label: `${indent}${cause.rank}. ${shortText(name, MAX_NAME_LENGTH)}`,
    kind: cause.significant ? looks(diagnosis)[0].name : CHANCE,
    full: tooltipText(title),
    divergence: digits(cause.divergence),
    text: divergenceText(options.divergence, cause.divergence),
    gain: `${percent(Math.max(0, cause.gain))} closer than before`,
    sure: Number.isNaN(cause.q) ? 'not tested' : pValue(cause.q, 'q'),
    requests: grouped(cause.touched),
    fromP50Us: before.p50Us,
    p50Us: cause.p50Us,
    p50: `${formatDuration(before.p50Us)} → ${formatDuration(cause.p50Us)}`,
    targetP50: formatDuration(aim.p50Us),
    fromP99Us: before.p99Us,
    p99Us: cause.p99Us,
    p99: `${formatDuration(before.p99Us)} → ${formatDuration(cause.p99Us)}`,
    targetP99: formatDuration(aim.p99Us),
  }
}

type Row = ReturnType<typeof rowOf>

function divergencePanel(diagnosis: LatencyDiagnosis, rows: readonly Row[]): SpecPart {
  const { divergence: unchanged, options } = diagnosis
  const largest = Math.max(unchanged, ...rows.map(({ divergence }) => divergence)) || 1
  const domain = [0, largest * 1.9] as const
  const time = linearDurationAxis({ lowUs: 0, highUs: domain[1], ticks: 2, title: '' })
  const plain = { tickCount: 2, format: '~r' }
  const title = DIVERGENCE_TITLES[options.divergence]
  const ticks = options.divergence === 'wasserstein' ? time.axis : plain
  // Numbers stand at the right end, clear of the line.
  const numbers = textBeside({
    field: 'text',
    x: { datum: domain[1], type: 'quantitative' },
    y: rowNames(),
    leftIf: 'true',
  })
  return bars({
    rows,
    axis: plainAxis(domain, { ...ticks, title }),
    isShared: true,
    over: [thickRule(unchanged, PALETTE.before), numbers],
    to: 'divergence',
    color: colorBy(looks(diagnosis), rows, { legend: { title: null, orient: 'bottom' } }),
    tooltip: {
      scenario: 'full',
      divergence: 'text',
      'that is': 'gain',
      'what it changes, before and after': 'sure',
      'requests it changes': 'requests',
    },
    width: 130,
  })
}

function quantilePanel(diagnosis: LatencyDiagnosis, rows: readonly Row[], name: 'p50' | 'p99') {
  const measure = `${name}Us` as const
  const fromUs = profileQuantiles(diagnosis.base)[measure]
  const targetUs = profileQuantiles(diagnosis.target)[measure]
  const [lowUs = 0, highUs = 1] = extent([...rows.map((row) => row[measure]), fromUs, targetUs])
  const margin = highUs - lowUs < MIN_SPAN * highUs ? 5 * MIN_SPAN * highUs : 0
  const big = name === 'p50' ? 'P50' : 'P99'
  return bars({
    rows,
    isShared: true,
    over: [thickRule(targetUs, PALETTE.after), thickRule(fromUs, PALETTE.before)],
    axis: linearDurationAxis({
      lowUs: lowUs - margin,
      highUs: highUs + margin,
      ticks: 2,
      title: name,
    }),
    from: `from${big}Us`,
    to: measure,
    color: colorBy(looks(diagnosis), rows, { legend: { title: null, orient: 'bottom' } }),
    tooltip: { scenario: 'full', [name]: name, target: `target${big}` },
    y: rowNames({ hidden: true }),
    width: 90,
  })
}

function thickRule(value: number, color: string): SpecPart {
  return ruleAt(value, { color, strokeWidth: 2.5 })
}
