import { existsSync } from 'node:fs'
import { open, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline, Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { createGunzip } from 'node:zlib'
import { FlowdeltaError, TraceFormatError } from '../../core/errors.ts'
import { type PackedTraces, unpackTraces } from '../pack-traces.ts'
import type { TraceSet } from '../trace-set.ts'

const CHUNK_BYTES = 1 << 20

/** Returns the size in bytes of the file at `path`, which is thereby known to be one that can be read. */
export async function fileSize(path: string | URL): Promise<number> {
  try {
    const found = await stat(path)
    if (found.isDirectory()) {
      throw new FlowdeltaError(`${path} is a directory. Name the trace files in it.`)
    }
    return found.size
  } catch (error) {
    if (error instanceof FlowdeltaError) throw error
    throw cannotOpen(path, error)
  }
}

function cannotOpen(path: string | URL, error: unknown): FlowdeltaError {
  return new FlowdeltaError(
    `${path} cannot be opened (${codeOf(error)}). Check the name and the permissions.`,
  )
}

export async function fileBytes(path: string): Promise<number> {
  const found = await stat(path).catch(() => undefined)
  return found?.isFile() === true ? found.size : 0
}

/** Reads a file in pieces, each good until the next. While one is in use, the next is read into a second buffer. */
export async function* fileChunks(path: string | URL): AsyncGenerator<Uint8Array> {
  const failed = (error: unknown) => {
    throw new FlowdeltaError(`${path} cannot be read (${codeOf(error)}). Check the file.`)
  }
  const file = await open(path).catch(failed)
  const read = (buffer: Uint8Array) => file.read(buffer, 0, buffer.length).catch(failed)
  let current = new Uint8Array(CHUNK_BYTES)
  let other = new Uint8Array(CHUNK_BYTES)
  let reading = read(current)
  try {
    for (;;) {
      const { bytesRead } = await reading
      if (bytesRead === 0) return
      reading = read(other)
      // An error is thrown when the piece is asked for.
      reading.catch(() => {})
      yield current.subarray(0, bytesRead)
      ;[current, other] = [other, current]
    }
  } finally {
    await reading.catch(() => {})
    await file.close()
  }
}

export async function* gunzip(
  chunks: AsyncIterable<Uint8Array>,
  file: string,
): AsyncGenerator<Uint8Array> {
  const unzip = createGunzip({ chunkSize: CHUNK_BYTES })
  // An error of either stream destroys `unzip` and so surfaces in the loop over it.
  pipeline(Readable.from(copies(chunks)), unzip, () => {})
  try {
    yield* unzip
  } catch (error) {
    const code = codeOf(error)
    if (!code.startsWith('Z_')) throw error
    const problem =
      code === 'Z_BUF_ERROR'
        ? 'The gzip file is truncated: it ends before its content does'
        : `The gzip file is damaged (${code})`
    throw new TraceFormatError(problem, { file }, 'Copy or download it again')
  }
}

/** Chunks that last: a stream asks for the next before it is done with one. */
async function* copies(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) yield chunk.slice()
}

function codeOf(error: unknown): string {
  const { code } = error as { code?: unknown }
  return typeof code === 'string' ? code : String(error)
}

export async function namesWithin(path: string | URL): Promise<readonly string[] | undefined> {
  const names = await readdir(path).catch(() => undefined)
  return names?.sort()
}

/** Returns the sorted files below a directory, links to files included; `undefined` for anything else. */
export async function filesBelow(path: string | URL): Promise<string[] | undefined> {
  const name = path instanceof URL ? fileURLToPath(path) : path
  try {
    if (!(await stat(name)).isDirectory()) return undefined
    const files: string[] = []
    for (const entry of await readdir(name, { recursive: true, withFileTypes: true })) {
      const file = join(entry.parentPath, entry.name)
      if (entry.isFile() || (entry.isSymbolicLink() && (await stat(file)).isFile())) {
        files.push(file)
      }
    }
    return files.sort((a, b) => (a < b ? -1 : Number(a > b)))
  } catch (error) {
    throw cannotOpen(name, error)
  }
}

export async function openSlices(path: string) {
  const byteLength = await fileSize(path)
  const file = await open(path)
  return {
    byteLength,
    async slice(start: number, end = byteLength): Promise<ArrayBuffer> {
      const bytes = new Uint8Array(end - start)
      await file.read(bytes, 0, bytes.length, start)
      return bytes.buffer
    },
    close: () => file.close(),
  }
}

/** Progress of a load. */
export interface LoadProgress {
  readonly file: string
  /** Bytes read of all files so far, as they are on disk. */
  readonly bytesRead: number
  readonly bytesTotal: number
}

export type WorkerMessage =
  | { readonly kind: 'progress'; readonly progress: LoadProgress }
  | { readonly kind: 'traces'; readonly packed: PackedTraces }
  | { readonly kind: 'failed' }

/** Worker next to the built library; unbuilt sources have none and read in their own thread. */
const WORKER = new URL('./trace-worker.js', import.meta.url)

export function hasWorker(): boolean {
  return existsSync(fileURLToPath(WORKER))
}

/** Loads in a thread of its own; `undefined` if that failed, so that the caller meets the same error. */
export async function readInWorker(
  files: readonly string[],
  {
    onProgress,
    signal,
    ...options
  }: {
    readonly onProgress?: ((progress: LoadProgress) => void) | null
    readonly signal?: AbortSignal | null
  },
): Promise<TraceSet | undefined> {
  const worker = new Worker(WORKER, { workerData: { files, options } })
  try {
    return await new Promise((resolve, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason), { once: true })
      worker.on('message', (message: WorkerMessage) => {
        if (message.kind === 'progress') onProgress?.(message.progress)
        else resolve(message.kind === 'traces' ? unpackTraces(message.packed) : undefined)
      })
      worker.on('error', () => resolve(undefined))
      worker.on('exit', () => resolve(undefined))
    })
  } finally {
    await worker.terminate()
  }
}
