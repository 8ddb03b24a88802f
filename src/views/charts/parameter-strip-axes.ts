import { shortText } from '../../core/shown-text.ts'
import type { Explanation } from '../../explain/parameters/explanation.ts'
import { linearDurationAxis, logDurationAxis, logTicks } from './axes.ts'
import type { SpecPart } from './chart-frame.ts'
import { type NumberExtent, numberExtent } from './number-extent.ts'
import type { ParameterDots } from './parameter-dots.ts'
import type { ParameterGroups } from './parameter-groups.ts'

/** What a strip shows. */
export interface ParameterStrip {
  readonly explanation: Explanation
  readonly dots: ParameterDots
  readonly groups: ParameterGroups
  /** Null in what differs: there is no axis of times. */
  readonly slowAboveUs: number | null
  /** Trace of each row; `''` where it is not known. */
  readonly traces: readonly string[]
}

/** Room for names, in pixels. */
const LABELS = 150
const WIDE_TIMES = 8

/** One axis is the parameter, the other times or the groups; names are on the one to the left. */
export function stripAxes(strip: ParameterStrip): { readonly x: SpecPart; readonly y: SpecPart } {
  const { dots, slowAboveUs } = strip
  const isNumeric = dots.parameter.kind === 'numeric'
  const other = slowAboveUs === null ? laneAxis(strip) : timeAxis(strip, slowAboveUs)
  const own = isNumeric ? numberAxis(strip) : levelAxis(strip)
  const [x, y] = isNumeric ? [own, other] : [other, own]
  return {
    x: { field: 'x', type: 'quantitative', ...x },
    y: { field: 'y', type: 'quantitative', ...y },
  }
}

/** The stretch of numbers that a strip spans. */
export function stripExtent({ dots: { dots } }: ParameterStrip): NumberExtent {
  return numberExtent(dots.map(({ value }) => value))
}

function numberAxis(strip: ParameterStrip): SpecPart {
  const { low, high, isLog, isWhole } = stripExtent(strip)
  const title = shortText(strip.dots.parameter.name, 70)
  const labelExpr = "format(datum.value, abs(datum.value) < 10 ? '~g' : ',~f')"
  return isLog
    ? {
        axis: { title, values: logTicks(low, high), labelExpr },
        scale: { type: 'log', domain: [low, high], nice: false },
      }
    : {
        axis: { title, tickCount: 6, ...(isWhole ? { tickMinStep: 1 } : {}), labelExpr },
        scale: { domain: [low, high], nice: false, zero: false },
      }
}

function timeAxis({ dots: { dots }, explanation }: ParameterStrip, slowAboveUs: number): SpecPart {
  const times = [...dots.map(({ timeUs }) => timeUs), slowAboveUs]
  const lowUs = times.reduce((least, time) => Math.min(least, time), Number.POSITIVE_INFINITY)
  const highUs = times.reduce((most, time) => Math.max(most, time), 0)
  const title = shortText(explanation.subject.time, 60)
  const { axis, scale } =
    lowUs > 0 && highUs / lowUs > WIDE_TIMES
      ? logDurationAxis({ lowUs: lowUs / 1.1, highUs: highUs * 1.1, title })
      : linearDurationAxis({ lowUs, highUs, title })
  return { axis, scale }
}

/** A lane for each group. Their names are flowdelta's own words: never a name from a trace. */
function laneAxis({ groups: { names } }: ParameterStrip): SpecPart {
  const [zero, one] = names.map((name) => JSON.stringify(name))
  return {
    axis: {
      ...{ title: null, values: [0, 1], grid: false, ticks: false, domain: false },
      labelExpr: `datum.value === 0 ? ${zero} : ${one}`,
    },
    scale: { domain: [-0.5, 1.5], nice: false, zero: false },
  }
}

/** A lane for each name; the names themselves are texts beside the axis. */
function levelAxis({ dots: { levels } }: ParameterStrip): SpecPart {
  const bare = { labels: false, ticks: false, domain: false, grid: false }
  return {
    axis: { title: null, ...bare, minExtent: LABELS },
    scale: { domain: [-0.5, levels.length - 0.5], reverse: true, nice: false, zero: false },
  }
}
