import { OptionError } from '../core/errors.ts'
import { HEAD_BYTES } from './readers/recognize-format.ts'
import { isZstd, unzstd } from './readers/zstd.ts'

/** The content of a file that is in memory already. */
export interface TraceContent {
  /** Name in messages. */
  readonly name: string
  readonly bytes: Uint8Array | string
}

/** Source of traces: a path, the URL of a file, or content in memory. */
export type TraceSource = string | URL | TraceContent

export interface OpenableSource {
  readonly name: string
  readonly bytes: number
  /** Opens the file and reads its head, decompressed; `chunks` are the whole content. */
  open(onBytes: (bytes: number) => void): Promise<OpenedSource>
}

interface OpenedSource {
  readonly head: Uint8Array
  readonly chunks: AsyncIterable<Uint8Array>
}

const SLICE_BYTES = 1 << 20

/** Makes a source ready to be opened; a file that is not there is an error now, not later. */
export async function openSource(source: TraceSource): Promise<OpenableSource> {
  if (typeof source === 'string' || source instanceof URL) {
    const { fileChunks, fileSize } = await nodeFiles()
    return {
      name: nameOf(source),
      bytes: await fileSize(source),
      open: (onBytes) => openChunks(fileChunks(source), nameOf(source), onBytes),
    }
  }
  const given: unknown = source?.bytes
  const bytes = typeof given === 'string' ? new TextEncoder().encode(given) : given
  if (!(bytes instanceof Uint8Array)) {
    throw new OptionError('files', source, 'a path, the URL of a file, or { name, bytes }')
  }
  const { name } = source
  return { name, bytes: bytes.length, open: (onBytes) => openChunks(slices(bytes), name, onBytes) }
}

/** Loads the functions that read files: only they need Node. In pages `fetch-file.ts` stands in. */
export function nodeFiles(): Promise<typeof import('./readers/open-file.ts')> {
  return import('./readers/open-file.ts')
}

async function openChunks(
  compressed: AsyncIterable<Uint8Array>,
  name: string,
  onBytes: (bytes: number) => void,
): Promise<OpenedSource> {
  const raw = await peek(counted(compressed, onBytes), 4)
  if (isZstd(raw.head)) return peek(unzstd(raw.chunks, name), HEAD_BYTES)
  if (raw.head[0] !== 0x1f || raw.head[1] !== 0x8b) return peek(raw.chunks, HEAD_BYTES)
  const { gunzip } = await nodeFiles()
  return peek(gunzip(raw.chunks, name), HEAD_BYTES)
}

/** Closes a source, read or not: only a started iteration can be ended. */
export async function closeChunks(chunks: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const _ of chunks) break
}

/** Reads at least `bytes` bytes, if there are as many, and gives them back in front of the rest. */
export async function peek(
  chunks: AsyncIterable<Uint8Array>,
  bytes: number,
): Promise<OpenedSource> {
  const iterator = chunks[Symbol.asyncIterator]()
  let head = new Uint8Array()
  while (head.length < bytes) {
    const { done, value } = await iterator.next()
    if (done) break
    const longer = new Uint8Array(head.length + value.length)
    longer.set(head)
    longer.set(value, head.length)
    head = longer
  }
  return { head: head.subarray(0, bytes), chunks: followedBy(head, iterator) }
}

async function* followedBy(
  head: Uint8Array,
  rest: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  try {
    yield head
    for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value
  } finally {
    await rest.return?.()
  }
}

async function* counted(
  chunks: AsyncIterable<Uint8Array>,
  onBytes: (bytes: number) => void,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    onBytes(chunk.length)
    yield chunk
  }
}

async function* slices(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let from = 0; from < bytes.length; from += SLICE_BYTES) {
    yield bytes.subarray(from, from + SLICE_BYTES)
  }
}

function nameOf(source: string | URL): string {
  return source instanceof URL ? decodeURIComponent(source.pathname) : source
}
