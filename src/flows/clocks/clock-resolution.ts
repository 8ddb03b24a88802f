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

/** Grids that times may be cut to, in µs, the coarsest first; each holds a tenth of the next finer one. */
const GRIDS_US = [10_000, 1000, 100, 10]
/** Of fewer spans it may be chance that their times lie on a grid. */
const ENOUGH_SPANS = 20
/** As it may be of fewer different times. */
const ENOUGH_TIMES = 3
/** Nearly all times of a clock lie on its grid. */
const NEARLY_ALL = 0.99
/** A tenth of them lies on the next coarser one; where it is this share, requests arrive in step. */
const MAX_COARSER = 0.5

/**
 * Learns the resolution of clocks from the times themselves: the grid on which nearly all starts of a
 * service's spans lie, or nearly all durations, and few of them on the next coarser one.
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
  readonly #starts = new GridCounts()
  readonly #durations = new GridCounts()
  readonly #ends = new GridCounts()

  add(startUs: number, durationUs: number): void {
    this.#starts.add(startUs)
    this.#durations.add(durationUs)
    this.#ends.add(startUs + durationUs)
  }

  resolution(): Resolution | null {
    const tickUs = Math.max(this.#starts.tickUs(), this.#durations.tickUs())
    if (tickUs === 0) return null
    return { tickUs, overlapUs: this.#ends.areOn(tickUs) ? 0 : tickUs }
  }
}

class GridCounts {
  #times = 0
  readonly #different = new Set<number>()
  readonly #onGrid = GRIDS_US.map(() => 0)

  add(us: number): void {
    this.#times++
    if (this.#different.size < ENOUGH_TIMES) this.#different.add(us)
    // What is on no finer grid is on no coarser one.
    for (let grid = GRIDS_US.length - 1; grid >= 0 && isOn(us, GRIDS_US[grid]!); grid--) {
      this.#onGrid[grid]!++
    }
  }

  areOn(stepUs: number): boolean {
    return this.#onGrid[GRIDS_US.indexOf(stepUs)]! >= NEARLY_ALL * this.#times
  }

  /** The step of the grid that they are cut to, 0 for none. */
  tickUs(): number {
    if (this.#times < ENOUGH_SPANS || this.#different.size < ENOUGH_TIMES) return 0
    const grid = GRIDS_US.findIndex((stepUs) => this.areOn(stepUs))
    // The first is there to tell times in step.
    const isInStep = grid < 1 || this.#onGrid[grid - 1]! > MAX_COARSER * this.#times
    return isInStep ? 0 : GRIDS_US[grid]!
  }
}

/** `%` takes several times as long. */
function isOn(us: number, stepUs: number): boolean {
  return Math.floor(us / stepUs) * stepUs === us
}
