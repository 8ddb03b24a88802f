// Runs once every four bytes of a file: the loops index with `!`.

/** What the checksum of a saved file stands under in it, behind the number of bytes that it is of. */
export const CHECKSUM_KEY = 'flowdelta-checksum'

/** What a saved file says of itself; its logs, which are checked by themselves, are left out. */
export function saidWithoutLogs({ logs: _, ...said }: { readonly logs?: unknown }): string {
  return JSON.stringify(said)
}

/** What is read at once, a multiple of four. */
const PIECE = 2 ** 20

/**
 * A checksum of the first bytes of a file and of a text: no other where one word of four bytes differs
 * is the same, nor nearly any other.
 *
 * Source: Fowler, Noll and Vo, FNV-1a, in words of four bytes.
 */
export async function checksumOf(
  slice: (start: number, end: number) => ArrayBuffer | Promise<ArrayBuffer>,
  end: number,
  text: string,
): Promise<string> {
  let hash = 0x811c9dc5
  const add = (bytes: Uint8Array<ArrayBuffer>) => {
    const words = new Uint32Array(bytes.buffer, 0, bytes.length >> 2)
    for (let i = 0; i < words.length; i++) hash = Math.imul(hash ^ words[i]!, 0x01000193)
    for (let i = 4 * words.length; i < bytes.length; i++) {
      hash = Math.imul(hash ^ bytes[i]!, 0x01000193)
    }
  }
  for (let start = 0; start < end; start += PIECE) {
    add(new Uint8Array(await slice(start, Math.min(end, start + PIECE))))
  }
  add(new Uint8Array(new TextEncoder().encode(text)))
  return (hash >>> 0).toString(16).padStart(8, '0')
}
