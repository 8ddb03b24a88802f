import { FlowdeltaError, OptionError, show } from '../../core/errors.ts'
import { most, optionalText, optionalWord } from '../../core/options.ts'
import { counted, grouped, shortText, tooltipText } from '../../core/words.ts'
import {
  type FeatureUnit,
  missingText,
  testSize,
  testText,
  unitOf,
  valueText,
} from '../../explain/logs/log-words.ts'
import type {
  Divergence,
  FeatureTest,
  VariableDivergence,
} from '../../logs/divergence/find-divergence.ts'
import {
  featureText,
  LOG_CLASSES,
  type LogSet,
  VARIABLE_KINDS,
  type VariableFeatures,
  type VariableKind,
} from '../../logs/features/log-set.ts'
import {
  type Axis,
  linearDurationAxis,
  logAxis,
  logDurationAxis,
  numberExtent,
  PERCENT,
  plainAxis,
} from './axes.ts'
import { apart, on, panelTitle, periodColor, ROW, spread, tooltip } from './builders.ts'
import { defineChart, framedChart, PALETTE, type SpecPart } from './chart-frame.ts'
import { thinned } from './ecdf-curves.ts'

const MAX_DOTS = 600
const LONG_NUMBER = 1e6

const PERIOD_CHANNELS: SpecPart = {
  y: {
    field: 'period',
    type: 'nominal',
    scale: { domain: LOG_CLASSES },
    axis: { title: null, domain: false, ticks: false, grid: false, labelPadding: 6 },
  },
  color: periodColor('period', null),
}

/** Draws one variable of logs, a strip a feature, a dot an instance. Source: Nagaraj et al., NSDI 2012, §4.2 and §5. */
export const logVariableChart = defineChart(
  {
    name: optionalText('Variable; by default the most divergent one'),
    kind: optionalWord(VARIABLE_KINDS, 'Kind, where an event and a state variable share a name'),
    feature: optionalText('Feature drawn alone; by default those that differ most'),
    limit: most(4, 'features', 'Maximum number of features drawn'),
  },
  (divergence: Divergence, { kind, feature, limit, ...options }) => {
    const variable = variableOf(divergence, options.name, kind)
    const tests = variable.features
      .filter(({ beforeCount, afterCount }) => beforeCount + afterCount > 0)
      .sort((a, b) => testSize(b) - testSize(a))
    const asked = tests.filter((test) => test.feature === feature)
    if (feature !== null && asked.length === 0) {
      const known = tests.map((test) => `'${test.feature}'`)
      throw new OptionError('feature', feature, `one of ${known.join(', ')}`)
    }
    const drawn = feature === null ? tests.slice(0, limit) : asked
    const { before, after } = divergence.logs.counts
    return framedChart(
      {
        title: `${shortText(variable.name, 70)}, instance by instance`,
        subtitle: `A dot is an instance (${grouped(before)} before, ${grouped(after)} after), the line the mean.`,
        omissions: [
          drawn.length < tests.length &&
            feature === null &&
            `Shows the ${drawn.length} of ${counted(tests.length, 'feature')} that differ most.`,
          Math.max(before, after) > MAX_DOTS &&
            `Draws at most ${MAX_DOTS} dots of each period, evenly by rank; means are of all.`,
          drawn.length === 0 && 'No instance has it.',
        ],
        width: 560,
      },
      { spacing: 14, vconcat: drawn.map((test) => featureStrip(divergence.logs, variable, test)) },
    )
  },
)

function variableOf(divergence: Divergence, name: string | null, kind: VariableKind | null) {
  const [first] = divergence.variables
  if (name === null && first !== undefined) return first
  for (const each of kind === null ? VARIABLE_KINDS : [kind]) {
    const found = divergence.variable(each, name ?? '')
    if (found !== undefined) return found
  }
  const some = divergence.variables.slice(0, 5).map((each) => show(each.name))
  throw new FlowdeltaError(
    `The logs have no ${kind ?? 'variable'} ${show(name)}. Give one such as ${some.join(', ')}.`,
  )
}

function featureStrip(logs: LogSet, { name, kind }: VariableDivergence, test: FeatureTest) {
  const { feature, significant } = test
  const features = (kind === 'event' ? logs.events : logs.states) as VariableFeatures
  const column = features.of(features.indexOf(name) as number, feature)
  const isNumber = kind === 'state' && unitOf(feature) === 'number'
  const unit = isNumber ? logs.unitOf(name) : undefined
  const inUnit = (value: number) => value * (unit?.us ?? 1)
  const rows = LOG_CLASSES.flatMap((period, code) =>
    thinned(
      Array.from(column, (value, instance) => ({ value, instance }))
        .filter(({ value, instance }) => logs.classOf[instance] === code && Number.isFinite(value))
        .sort((a, b) => a.value - b.value),
      MAX_DOTS,
    ).map(({ value, instance }) => ({
      value: inUnit(value),
      beside: spread(instance),
      period,
      instance: tooltipText(logs.instances[instance] ?? ''),
      text: valueText(feature, value, unit),
    })),
  )
  const values = rows.map(({ value }) => value)
  const axis = axisOf(unit?.us ? 'time' : unitOf(feature), values, unit?.text ?? null)
  const x = on(axis, 'value')
  const means = LOG_CLASSES.flatMap((period) => {
    const value = period === 'before' ? test.beforeMean : test.afterMean
    return Number.isFinite(value) ? [{ period, value: inUnit(value) }] : []
  })
  const says = [testText(test), missingText(test, logs.counts)].filter((words) => words !== '')
  if (axis.scale.type === 'log') says.push('logarithmic')
  return {
    title: panelTitle(
      `${featureText(feature)}: ${says.join('; ')}`,
      significant ? PALETTE.changeText : PALETTE.text,
    ),
    width: 520,
    height: LOG_CLASSES.length * ROW,
    layer: [
      {
        data: { values: rows },
        mark: { type: 'point', filled: true, size: 26, opacity: 0.55 },
        encoding: {
          x,
          ...PERIOD_CHANNELS,
          yOffset: apart('beside'),
          tooltip: tooltip({
            instance: 'instance',
            period: 'period',
            [featureText(feature)]: 'text',
          }),
        },
      },
      {
        data: { values: means },
        mark: { type: 'tick', thickness: 2.5, size: ROW * 0.9, tooltip: false },
        encoding: { x, ...PERIOD_CHANNELS },
      },
    ],
  }
}

function axisOf(unit: FeatureUnit, values: readonly number[], title: string | null): Axis {
  const { low, high, isLog, isWhole } = numberExtent(values)
  // An axis of many numbers around the only one there is would say nothing.
  const only = new Set(values).size === 1 ? { values: values.slice(0, 1) } : {}
  const shown = (base: Axis, look: SpecPart = {}): Axis => ({
    ...base,
    axis: { ...base.axis, title: null, ...look, ...only },
  })
  if (unit === 'time') {
    const extent = { lowUs: Math.max(0, low), highUs: high, title: '' }
    return shown(isLog ? logDurationAxis(extent) : linearDurationAxis(extent))
  }
  const labelExpr =
    unit === 'share'
      ? PERCENT
      : `format(datum.value, '${Math.max(-low, high) < LONG_NUMBER ? ',~r' : '~s'}')`
  if (isLog) return shown(logAxis([low, high], null), { labelExpr, title })
  const tickCount = isWhole && high - low < 6 ? Math.ceil(high - low) : 6
  return shown(plainAxis([low, high], { tickCount }), { labelExpr, title })
}
