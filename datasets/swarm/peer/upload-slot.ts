import { setTimeout as delay } from 'node:timers/promises'
import { monotonicUs } from '../../storage-service-logs/monotonic-us.ts'

/** The upload limit of one connection: what is sent takes as long as it would on a slow line. */
export class UploadSlot {
  readonly #bytesPerSecond: number
  #freeUs = 0

  constructor(bytesPerSecond: number) {
    this.#bytesPerSecond = bytesPerSecond
  }

  /** Resolves when so many bytes would have gone out, after all that were asked for before. */
  async take(bytes: number): Promise<void> {
    const nowUs = monotonicUs()
    this.#freeUs = Math.max(this.#freeUs, nowUs) + (bytes / this.#bytesPerSecond) * 1e6
    await delay((this.#freeUs - nowUs) / 1000)
  }
}
