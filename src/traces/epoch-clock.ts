import { readDuration } from '../core/words.ts'

const YEAR_2000_US = Date.UTC(2000, 0, 1) * 1e3
const YEAR_9999_US = Date.UTC(9999, 0, 1) * 1e3

/** Whether a time is one of day: clocks before the year 2000 or after 9998 count from elsewhere. */
export function isTimeOfDay(sinceEpochUs: number): boolean {
  return sinceEpochUs >= YEAR_2000_US && sinceEpochUs < YEAR_9999_US
}

/** Longest time in seconds whose nanoseconds a number can hold. */
const MAX_SECONDS = 1e294

/** Turns absolute times into µs since one epoch: a double cannot hold nanoseconds since 1970. */
export class EpochClock {
  #epochSeconds: number | undefined

  /** The moment all offsets count from: the whole second of the first time seen. */
  get epochNs(): bigint {
    return BigInt(this.#epochSeconds ?? 0) * 1_000_000_000n
  }

  /** Returns the offset of nanoseconds since 1970, as digits or number; `NaN` for anything else. */
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
    return digits === '' ? Number.NaN : this.offset(seconds, rest / 1e3)
  }

  /** Returns the offset of a time in microseconds since 1970, fractions allowed; `NaN` for anything else. */
  offsetOfMicros(micros: unknown): number {
    const count = typeof micros === 'string' && micros !== '' ? Number(micros) : micros
    if (typeof count !== 'number' || !Number.isFinite(count)) return Number.NaN
    const seconds = Math.floor(count / 1e6)
    return this.offset(seconds, count - seconds * 1e6)
  }

  /** Returns the offset of whole seconds since 1970 and microseconds behind them. */
  offset(seconds: number, micros: number): number {
    if (!(Math.abs(seconds) <= MAX_SECONDS)) return Number.NaN
    this.#epochSeconds ??= seconds
    return (seconds - this.#epochSeconds) * 1e6 + micros
  }
}

const MOMENT = /^(\d{4}-\d\d-\d\d)?(?:[T ])?(\d\d?:\d\d(?::\d\d)?)?(\.\d+)?\s*(Z|[+-]\d\d:?\d\d)?$/i
const DAY_US = 86_400e6

/**
 * Reads a time: `2026-10-01T11:15:30.5Z`, a day, a time of day (`11:15Z`), or how long after the
 * recording began (`5min`); UTC by default. A time of day is at `notBeforeUs` or later. µs since
 * 1970, or `null`.
 */
export function readMoment(
  text: string,
  {
    epochUs,
    notBeforeUs = null,
  }: { readonly epochUs: number; readonly notBeforeUs?: number | null },
): number | null {
  const afterUs = readDuration(text)
  if (!Number.isNaN(afterUs)) return epochUs + afterUs
  const [, day, time, fraction = '', zone = 'Z'] = MOMENT.exec(text.trim()) ?? []
  if (day === undefined && (time === undefined || !isTimeOfDay(epochUs))) return null
  const date = day ?? new Date(epochUs / 1e3).toISOString().slice(0, 10)
  const ms = Date.parse(`${date}T${(time ?? '00:00').padStart(5, '0')}${zone.toUpperCase()}`)
  if (Number.isNaN(ms)) return null
  const us = ms * 1e3 + Math.round(Number(fraction || 0) * 1e6)
  return day === undefined && notBeforeUs !== null && us <= notBeforeUs ? us + DAY_US : us
}

export function isoTime(us: number, epochUs: number): string {
  if (!isTimeOfDay(us)) return `${(us - epochUs) / 1e6}s`
  const ms = Math.floor(us / 1e3)
  const rest = Math.round(us - ms * 1e3)
  const text = new Date(ms).toISOString().slice(0, -1)
  return `${rest === 0 ? text.replace(/:00\.000$|\.000$/, '') : `${text}${String(rest).padStart(3, '0')}`}Z`
}
