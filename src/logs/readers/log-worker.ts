// Reads logs in a thread of its own; `readInThreads` is the other side.
import { parentPort, workerData } from 'node:worker_threads'
import { answering } from './read-inputs.ts'

const answer = answering(...(workerData as Parameters<typeof answering>))
parentPort?.on('message', async (question: Parameters<typeof answer>) => {
  // What fails is read again on the other side, which so meets the error itself.
  parentPort?.postMessage(await answer(...question).catch(() => undefined))
})
