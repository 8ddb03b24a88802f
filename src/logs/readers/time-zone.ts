import { OptionError } from '../../core/errors.ts'

const MS_PER_HOUR = 3_600_000
const OFFSET = /^([+-])(\d\d):?(\d\d)?$/

/** How far a clock on the wall is ahead of UTC, in milliseconds, when it shows `wallMs`. */
export type ZoneOffset = (wallMs: number) => number

/** `Z`, `UTC`, `GMT` or `+02:00` in milliseconds ahead of UTC; `undefined` for anything else. */
export function fixedOffset(zone: string): number | undefined {
  if (zone === 'Z' || zone === 'UTC' || zone === 'GMT') return 0
  const [, sign, hours, minutes = '0'] = OFFSET.exec(zone) ?? []
  if (sign === undefined) return undefined
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000
}

/**
 * The offset of a time zone: fixed, or by name (`Europe/Berlin`), for which it is asked once an hour
 * that occurs. In the hour that a change of clocks repeats, the earlier reading is taken.
 *
 * @throws OptionError for a zone that is not known
 */
export function zoneOffset(zone: string): ZoneOffset {
  const fixed = fixedOffset(zone)
  if (fixed !== undefined) return () => fixed
  const offsetAt = namedZone(zone)
  const known = new Map<number, number>()
  return (wallMs) => {
    const hour = Math.floor(wallMs / MS_PER_HOUR)
    let offset = known.get(hour)
    if (offset === undefined) {
      // Two steps reach the offset that holds at the instant itself, not at its reading in UTC.
      offset = offsetAt(wallMs - offsetAt(wallMs))
      known.set(hour, offset)
    }
    return offset
  }
}

function namedZone(zone: string): (ms: number) => number {
  let format: Intl.DateTimeFormat
  try {
    format = new Intl.DateTimeFormat('en-US', {
      ...{ timeZone: zone, hourCycle: 'h23', year: 'numeric', month: 'numeric', day: 'numeric' },
      ...{ hour: 'numeric', minute: 'numeric', second: 'numeric' },
    })
  } catch {
    throw new OptionError(
      'timeZone',
      zone,
      "'UTC', an offset as '+02:00', or a name as 'Europe/Berlin'",
    )
  }
  return (ms) => {
    const parts = new Map(format.formatToParts(ms).map(({ type, value }) => [type, Number(value)]))
    const part = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? 0
    const wall = Date.UTC(
      ...([part('year'), part('month') - 1, part('day')] as const),
      ...([part('hour'), part('minute'), part('second')] as const),
    )
    return wall - Math.floor(ms / 1000) * 1000
  }
}
