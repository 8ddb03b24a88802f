import { monotonicUs } from '../../storage-service-logs/monotonic-us.ts'

/** What came and went since it was last asked for. */
export class Traffic {
  #sinceUs = monotonicUs()
  #up = 0
  #down = 0

  uploaded(bytes: number): void {
    this.#up += bytes
  }

  downloaded(bytes: number): void {
    this.#down += bytes
  }

  /** Speeds in kB/s since the last call, and starts anew. */
  take(): { uploadKbps: number; downloadKbps: number } {
    const nowUs = monotonicUs()
    const milliseconds = (nowUs - this.#sinceUs) / 1000
    const speeds = { uploadKbps: this.#up / milliseconds, downloadKbps: this.#down / milliseconds }
    this.#sinceUs = nowUs
    this.#up = 0
    this.#down = 0
    return speeds
  }
}
