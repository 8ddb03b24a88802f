import { OptionError } from '../../core/errors.ts'
import { AFTER, BEFORE, type Period } from '../../flows/flow-set.ts'

/** A period, as options and tables call it. */
export type PeriodName = 'before' | 'after'

const NAMES: readonly PeriodName[] = ['before', 'after']

/** What a period is called. */
export function nameOfPeriod(period: Period): PeriodName {
  return NAMES[period] as PeriodName
}

/** @throws OptionError unless `name` is that of a period. */
export function periodOfName(name: PeriodName): Period {
  if (!NAMES.includes(name)) throw new OptionError('period', name, "'before' or 'after'")
  return name === 'before' ? BEFORE : AFTER
}
