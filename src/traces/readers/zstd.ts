import { TraceFormatError } from '../../core/errors.ts'

const MAGIC = [0x28, 0xb5, 0x2f, 0xfd]

export function isZstd(bytes: Uint8Array): boolean {
  return MAGIC.every((byte, i) => bytes[i] === byte)
}

/** Decompresses Zstandard; throws for damaged or truncated data. */
export async function* unzstd(
  chunks: AsyncIterable<Uint8Array>,
  file: string,
): AsyncGenerator<Uint8Array> {
  const { Decompress } = await import('fzstd')
  let ready: Uint8Array[] = []
  const stream = new Decompress((bytes) => ready.push(bytes))
  const push = (bytes: Uint8Array, isLast: boolean) => {
    ready = []
    try {
      stream.push(bytes, isLast)
    } catch (error) {
      const problem = `The zstd data is damaged or truncated (${(error as Error).message})`
      throw new TraceFormatError(problem, { file }, 'Copy or download it again')
    }
    return ready
  }
  // The decoder keeps pushed bytes for longer than a chunk is valid.
  for await (const chunk of chunks) yield* push(chunk.slice(), false)
  yield* push(new Uint8Array(), true)
}
