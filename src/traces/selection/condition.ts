import { FlowdeltaError, show } from '../../core/errors.ts'
import { QUOTED, quoted, unquoted } from '../../core/quoted.ts'
import { printable, readDuration } from '../../core/words.ts'

/** Operators: how each is shown, how else it may be written, and which one holds if and only if it does not. */
const OPS = {
  is: { shown: '=', written: ['==', 'is'], opposite: 'is not' },
  'is not': { shown: 'is not', written: ['!=', '≠'], opposite: 'is' },
  from: { shown: '≥', written: ['>='], opposite: 'below' },
  below: { shown: '<', written: [], opposite: 'from' },
  above: { shown: '>', written: [], opposite: 'up to' },
  'up to': { shown: '≤', written: ['<='], opposite: 'above' },
  recorded: { shown: 'is recorded', written: null, opposite: 'not recorded' },
  'not recorded': { shown: 'is not recorded', written: null, opposite: 'recorded' },
  calls: { shown: 'is called', written: null, opposite: 'does not call' },
  'does not call': { shown: 'is not called', written: null, opposite: 'calls' },
} as const

/** Operators that compare a property of a request with values. */
export type ConditionOp = keyof typeof OPS

export const CONDITION_OPS = Object.keys(OPS) as ConditionOp[]

/** Subject whose value a condition asks for. */
export interface Subject {
  /** Attribute, one of `BUILT_IN`, or a service or operation that is called. */
  readonly attribute: string
  /** Service whose spans have it, or whose operation is called; `null` for roots of requests. */
  readonly service: string | null
  /** Whether it is an attribute even if it is called like one of `BUILT_IN`. */
  readonly isAttribute: boolean
}

/** Something that holds for some requests. */
export interface Condition extends Subject {
  /**
   * `'is'`: one of `values`; `'is not'`: none of them; `'from'`, `'below'`, `'above'`, `'up to'`:
   * numbers from, below, above or up to the only one.
   */
  readonly op: ConditionOp
  readonly values: readonly string[]
  /** Whether requests without the value count as if they had one of `values`. */
  readonly orNotRecorded: boolean
  /** Text of the condition, as `parseConditions` reads it: `tenant.tier = enterprise`. */
  readonly text: string
}

/** Properties of every request besides attributes. A name between quotes is always an attribute. */
export const BUILT_IN = [
  'service',
  'operation',
  'host',
  'version',
  'duration',
  'outcome',
  'time',
] as const

export type BuiltIn = (typeof BUILT_IN)[number]

/** Placeholder for a service before a called operation: any service that has it. */
export const ANY_SERVICE = 'operation'

/** Names of OpenTelemetry for the same. */
const ALSO: Readonly<Record<string, BuiltIn>> = {
  'service.name': 'service',
  'host.name': 'host',
  'service.version': 'version',
}

/** Returns the member of `BUILT_IN` that a subject asks for; `null` for an attribute. */
export function builtIn({ attribute, isAttribute }: Subject): BuiltIn | null {
  if (isAttribute) return null
  return BUILT_IN.find((name) => name === (ALSO[attribute] ?? attribute)) ?? null
}

/** Operators by their signs, as they are written before values. */
const SIGNS = new Map<string, ConditionOp>(
  Object.entries(OPS).flatMap(([op, { shown, written }]) =>
    (written ? [shown, ...written] : []).map((sign) => [sign, op as ConditionOp]),
  ),
)

const BARE = '[^\\s"=<>!≠≤≥|,]+'
const NAME = `${QUOTED}|${BARE}`
const SIGN = '==?|!=|≠|<=|≤|>=|≥|<|>|(?<=[\\s"])is\\s+not(?=\\s)|(?<=[\\s"])is(?=\\s)'
const CLAUSE = new RegExp(`^(${NAME})(?:\\s+(${NAME}))??\\s*(${SIGN})\\s*(.*)$`, 's')
/** A condition that must not hold; `not = 1` asks for an attribute of that name. */
const DENIED = /^not\s+((?!(?:is|[=<>!≠≤≥])).+)$/is
const PLAIN = new RegExp(`^(?!not$)${BARE}$`, 'i')
const AND = '\\s+and(?:\\s+|$)'
const OR = '\\s*[,|]\\s*(?:or\\s+)?|\\s+or\\s+'
/** A further value that looks like another condition: a sign stands apart in it. */
const ANOTHER = /^[^"]*\s(?:is|[=<>!≠≤≥]+)\s/i
const NOT_RECORDED = 'not recorded'

/** Values that would be read as something else without quotes. */
const UNCLEAR = new RegExp(
  `["]|^\\s|\\s$|^$|${AND}|${OR}|^(?:(?:not\\s+)?(?:recorded|called)|not\\s.*)$`,
  'i',
)

/**
 * Reads conditions: `NAME = VALUE` or `!=`, `<`, `<=`, `>`, `>=`, `is`, `is not`; `NAME is
 * recorded`; `SERVICE`, `SERVICE OPERATION` or `operation OPERATION is called`; `not` before any.
 * Several values are divided by commas, `or` or `|`. A service before a NAME asks for its spans;
 * quotes hold what contains signs or words of these forms.
 */
export function parseConditions(text: string): readonly Condition[] {
  if (typeof text !== 'string') {
    throw new FlowdeltaError(
      `${show(text)} is no condition. Give text: 'tenant.tier = enterprise'.`,
    )
  }
  return dividedBy(AND, text).map(parseClause)
}

function parseClause(clause: string): Condition {
  const denied = DENIED.exec(clause)?.[1]
  if (denied !== undefined) return opposite(parseClause(denied))
  const [, first = '', second, sign = '', rest = ''] = CLAUSE.exec(clause) ?? []
  const op = SIGNS.get(sign.replace(/\s+/g, ' ').toLowerCase())
  if (op === undefined) {
    throw new FlowdeltaError(
      `${show(clause)} is no condition. Write 'tenant.tier = enterprise', 'duration > 500ms', ` +
        "'coupon is recorded' or 'database is called'; names and values with signs or spaces go between double quotes.",
    )
  }
  const named = second ?? first
  const subject = {
    service: second === undefined ? null : unquoted(first),
    attribute: unquoted(named),
    isAttribute: named.startsWith('"'),
  }
  const state = op === 'is' || op === 'is not' ? /^(recorded|called)$/i.exec(rest)?.[1] : undefined
  if (state !== undefined) {
    const isRecorded = state.toLowerCase() === 'recorded'
    const holds = isRecorded ? 'recorded' : 'calls'
    return condition(subject, op === 'is' ? holds : OPS[holds].opposite)
  }
  const { values, orNotRecorded } = parseValues(rest, clause)
  const another = dividedBy(OR, rest)
    .slice(1)
    .find((value) => ANOTHER.test(value))
  if (another !== undefined) {
    throw new FlowdeltaError(
      `Condition ${show(clause)}: after "or" or a comma stand further values, as in 'tenant.tier = pro or free', ` +
        `not conditions like ${show(another)}. Join conditions with "and", ask for one at a time, or write the value between double quotes.`,
    )
  }
  if (op !== 'is' && op !== 'is not' && values.length > 1) {
    throw new FlowdeltaError(
      `Condition ${show(clause)} compares with several values. Give one number.`,
    )
  }
  return condition(subject, op, values, orNotRecorded)
}

/** @param asked what errors quote */
export function parseValues(
  text: string,
  asked = text,
): Pick<Condition, 'values' | 'orNotRecorded'> {
  const written = dividedBy(OR, text)
  const known = written.filter((value) => value.toLowerCase() !== NOT_RECORDED)
  if (known.includes('') || known.length === 0) {
    throw new FlowdeltaError(`${show(asked)} lacks a value. Give one; an empty one is written "".`)
  }
  return { values: known.map(unquoted), orNotRecorded: known.length < written.length }
}

export function condition(
  subject: Subject,
  op: ConditionOp,
  values: readonly string[] = [],
  orNotRecorded = false,
): Condition {
  const { service, attribute, isAttribute } = subject
  const shown = [
    ...values.map(printable).map((value) => (UNCLEAR.test(value) ? quoted(value) : value)),
    ...(orNotRecorded ? [NOT_RECORDED] : []),
  ]
  const isClear =
    PLAIN.test(attribute) && !(isAttribute && builtIn({ ...subject, isAttribute: false }))
  const name = isClear ? attribute : quoted(attribute)
  const names =
    service === null ? name : `${PLAIN.test(service) ? service : quoted(service)} ${name}`
  const last = shown.at(-1) ?? ''
  const all = shown.length < 2 ? last : `${shown.slice(0, -1).join(', ')} or ${last}`
  const text = `${names} ${OPS[op].shown}${OPS[op].written ? ` ${all}` : ''}`
  return { service, attribute, isAttribute, op, values, orNotRecorded, text }
}

export function conditionsText(conditions: readonly Condition[]): string {
  return conditions.map(({ text }) => text).join(' and ')
}

/** Returns the condition, in words, of the requests that do not meet the given ones. */
export function oppositeText(conditions: readonly Condition[]): string {
  const [first] = conditions
  if (first === undefined || conditions.length > 1) return `not (${conditionsText(conditions)})`
  return opposite(first).text
}

function opposite(asked: Condition): Condition {
  return condition(asked, OPS[asked.op].opposite, asked.values, asked.orNotRecorded)
}

export function dividedBy(pattern: string, text: string): string[] {
  const parts = ['']
  for (const [all, , divides] of text.matchAll(new RegExp(`(${QUOTED})|(${pattern})|[^]`, 'gi'))) {
    if (divides === undefined) parts[parts.length - 1] += all
    else parts.push('')
  }
  return parts.map((part) => part.trim())
}

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
