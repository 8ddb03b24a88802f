/** Returns a number below 2³² that is always the same: FNV-1a; not for security. */
export function fnv1a(text: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  }
  return hash >>> 0
}

/** Returns a short name that is always the same: `fnv1a` in hexadecimal. */
export function fingerprint(text: string): string {
  return fnv1a(text).toString(16).padStart(8, '0')
}
