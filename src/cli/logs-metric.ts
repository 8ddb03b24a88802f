import { FlowdeltaError, show } from '../core/errors.ts'
import type { VariableKind } from '../logs/features/features.ts'
import type { LogSet } from '../logs/features/log-set.ts'
import type { Metric } from '../logs/performance/performance-metric.ts'

/**
 * What `--metric` means: `runTime`, the name of a variable, or one with its kind before it,
 * `event:q` or `state:q`, where an event and a state variable have one name.
 *
 * @throws FlowdeltaError for a name that both kinds have
 */
export function logsMetric({ events, states }: LogSet, text: string): Metric {
  const isEvent = events.indexOf(text) !== undefined
  const isState = states.indexOf(text) !== undefined
  if (isEvent && isState && text !== 'runTime') {
    throw new FlowdeltaError(
      `Metric ${show(text)} is an event and a state variable. Give --metric ${show(`event:${text}`)} (its last time) or --metric ${show(`state:${text}`)} (its final value).`,
    )
  }
  const [, kind, variable] = /^(event|state):(.*)$/s.exec(text) ?? []
  if (isEvent || isState || kind === undefined || variable === undefined) return text
  return { variable, feature: (kind as VariableKind) === 'event' ? 'lastAbsolute' : 'final' }
}
