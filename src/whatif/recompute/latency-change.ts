// Over all calls of every what-if: the loops index with `!`.
import { OptionError } from '../../core/errors.ts'
import type { WaitPlan } from '../models/wait-plan.ts'

/**
 * What is different about some calls, as a what-if gives it; all else is as recorded or follows from
 * it. The arrays are parallel to `calls`; one that is left out changes nothing, nor does a `NaN`.
 */
export interface LatencyChange {
  /** Rows of calls of one period, ascending, each once. */
  readonly calls: Uint32Array
  /** New server processing, µs: final, whatever changes below the call. */
  readonly serverUs?: Float64Array
  /** New time between client and server, µs: `latencyUs` less `serverUs`. */
  readonly networkUs?: Float64Array
  /** New time from the end of the last call it waits for (or its caller's start) to its start, µs. */
  readonly preprocessingUs?: Float64Array
  /** New time from the end of the last call it waits for (or its own start) to its reply, µs. */
  readonly replyUs?: Float64Array
  /**
   * How the times above come of the recorded ones. Where several changes are made at once, it is
   * applied to what the others leave: to what earlier ones made of the same time, and to the server
   * processing that results from changes below the call.
   */
  readonly newTime?: (us: number) => number
  /**
   * In which order each call makes its own calls, null for the recorded one. The preprocessing times
   * of these, and its reply time, then count from what they wait for in the new order.
   */
  readonly orders?: readonly (WaitPlan | null)[]
}

/** What a scenario makes of one period's requests. */
export interface ScenarioEffect {
  /** A call in several of them takes each of its times from the last that gives one. */
  readonly changes: readonly LatencyChange[]
  /** New weight of each request; null where weights stay. */
  readonly weight: Float64Array | null
  /** What a prediction rests on, and how far it can be trusted. */
  readonly limits?: string
}

/** @throws OptionError unless a change fits a period of `size` calls. */
export function checkChange(change: LatencyChange, size: number): void {
  const { calls, orders } = change
  calls.forEach((call, i) => {
    const previous = i === 0 ? -1 : calls[i - 1]!
    if (call > previous && call < size) return
    throw new OptionError(`calls[${i}]`, call, `a row above ${previous} and below ${size}`)
  })
  const expected = `${calls.length}, as many as there are calls`
  if (orders !== undefined && orders.length !== calls.length) {
    throw new OptionError('orders', `${orders.length} orders`, expected)
  }
  for (const name of ['serverUs', 'networkUs', 'preprocessingUs', 'replyUs'] as const) {
    const timesUs = change[name]
    if (timesUs !== undefined && timesUs.length !== calls.length) {
      throw new OptionError(name, `${timesUs.length} values`, expected)
    }
    const at = timesUs?.findIndex((us) => Math.abs(us) === Number.POSITIVE_INFINITY) ?? -1
    if (at >= 0) throw new OptionError(`${name}[${at}]`, timesUs?.[at], 'a finite time')
  }
}
