import { wordsIn } from '../core/words.ts'

/** Prefix of attributes made of monitoring series. */
export const SERIES = 'series.'

/** Why an attribute is of no use for telling requests apart, in words. */
export const LEFT_OUT_WORDS = {
  // Named as something that is another one for each request, thread or moment.
  identifier: 'is named as an identifier',
  timestamp: 'is a point in time',
  thread: 'names a thread or process',
  address: 'is an address',
  unique: 'differs in nearly every request',
  // Tells when, not why.
  counter: 'only rises or falls as requests arrive',
  constant: 'is the same wherever it is known',
  // In neither period does it tell requests apart.
  period: 'changed with the period alone',
  excluded: 'was taken out',
} as const
export type LeftOutReason = keyof typeof LEFT_OUT_WORDS

const ADDRESS_TEXT =
  /^(\/?\d{1,3}(\.\d{1,3}){3}(:\d+)?|0x[0-9a-f]{6,}|[0-9a-f]{0,4}(:[0-9a-f]{0,4}){4,7})$/i
const MOMENT_TEXT = /^\d{4}-\d\d-\d\d([T ]\d\d:\d\d|$)/

/** Text of which there are more values than this share of the rows names rows, not kinds. */
export const NEARLY_UNIQUE = 0.5
/** Rows that an id needs on average to be the id of a kind. */
const MIN_OF_A_KIND = 10

export function namesFew(values: number, known: number): boolean {
  return values > 1 && values * MIN_OF_A_KIND <= known
}

/** Reasons that do not count where there are few values: an id of a kind, the address of a replica. */
export const FEW_TELL: ReadonlySet<LeftOutReason | null> = new Set(['identifier', 'address'])

/** Returns why texts, recorded in `known` rows, tell no requests apart; `null` where they may. */
export function reasonOfTexts(levels: readonly string[], known: number): LeftOutReason | null {
  if (levels.length < 2) return levels.length === 1 && isMoment(levels) ? 'timestamp' : 'constant'
  if (levels.every((level) => ADDRESS_TEXT.test(level))) return 'address'
  if (isMoment(levels)) return 'timestamp'
  return levels.length > NEARLY_UNIQUE * known ? 'unique' : null
}

function isMoment(levels: readonly string[]): boolean {
  return levels.every((level) => MOMENT_TEXT.test(level))
}

const IDENTIFIERS = new Set(
  wordsIn(`
  id ids uuid guid soid fid breadcrumb token nonce etag digest hash checksum signature
  handle correlation traceparent
`),
)
const TIMES = new Set(['timestamp', 'datetime', 'date', 'epoch', 'ts'])
const MOMENTS =
  /^(time|(start|end|begin|finish|created?|updated?|modified|now|sent|received)_(time|at|ns|on))$/
const THREADS = new Set(['thread', 'tid', 'pid', 'goroutine', 'fiber'])
const ADDRESSES = new Set(['ip', 'ipv4', 'ipv6', 'addr', 'address', 'port', 'pointer', 'ptr'])
const VERSIONS = new Set(['version', 'release', 'revision', 'build', 'commit', 'sha'])

const NUMBER = /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i
/** Digits that begin with a zero are a name, such as a postcode. */
const CODE = /^[-+]?0\d/

export function isNumberText(text: string): boolean {
  return NUMBER.test(text) && !CODE.test(text)
}

/** Ends the name of the parameter that says whether another was recorded. */
export const PRESENCE = ' (recorded)'

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

const RESOURCES = new Set(
  wordsIn(`
  lock mutex semaphore latch queue pool shard partition table collection topic destination
  bucket disk volume device resource
`),
)
const NAMES = new Set(['name', 'id', 'key'])

/** Whether an attribute of this name tells which lock, queue or other shared thing was used: `lock.name`. */
export function namesResource(attribute: string): boolean {
  const words = wordsOf(attribute)
  const last = words.at(-1) ?? ''
  return words.some((word) => RESOURCES.has(word)) && (RESOURCES.has(last) || NAMES.has(last))
}
