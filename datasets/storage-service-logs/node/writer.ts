import type { Worker } from 'node:worker_threads'
import { startThread } from '../../storage-service/storage-node/start-thread.ts'
import type { WriterAnswer, WriterDone, WriterJob } from './writer-job.ts'

/** A thread that does one job at a time. */
export class Writer {
  readonly name: string
  readonly #thread: Worker = startThread(new URL('./writer-thread.ts', import.meta.url))

  constructor(name: string) {
    this.name = name
  }

  run(job: WriterJob): Promise<WriterDone> {
    return new Promise((resolve, reject) => {
      this.#thread.once('error', reject)
      this.#thread.once('message', (answer: WriterAnswer) => {
        this.#thread.off('error', reject)
        if ('error' in answer) reject(new Error(`${this.name}: ${answer.error}`))
        else resolve(answer)
      })
      this.#thread.postMessage(job)
    })
  }

  async stop(): Promise<void> {
    await this.#thread.terminate()
  }
}
