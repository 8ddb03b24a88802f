// Runs once a span: the loops index with `!`.
import { getOrInsert } from '../../core/entries.ts'
import type { SpanTraces } from '../../traces/span-traces.ts'

/** How coarse a clock is, in µs. */
export interface Resolution {
  /** The grid that its times lie on. */
  readonly tickUs: number
  /** By how much calls one after the other may seem to overlap: a tick where starts or durations are cut alone. */
  readonly overlapUs: number
}

/** By service; services with clocks finer than 10 µs are left out. */
export type ClockResolution = ReadonlyMap<string, Resolution>

/** Grids that times may be cut to, in µs, the coarsest first. */
const GRIDS_US = [1000, 100, 10]
/** Of fewer different times it may be chance that they lie on a grid. */
const ENOUGH_TIMES = 20
/** Nearly all times of a clock lie on its grid. */
const NEARLY_ALL = 0.99

/**
 * Learns the resolution of clocks from the times themselves: the coarsest grid on which nearly all
 * starts of a service's spans lie, or nearly all durations.
 */
export function clockResolution(recordings: readonly SpanTraces[]): ClockResolution {
  const known = new Map<string, ServiceTimes>()
  for (const { spans, services, epochNs } of recordings) {
    const phaseUs = Number(epochNs % 1_000_000_000n) / 1000
    const times = services.values.map((name) => getOrInsert(known, name, () => new ServiceTimes()))
    for (let span = 0; span < spans.service.length; span++) {
      times[spans.service[span]!]!.add(phaseUs + spans.startUs[span]!, spans.durationUs[span]!)
    }
  }
  return new Map(
    [...known].flatMap(([name, times]) => {
      const resolution = times.resolution()
      return resolution === null ? [] : [[name, resolution]]
    }),
  )
}

class ServiceTimes {
  #spans = 0
  readonly #starts = new Set<number>()
  readonly #durations = new Set<number>()
  /** How many starts, ends and durations lie on each grid. */
  readonly #onGrid = GRIDS_US.map(() => ({ starts: 0, ends: 0, durations: 0 }))

  add(startUs: number, durationUs: number): void {
    this.#spans++
    if (this.#starts.size < ENOUGH_TIMES) this.#starts.add(startUs)
    if (this.#durations.size < ENOUGH_TIMES) this.#durations.add(durationUs)
    for (let grid = GRIDS_US.length - 1; grid >= 0; grid--) {
      const stepUs = GRIDS_US[grid]!
      const counts = this.#onGrid[grid]!
      const [isStart, isDuration] = [isOn(startUs, stepUs), isOn(durationUs, stepUs)]
      // What is on no finer grid is on no coarser one.
      if (!isStart && !isDuration && !isOn(startUs + durationUs, stepUs)) return
      if (isStart) counts.starts++
      if (isDuration) counts.durations++
      if (isOn(startUs + durationUs, stepUs)) counts.ends++
    }
  }

  resolution(): Resolution | null {
    const nearlyAll = NEARLY_ALL * this.#spans
    const [hasStarts, hasDurations] = [this.#starts, this.#durations].map(
      ({ size }) => size >= ENOUGH_TIMES,
    )
    const grid = this.#onGrid.findIndex(
      ({ starts, durations }) =>
        (hasStarts && starts >= nearlyAll) || (hasDurations && durations >= nearlyAll),
    )
    const [tickUs, counts] = [GRIDS_US[grid], this.#onGrid[grid]]
    if (tickUs === undefined || counts === undefined) return null
    return { tickUs, overlapUs: counts.ends >= nearlyAll ? 0 : tickUs }
  }
}

/** `%` takes several times as long. */
function isOn(us: number, stepUs: number): boolean {
  return Math.floor(us / stepUs) * stepUs === us
}
