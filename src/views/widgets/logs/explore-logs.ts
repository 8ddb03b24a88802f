import { FlowdeltaError, OptionError, rejectUnknownOptions, show } from '../../../core/errors.ts'
import { counted, grouped } from '../../../core/words.ts'
import { LogComparison } from '../../../logs/compare-logs.ts'
import type { Feature, VariableKind } from '../../../logs/features/features.ts'
import { renderSvg } from '../../drawing/render-svg.ts'
import { Widget } from '../widget.ts'
import { type LogsData, logsData } from './logs-data.ts'
import { LogsPicture } from './logs-picture.tsx'
import { nameText } from './logs-words.ts'

/** How the explorer of logs is shown. */
export interface ExploreLogsOptions {
  /**
   * The smallest `minSplit` that can be set, above 0 to 1: networks are learned down to it. Default
   * 0.1, or the comparison's own where that is smaller.
   */
  readonly least?: number
  /** Whether graphs of events or of states are shown first. Default `'event'`. */
  readonly kind?: VariableKind
  /** Whose graph is shown first. Default the best of its kind. */
  readonly feature?: Feature
  /** The variable of that kind that is open in the beginning. Default none. */
  readonly variable?: string
  /** What the comparison is called in the line of code. Default `'compared'`. */
  readonly name?: string
}

const LEAST = 0.1

/**
 * Graphs of what performance depends on, drawn as in the paper's figures: letters as large as a
 * variable diverges, lines as thick as a dependency is strong, arrows where one always comes before
 * the other, performance coloured. Sliders set `minSplit` (m) and `balance` (α); graphs of other
 * features, of states and of the before class are a click away. A variable opens into its values in
 * both classes, feature by feature, with its t-tests.
 *
 * What it shows is what `compared.with(…)` gives, computed in the page by the same code. What there
 * is no room for in a page (some 16,000 dependencies, the values of 200 instances of a class) is
 * left out, and the widget says so.
 *
 * Source: Nagaraj, Killian and Neville, NSDI 2012, §3.4 and figures 3 to 7.
 *
 * @param compared from `compareLogs`
 * @param options see {@link ExploreLogsOptions}
 * @throws FlowdeltaError for an unknown option or variable, or anything but a comparison of logs;
 *   OptionError for a `least` outside its range, or a kind or feature that there is not
 *
 * @example
 * exploreLogs(logComparison, { kind: 'state' }).title // 'Logs'
 */
export function exploreLogs(compared: LogComparison, options: ExploreLogsOptions = {}): Widget {
  if (!(compared instanceof LogComparison)) {
    throw new FlowdeltaError(
      `exploreLogs(compared) got ${show(compared)}. Give a comparison of logs, from compareLogs.`,
    )
  }
  rejectUnknownOptions(options, ['least', 'kind', 'feature', 'variable', 'name'])
  const { least = LEAST, name = 'compared' } = options
  if (!(least > 0 && least <= 1)) {
    throw new OptionError('least', least, 'a share of the instances, above 0 to 1')
  }
  const data = logsData(compared, { name, least, start: startOf(compared, options) })
  const { counts } = compared.logs
  return new Widget({
    ...{ view: 'logs', title: 'Logs', data },
    description:
      `What ${nameText(data.metric.name)} depends on in ${counted(counts.before, 'instance')} before and ` +
      `${grouped(counts.after)} after, among ${counted(compared.divergence.variables.length, 'variable')}; ` +
      'set m and α, and open a variable.',
    picture: () => renderSvg(LogsPicture({ graphs: compared.attention.graphs })),
  })
}

function startOf(compared: LogComparison, options: ExploreLogsOptions): LogsData['start'] {
  const { kind = 'event', feature = null, variable = null } = options
  if (kind !== 'event' && kind !== 'state') {
    throw new OptionError('kind', kind, "'event' or 'state'")
  }
  const { types } = kind === 'event' ? compared.logs.events : compared.logs.states
  if (feature !== null && !(types as readonly Feature[]).includes(feature)) {
    throw new OptionError(
      'feature',
      feature,
      `one of ${types.map((each) => `'${each}'`).join(', ')}`,
    )
  }
  if (variable !== null && compared.divergence.variable(kind, variable) === undefined) {
    throw new FlowdeltaError(`The logs have no ${kind} ${show(variable)}. See divergence.table().`)
  }
  return { kind, featureType: feature, variable }
}
