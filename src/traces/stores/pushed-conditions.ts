import { readDuration } from '../../core/units.ts'
import { builtIn, type Condition } from '../selection/condition.ts'

/**
 * Returns which services take part in all requests for which conditions hold: one of each list.
 * Values that stand for longer ones are left out, as are conditions that also hold without a value.
 */
export function servicesWithin(conditions: readonly Condition[]): readonly (readonly string[])[] {
  return conditions.flatMap((asked) => {
    const { op, attribute, service, orNotRecorded } = asked
    if (op === 'calls') return [[attribute]]
    const isSaid = op !== 'is not' && op !== 'not recorded' && !orNotRecorded
    if (service !== null) return isSaid ? [[service]] : []
    return isRootService(asked) ? [asked.values] : []
  })
}

/** Returns the service of the roots of all requests asked for; `null` where it is not known. */
export function rootService(conditions: readonly Condition[]): string | null {
  const found = conditions.find((asked) => isRootService(asked) && asked.values.length === 1)
  return found?.values[0] ?? null
}

function isRootService(asked: Condition): boolean {
  const { op, service, values, orNotRecorded } = asked
  // Long values are printed, and found, with a … in them.
  const isWhole = !values.some((value) => value.includes('…'))
  const isRoots = service === null && builtIn(asked) === 'service'
  return isRoots && op === 'is' && !orNotRecorded && isWhole
}

/** Returns how many µs all requests asked for took at least. */
export function leastDurationUs(conditions: readonly Condition[]): number {
  return conditions.reduce((leastUs, asked) => {
    const { op, service, values, orNotRecorded } = asked
    const isLeast = (op === 'from' || op === 'above') && !orNotRecorded
    if (!isLeast || service !== null || builtIn(asked) !== 'duration') return leastUs
    return Math.max(leastUs, readDuration(values[0] ?? '') || 0)
  }, 0)
}
