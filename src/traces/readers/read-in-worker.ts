import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { type PackedTraces, unpackTraces } from '../pack-traces.ts'
import type { TraceSet } from '../trace-set.ts'

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
