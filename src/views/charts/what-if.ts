import { extent, group, max, min, sum } from 'd3-array'
import { OptionError } from '../../core/errors.ts'
import { custom, defineOptions, type OptionsOf, oneOf, text } from '../../core/options.ts'
import {
  counted,
  formatDuration,
  grouped,
  percent,
  pValue,
  shortText,
  tooltipText,
} from '../../core/words.ts'
import { binCount, logBins } from '../../stats/log-bins.ts'
import { type DivergenceName, divergenceText } from '../../whatif/diagnosis/evaluate-scenario.ts'
import type {
  DiagnosedScenario,
  LatencyDiagnosis,
} from '../../whatif/diagnosis/latency-diagnosis.ts'
import { ExecutionModels } from '../../whatif/models/execution-models.ts'
import {
  LatencyProfile,
  profileOf,
  profileQuantiles,
} from '../../whatif/recompute/latency-profile.ts'
import { RequestModel } from '../../whatif/recompute/request-model.ts'
import type { ScenarioProfile } from '../../whatif/scenarios/apply-scenario.ts'
import { type Axis, linearDurationAxis, logDurationAxis, plainAxis, shareAxis } from './axes.ts'
import {
  bars,
  type Curve,
  colorBy,
  curves,
  digits,
  distinctTexts,
  quantity,
  rowNames,
  ruleAt,
  textBeside,
  tooltip,
} from './builders.ts'
import {
  defineChart,
  framedChart,
  mostDrawn,
  PALETTE,
  PERIOD_NAMES,
  type SpecPart,
} from './chart-frame.ts'
import { type Point, profileSteps } from './ecdf-curves.ts'

const LATENCY_PROFILES_CHART_OPTIONS = defineOptions({
  as: oneOf(['ecdf', 'density'], {
    default: 'ecdf',
    sentence: 'Share of requests that took no longer, or share in each of equally wide bins',
  }),
  target: custom<LatencyProfile | null>({
    default: null,
    expected: 'a LatencyProfile, or null',
    accepts: (value) => value === null || value instanceof LatencyProfile,
    sentence: 'Profile drawn beside; by default the target of the profiles, if any',
  }),
  targetName: text({ default: 'target', sentence: 'Name of the target' }),
})
export type LatencyProfilesChartOptions = OptionsOf<typeof LATENCY_PROFILES_CHART_OPTIONS>

const short = (value: number) => digits(value, 5)

interface LatencyCurve extends Omit<Curve, 'points'> {
  readonly profile: LatencyProfile
}

const MAX_CURVE_NAME = 76
const MAX_STEPS = 300
const QUANTILES = [0.5, 0.9, 0.99] as const
const SCENARIO_LOOKS = [
  { color: PALETTE.text, dash: [6, 3] },
  { color: PALETTE.change, dash: [2, 2] },
  { color: PALETTE.rest, dash: [8, 2, 2, 2] },
] as const

/**
 * Draws response times on a logarithmic axis: before, up to three scenarios and the target, or both
 * periods of execution models. Source: Ostrowski, Mann and Sandler 2011, Figure 4.
 */
export const latencyProfilesChart = defineChart(
  LATENCY_PROFILES_CHART_OPTIONS,
  (profiles: ExecutionModels | ScenarioProfile | readonly ScenarioProfile[], options) => {
    const drawn =
      profiles instanceof ExecutionModels
        ? recordedCurves(profiles, options)
        : scenarioCurves('before' in profiles ? [profiles] : profiles, options)
    const names = distinctTexts(drawn, MAX_CURVE_NAME, ({ name }) => name)
    const all = drawn.map((curve, i) => ({ ...curve, name: names[i] as string }))
    const range = positiveRange(all.map(({ profile }) => profile))
    const x = logDurationAxis({
      lowUs: range[0] / 1.1,
      highUs: range[1] * 1.1,
      title: 'response time',
    })
    return framedChart(
      {
        title:
          profiles instanceof ExecutionModels
            ? `Response times${all.length > 1 ? ' before and after' : ''}`
            : 'Response times as recorded and as predicted',
        subtitle: all.map(quantiles),
        omissions: zeros(all),
        width: 620,
      },
      options.as === 'ecdf' ? ecdfView(all, x) : densityView(all, x, range),
    )
  },
)

function recordedCurves(models: ExecutionModels, { target }: LatencyProfilesChartOptions) {
  if (target !== null)
    throw new OptionError('target', target, 'profiles of applyScenario beside it')
  const looks = [{ color: PALETTE.before }, { color: PALETTE.after }]
  return models.forests.map((_, period) => ({
    name: PERIOD_NAMES[period as 0 | 1],
    profile: profileOf(new RequestModel(models, period as 0 | 1).recorded),
    ...(looks[period] as (typeof looks)[0]),
  }))
}

function scenarioCurves(
  scenarios: readonly ScenarioProfile[],
  { target, targetName }: LatencyProfilesChartOptions,
): LatencyCurve[] {
  const [first] = scenarios
  if (first === undefined || scenarios.length > SCENARIO_LOOKS.length) {
    throw new OptionError('profiles', scenarios.length, 'one, two or three profiles')
  }
  const { before } = first
  scenarios.forEach(({ title, before: { latencyUs } }, i) => {
    const isSame = latencyUs.length === before.latencyUs.length
    if (isSame && latencyUs.every((us, row) => us === before.latencyUs[row])) return
    const expected = `a profile of the same requests as ${JSON.stringify(first.title)}`
    throw new OptionError(`profiles[${i}]`, title, expected)
  })
  const aim = target ?? first.target
  return [
    { name: 'before', profile: before, color: PALETTE.before },
    ...scenarios.map(({ title, profile }, i) => ({ name: title, profile, ...SCENARIO_LOOKS[i] })),
    ...(aim === null ? [] : [{ name: targetName, profile: aim, color: PALETTE.after }]),
  ] as LatencyCurve[]
}

function positiveRange(profiles: readonly LatencyProfile[]): readonly [number, number] {
  const lowUs = min(profiles, ({ latencyUs }) => latencyUs.find((us) => us > 0))
  if (lowUs === undefined) return [1, 10]
  const highUs = max(profiles, ({ latencyUs }) => latencyUs.at(-1)) ?? lowUs
  return [lowUs, Math.max(highUs, lowUs * 1.01)]
}

function quantiles({ name, profile }: LatencyCurve): string {
  // A line must not end within one of them.
  const texts = QUANTILES.map((q) =>
    `p${q * 100} ${formatDuration(profile.quantile(q))}`.replaceAll(' ', '\u00a0'),
  )
  return `${name}: ${texts.join(', ')}.`
}

function zeros(all: readonly LatencyCurve[]): string | false {
  const shares = all.flatMap(({ name, profile: { latencyUs, weight, requests } }) => {
    const zero = sum(weight.filter((_, i) => !((latencyUs[i] ?? 0) > 0)))
    return zero > 0 ? [`${percent(zero / requests)} of ${name}`] : []
  })
  return shares.length > 0 && `Requests of 0 µs (${shares.join(', ')}) are at the left end.`
}

function ecdfView(all: readonly LatencyCurve[], x: Axis): SpecPart {
  const [low, high] = x.domain
  const marks = all.flatMap(({ name, profile }) =>
    QUANTILES.map((q) => ({
      profile: name,
      timeUs: short(Math.max(low, profile.quantile(q))),
      share: q,
      measure: `p${q * 100}`,
      time: formatDuration(profile.quantile(q)),
      full: tooltipText(name),
    })),
  )
  return curves({
    x,
    y: shareAxis('share of requests that took no longer'),
    curves: all.map(({ profile, ...look }) => ({
      ...look,
      points: [
        [low, 0],
        ...profileSteps(profile, MAX_STEPS).map(
          ([us, y]): Point => [short(Math.max(low, us)), short(y)],
        ),
        [high, 1],
      ],
    })),
    over: [
      {
        data: { values: marks },
        mark: { type: 'point', filled: true, size: 45, opacity: 1 },
        encoding: {
          x: quantity('timeUs'),
          y: quantity('share'),
          color: { field: 'profile', type: 'nominal' },
          tooltip: tooltip({ profile: 'full', quantile: 'measure', 'response time': 'time' }),
        },
      },
    ],
    legend: { columns: 1 },
    fields: ['profile', 'timeUs', 'share'],
  })
}

function densityView(
  all: readonly LatencyCurve[],
  x: Axis,
  [lowUs, highUs]: readonly [number, number],
): SpecPart {
  const size = Math.min(...all.map(({ profile }) => profile.latencyUs.length))
  const bins = logBins(lowUs, highUs, binCount(size))
  const { axis } = shareAxis(`share of requests in each of ${bins.count} bins`)
  return curves({
    x,
    y: {
      domain: [0, 1],
      scale: { zero: true },
      axis: { title: axis['title'], tickCount: 5, labelExpr: axis['labelExpr'] },
    },
    curves: all.map(({ profile, ...look }) => {
      const shares = Array.from(profile.histogram(bins), (each) => short(each / profile.requests))
      const steps = shares.map((share, bin): Point => [short(bins.edges[bin] ?? lowUs), share])
      const ends: Point[] = [
        [short(highUs), shares.at(-1) ?? 0],
        [short(highUs), 0],
      ]
      return { ...look, points: [[short(lowUs), 0], ...steps, ...ends] }
    }),
    legend: { columns: 1 },
    fields: ['profile', 'timeUs', 'share'],
    inOrder: true,
  })
}

type DiagnosisRow = ReturnType<typeof diagnosisRows>[number]

/** Returns the best `limit` scenarios and those that contain them, each below its parent, best first. */
export function diagnosisRows({ ranked }: LatencyDiagnosis, limit: number) {
  const kept = new Set<number>()
  for (const { rank } of ranked.slice(0, limit)) {
    for (let at = rank; at > 0 && !kept.has(at); at = parentRank(ranked, at)) kept.add(at)
  }
  const children = group(
    ranked.filter(({ rank }) => kept.has(rank)),
    ({ rank }) => parentRank(ranked, rank),
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

function parentRank(ranked: readonly DiagnosedScenario[], rank: number): number {
  return ranked[rank - 1]?.parent?.rank ?? 0
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
