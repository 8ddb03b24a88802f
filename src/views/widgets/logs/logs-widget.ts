import { FlowdeltaError, OptionError, show } from '../../../core/errors.ts'
import { defineOptions, oneOf, optionalText, share } from '../../../core/options.ts'
import { counted, grouped, shortText } from '../../../core/words.ts'
import type { LogComparison } from '../../../logs/compare-logs.ts'
import { defineWidget, STAGE_NAME } from '../define-widget.ts'
import { type LogsData, logsData, restoreLogs } from './logs-data.ts'
import { LOGS_STYLE, LogsView } from './logs-view.tsx'

const LOGS_WIDGET_OPTIONS = defineOptions({
  least: share({
    default: 0.1,
    min: Number.MIN_VALUE,
    sentence:
      'Smallest minSplit that can be set: networks are learned down to it, or to the comparison’s own where that is smaller',
  }),
  kind: oneOf(['event', 'state'], {
    default: 'event',
    sentence: 'Whether graphs of events or of states are shown first',
  }),
  feature: optionalText('Feature whose graph is shown first; null for the best of its kind'),
  variable: optionalText('Variable of that kind that is open in the beginning'),
  name: STAGE_NAME,
})

/**
 * Graphs of what performance depends on, with sliders for `minSplit` (m) and `balance` (α); a
 * variable opens into its values and t-tests. Source: Nagaraj, Killian and Neville, NSDI 2012, §3.4
 * and figures 3 to 7.
 */
export const logsWidget = defineWidget({
  name: 'logs',
  title: 'Logs',
  description: (carried: LogsData) => {
    const { metric, counts, variables, leftOut } = restoreLogs(carried)
    const all = variables.length + leftOut.variables
    return (
      `What ${shortText(metric.name, 60)} depends on in ${counted(counts.before, 'instance')} before and ` +
      `${grouped(counts.after)} after, among ${counted(all, 'variable')}; ` +
      'set m and α, and open a variable.'
    )
  },
  options: LOGS_WIDGET_OPTIONS,
  data: (compared: LogComparison, { least, kind, feature, variable }) => {
    const { types } = compared.logs.features(kind)
    if (feature !== null && !types.some((type) => type === feature)) {
      const known = types.map((each) => `'${each}'`)
      throw new OptionError('feature', feature, `one of ${known.join(', ')}`)
    }
    const opened = compared.divergence.variable(kind, variable ?? '')
    if (variable !== null && opened === undefined) {
      throw new FlowdeltaError(
        `The logs have no ${kind} ${show(variable)}. See divergence.table().`,
      )
    }
    return logsData(compared, least, opened)
  },
  view: LogsView,
  style: LOGS_STYLE,
  hasCharts: true,
})
