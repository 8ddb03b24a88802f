import type { Writer } from './writer.ts'
import type { WriterDone } from './writer-job.ts'

/** A block on its way to the file. */
export interface Block {
  readonly number: number
  readonly bytes: Uint8Array
  readonly offset: number
  /** When it came into the queue, by the monotonic clock. */
  readonly queuedUs: number
}

export interface WriteQueueOptions {
  readonly writers: readonly Writer[]
  /** Blocks that may wait; `put` resolves once fewer do. */
  readonly capacity: number
  readonly onWritten: (done: WriterDone, block: Block) => void
}

interface Watcher {
  resolve(): void
  reject(error: unknown): void
}

/** Blocks waiting for a writer: first come, first served. */
export class WriteQueue {
  readonly #options: WriteQueueOptions
  readonly #idle: Writer[]
  readonly #waiting: Block[] = []
  readonly #watchers: Watcher[] = []
  #failure: { readonly error: unknown } | undefined

  constructor(options: WriteQueueOptions) {
    this.#options = options
    this.#idle = [...options.writers]
  }

  /** Blocks that no writer has taken yet. */
  get length(): number {
    return this.#waiting.length
  }

  async put(block: Block): Promise<void> {
    this.#waiting.push(block)
    this.#startNext()
    while (this.#waiting.length >= this.#options.capacity) await this.#nextWrite()
  }

  /** Resolves once everything is written. */
  async drain(): Promise<void> {
    const { writers } = this.#options
    while (this.#waiting.length > 0 || this.#idle.length < writers.length) await this.#nextWrite()
  }

  #nextWrite(): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure.error
    return new Promise((resolve, reject) => this.#watchers.push({ resolve, reject }))
  }

  #startNext(): void {
    const writer = this.#idle.pop()
    if (writer === undefined) return
    const block = this.#waiting.shift()
    if (block === undefined) {
      this.#idle.push(writer)
      return
    }
    const { bytes, offset } = block
    writer.run({ kind: 'write', bytes, offset }).then(
      (done) => {
        this.#idle.push(writer)
        this.#options.onWritten(done, block)
        this.#startNext()
        for (const watcher of this.#watchers.splice(0)) watcher.resolve()
      },
      (error) => {
        this.#failure = { error }
        for (const watcher of this.#watchers.splice(0)) watcher.reject(error)
      },
    )
  }
}
