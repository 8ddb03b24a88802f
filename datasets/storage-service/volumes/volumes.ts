import { type Period, periodOf } from './period.ts'

/**
 * What a process keeps per period: its own files, caches, locks and configuration. The periods are
 * two volumes of one service, so that both can be recorded by the same processes at the same time.
 */
export class Volumes<State> {
  readonly #states = new Map<Period, State>()

  /** Starts a period anew. */
  set(period: Period, state: State): void {
    this.#states.set(period, state)
  }

  /** That of the request being worked on. */
  get current(): State {
    const state = this.#states.get(periodOf())
    if (state === undefined) throw new Error(`Nothing is set up ${periodOf()}: configure it.`)
    return state
  }
}
