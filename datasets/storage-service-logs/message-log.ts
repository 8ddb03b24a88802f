import type { LogMessage } from './log-lines.ts'
import { monotonicUs } from './monotonic-us.ts'

/** The log of one instance while it runs. It begins with the event `start`, at 0. */
export class MessageLog {
  readonly messages: LogMessage[] = [{ time: 0, name: 'start' }]
  readonly #startUs = monotonicUs()

  event(name: string, atUs = monotonicUs()): void {
    this.messages.push({ time: this.#sinceStart(atUs), name })
  }

  state(name: string, value: number, atUs = monotonicUs()): void {
    this.messages.push({ time: this.#sinceStart(atUs), name, value: Math.round(value) })
  }

  #sinceStart(atUs: number): number {
    return Math.max(0, atUs - this.#startUs)
  }
}
