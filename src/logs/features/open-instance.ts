import { EventSeries, StateSeries } from './event-series.ts'
import { eventFeatures, type Run, stateFeatures } from './message-features.ts'

/** The features of an instance's variables of one kind: codes, and for each its features in a row. */
export interface InstanceFeatures {
  readonly codes: Int32Array
  readonly values: Float64Array
}

/** An instance all messages of which were read: its features. */
export interface ClosedInstance extends Run {
  readonly messages: { readonly event: number; readonly state: number }
  readonly events: InstanceFeatures
  readonly states: InstanceFeatures
  /** Variables of which only a sample was kept: every stride-th message. */
  readonly thinned: readonly {
    readonly kind: 'event' | 'state'
    readonly code: number
    readonly stride: number
  }[]
}

/** An instance that messages still come for. */
export class OpenInstance {
  // By code: what comes first in one instance comes early in most.
  readonly #events: EventSeries[] = []
  readonly #states: StateSeries[] = []
  /** When it is known to have started; its first message may have been earlier. */
  startUs = Number.POSITIVE_INFINITY
  #firstUs = Number.POSITIVE_INFINITY
  #lastUs = Number.NEGATIVE_INFINITY

  event(code: number, timeUs: number): void {
    let series = this.#events[code]
    if (series === undefined) {
      series = new EventSeries()
      this.#events[code] = series
    }
    series.add(timeUs)
    if (timeUs < this.#firstUs) this.#firstUs = timeUs
    if (timeUs > this.#lastUs) this.#lastUs = timeUs
  }

  state(code: number, timeUs: number, value: number): void {
    let series = this.#states[code]
    if (series === undefined) {
      series = new StateSeries()
      this.#states[code] = series
    }
    series.add(timeUs, value)
    if (timeUs < this.#firstUs) this.#firstUs = timeUs
    if (timeUs > this.#lastUs) this.#lastUs = timeUs
  }

  close(): ClosedInstance {
    const isEmpty = this.#lastUs < this.#firstUs
    const startUs = Math.min(this.startUs, this.#firstUs)
    const run: Run = { startUs, runTimeUs: isEmpty ? Number.NaN : this.#lastUs - startUs }
    const events = present(this.#events)
    const states = present(this.#states)
    const moments = states.map(([code, series]) => [code, series.moments] as const)
    return {
      ...run,
      messages: { event: total(events), state: total(moments) },
      events: featuresOf(events, (series) => eventFeatures(series, run)),
      states: featuresOf(states, (series) => stateFeatures(series, run)),
      thinned: [
        ...strides(events).map((each) => ({ kind: 'event' as const, ...each })),
        ...strides(moments).map((each) => ({ kind: 'state' as const, ...each })),
      ],
    }
  }
}

type Coded<S> = readonly (readonly [code: number, series: S])[]

/** Variables that have messages; the array has holes, which `forEach` passes over. */
function present<S>(series: readonly S[]): Coded<S> {
  const found: [number, S][] = []
  series.forEach((each, code) => {
    found.push([code, each])
  })
  return found
}

function total(series: Coded<EventSeries>): number {
  return series.reduce((sum, [, { count }]) => sum + count, 0)
}

function strides(series: Coded<EventSeries>): { code: number; stride: number }[] {
  return series.flatMap(([code, { stride }]) => (stride > 1 ? [{ code, stride }] : []))
}

function featuresOf<S>(series: Coded<S>, features: (series: S) => number[]): InstanceFeatures {
  return {
    codes: Int32Array.from(series, ([code]) => code),
    values: Float64Array.from(series.flatMap(([, each]) => features(each))),
  }
}
