import { OptionError } from '../core/errors.ts'

/** 0 for the before period, 1 for the after period. */
export type Period = 0 | 1
export const BEFORE: Period = 0
export const AFTER: Period = 1

/** A period, as options and tables call it. */
export type PeriodName = 'before' | 'after'

export function nameOfPeriod(period: Period): PeriodName {
  return period === BEFORE ? 'before' : 'after'
}

export function periodOfName(name: PeriodName): Period {
  if (name === 'before') return BEFORE
  if (name === 'after') return AFTER
  throw new OptionError('period', name, "'before' or 'after'")
}
