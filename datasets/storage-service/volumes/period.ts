import { type Context, context, createContextKey } from '@opentelemetry/api'

/** The two sides of a comparison. */
export type Period = 'before' | 'after'

export const PERIODS: readonly Period[] = ['before', 'after']

const PERIOD = createContextKey('period')

/** A context whose work belongs to `period`; calls to other services take it along. */
export function inPeriod(parent: Context, period: Period): Context {
  return parent.setValue(PERIOD, period)
}

/** The period that work in a context belongs to. */
export function periodOf(work: Context = context.active()): Period {
  const period = work.getValue(PERIOD)
  if (period !== 'before' && period !== 'after') {
    throw new Error(`Work of the period ${String(period)}: a request has to name its period.`)
  }
  return period
}
