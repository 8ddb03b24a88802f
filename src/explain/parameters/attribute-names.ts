import type { LeftOutReason } from './parameter.ts'

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
