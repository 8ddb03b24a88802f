const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi
/** Hexadecimal with a prefix, or eight digits or more of which some are letters and some are not. */
const HEX = /0x[0-9a-f]+|(?<![0-9a-z])(?=[0-9]*[a-f])(?=[a-f]*[0-9])[0-9a-f]{8,}(?![0-9a-z])/gi
/** A number by itself, with what sets its groups apart; or four digits or more behind a word. */
const NUMBER = /(?<![0-9a-z])-?[0-9]+(?:[.,:][0-9]+)*(?![0-9a-z])|[0-9]{4,}(?![0-9a-z])/gi

/**
 * A name without the ids in it: UUIDs, hexadecimal numbers and numbers become `#`.
 *
 * Names that differ in nothing but whom or what a request was for are one operation; with the id in
 * them, every request is a category of its own. Digits that belong to a word stay: `NFS3`, `v2`,
 * `sha256`.
 *
 * @example
 * stripIds('GET /users/42/orders/9f1c2b7a') // 'GET /users/#/orders/#'
 * stripIds('NFS3 READ blk_-8823711') // 'NFS3 READ blk_#'
 */
export function stripIds(name: string): string {
  return name.replace(UUID, '#').replace(HEX, '#').replace(NUMBER, '#')
}
