import { monotonicUs } from '../monotonic-us.ts'

const BEAT_MS = 5

/**
 * Watches how late a timer of this process is at worst: how long other programs of the machine,
 * rather than its own work of a fraction of a millisecond at a time, kept it from running.
 */
export class StallWatch {
  #lastUs = monotonicUs()
  #worstUs = 0
  readonly #beat = setInterval(() => this.#look(), BEAT_MS)

  /** Stops, and answers with the longest delay in µs. */
  stop(): number {
    clearInterval(this.#beat)
    this.#look()
    return this.#worstUs
  }

  #look(): void {
    const nowUs = monotonicUs()
    this.#worstUs = Math.max(this.#worstUs, nowUs - this.#lastUs - BEAT_MS * 1000)
    this.#lastUs = nowUs
  }
}
