import { FlowdeltaError, OptionError, rejectUnknownOptions, show } from '../../core/errors.ts'
import { shortText, tooltipText } from '../../core/shown-text.ts'
import { counted, grouped } from '../../core/words.ts'
import type {
  Divergence,
  FeatureTest,
  VariableDivergence,
} from '../../logs/divergence/divergence.ts'
import type { Feature, VariableKind } from '../../logs/features/features.ts'
import { featureText } from '../../logs/features/features.ts'
import type { LogSet, VariableFeatures } from '../../logs/features/log-set.ts'
import { LOG_CLASSES } from '../../logs/features/log-set.ts'
import { linearDurationAxis, logDurationAxis, logTicks } from './axes.ts'
import type { Chart } from './chart.ts'
import { framedChart, type SpecPart } from './chart-frame.ts'
import { besideMiddle, missingText, testText, thinned } from './log-strip.ts'
import { unitOf, valueText } from './log-values.ts'
import { numberExtent } from './number-extent.ts'
import { PALETTE } from './palette.ts'

/** What {@link plotLogVariable} can be told. */
export interface LogVariableOptions {
  /** Which kind, where an event and a state variable share a name; by default whichever there is. */
  readonly kind?: VariableKind
  /** Which feature alone; by default those that differ most, the largest |t| first. */
  readonly feature?: Feature
  /** How many features to draw. Default 4. */
  readonly limit?: number
}

const WIDTH = 520
const LANE = 26
/** How much of a lane dots fill. */
const FILLED = 0.7
/** So many dots of a class fill a strip; more would only make the chart heavy. */
const MOST_DOTS = 600
/** From here on axes write 1M instead of 1,000,000. */
const LONG_NUMBER = 1e6

/**
 * Draws one variable of logs instance by instance: a strip a feature, before above after, with a dot
 * for every instance and a line at the mean of each class.
 *
 * @param divergence a stage of `findDivergence`
 * @param name of the variable
 * @param options see {@link LogVariableOptions}
 * @throws FlowdeltaError for a variable that there is not, or an unknown option; OptionError for a
 *   feature that the variable does not have, or a limit below 1
 *
 * Source: the distributions of Nagaraj, Killian and Neville, NSDI 2012, §4.2 and §5.
 *
 * @example
 * plotLogVariable(logComparison.divergence, logComparison.divergence.variables[0].name)
 */
export function plotLogVariable(
  divergence: Divergence,
  name: string,
  options: LogVariableOptions = {},
): Chart {
  rejectUnknownOptions(options, ['kind', 'feature', 'limit'])
  const { kind, feature, limit = 4 } = options
  if (!(limit >= 1)) throw new OptionError('limit', limit, 'a number of features, 1 or more')
  const variable = variableOf(divergence, name, kind)
  const tests = variable.features
    .filter(({ beforeCount, afterCount }) => beforeCount + afterCount > 0)
    .sort((a, b) => size(b) - size(a))
  if (feature !== undefined && !tests.some((test) => test.feature === feature)) {
    const known = tests.map((test) => `'${test.feature}'`)
    throw new OptionError('feature', feature, `one of ${known.join(', ')}`)
  }
  const drawn =
    feature === undefined
      ? tests.slice(0, Math.floor(limit))
      : tests.filter((test) => test.feature === feature)
  const { before, after } = divergence.logs.counts
  return framedChart(
    {
      title: `${shortText(name, 70)}, instance by instance`,
      subtitle: [
        `A dot is an instance (${grouped(before)} before, ${grouped(after)} after), the line the mean of its class.`,
      ],
      omissions: [
        ...(drawn.length < tests.length && feature === undefined
          ? [
              `Of ${counted(tests.length, 'feature')}, the ${drawn.length === 1 ? 'one that differs' : `${drawn.length} that differ`} most.`,
            ]
          : []),
        ...(Math.max(before, after) > MOST_DOTS
          ? [`Of each class at most ${MOST_DOTS} dots a strip, evenly by rank; means are of all.`]
          : []),
        ...(drawn.length === 0 ? ['No instance has it.'] : []),
      ],
      width: WIDTH,
    },
    { spacing: 14, vconcat: drawn.map((test) => strip(divergence.logs, variable, test)) },
  )
}

function variableOf(
  divergence: Divergence,
  name: string,
  kind: VariableKind | undefined,
): VariableDivergence {
  const kinds = kind === undefined ? (['event', 'state'] as const) : [kind]
  for (const each of kinds) {
    const found = divergence.variable(each, name)
    if (found !== undefined) return found
  }
  const some = divergence.variables.slice(0, 5).map((each) => show(each.name))
  throw new FlowdeltaError(
    `The logs have no ${kind ?? 'variable'} ${show(name)}. Give one such as ${some.join(', ')}.`,
  )
}

/** Untested features come last. */
function size({ t, tested }: FeatureTest): number {
  return tested ? Math.abs(t) : -1
}

function strip(logs: LogSet, { name, kind }: VariableDivergence, test: FeatureTest): SpecPart {
  const { feature, significant } = test
  const features = (kind === 'event' ? logs.events : logs.states) as VariableFeatures
  const column = features.of(features.indexOf(name) as number, feature)
  const values = LOG_CLASSES.flatMap((logClass, code) =>
    thinned(
      Array.from(column, (value, instance) => ({ value, instance }))
        .filter(({ value, instance }) => logs.classOf[instance] === code && Number.isFinite(value))
        .sort((a, b) => a.value - b.value),
      MOST_DOTS,
    ).map(({ value, instance }) => ({
      value,
      lane: code + FILLED * besideMiddle(instance),
      class: logClass,
      instance: tooltipText(logs.instances[instance] as string),
      text: valueText(feature, value),
    })),
  )
  const { scale, axis, isLog } = axisOf(
    feature,
    values.map(({ value }) => value),
  )
  const says = [
    testText(test),
    ...[missingText(test, logs.counts)].filter((text) => text !== ''),
    ...(isLog ? ['logarithmic'] : []),
  ].join('; ')
  const x = { field: 'value', type: 'quantitative', scale, axis }
  const y = { field: 'lane', type: 'quantitative', scale: laneScale(), axis: laneAxis() }
  const means = LOG_CLASSES.flatMap((logClass, code) => {
    const value = code === 0 ? test.beforeMean : test.afterMean
    return Number.isFinite(value)
      ? [{ class: logClass, value, low: code - 0.45, high: code + 0.45 }]
      : []
  })
  return {
    ...{ width: WIDTH, height: 2 * LANE },
    title: {
      text: `${featureText(feature)}: ${says}`,
      ...{ anchor: 'start', fontSize: 12, fontWeight: 'normal', offset: 4 },
      color: significant ? PALETTE.change : PALETTE.text,
    },
    layer: [
      {
        data: { values },
        mark: { type: 'point', filled: true, size: 26, opacity: 0.55 },
        encoding: {
          ...{ x, y, color: classColour() },
          tooltip: [
            { field: 'instance', type: 'nominal', title: 'instance' },
            { field: 'class', type: 'nominal', title: 'class' },
            { field: 'text', type: 'nominal', title: featureText(feature) },
          ],
        },
      },
      {
        data: { values: means },
        mark: { type: 'rule', strokeWidth: 2.5, tooltip: false },
        encoding: {
          ...{ x, color: classColour() },
          ...{ y: { field: 'low', type: 'quantitative' }, y2: { field: 'high' } },
        },
      },
    ],
  }
}

interface StripAxis {
  readonly scale: SpecPart
  readonly axis: SpecPart
  readonly isLog: boolean
}

function axisOf(feature: Feature, values: readonly number[]): StripAxis {
  const { low, high, isLog, isWhole } = numberExtent(values)
  const unit = unitOf(feature)
  const [first] = values
  const isConstant = values.every((value) => value === first)
  // An axis of many numbers around the only one there is would say nothing.
  const only = isConstant && first !== undefined ? { values: [first] } : {}
  if (unit === 'time') {
    const extent = { lowUs: Math.max(0, low), highUs: high, title: '', ticks: 6 }
    const { scale, axis } = isLog ? logDurationAxis(extent) : linearDurationAxis(extent)
    return { scale, axis: { ...axis, title: null, ...only }, isLog }
  }
  const isShort = isWhole && high - low < 6
  return {
    scale: { domain: [low, high], zero: false, nice: false, ...(isLog && { type: 'log' }) },
    axis: {
      ...{ title: null, tickCount: isShort ? Math.ceil(high - low) : 6 },
      ...(isLog && { values: logTicks(low, high) }),
      labelExpr: labelsOf(unit, Math.max(-low, high)),
      ...only,
    },
    isLog,
  }
}

/** Built from constants only. */
function labelsOf(unit: 'share' | 'number', largest: number): string {
  if (unit === 'share') return "format(datum.value * 100, '~r') + ' %'"
  return `format(datum.value, '${largest < LONG_NUMBER ? ',~r' : '~s'}')`
}

function laneScale(): SpecPart {
  return { domain: [-0.5, 1.5], nice: false, zero: false, reverse: true }
}

function laneAxis(): SpecPart {
  return {
    ...{ title: null, values: [0, 1], domain: false, ticks: false, grid: false, labelPadding: 6 },
    labelExpr: "datum.value === 0 ? 'before' : 'after'",
  }
}

function classColour(): SpecPart {
  return {
    ...{ field: 'class', type: 'nominal', legend: null },
    scale: { domain: [...LOG_CLASSES], range: [PALETTE.before, PALETTE.after] },
  }
}
