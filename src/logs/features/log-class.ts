import { requireOneOf } from '../../stats/require-option.ts'

/** The two sets of logs: of what went well, and of what did not. Differences are bad minus good. */
export const LOG_CLASSES = ['good', 'bad'] as const
export type LogClass = (typeof LOG_CLASSES)[number]

/** How an instance's class is kept in `LogSet.classOf`. */
export const GOOD = 0
export const BAD = 1

/** @throws OptionError for what is no class. */
export function codeOfClass(logClass: LogClass): number {
  requireOneOf('logClass', logClass, LOG_CLASSES)
  return LOG_CLASSES.indexOf(logClass)
}
