const YEAR_2000_US = Date.UTC(2000, 0, 1) * 1e3
const YEAR_9999_US = Date.UTC(9999, 0, 1) * 1e3

/** Whether a time is one of day: clocks before the year 2000 or after 9998 count from elsewhere. */
export function isTimeOfDay(sinceEpochUs: number): boolean {
  return sinceEpochUs >= YEAR_2000_US && sinceEpochUs < YEAR_9999_US
}

/**
 * Turns absolute times into microsecond offsets from one epoch. A double cannot hold
 * nanoseconds since 1970; the offset from the first time seen fits with room to spare.
 */
export class EpochClock {
  #epochSeconds: number | undefined

  /** The moment all offsets count from: the whole second of the first time seen. */
  get epochNs(): bigint {
    return BigInt(this.#epochSeconds ?? 0) * 1_000_000_000n
  }

  /**
   * Offset of a time in nanoseconds since 1970, as digits or as a number; `NaN` for anything else.
   */
  offsetOfNanos(nanos: unknown): number {
    const digits =
      typeof nanos === 'string'
        ? nanos
        : Number.isFinite(nanos)
          ? BigInt(Math.round(nanos as number)).toString()
          : ''
    const secondsEnd = digits.length - 9
    let seconds = 0
    let rest = 0
    for (let at = 0; at < digits.length; at++) {
      const digit = digits.charCodeAt(at) - 48
      if (!(digit >= 0 && digit <= 9)) return Number.NaN
      if (at < secondsEnd) seconds = seconds * 10 + digit
      else rest = rest * 10 + digit
    }
    return digits === '' ? Number.NaN : this.#offset(seconds, rest / 1e3)
  }

  /** Offset of a time in microseconds since 1970, fractions allowed; `NaN` for anything else. */
  offsetOfMicros(micros: unknown): number {
    const count = typeof micros === 'string' && micros !== '' ? Number(micros) : micros
    if (typeof count !== 'number' || !Number.isFinite(count)) return Number.NaN
    const seconds = Math.floor(count / 1e6)
    return this.#offset(seconds, count - seconds * 1e6)
  }

  #offset(seconds: number, micros: number): number {
    this.#epochSeconds ??= seconds
    return (seconds - this.#epochSeconds) * 1e6 + micros
  }
}
