/** Events are summarized by their times since the start of their instance, and by their number. */
const EVENT_TEXTS = {
  firstAbsolute: 'first time',
  medianAbsolute: 'median time',
  lastAbsolute: 'last time',
  firstRelative: 'first time, as a share of the run',
  medianRelative: 'median time, as a share of the run',
  lastRelative: 'last time, as a share of the run',
  count: 'number',
}

/** State variables are summarized by their values. */
const STATE_TEXTS = {
  minimum: 'least value',
  mean: 'mean value',
  maximum: 'greatest value',
  final: 'final value',
  quarterAbsolute: 'value at ¼ of the run',
  halfAbsolute: 'value at ½ of the run',
  threeQuartersAbsolute: 'value at ¾ of the run',
  quarterRelative: 'value at ¼ of the run, from least to greatest',
  halfRelative: 'value at ½ of the run, from least to greatest',
  threeQuartersRelative: 'value at ¾ of the run, from least to greatest',
}

export const EVENT_FEATURES = Object.keys(EVENT_TEXTS) as readonly EventFeature[]
export const STATE_FEATURES = Object.keys(STATE_TEXTS) as readonly StateFeature[]

/** Further properties of an event, which are not tested: median gap between messages, and spread of the gaps. */
export const EVENT_SUMMARIES = ['gap', 'gapSpread'] as const

/** Further properties of a state variable, which are not tested: its records, their median and 99th percentile. */
export const STATE_SUMMARIES = ['records', 'median', 'p99'] as const

export type Summary = (typeof EVENT_SUMMARIES)[number] | (typeof STATE_SUMMARIES)[number]

/** The numbers of a variable in one instance, in their order. */
export const COLUMNS = {
  event: [...EVENT_FEATURES, ...EVENT_SUMMARIES],
  state: [...STATE_FEATURES, ...STATE_SUMMARIES],
} as const

/**
 * Features of the messages of one event in one instance. Absolute times are microseconds since the instance's start,
 * relative ones shares of its run time; both are NaN without a message. `count` is 0 then.
 */
export type EventFeature = keyof typeof EVENT_TEXTS

/**
 * Features of the values of one state variable in one instance; NaN without a message.
 *
 * `quarter`, `half` and `threeQuarters` are the value that held when that share of the instance's
 * own run had passed: the last one logged until then, NaN before the first. `Relative` is the same
 * on a scale from the instance's least value, 0, to its greatest, 1; NaN where it never changes.
 */
export type StateFeature = keyof typeof STATE_TEXTS

/** The two sets of logs to compare: Distalyzer's good and bad. Differences are after minus before. */
export const LOG_CLASSES = ['before', 'after'] as const
export type LogClass = (typeof LOG_CLASSES)[number]

/** Begins the names of states that say how long after the message before it an event came. */
export const WAIT_NAME = 'ms until '

/** Levels of messages, the least grave first. */
export const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const
export type Level = (typeof LEVELS)[number]

export const VARIABLE_KINDS = ['event', 'state'] as const
export type VariableKind = (typeof VARIABLE_KINDS)[number]

export type Feature = EventFeature | StateFeature

export function isEventTime(feature: Feature): boolean {
  return feature !== 'count' && (EVENT_FEATURES as readonly Feature[]).includes(feature)
}

/** Whether a feature is a time of an event as a share of the run. */
export function isShareOfRun(feature: Feature): boolean {
  return isEventTime(feature) && feature.endsWith('Relative')
}

export function featureText(feature: Feature): string {
  return { ...EVENT_TEXTS, ...STATE_TEXTS }[feature]
}
