import { readDuration } from '../../core/words.ts'
import { ANY_SERVICE, builtIn, type Condition } from '../selection/condition.ts'
import type { StoreQuery } from './store.ts'

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

/** An engine's SQL for conditions on a span. */
export interface SpanSql {
  readonly service: string
  readonly operation: string
  /** Texts of an attribute of a span, empty ones where there is none; `null` where its columns cannot be asked. */
  readonly attribute: ((name: string) => readonly string[]) | null
  readonly isRoot: string
  /** Whether a condition holds for any root in the time asked for; where roots have an attribute, theirs count. */
  readonly someRootHas: (condition: string) => Promise<boolean>
  readonly literal: (text: string) => string
  /** Returns the number in a text, NULL if it is none. */
  readonly number: (text: string) => string
  readonly matches: (text: string, pattern: string) => string
}

/** Names that attributes get from elsewhere: events, messages, resources; and quotes. */
const DERIVED = /^(event|otel\.status_description|resource\..*)$| · |"/
const SIGNS: Readonly<Record<string, string>> = {
  from: '>=',
  above: '>',
  below: '<',
  'up to': '<=',
}
/** Texts whose printed form differs from the recorded one. */
const PRINTED_OTHERWISE = '[^ -~]|^ | $'

/**
 * Returns necessary conditions, each as SQL about one span: every request that meets the given conditions has a span
 * that meets it. They cover services, operations and attributes. Conditions that also hold without a value give none,
 * and a part that SQL cannot decide counts as met.
 */
export async function spanTests(
  conditions: readonly Condition[],
  sql: SpanSql,
): Promise<readonly string[]> {
  const listed = (values: readonly string[]) => `(${values.map(sql.literal).join(', ')})`
  const all: string[] = []
  for (const asked of conditions) {
    const [services] = servicesWithin([asked])
    const terms = services === undefined ? [] : [`${sql.service} IN ${listed(services)}`]
    const { op, attribute, service, values, orNotRecorded } = asked
    const isWhole = values.length > 0 && values.every((value) => !/^$|…/.test(value))
    if (isWhole && !orNotRecorded) {
      const name = builtIn(asked)
      if (name === 'operation' && op === 'is') {
        terms.push(
          `(${sql.operation} IN ${listed(values)} OR ${sql.matches(sql.operation, PRINTED_OTHERWISE)})`,
        )
      }
      if (name === null && sql.attribute !== null && !DERIVED.test(attribute)) {
        const texts = sql.attribute(attribute)
        const tests = texts.map((text) => attributeTest(asked, text, sql))
        if (tests.length > 0 && tests.every((test) => test !== null)) {
          terms.push(`(${tests.join(' OR ')})`)
          const isOwn = texts.map((text) => `${text} <> ''`).join(' OR ')
          if (service === null && (await sql.someRootHas(isOwn))) terms.push(sql.isRoot)
        }
      }
    }
    if (terms.length > 0) all.push(`(${terms.join(' AND ')})`)
  }
  return all
}

function attributeTest(
  { op, values }: Condition,
  text: string,
  { literal, number, matches }: SpanSql,
): string | null {
  const numbers = values.map(Number).filter(Number.isFinite)
  if (op === 'is') {
    return [
      `${text} IN (${values.map(literal).join(', ')})`,
      ...(numbers.length === 0 ? [] : [`${number(text)} IN (${numbers.join(', ')})`]),
      matches(text, PRINTED_OTHERWISE),
    ].join(' OR ')
  }
  const [limit] = numbers
  const sign = SIGNS[op]
  if (sign === undefined || limit === undefined) return null
  return `${number(text)} ${sign} ${limit} OR (${number(text)} IS NULL AND ${text} <> '')`
}

/** Conditions that the times and services of spans can express. */
export interface Wanted {
  /** Value of `seen` for all spans of a request together if it meets them. */
  readonly all: number
  /** One bit for each thing asked for that spans of these services between these times have. */
  seen(startUs: number, endUs: number, services: readonly string[]): number
}

/** Returns the conditions of a query that times and services can express; `null` for everything. */
export function wantedBy({
  fromUs,
  toUs,
  conditions,
}: Pick<StoreQuery, 'fromUs' | 'toUs' | 'conditions'>): Wanted | null {
  const services = servicesWithin(conditions)
  if (fromUs === null && toUs === null && services.length === 0) return null
  return {
    all: 2 ** (services.length + 1) - 1,
    seen: (startUs, endUs, found) =>
      services.reduce(
        (bits, needed, i) => bits | (needed.some((one) => found.includes(one)) ? 2 << i : 0),
        endUs >= (fromUs ?? -Infinity) && startUs < (toUs ?? Infinity) ? 1 : 0,
      ),
  }
}
