import { FlowdeltaError, show } from '../../core/errors.ts'
import { QUOTED, quoted, unquoted } from '../../core/quoted.ts'
import { printable, readDuration } from '../../core/words.ts'

/** Operators that compare a property of a request with values. */
export const CONDITION_OPS = [
  'is',
  'is not',
  'from',
  'below',
  'above',
  'up to',
  'recorded',
  'not recorded',
  'calls',
  'does not call',
] as const

export type ConditionOp = (typeof CONDITION_OPS)[number]

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

const SIGNS: Readonly<Record<string, ConditionOp>> = {
  '=': 'is',
  '==': 'is',
  is: 'is',
  '!=': 'is not',
  '≠': 'is not',
  'is not': 'is not',
  '>=': 'from',
  '≥': 'from',
  '>': 'above',
  '<': 'below',
  '<=': 'up to',
  '≤': 'up to',
}
const SIGN_OF = {
  is: '=',
  'is not': 'is not',
  from: '≥',
  below: '<',
  above: '>',
  'up to': '≤',
} as const

/** Operator that holds if and only if the given one does not. */
const OPPOSITES: Readonly<Record<ConditionOp, ConditionOp>> = {
  is: 'is not',
  'is not': 'is',
  from: 'below',
  below: 'from',
  above: 'up to',
  'up to': 'above',
  recorded: 'not recorded',
  'not recorded': 'recorded',
  calls: 'does not call',
  'does not call': 'calls',
}

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
  const op = SIGNS[sign.replace(/\s+/g, ' ').toLowerCase()]
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
    return condition(subject, op === 'is' ? holds : OPPOSITES[holds])
  }
  const { values, orNotRecorded } = parseValues(rest, clause)
  const another = dividedBy(OR, rest)
    .slice(1)
    .find((value) => ANOTHER.test(value))
  if (another !== undefined) throw divided(clause, another)
  if (op !== 'is' && op !== 'is not' && values.length > 1) {
    throw new FlowdeltaError(
      `Condition ${show(clause)} compares with several values. Give one number.`,
    )
  }
  return condition(subject, op, values, orNotRecorded)
}

function divided(clause: string, another: string): FlowdeltaError {
  return new FlowdeltaError(
    `Condition ${show(clause)}: after "or" or a comma stand further values, as in 'tenant.tier = pro or free', ` +
      `not conditions like ${show(another)}. Join conditions with "and", ask for one at a time, or write the value between double quotes.`,
  )
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
  const shown = values.map(printable)
  const text = conditionText(subject, op, [
    ...shown.map((value) => (UNCLEAR.test(value) ? quoted(value) : value)),
    ...(orNotRecorded ? [NOT_RECORDED] : []),
  ])
  return { service, attribute, isAttribute, op, values, orNotRecorded, text }
}

function conditionText(subject: Subject, op: ConditionOp, values: readonly string[]): string {
  const { service, attribute, isAttribute } = subject
  const isClear =
    PLAIN.test(attribute) && !(isAttribute && builtIn({ ...subject, isAttribute: false }))
  const name = isClear ? attribute : quoted(attribute)
  const names =
    service === null ? name : `${PLAIN.test(service) ? service : quoted(service)} ${name}`
  if (op === 'recorded') return `${names} is recorded`
  if (op === 'not recorded') return `${names} is not recorded`
  if (op === 'calls') return `${names} is called`
  if (op === 'does not call') return `${names} is not called`
  const last = values.at(-1) ?? ''
  const all = values.length < 2 ? last : `${values.slice(0, -1).join(', ')} or ${last}`
  return `${names} ${SIGN_OF[op]} ${all}`
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
  return condition(asked, OPPOSITES[asked.op], asked.values, asked.orNotRecorded)
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
