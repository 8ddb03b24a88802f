// Reads the traces of one period in a thread of its own; `readInWorker` is the other side.
import { parentPort, workerData } from 'node:worker_threads'
import type { LoadOptions } from '../load-options.ts'
import { loadTraces } from '../load-traces.ts'
import { buffersOf, packTraces } from '../pack-traces.ts'
import type { WorkerMessage } from './open-file.ts'

const { files, options } = workerData as { files: string[]; options: LoadOptions }
const post = (message: WorkerMessage, transfer: ArrayBuffer[] = []) =>
  parentPort?.postMessage(message, transfer)

loadTraces(files, {
  ...options,
  threads: false,
  onProgress: (progress) => post({ kind: 'progress', progress }),
}).then(
  (traces) => {
    const packed = packTraces(traces)
    post({ kind: 'traces', packed }, [...buffersOf(packed)])
  },
  // The other side reads again, and so meets the error itself.
  () => post({ kind: 'failed' }),
)
