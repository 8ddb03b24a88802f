/** Events are summarised by their times since the start of their instance, and by their number. */
export const EVENT_FEATURES = [
  'firstAbsolute',
  'medianAbsolute',
  'lastAbsolute',
  'firstRelative',
  'medianRelative',
  'lastRelative',
  'count',
] as const

/** State variables are summarised by their values. */
export const STATE_FEATURES = [
  'minimum',
  'mean',
  'maximum',
  'final',
  'quarterAbsolute',
  'halfAbsolute',
  'threeQuartersAbsolute',
  'quarterRelative',
  'halfRelative',
  'threeQuartersRelative',
] as const

/**
 * What is kept of the messages of one event in one instance. Absolute times are microseconds since
 * the instance's start, relative ones shares of its run time; both NaN without a message. `count`
 * is 0 then.
 */
export type EventFeature = (typeof EVENT_FEATURES)[number]

/**
 * What is kept of the values of one state variable in one instance; NaN without a message.
 *
 * `quarter`, `half` and `threeQuarters` are the value that held when that share of the instance's
 * own run had passed: the last one logged until then, NaN before the first. `Relative` is the same
 * on a scale from the instance's least value, 0, to its greatest, 1; NaN where it never changes.
 */
export type StateFeature = (typeof STATE_FEATURES)[number]

/** Two kinds of variable: events have times, states have values. */
export const VARIABLE_KINDS = ['event', 'state'] as const
export type VariableKind = (typeof VARIABLE_KINDS)[number]

export type Feature = EventFeature | StateFeature

/** The features of a kind of variable, in the order of every table. */
export function featuresOf(kind: VariableKind): readonly Feature[] {
  return kind === 'event' ? EVENT_FEATURES : STATE_FEATURES
}

/** Whether a feature of events is a point in time, absolute or relative. */
export function isEventTime(feature: Feature): boolean {
  return feature !== 'count' && (EVENT_FEATURES as readonly Feature[]).includes(feature)
}
