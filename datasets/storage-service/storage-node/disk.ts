import type { Worker } from 'node:worker_threads'
import type { DiskAnswer, DiskDone, DiskJob } from './disk-job.ts'
import { startThread } from './start-thread.ts'

interface Waiting {
  readonly job: DiskJob
  resolve(done: DiskDone): void
  reject(error: Error): void
}

/** A few threads that read and write files, and the queue of work before them. */
export class Disk {
  readonly #idle: Worker[]
  readonly #queue: Waiting[] = []
  #busy = 0

  constructor(threads: number) {
    const thread = new URL('./disk-thread.ts', import.meta.url)
    this.#idle = Array.from({ length: threads }, () => startThread(thread))
  }

  /** Jobs under way or waiting. */
  get queueLength(): number {
    return this.#busy + this.#queue.length
  }

  run(job: DiskJob): Promise<DiskDone> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ job, resolve, reject })
      this.#startNext()
    })
  }

  #startNext(): void {
    const thread = this.#idle.pop()
    if (thread === undefined) return
    const waiting = this.#queue.shift()
    if (waiting === undefined) {
      this.#idle.push(thread)
      return
    }
    this.#busy += 1
    thread.once('message', (answer: DiskAnswer) => {
      this.#busy -= 1
      this.#idle.push(thread)
      if ('error' in answer) waiting.reject(new Error(answer.error))
      else waiting.resolve(answer)
      this.#startNext()
    })
    thread.postMessage(waiting.job)
  }
}
