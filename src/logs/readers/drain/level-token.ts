const LEVEL =
  /^(?:[[(<](?:trace|debug|info|notice|warn|warning|error|severe|critical|fatal|TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|SEVERE|CRITICAL|FATAL)[\])>]|(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|SEVERE|CRITICAL|FATAL)):?$/
/** Behind a host or a thread, say. */
const SEARCHED = 3

/**
 * Where the level of a message stands among its tokens, if it begins with one; −1 where there is none.
 *
 * @example
 * levelIn(['[INFO]', 'step', 'start']) // 0
 */
export function levelIn(tokens: readonly string[]): number {
  return tokens.slice(0, SEARCHED).findIndex((token) => LEVEL.test(token))
}
