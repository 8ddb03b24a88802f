import { monotonicUs } from '../monotonic-us.ts'

const LOCK = 0
const DIRTY_BYTES = 1
const CELLS = 2

/** Memory for a write cache's lock and its count of bytes, to be handed to threads. */
export function cacheMemory(): SharedArrayBuffer {
  return new SharedArrayBuffer(CELLS * Int32Array.BYTES_PER_ELEMENT)
}

/** What a writer met at the cache. */
export interface Admission {
  readonly lockWaitUs: number
  /** Bytes in memory only, after a flush if there was one. */
  readonly dirtyBytes: number
  readonly flushed: boolean
}

/** The write cache that the writers of a node share: a count of bytes under a lock. */
export class SharedCache {
  readonly #cells: Int32Array
  readonly #limit: number
  readonly #flush: () => void

  constructor(memory: SharedArrayBuffer, limit: number, flush: () => void) {
    this.#cells = new Int32Array(memory)
    this.#limit = limit
    this.#flush = flush
  }

  /** Counts bytes just written; forces all to disk, with the lock held, if they are too many. */
  add(bytes: number): Admission {
    return this.#locked((lockWaitUs) => {
      const dirty = Atomics.add(this.#cells, DIRTY_BYTES, bytes) + bytes
      const flushed = dirty >= this.#limit
      if (flushed) this.#empty()
      return { lockWaitUs, dirtyBytes: flushed ? 0 : dirty, flushed }
    })
  }

  /** Forces what is left to disk. */
  finish(): Admission {
    return this.#locked((lockWaitUs) => {
      const flushed = Atomics.load(this.#cells, DIRTY_BYTES) > 0
      if (flushed) this.#empty()
      return { lockWaitUs, dirtyBytes: 0, flushed }
    })
  }

  #empty(): void {
    this.#flush()
    Atomics.store(this.#cells, DIRTY_BYTES, 0)
  }

  #locked<Result>(act: (waitUs: number) => Result): Result {
    const askedUs = monotonicUs()
    while (Atomics.compareExchange(this.#cells, LOCK, 0, 1) !== 0) {
      Atomics.wait(this.#cells, LOCK, 1)
    }
    try {
      return act(monotonicUs() - askedUs)
    } finally {
      Atomics.store(this.#cells, LOCK, 0)
      Atomics.notify(this.#cells, LOCK, 1)
    }
  }
}
