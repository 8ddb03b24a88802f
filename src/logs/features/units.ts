import { formatDuration, grouped, shortNumber } from '../../core/words.ts'

/** Begins the names of states that say how long after the message before it an event came. */
export const WAIT_NAME = 'ms until '

/** Unit of a number in a log. */
export interface Unit {
  readonly text: string
  /** Length of a unit of time, in microseconds. */
  readonly us?: number
}

export const MS: Unit = { text: 'ms', us: 1e3 }
const UNITS: ReadonlyMap<string, Unit> = new Map(
  (
    [
      [{ text: 'ns', us: 1e-3 }, 'ns nanos nanosecond nanoseconds'],
      [{ text: 'µs', us: 1 }, 'us µs μs usec usecs micros microsecond microseconds'],
      [MS, 'ms msec msecs millis millisecond milliseconds'],
      [{ text: 's', us: 1e6 }, 's sec secs second seconds'],
      [{ text: 'min', us: 60e6 }, 'minutes'],
      [{ text: 'bytes' }, 'b byte bytes'],
      [{ text: 'KB' }, 'kb kib kilobytes'],
      [{ text: 'MB' }, 'mb mib megabytes'],
      [{ text: 'GB' }, 'gb gib gigabytes'],
      [{ text: '%' }, '% percent pct'],
    ] as const
  ).flatMap(([unit, words]) => words.split(' ').map((word) => [word, unit] as const)),
)

/**
 * Returns the unit of a state variable, by its name: `wait_us`, `sizeBytes`, `took (ms)`, or the word behind its
 * wildcard in `read <num> bytes in <num> ms #2`. Undefined where the name does not say.
 */
export function unitOfName(name: string): Unit | undefined {
  if (name.startsWith(WAIT_NAME)) return MS
  const around = aroundNumber(name)
  if (around !== undefined) {
    return UNITS.get(/^\s?([a-zµμ%]+)/i.exec(around.behind ?? '')?.[1]?.toLowerCase() ?? '')
  }
  const words = name
    .replace(/([a-z\d])([A-Z])/g, '$1_$2')
    .split(/[^A-Za-zµμ%]+/)
    .filter(Boolean)
  const last = words.at(-1)?.toLowerCase() ?? ''
  return words.length > 1 || last.length > 2 ? UNITS.get(last) : undefined
}

/** Returns the text around the number of a template that a state is, `done took=<num> ms #1`; undefined for others. */
export function aroundNumber(state: string) {
  const [, template = '', place] = /^(.*) #(\d+)$/s.exec(state) ?? []
  const parts = template.split(/<[^<>\s]+>/)
  const at = Number(place)
  return place === undefined ? undefined : { before: parts[at - 1], behind: parts[at] }
}

/** Returns a number with its unit. */
export function quantityText(value: number, unit: Unit | undefined): string {
  if (unit?.us !== undefined) return formatDuration(value * unit.us)
  const number = Math.abs(value) >= 100 ? grouped(value) : shortNumber(value)
  return unit === undefined ? number : `${number} ${unit.text}`
}
