// Runs once a span: the loops index with `!`.
import { getOrInsert } from '../../core/entries.ts'
import type { SpanTraces } from '../../traces/span-traces.ts'

/** Resolution of a clock, in µs. */
export interface Resolution {
  /** The grid that its times lie on. */
  readonly tickUs: number
  /** Apparent overlap of sequential calls: up to a tick, if starts or durations are cut separately. */
  readonly overlapUs: number
}

/** Resolution by service; services with clocks finer than 10 µs are left out. */
export type ClockResolution = ReadonlyMap<string, Resolution>

/** Grids that times may be cut to, in µs, the coarsest first; each holds a tenth of the next finer one. */
const GRIDS_US = [10_000, 1000, 100, 10]
/** Smallest number of spans from which a common grid of their times is no chance. */
const ENOUGH_SPANS = 20
/** Fewest different times from which a common grid is no chance. */
const ENOUGH_TIMES = 3
/** Nearly all times of a clock lie on its grid. */
const NEARLY_ALL = 0.99
/** A tenth of them lies on the next coarser one; where it is this share, requests arrive in step. */
const MAX_COARSER = 0.5

/**
 * Learns the resolution of clocks from the times themselves: the grid on which nearly all starts of a
 * service's spans lie, or nearly all durations, and few of them on the next coarser one. It may be that
 * of one recording alone where all its starts, ends and durations lie on the grid.
 */
export function clockResolution(recordings: readonly SpanTraces[]): ClockResolution {
  return commonResolution(recordings).resolution
}

/** Grid that a service's times in a recording are to be cut to, in µs, by code of the service; 0 for none. */
export type TimeCuts = Float64Array

/** Returns the resolution of clocks, and for each recording how times finer than in another are made as coarse. */
export function commonResolution(recordings: readonly SpanTraces[]): {
  readonly resolution: ClockResolution
  readonly cuts: readonly (TimeCuts | undefined)[]
} {
  const ofAll = new Map<string, ServiceTimes>()
  const each = recordings.map((traces) => timesOfServices(traces))
  for (const [name, times] of each.flatMap((own) => [...own])) {
    getOrInsert(ofAll, name, () => new ServiceTimes()).addAll(times)
  }
  const cutTo = (name: string) => Math.max(...each.map((own) => own.get(name)?.wholeTickUs() ?? 0))
  const resolution = new Map(
    Array.from(ofAll, ([name, times]) => {
      const tickUs = cutTo(name)
      return [name, tickUs > 0 ? { tickUs, overlapUs: 0 } : times.resolution()] as const
    }).filter((one): one is [string, Resolution] => one[1] !== null),
  )
  const cuts = recordings.map(({ services }, i) => {
    const ticks = Float64Array.from(services.values, (name) => {
      const tickUs = cutTo(name)
      return tickUs > (each[i]!.get(name)?.wholeTickUs() ?? 0) ? tickUs : 0
    })
    return ticks.some((tickUs) => tickUs > 0) ? ticks : undefined
  })
  return { resolution, cuts }
}

function timesOfServices({ spans, services, epochNs }: SpanTraces): Map<string, ServiceTimes> {
  const phaseUs = phaseOf(epochNs)
  const times = services.values.map(() => new ServiceTimes())
  for (let span = 0; span < spans.service.length; span++) {
    times[spans.service[span]!]!.add(phaseUs + spans.startUs[span]!, spans.durationUs[span]!)
  }
  return new Map(times.map((one, code) => [services.value(code), one]))
}

/** Returns the offset of a recording's times from whole seconds of the wall clock, in µs. */
export function phaseOf(epochNs: bigint): number {
  return Number(epochNs % 1_000_000_000n) / 1000
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

  addAll(other: ServiceTimes): void {
    this.#starts.addAll(other.#starts)
    this.#durations.addAll(other.#durations)
    this.#ends.addAll(other.#ends)
  }

  resolution(): Resolution | null {
    const tickUs = Math.max(this.#starts.tickUs(), this.#durations.tickUs())
    if (tickUs === 0) return null
    return { tickUs, overlapUs: this.#ends.areOn(tickUs) ? 0 : tickUs }
  }

  /** Returns the grid that starts, ends and durations are all cut to; 0 for none. */
  wholeTickUs(): number {
    const tickUs = this.#starts.tickUs()
    const isWhole = tickUs > 0 && tickUs === this.#ends.tickUs() && this.#durations.areOn(tickUs)
    return isWhole ? tickUs : 0
  }
}

class GridCounts {
  #times = 0
  readonly #different = new Set<number>()
  readonly #onGrid = GRIDS_US.map(() => 0)

  add(us: number): void {
    this.#times++
    if (this.#different.size < ENOUGH_TIMES) this.#different.add(us)
    // A time that lies on no finer grid lies on no coarser one.
    for (let grid = GRIDS_US.length - 1; grid >= 0 && isOn(us, GRIDS_US[grid]!); grid--) {
      this.#onGrid[grid]!++
    }
  }

  addAll(other: GridCounts): void {
    this.#times += other.#times
    for (const us of other.#different) {
      if (this.#different.size < ENOUGH_TIMES) this.#different.add(us)
    }
    for (let grid = 0; grid < GRIDS_US.length; grid++) {
      this.#onGrid[grid]! += other.#onGrid[grid]!
    }
  }

  areOn(stepUs: number): boolean {
    return this.#onGrid[GRIDS_US.indexOf(stepUs)]! >= NEARLY_ALL * this.#times
  }

  /** Returns the step of the grid that they are cut to, 0 for none. */
  tickUs(): number {
    if (this.#times < ENOUGH_SPANS || this.#different.size < ENOUGH_TIMES) return 0
    const grid = GRIDS_US.findIndex((stepUs) => this.areOn(stepUs))
    // The first is there to tell times in step.
    const isInStep = grid < 1 || this.#onGrid[grid - 1]! > MAX_COARSER * this.#times
    return isInStep ? 0 : GRIDS_US[grid]!
  }
}

/** Whether a time is a whole number of steps; `%` takes several times as long. */
export function isOn(us: number, stepUs: number): boolean {
  return Math.floor(us / stepUs) * stepUs === us
}
