import type { NodeLabel } from '../../flows/node-labels.ts'
import type { TreeColumn } from '../../stats/decision-tree/tree.ts'

/** Where in the flow a parameter was recorded, and under which name. */
export interface ParameterSource {
  readonly node: NodeLabel
  /** Counts nodes of that label in the template, from 1; 0 where there is only one. */
  readonly occurrence: number
  readonly attribute: string
}

/** A low-level parameter: one value a row, with the place it was recorded at. */
export type Parameter = TreeColumn & { readonly source: ParameterSource }

/** Why a parameter does not take part. */
export interface LeftOutParameter {
  readonly column: string
  readonly reason: LeftOutReason
}

export type LeftOutReason =
  /** Named as something that is another one for each request, thread or moment. */
  | 'identifier'
  | 'timestamp'
  | 'thread'
  | 'address'
  /** Text that nearly every request has another of. */
  | 'unique'
  /** Numbers that only rise (or fall) as requests arrive: they tell when, not why. */
  | 'counter'
  /** One value wherever it is known. */
  | 'constant'
  | 'excluded'

/** What a reason means, for people. */
export const LEFT_OUT_WORDS: Readonly<Record<LeftOutReason, string>> = {
  identifier: 'is named as an identifier',
  timestamp: 'is a point in time',
  thread: 'names a thread or process',
  address: 'is an address',
  unique: 'differs in nearly every request',
  counter: 'only rises or falls as requests arrive',
  constant: 'is the same wherever it is known',
  excluded: 'was taken out',
}

const ADDRESS_TEXT =
  /^(\/?\d{1,3}(\.\d{1,3}){3}(:\d+)?|0x[0-9a-f]{6,}|[0-9a-f]{0,4}(:[0-9a-f]{0,4}){4,7})$/i
const MOMENT_TEXT = /^\d{4}-\d\d-\d\d([T ]\d\d:\d\d|$)/

/** Text of which there are more values than this share of the rows names rows, not kinds. */
const NEARLY_UNIQUE = 0.5
/** A number that rises in this share of the steps from request to request counts them. */
const RISING = 0.98
const MIN_FOR_COUNTER = 20
/** Rows that an id needs on average to be the id of a kind. */
const MIN_OF_A_KIND = 10

export interface RowOrder {
  /** 0 precursor, 1 mutation. */
  readonly labels: Uint8Array
  /** When each row's request arrived, in µs since the start of its period. */
  readonly startUs: Float64Array
}

/** Why a parameter is of no use for telling requests apart; `null` where it may be. */
export function reasonToLeaveOut(parameter: Parameter, rows: RowOrder): LeftOutReason | null {
  const named = reasonOfName(parameter.source.attribute)
  if (named !== null && !(named === 'identifier' && namesFew(parameter))) return named
  return parameter.kind === 'numeric'
    ? reasonOfNumbers(parameter.values, rows)
    : reasonOfTexts(parameter)
}

/** Ids of a few tenants, shards or customers are kinds of request. */
function namesFew(parameter: Parameter): boolean {
  if (parameter.kind === 'numeric') return false
  const known = parameter.codes.reduce((count, code) => count + Number(code >= 0), 0)
  return parameter.levels.length > 1 && parameter.levels.length * MIN_OF_A_KIND <= known
}

function reasonOfNumbers(values: Float64Array, rows: RowOrder): LeftOutReason | null {
  const distinct = new Set(values.filter((value) => !Number.isNaN(value))).size
  if (distinct < 2) return 'constant'
  return distinct > NEARLY_UNIQUE * values.length && countsRequests(values, rows) ? 'counter' : null
}

/** Whether a number goes up, or down, from one request to the next in both groups. */
function countsRequests(values: Float64Array, { labels, startUs }: RowOrder): boolean {
  const groups = [0, 1].map((label) =>
    Array.from(values, (_, row) => row)
      .filter((row) => labels[row] === label && !Number.isNaN(values[row] as number))
      .sort((a, b) => (startUs[a] as number) - (startUs[b] as number)),
  )
  const long = groups.filter(({ length }) => length >= MIN_FOR_COUNTER)
  return long.length > 0 && long.every((group) => isRising(group, values))
}

function isRising(group: readonly number[], values: Float64Array): boolean {
  let [up, down] = [0, 0]
  for (let i = 1; i < group.length; i++) {
    const step = (values[group[i] as number] as number) - (values[group[i - 1] as number] as number)
    if (step > 0) up++
    else if (step < 0) down++
  }
  return Math.max(up, down) >= RISING * (group.length - 1)
}

function reasonOfTexts({
  codes,
  levels,
}: Extract<TreeColumn, { kind: 'categorical' }>): LeftOutReason | null {
  if (levels.length < 2) return levels.length === 1 && isMoment(levels) ? 'timestamp' : 'constant'
  if (levels.every((level) => ADDRESS_TEXT.test(level))) return 'address'
  if (isMoment(levels)) return 'timestamp'
  const known = codes.reduce((count, code) => count + Number(code >= 0), 0)
  return levels.length > NEARLY_UNIQUE * known ? 'unique' : null
}

function isMoment(levels: readonly string[]): boolean {
  return levels.every((level) => MOMENT_TEXT.test(level))
}

const IDENTIFIERS = new Set([
  ...['id', 'ids', 'uuid', 'guid', 'soid', 'fid', 'breadcrumb', 'token', 'nonce', 'etag'],
  ...['digest', 'hash', 'checksum', 'signature', 'handle', 'correlation', 'traceparent'],
])
const TIMES = new Set(['timestamp', 'datetime', 'date', 'epoch', 'ts'])
const MOMENTS =
  /^(time|(start|end|begin|finish|created?|updated?|modified|now|sent|received)_(time|at|ns|on))$/
const THREADS = new Set(['thread', 'tid', 'pid', 'goroutine', 'fiber'])
const ADDRESSES = new Set(['ip', 'ipv4', 'ipv6', 'addr', 'address', 'port', 'pointer', 'ptr'])
const VERSIONS = new Set(['version', 'release', 'revision', 'build', 'commit', 'sha'])

/** Ends the name of the parameter that says whether another was recorded. */
export const PRESENCE = ' (recorded)'

/** Why something of this name is of no use for telling requests apart; `null` where it may be. */
export function reasonOfName(attribute: string): LeftOutReason | null {
  if (attribute.endsWith(PRESENCE)) return null
  const words = wordsOf(attribute)
  const last = words.at(-1) ?? ''
  if (words.some((word) => THREADS.has(word))) return 'thread'
  if (TIMES.has(last) || MOMENTS.test(words.join('_'))) return 'timestamp'
  if (words.some((word) => ADDRESSES.has(word))) return 'address'
  return isIdentifier(words) ? 'identifier' : null
}

/** Whether numbers under this name are names: an id or a version is not larger than another. */
export function isNameLike(attribute: string): boolean {
  const words = wordsOf(attribute)
  return isIdentifier(words) || words.some((word) => VERSIONS.has(word))
}

function isIdentifier(words: readonly string[]): boolean {
  return words.some((word) => IDENTIFIERS.has(word))
}

function wordsOf(attribute: string): string[] {
  return attribute
    .replace(/([a-z\d])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[^a-z\d]+/)
    .filter((word) => word !== '')
}
