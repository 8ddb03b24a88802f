/** Encodes text as UTF-8 in base64, with nothing but what browsers and Node share. */
export function base64OfText(text: string): string {
  return base64OfBytes(new TextEncoder().encode(text))
}

export function base64OfBytes(bytes: Uint8Array): string {
  // btoa of Node looks at each character in turn.
  if (typeof Buffer === 'function') return Buffer.from(bytes).toString('base64')
  let binary = ''
  for (let start = 0; start < bytes.length; start += 0x8000) {
    binary += String.fromCharCode(...bytes.subarray(start, start + 0x8000))
  }
  return btoa(binary)
}

export function bytesOfBase64(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
}

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

/** Returns bytes as small hex digits. */
export function hexOf(bytes: Uint8Array): string {
  return bytes.reduce((digits, byte) => digits + HEX[byte], '')
}
