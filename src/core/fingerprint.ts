/**
 * A short name for `text` that is always the same: FNV-1a, 32 bits, in hexadecimal. Not for
 * anything that an attacker may not collide.
 *
 * @example
 * fingerprint('a') // 'e40c292c'
 */
export function fingerprint(text: string): string {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  }
  return (hash >>> 0).toString(16).padStart(8, '0')
}
