import { AFTER, BEFORE, type Period } from '../../flows/flow-set.ts'
import { requireOneOf } from '../../stats/require-option.ts'

export { AFTER, BEFORE }

/** The two sets of logs to compare: Distalyzer's good and bad. Differences are after minus before. */
export const LOG_CLASSES = ['before', 'after'] as const
export type LogClass = (typeof LOG_CLASSES)[number]

/** @throws OptionError for any other class */
export function codeOfClass(logClass: LogClass): Period {
  requireOneOf('logClass', logClass, LOG_CLASSES)
  return logClass === 'before' ? BEFORE : AFTER
}
