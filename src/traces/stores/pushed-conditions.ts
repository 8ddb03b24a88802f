import { readDuration } from '../../core/words.ts'
import { ANY_SERVICE, builtIn, type Condition } from '../selection/condition.ts'

/** Returns the services of all requests that meet conditions, one of each list; as far as they are certain. */
export function servicesWithin(conditions: readonly Condition[]): readonly (readonly string[])[] {
  return conditions.flatMap((asked) => {
    const { op, attribute, service, orNotRecorded } = asked
    if (op === 'calls') return service === ANY_SERVICE ? [] : [[service ?? attribute]]
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
